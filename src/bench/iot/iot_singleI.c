/* singleI: the test `single` with non-blocking calls and a computation between start and end of each (IOT-14).
 * The loops are in iot_interleaved.c. */
#include "bench/iot/iot_interleaved.h"

static pl_status singleI_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    return lowlevel_run_coll(run, &INTERLEAVED_STEPS, error, ret_verdict);
}

extern const struct iot_test iot_test_singleI;
const struct iot_test iot_test_singleI = {
    .spec = {.class_name = "Lowlevel",
             .name = "singleI",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, LOWLEVEL_INTERLEAVED,
                                                              NULL}},
    .summary = "one process computes while its non-blocking I/O goes on",
    .access = "one rank",
    .check = lowlevel_check,
    .describe = lowlevel_describe,
    .run_coll = singleI_run_coll,
};
