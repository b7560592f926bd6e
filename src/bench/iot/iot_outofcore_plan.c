/* The pure half of the kernel outofcore: keywords, sizes, memory. */
#include "bench/iot/iot_outofcore.h"

#include "base/units.h"

#include <stdio.h>

#define ORDER_MAX 1e6

const struct spec_keyword OUTOFCORE_KEYWORDS[] = {
    {.name = "numsizes",
     .alias = "numproblemsizes",
     .type = SPEC_INT,
     .required = true,
     .min = 1,
     .max = 1e6,
     .help = "problem sizes to run"},
    {.name = "size",
     .alias = "xsize",
     .type = SPEC_INT,
     .list = true,
     .required = true,
     .min = 1,
     .max = ORDER_MAX,
     .help = "orders of the matrix"},
    {.name = "memory",
     .type = SPEC_MB,
     .required = true,
     .min = 8e-6,
     .max = 1e9,
     .help = "of each process for panels of the matrix, which must not fit in that of all"},
    {.name = "panel",
     .type = SPEC_INT,
     .min = 1,
     .max = ORDER_MAX,
     .help = "columns that are factored, streamed and applied at a time; chosen from the memory if not given"},
    {.name = "collective", .type = SPEC_BOOL, .default_text = "true", .help = "collective calls, or independent ones"},
    {.name = "prefetch", .type = SPEC_BOOL, .default_text = "true", .help = "read the next panel while one is applied"},
    {.name = "allow_incore",
     .type = SPEC_BOOL,
     .default_text = "false",
     .help = "also take a matrix that fits in memory"},
    {0},
};

static int64_t order_of(const struct spec_block *block, int64_t index)
{
    return (int64_t)spec_find(block, "size")->numbers[index % (int64_t)spec_number(block, "numsizes")];
}

static int64_t panel_asked(const struct spec_block *block)
{
    return spec_find(block, "panel") ? (int64_t)spec_number(block, "panel") : 0;
}

int64_t outofcore_memory(const struct spec_block *block)
{
    return spec_find(block, "memory")->bytes[0];
}

struct lu_plan outofcore_plan(const struct spec_block *block, int nprocs, int64_t index)
{
    return lu_plan_make(order_of(block, index), nprocs, outofcore_memory(block), panel_asked(block));
}

static pl_status check_order(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t index,
                             struct pl_error *error)
{
    const struct lu_plan plan = outofcore_plan(block, nprocs, index);
    const int64_t matrix = 8 * plan.n * plan.n, memory = outofcore_memory(block);
    const int64_t least = lu_least_bytes(plan.n, nprocs, panel_asked(block));
    if (8 * plan.n * plan.panel > LU_PANEL_BYTES_MAX)
        return spec_fail(spec, block, "panel", error,
                         "%lld columns of %lld numbers are more than one call can move; allowed: at most %lld",
                         (long long)plan.panel, (long long)plan.n, (long long)(LU_PANEL_BYTES_MAX / (8 * plan.n)));
    if (plan.held == 0)
        return spec_fail(spec, block, "memory", error,
                         "%.6f MB do not hold the panels that order %lld needs on each of %d processes (one kept, one "
                         "applied, a share of the next, of %lld columns); allowed: at least %.6f",
                         (double)memory * 1e-6, (long long)plan.n, nprocs, (long long)plan.panel, (double)least * 1e-6);
    if (memory >= (matrix + nprocs - 1) / nprocs && !spec_is_true(block, "allow_incore"))
        return spec_fail(
            spec, block, "memory", error,
            "the matrix of order %lld, %.6f MB, fits in the %.6f MB of each of %d processes; allowed: less "
            "than %.6f, or allow_incore true",
            (long long)plan.n, (double)matrix * 1e-6, (double)memory * 1e-6, nprocs, (double)matrix * 1e-6 / nprocs);
    return PL_OK;
}

pl_status outofcore_check(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error)
{
    const int64_t sizes = (int64_t)spec_number(block, "numsizes");
    pl_status status = iot_check_list(spec, block, "numsizes", "size", error);
    for (int64_t i = 0; i < sizes && status == PL_OK; i++)
        status = check_order(spec, block, nprocs, i, error);
    *ret_sets = sizes * (int64_t)spec_number(block, "repeat");
    return status;
}

void outofcore_describe(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct lu_plan plan = outofcore_plan(block, nprocs, index);
    const int64_t matrix = 8 * plan.n * plan.n, streamed = lu_streamed_panels(&plan) + 2 * plan.panels;
    const int64_t samples = 3 * plan.held * plan.slabs + 2 * streamed;
    int64_t lower = 0; /* read once more to solve */
    for (int64_t k = 0; k < plan.panels; k++)
        lower += 8 * lu_width(&plan, k) * (plan.n - lu_top(&plan, k));
    char memory[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = matrix,
        .write_bytes = 2 * matrix,                                   /* filled, factored */
        .read_bytes = 2 * matrix + lu_streamed_bytes(&plan) + lower, /* slabs, and whole once more to solve */
        .mean_bytes = (double)matrix / (double)plan.panels,          /* of w and r */
        .samples = samples,
        .memory_bytes = lu_plan_bytes(&plan) + plan.n * (int64_t)(sizeof(int) + sizeof(struct outofcore_sums) + 3 * 8) +
                        8 * samples};
    snprintf(ret_set->label, sizeof ret_set->label, "n %lld, memory %s, %lld slabs", (long long)plan.n,
             units_bytes(outofcore_memory(block), memory), (long long)plan.slabs);
}
