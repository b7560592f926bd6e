/* Random MPI-IO against a naive model: engine_fuzz FILE --seed S --cases N; without arguments it lists its
 * options. Called by engine_fuzz.sh and others. It is an ordinary MPI program: it runs with any MPI-IO.
 *
 * Every rank draws the same cases from the seed, and keeps the whole file and every rank's view in a model of bytes.
 * What is read is compared with the model at once, what was written at the end of the case, with plain reads. A failure
 * is told with seed and case: --seed S --first K --cases 1, on as many ranks and with the same --kinds and --avoid,
 * repeats it. */
#include "engine_fuzz_group.h"
#include "engine_fuzz_large.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Says where a rank hangs; what is called here is allowed in a signal handler. */
static void on_alarm(int signal)
{
    char text[2400];
    (void)signal;
    const int length = snprintf(text, sizeof text, "seed %llu case %lld step %d, rank %d of %d: HANGS in\n    %s\n",
                                (unsigned long long)fuzz.seed, (long long)fuzz.case_number, fuzz.step, fuzz.rank,
                                fuzz.procs, fuzz.doing);
    if (write(2, text, (size_t)length) < 0)
        _exit(4);
    _exit(3);
}

/* Which ranks share a file: all, each alone, or those of a colour. Returns the colour. */
static int draw_comm(struct random *random, MPI_Comm *ret_comm)
{
    const int kind = (int)random_between(random, 0, 9), parts = (int)random_between(random, 2, 3);
    if (kind == 0 && has(FEATURE_self)) {
        MPI_Comm_dup(MPI_COMM_SELF, ret_comm);
        return fuzz.rank;
    }
    if (kind <= 2 && has(FEATURE_subset)) {
        MPI_Comm_split(MPI_COMM_WORLD, fuzz.rank % parts, -fuzz.rank, ret_comm);
        return fuzz.rank % parts;
    }
    MPI_Comm_dup(MPI_COMM_WORLD, ret_comm);
    return 0;
}

static int run_case_coll(int64_t number)
{
    struct random random = random_of(fuzz.seed, (uint64_t)number);
    struct group group = {.file = MPI_FILE_NULL};
    int failures = 0;
    fuzz.case_number = number;
    fuzz.step = 0;
    fuzz.failures = 0;
    alarm((unsigned)fuzz.alarm_s);
    const int colour = draw_comm(&random, &group.comm);
    MPI_Comm_rank(group.comm, &group.rank);
    MPI_Comm_size(group.comm, &group.procs);
    group.random = random_of(random_next(&random), (uint64_t)colour);
    snprintf(group.path, sizeof group.path, "%s.%lld.%d", fuzz.path, (long long)number, colour);
    group_run_coll(&group);
    MPI_Comm_free(&group.comm);
    doing("waiting for the other groups");
    MPI_Allreduce(&fuzz.failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    alarm(0);
    return failures;
}

/* A test that does nothing is always right: says how much was done. */
static void report_coll(void)
{
    const int64_t mine[3] = {fuzz.accesses, fuzz.empty, fuzz.bytes};
    int64_t sums[3] = {0};
    MPI_Reduce(mine, sums, 3, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    if (fuzz.rank == 0 && !fuzz.quiet)
        printf("seed %llu: %lld cases on %d ranks are right (%lld accesses, %lld of them empty, %lld bytes)\n",
               (unsigned long long)fuzz.seed, (long long)fuzz.cases, fuzz.procs, (long long)sums[0], (long long)sums[1],
               (long long)sums[2]);
}

static int run_cases_coll(void)
{
    for (int64_t i = fuzz.first; i < fuzz.first + fuzz.cases; i++) {
        if (run_case_coll(i) == 0)
            continue;
        if (fuzz.rank == 0)
            fprintf(stderr, "repeat with: --seed %llu --first %lld --cases 1 on %d ranks\n",
                    (unsigned long long)fuzz.seed, (long long)i, fuzz.procs);
        return 1;
    }
    report_coll();
    return 0;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &fuzz.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &fuzz.procs);
    if (!options_read(argc, argv)) {
        MPI_Finalize();
        return 2;
    }
    if (fuzz.procs > 254)
        give_up("at most 254 ranks");
    /* errors of requests come here */
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    signal(SIGALRM, on_alarm);
    const int status = fuzz.large ? large_run_coll() : run_cases_coll();
    MPI_Finalize();
    return status;
}
