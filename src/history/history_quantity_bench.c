/* Quantities of the benchmarks: the values that they define. */
#include "history/history_quantity.h"

#include "base/units.h"
#include "bench/beff/beff_results.h"
#include "bench/beffio/beffio_report.h"
#include "bench/gpfs/gpfs_points.h"
#include "bench/piobench/piobench_points.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

pl_status history_quantity_beff(const struct history_source *source, struct pl_error *error)
{
    struct beff_results results;
    struct text settings = {0};
    pl_status status = beff_results_read(source->file, source->block, &results, error);
    if (status)
        return status;
    const struct beff_summary summary = beff_summarize(&results);
    text_add(&settings, "L_max ");
    history_add_bytes(&settings, (long long)summary.length_max);
    text_format(&settings, ", %d random patterns", summary.mean.random_patterns);
    history_quantity_rate(source, "b_eff", text_get(&settings), summary.mean.both / 1e6);
    history_quantity_rate(source, "b_eff at L_max", text_get(&settings), summary.longest.both / 1e6);
    history_quantity_rate(source, "ping-pong rate", text_get(&settings), summary.pingpong / 1e6);
    history_quantity_time(source, "ping-pong latency", text_get(&settings), summary.latency_s * 1e9);
    text_clear(&settings);
    beff_results_clear(&results);
    return PL_OK;
}

/* ---- b_eff_io ---- */

static void add_case(const struct history_source *source, const struct beffio_case *item)
{
    static const char *const methods[BEFFIO_METHODS] = {"write", "rewrite", "read"};
    char name[64];
    struct text settings = {0};
    text_format(&settings, "T %g s, %d processes", item->time_s, item->partition);
    history_quantity_rate(source, "b_eff_io", text_get(&settings), item->value);
    for (int method = 0; method < BEFFIO_METHODS; method++)
        for (int type = 0; type < BEFFIO_TYPES; type++) {
            snprintf(name, sizeof name, "%s rate of type %d", methods[method], type);
            history_quantity_rate(source, name, text_get(&settings), item->rates.type[method][type]);
        }
    text_clear(&settings);
}

/* A run that was resumed has several blocks: its values are those of the last one. */
pl_status history_quantity_beffio(const struct history_source *source, struct pl_error *error)
{
    const struct analysis_request request = {.to = INT64_MAX};
    const struct analysis_input input = {source->file, 1};
    const char *run = blockfile_fact_of(source->block, "run");
    struct beffio_report report;
    const pl_status status = run ? beffio_report_make(&request, &input, run, &report, error) : PL_E_INPUT;
    if (status == PL_E_INPUT)
        return PL_OK; /* killed before its first pattern */
    if (status)
        return status;
    for (size_t i = 0; i < report.case_count; i++)
        if (report.cases[i].block == source->block)
            add_case(source, &report.cases[i]);
    beffio_report_clear(&report);
    return PL_OK;
}

/* ---- comparisons of algorithms ---- */

pl_status history_quantity_piobench(const struct history_source *source, struct pl_error *error)
{
    const struct analysis_request request = {.block = (int64_t)source->number + 1, .to = INT64_MAX};
    const struct analysis_input input = {source->file, 1};
    struct piobench_points list;
    const pl_status status = piobench_points_load(&request, &input, &list, error);
    if (status)
        return status == PL_E_INPUT ? PL_OK : status;
    for (size_t i = 0; i < list.count; i++) {
        const struct piobench_point *point = &list.points[i];
        struct text settings = {0};
        char name[32];
        snprintf(name, sizeof name, "%.20s rate", point->op);
        text_format(&settings, "%s, %s, %s, file ", point->algorithm, point->mpi, point->distribution);
        history_add_bytes(&settings, (long long)point->file_bytes);
        text_add(&settings, ", block ");
        history_add_bytes(&settings, (long long)point->block_bytes);
        text_format(&settings, ", %d ranks", point->ranks);
        history_quantity_rate(source, name, text_get(&settings), point->rate_mb_per_s);
        text_clear(&settings);
    }
    piobench_points_clear(&list);
    return PL_OK;
}

pl_status history_quantity_gpfs(const struct history_source *source, struct pl_error *error)
{
    const struct analysis_request request = {.block = (int64_t)source->number + 1, .to = INT64_MAX};
    const struct analysis_input input = {source->file, 1};
    struct gpfs_points list;
    const pl_status status = gpfs_points_load(&request, &input, &list, error);
    if (status)
        return status == PL_E_INPUT ? PL_OK : status;
    for (size_t i = 0; i < list.count; i++) {
        const struct gpfs_point *point = &list.points[i];
        struct text settings = {0};
        char cell[GPFS_CELL_TEXT_MAX];
        text_format(&settings, "%s, %s, %s", point->contestant, point->mpi, gpfs_cell_text(&point->cell, cell));
        history_quantity_rate(source, point->cell.writes ? "write rate" : "read rate", text_get(&settings),
                              gpfs_points_ratios(&list, point).shown);
        text_clear(&settings);
    }
    gpfs_points_clear(&list);
    return PL_OK;
}
