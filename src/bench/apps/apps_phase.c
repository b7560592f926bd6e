/* Timed operations of one kind, and their sums over the ranks. */
#include "base/units.h"
#include "bench/apps/apps.h"

#include <assert.h>
#include <stdio.h>

pl_status apps_phase_add(struct apps_run *run, const char *key, int64_t capacity, struct apps_phase **ret_phase,
                         struct pl_error *error)
{
    assert(run->phase_count < APPS_PHASES_MAX);
    struct apps_phase *phase = &run->phases[run->phase_count++];
    *phase = (struct apps_phase){0};
    snprintf(phase->key, sizeof phase->key, "%s", key);
    *ret_phase = phase;
    return samples_add(&run->samples, key, "ns", capacity, &phase->series, error);
}

void apps_phase_note(struct apps_phase *phase, double begin_s, int64_t bytes)
{
    struct sample_series *series = phase->series;
    series->values[series->count++] = MPI_Wtime() - begin_s;
    phase->bytes += bytes;
}

void apps_phase_sum_coll(const struct apps_run *run, const struct apps_phase *phase, struct apps_row *ret_row)
{
    const double mine_s = sample_total(phase->series);
    const int64_t mine[2] = {phase->series->count, phase->bytes};
    int64_t all[2] = {0, 0};
    double sum_s = 0, min_s = 0, max_s = 0;
    MPI_Reduce(mine, all, 2, MPI_INT64_T, MPI_SUM, 0, run->comm);
    MPI_Reduce(&mine_s, &sum_s, 1, MPI_DOUBLE, MPI_SUM, 0, run->comm);
    MPI_Reduce(&mine_s, &min_s, 1, MPI_DOUBLE, MPI_MIN, 0, run->comm);
    MPI_Reduce(&mine_s, &max_s, 1, MPI_DOUBLE, MPI_MAX, 0, run->comm);
    *ret_row = (struct apps_row){.requests = all[0],
                                 .bytes = all[1],
                                 .mean_s = sum_s / run->nprocs,
                                 .min_s = min_s,
                                 .max_s = max_s,
                                 .rate_mb_per_s = units_rate_mb_per_s((double)all[1], max_s * 1e9)};
    snprintf(ret_row->key, sizeof ret_row->key, "%s", phase->key);
}
