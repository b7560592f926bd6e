/* What a measured access asked of MPI, system and network: sums of libpiolet-count.so, and of the network's interface
 * where ranks are on several hosts. */
#include "bench/engine/engine.h"

#include "base/memory.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

enum { KINDS_MAX = 16 };

static struct {
    int (*at)(int kind, const char **ret_name, int64_t *ret_sum);
    int kinds;
    int64_t sums[KINDS_MAX], sent; /* when counting began; between, after count_end() */
} count_here;

static int count_read(int64_t sums[KINDS_MAX])
{
    const char *name;
    int kind = 0;
    while (count_here.at(kind, &name, &sums[kind < KINDS_MAX ? kind : 0]) == 0)
        kind++;
    assert(kind <= KINDS_MAX);
    return kind;
}

/* What the host has sent over its interface: the tenth number of the line. 0 where there is none. */
static int64_t count_sent_by_host(void)
{
    char line[512];
    long long sent = 0;
    FILE *file = fopen("/proc/self/net/dev", "r");
    while (file && fgets(line, sizeof line, file)) {
        const char *numbers = strstr(line, "eth0:");
        if (numbers && sscanf(numbers + 5, "%*s %*s %*s %*s %*s %*s %*s %*s %lld", &sent) == 1)
            break;
    }
    if (file)
        fclose(file);
    return sent;
}

/* A message to oneself shows whether messages are seen: those of Open MPI only while it monitors itself. */
pl_status count_init(struct pl_error *error)
{
    int64_t before[KINDS_MAX], after[KINDS_MAX];
    char one = 1, other;
    void *symbol = dlsym(RTLD_DEFAULT, "piolet_count_at");
    if (!symbol)
        return pl_fail(error, PL_E_UNSUPPORTED, "--counts: libpiolet-count.so is not preloaded");
    memcpy(&count_here.at, &symbol, sizeof count_here.at);
    count_here.kinds = count_read(before);
    MPI_Sendrecv(&one, 1, MPI_CHAR, 0, 0, &other, 1, MPI_CHAR, 0, 0, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    count_read(after);
    return after[0] > before[0] ? PL_OK
                                : pl_fail(error, PL_E_UNSUPPORTED,
                                          "--counts: messages are not seen: Open MPI has no pml_monitoring_enable");
}

void count_begin(void)
{
    count_here.sent = count_sent_by_host();
    count_read(count_here.sums);
}

void count_end(void)
{
    int64_t now[KINDS_MAX];
    assert(count_here.kinds > 0);
    count_read(now);
    for (int i = 0; i < count_here.kinds; i++)
        count_here.sums[i] = now[i] - count_here.sums[i];
}

/* ---- hosts ---- */

struct count_hosts {
    int host, hosts; /* of this rank, in the order of their first ranks */
    bool is_first;   /* of its host */
};

static struct count_hosts count_hosts_coll(MPI_Comm comm)
{
    struct count_hosts here = {0};
    char name[MPI_MAX_PROCESSOR_NAME] = "";
    int rank, ranks, length;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &ranks);
    MPI_Get_processor_name(name, &length);
    char *names = memory_new((size_t)ranks, sizeof name);
    MPI_Allgather(name, sizeof name, MPI_CHAR, names, sizeof name, MPI_CHAR, comm);
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
    assert(here.hosts > 0 && here.host < here.hosts);
    return here;
}

/* This rank's bytes in other hosts' parts, were the file divided evenly and in one part for each host. */
static int64_t count_elsewhere(const struct layout *layout, const struct count_hosts *here)
{
    const int64_t begin = layout->file_bytes * here->host / here->hosts;
    const int64_t end = layout->file_bytes * (here->host + 1) / here->hosts;
    int64_t inside = 0;
    for (int64_t i = 0; i < layout->piece_count; i++) {
        const struct piece *piece = &layout->pieces[i];
        const int64_t from = piece->file > begin ? piece->file : begin;
        const int64_t to = piece->file + piece->bytes < end ? piece->file + piece->bytes : end;
        inside += to > from ? to - from : 0;
    }
    return layout->bytes - inside;
}

void count_note_coll(MPI_Comm comm, const struct layout *layout, struct text *params)
{
    enum { SENT = KINDS_MAX, ELSEWHERE, NUMBERS };
    int64_t mine[NUMBERS] = {0}, sums[NUMBERS] = {0};
    const char *name;
    int64_t ignored;
    const int64_t sent = count_sent_by_host(); /* all have sent all: the access was checked since */
    const struct count_hosts here = count_hosts_coll(comm);
    memcpy(mine, count_here.sums, sizeof count_here.sums);
    mine[SENT] = here.is_first ? sent - count_here.sent : 0;
    mine[ELSEWHERE] = count_elsewhere(layout, &here);
    MPI_Reduce(mine, sums, NUMBERS, MPI_INT64_T, MPI_SUM, 0, comm);
    for (int i = 0; i < count_here.kinds; i++) {
        char key[64];
        count_here.at(i, &name, &ignored);
        engine_note_number(params, name, sums[i]);
        snprintf(key, sizeof key, "rank0_%s", name);
        engine_note_number(params, key, mine[i]);
    }
    if (here.hosts > 1) {
        engine_note_number(params, "wire_bytes", sums[SENT]);
        engine_note_number(params, "must_bytes", sums[ELSEWHERE]);
    }
}
