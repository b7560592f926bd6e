#include "lab/runner/timebase.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A busy host may keep each of a few exchanges waiting: then some more are tried. */
enum {
    PINGS = 24,
    PINGS_MAX = 240,
    GOOD_WAY_NS = 100000,
    LONG_NS = 200000000,
    TAG_PING = 11,
    PAIRS = 16,
    NAME_MAX_BYTES = 256
};

static uint64_t timebase_hash(uint64_t hash, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* A host by its name and boot, and its time namespace: in another one CLOCK_MONOTONIC may be set off. What cannot be
 * read is equal on all ranks of a host that has none. */
static uint64_t timebase_domain(void)
{
    char text[NAME_MAX_BYTES] = "";
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    gethostname(text, sizeof text - 1);
    hash = timebase_hash(hash, text, strlen(text) + 1);
    const int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    const ssize_t boot = fd < 0 ? 0 : read(fd, text, sizeof text);
    hash = timebase_hash(hash, text, boot > 0 ? (size_t)boot : 0);
    if (fd >= 0)
        close(fd);
    const ssize_t space = readlink("/proc/self/ns/time", text, sizeof text);
    return timebase_hash(hash, text, space > 0 ? (size_t)space : 0);
}

static int64_t timebase_wtime_ns(void)
{
    return llround(MPI_Wtime() * 1e9);
}

/* CLOCK_MONOTONIC minus MPI_Wtime: both are read one after the other, so there is no way to go. */
static struct clock_offset timebase_pair(void)
{
    struct clock_ping pairs[PAIRS];
    for (int i = 0; i < PAIRS; i++) {
        pairs[i].sent_ns = timebase_wtime_ns();
        pairs[i].answered_ns = clock_read_ns(CLOCK_MONOTONIC);
        pairs[i].received_ns = timebase_wtime_ns();
    }
    return clock_offset_of(pairs, PAIRS);
}

/* ---- between clocks ---- */

/* The rank asks, rank 0 answers with its clock. */
static struct clock_offset timebase_ask(MPI_Comm comm)
{
    struct clock_ping pings[PINGS_MAX];
    struct clock_offset offset;
    int count = 0;
    for (int again = 1; again;) {
        pings[count].sent_ns = clock_read_ns(CLOCK_MONOTONIC);
        MPI_Send(&again, 1, MPI_INT, 0, TAG_PING, comm);
        MPI_Recv(&pings[count].answered_ns, 1, MPI_INT64_T, 0, TAG_PING, comm, MPI_STATUS_IGNORE);
        pings[count].received_ns = clock_read_ns(CLOCK_MONOTONIC);
        offset = clock_offset_of(pings, ++count);
        again = count < PINGS || (count < PINGS_MAX && offset.error_ns > GOOD_WAY_NS / 2 &&
                                  pings[count - 1].received_ns - pings[0].sent_ns < LONG_NS);
    }
    MPI_Send(NULL, 0, MPI_INT, 0, TAG_PING, comm);
    return offset;
}

static void timebase_answer(MPI_Comm comm, int rank)
{
    for (;;) {
        MPI_Status status;
        int again, count;
        MPI_Recv(&again, 1, MPI_INT, rank, TAG_PING, comm, &status);
        const int64_t now = clock_read_ns(CLOCK_MONOTONIC);
        MPI_Get_count(&status, MPI_INT, &count);
        if (count == 0) /* enough */
            return;
        MPI_Send(&now, 1, MPI_INT64_T, rank, TAG_PING, comm);
    }
}

struct clock_offset timebase_monotonic_coll(const struct timebase *timebase, MPI_Comm comm)
{
    struct clock_offset offset = {.at_ns = clock_read_ns(CLOCK_MONOTONIC)};
    uint64_t first = timebase->domain;
    int rank, size;
    if (timebase->one_clock)
        return offset;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, comm);
    /* One after the other: messages of others would make the way longer. */
    for (int other = 1; other < size; other++) {
        int differs = rank == other && timebase->domain != first;
        MPI_Bcast(&differs, 1, MPI_INT, other, comm);
        if (differs && rank == 0)
            timebase_answer(comm, other);
        if (differs && rank == other)
            offset = timebase_ask(comm);
    }
    return offset;
}

struct clock_offset timebase_measure_coll(struct timebase *timebase, MPI_Comm comm)
{
    const struct clock_offset monotonic = timebase_monotonic_coll(timebase, comm), own = timebase_pair();
    timebase->last = (struct clock_offset){.at_ns = own.at_ns,
                                           .offset_ns = own.offset_ns + monotonic.offset_ns,
                                           .error_ns = own.error_ns + monotonic.error_ns};
    return timebase->last;
}

void timebase_begin_coll(struct timebase *timebase, MPI_Comm world)
{
    *timebase = (struct timebase){.domain = timebase_domain(), .zero_ns = clock_read_ns(CLOCK_MONOTONIC)};
    uint64_t first = timebase->domain;
    MPI_Bcast(&first, 1, MPI_UINT64_T, 0, world);
    MPI_Bcast(&timebase->zero_ns, 1, MPI_INT64_T, 0, world);
    int same = first == timebase->domain, all;
    MPI_Allreduce(&same, &all, 1, MPI_INT, MPI_MIN, world);
    timebase->one_clock = all;
    timebase_measure_coll(timebase, world);
}
