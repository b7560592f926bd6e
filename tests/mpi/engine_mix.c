/* Random programs that mix accesses of files with messages: engine_mix FILE [--seed S] [--first K] [--cases N]
 * [--faults] [--verbose]. Called by engine_mix.sh and tests/fault/engine_mix.sh.
 *
 * All ranks go through the same events in the same order: blocking, non-blocking and split accesses of one to three
 * files, messages between two ranks, collectives of MPI. When and how it completes its requests, every rank decides for
 * itself. Such a program is correct, so nobody may wait for ever. Each write has bytes of its own: what is read, and
 * what is in the file at the end, is known exactly. --seed S --first K --cases 1 repeats a case. */
#include "engine_mix.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { EVENTS = 40, PATIENCE_S = 40 };

/* Says where a rank hangs. */
static void on_alarm(int signal)
{
    char text[512];
    (void)signal;
    const int length = snprintf(text, sizeof text, "seed %lld case %lld event %d, rank %d of %d: HANGS in\n    %s\n",
                                (long long)mix.seed, (long long)mix.number, mix.event, mix.rank, mix.ranks, mix.doing);
    if (write(2, text, (size_t)length) < 0)
        _exit(4);
    _exit(3);
}

static void event_coll(struct slot *slots, int count)
{
    const int64_t kind = draw(&mix.plan, 0, 9);
    if (kind < 5)
        slot_event_coll(&slots[draw(&mix.plan, 0, count - 1)]);
    else if (kind < 8)
        message_event();
    else
        collective_event_coll();
}

static int run_case_coll(int64_t number)
{
    struct slot slots[SLOTS_MAX];
    mix.number = number;
    mix.event = 0;
    mix.failures = 0;
    mix.plan.state = (uint64_t)mix.seed << 32 ^ (uint64_t)number;
    mix.own.state = mix.plan.state ^ (uint64_t)(mix.rank + 1) << 56;
    alarm(PATIENCE_S);
    const int count = (int)draw(&mix.plan, 1, SLOTS_MAX);
    for (int i = 0; i < count; i++)
        slot_open_coll(&slots[i], i);
    for (mix.event = 1; mix.event <= EVENTS; mix.event++) {
        event_coll(slots, count);
        requests_complete_some();
    }
    for (int i = 0; i < count; i++)
        slot_end_split_coll(&slots[i]);
    requests_complete_all();
    for (int i = 0; i < count; i++)
        slot_close_coll(&slots[i]);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < count; i++)
        slot_check(&slots[i]);
    int sum = 0;
    MPI_Allreduce(&mix.failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return sum;
}

static bool read_options(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        int64_t *const number = strcmp(argv[i], "--seed") == 0    ? &mix.seed
                                : strcmp(argv[i], "--first") == 0 ? &mix.first
                                : strcmp(argv[i], "--cases") == 0 ? &mix.cases
                                                                  : NULL;
        if (strcmp(argv[i], "--faults") == 0)
            mix.faults = true;
        else if (strcmp(argv[i], "--verbose") == 0)
            mix.verbose = true;
        else if (number && i + 1 < argc)
            *number = strtoll(argv[++i], NULL, 0);
        else if (argv[i][0] == '-' || mix.path)
            return false;
        else
            mix.path = argv[i];
    }
    return mix.path != NULL;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &mix.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &mix.ranks);
    if (!read_options(argc, argv)) {
        fprintf(stderr, "engine_mix FILE [--seed S] [--first K] [--cases N] [--faults] [--verbose]\n");
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
    signal(SIGALRM, on_alarm);
    int failed = 0;
    for (int64_t i = mix.first; i < mix.first + mix.cases && failed == 0; i++)
        failed = run_case_coll(i);
    alarm(0);
    if (mix.rank == 0 && failed == 0)
        printf("seed %lld: %lld cases on %d ranks are right\n", (long long)mix.seed, (long long)mix.cases, mix.ranks);
    MPI_Finalize();
    return failed != 0;
}
