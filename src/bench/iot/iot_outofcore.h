/* The kernel outofcore: what its plan and its run share. */
#ifndef PIOLET_BENCH_IOT_OUTOFCORE_H
#define PIOLET_BENCH_IOT_OUTOFCORE_H

#include "bench/iot/iot.h"
#include "bench/iot/iot_lu.h"

/* Of a column, above and from its panel's diagonal block down: the streamed parts are checked alone. */
struct outofcore_sums {
    uint64_t upper, lower;
};

extern const struct spec_keyword OUTOFCORE_KEYWORDS[];

/* For struct iot_test. Pure. */
pl_status outofcore_check(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                          struct pl_error *error);
void outofcore_describe(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set);

/* Panels and slabs of set `index`; bytes that a process has for them. */
struct lu_plan outofcore_plan(const struct spec_block *block, int nprocs, int64_t index);
int64_t outofcore_memory(const struct spec_block *block);

#endif
