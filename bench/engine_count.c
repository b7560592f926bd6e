#include "engine_count.h"

#include "bench.h"
#include "engine_pattern.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- hosts ---- */

static struct {
    int host, hosts; /* of this rank, in the order of their first ranks */
    bool is_first;   /* of its host */
    int64_t sent;    /* by the host, when counting began */
    int64_t begin[COUNT_KINDS], counted[COUNT_KINDS];
    void (*read)(int64_t *ret_sums);
} here;

static void find_hosts_coll(void)
{
    char name[MPI_MAX_PROCESSOR_NAME] = "", *names;
    int rank, ranks, length;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Get_processor_name(name, &length);
    names = malloc((size_t)ranks * sizeof name);
    if (!names)
        bench_die("no memory for the names of hosts");
    MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++) {
        int first = 0;
        while (strcmp(names + (size_t)first * sizeof name, names + (size_t)i * sizeof name) != 0)
            first++;
        if (strcmp(name, names + (size_t)i * sizeof name) == 0 && first == i) {
            here.host = here.hosts;
            here.is_first = i == rank;
        }
        here.hosts += first == i;
    }
    free(names);
}

/* What the host has sent over its interface: the tenth number of the line. */
static int64_t sent_by_host(void)
{
    char line[512];
    long long sent = 0;
    FILE *file = here.hosts > 1 && here.is_first ? fopen("/proc/self/net/dev", "r") : NULL;
    while (file && fgets(line, sizeof line, file)) {
        const char *numbers = strstr(line, "eth0:");
        if (numbers && sscanf(numbers + 5, "%*s %*s %*s %*s %*s %*s %*s %*s %lld", &sent) == 1)
            break;
    }
    if (file)
        fclose(file);
    return sent;
}

/* This rank's bytes in other hosts' parts, were the file divided evenly and in one part for each host. */
static int64_t bytes_elsewhere(const struct layout *layout)
{
    const int64_t begin = layout->file_bytes * here.host / here.hosts;
    const int64_t end = layout->file_bytes * (here.host + 1) / here.hosts;
    int64_t inside = 0;
    for (int64_t i = 0; i < layout->piece_count; i++) {
        const struct piece *piece = &layout->pieces[i];
        const int64_t from = piece->file > begin ? piece->file : begin;
        const int64_t to = piece->file + piece->bytes < end ? piece->file + piece->bytes : end;
        inside += to > from ? to - from : 0;
    }
    return layout->bytes - inside;
}

/* ---- counting ---- */

/* A message to oneself shows whether messages are seen: those of Open MPI only while it monitors itself. */
static void check_messages(void)
{
    int64_t before[COUNT_KINDS], after[COUNT_KINDS];
    char one = 1, other;
    here.read(before);
    MPI_Sendrecv(&one, 1, MPI_CHAR, 0, 0, &other, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    here.read(after);
    if (after[COUNT_MESSAGES] == before[COUNT_MESSAGES])
        bench_die("messages are not seen: is bench/count.c preloaded, and pml_monitoring_enable set in Open MPI?");
}

void count_init_coll(void)
{
    void *symbol = dlsym(RTLD_DEFAULT, "bench_count_read");
    if (!symbol)
        bench_die("nothing is preloaded that counts");
    memcpy(&here.read, &symbol, sizeof here.read);
    find_hosts_coll();
    check_messages();
}

void count_begin(void)
{
    here.sent = sent_by_host();
    here.read(here.begin);
}

void count_end(void)
{
    here.read(here.counted);
    for (int i = 0; i < COUNT_KINDS; i++)
        here.counted[i] -= here.begin[i];
}

void count_print_coll(const char *head, const struct layout *layout)
{
    enum { SENT = COUNT_KINDS, ELSEWHERE, NUMBERS };
    int64_t mine[NUMBERS], sums[NUMBERS];
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD); /* the others too have sent all */
    memcpy(mine, here.counted, sizeof here.counted);
    mine[SENT] = sent_by_host() - here.sent;
    mine[ELSEWHERE] = bytes_elsewhere(layout);
    MPI_Reduce(mine, sums, NUMBERS, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank != 0)
        return;
    printf("%s", head);
    for (int i = 0; i < COUNT_KINDS; i++)
        printf("\t%" PRId64, mine[i]);
    for (int i = 0; i < COUNT_KINDS; i++)
        printf("\t%" PRId64, sums[i]);
    printf("\t%" PRId64 "\t%" PRId64 "\n", here.hosts > 1 ? sums[SENT] : -1, here.hosts > 1 ? sums[ELSEWHERE] : -1);
}
