/* multipleI: the test `multiple` with a computation between start and end of each I/O (IOT-14): independent
 * non-blocking calls, or split or non-blocking collectives. The loops are in iot_interleaved.c. */
#include "bench/iot/iot_interleaved.h"

static const struct spec_keyword MULTIPLEI_KEYWORDS[] = {
    {.name = "kind",
     .type = SPEC_CHOICE,
     .default_text = "split",
     .choices = "split nonblocking",
     .help = "with collective true: split collectives, or non-blocking ones (MPI 3.1)"},
    {0},
};

static pl_status multipleI_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    return lowlevel_run_coll(run, &INTERLEAVED_STEPS, error, ret_verdict);
}

extern const struct iot_test iot_test_multipleI;
const struct iot_test iot_test_multipleI = {
    .spec = {.class_name = "Lowlevel",
             .name = "multipleI",
             .keywords = (const struct spec_keyword *const[]){IOT_COMMON, LOWLEVEL_KEYWORDS, LOWLEVEL_COLLECTIVE,
                                                              LOWLEVEL_INTERLEAVED, MULTIPLEI_KEYWORDS, NULL}},
    .summary = "all processes compute while their non-blocking or split collective I/O goes on",
    .check = lowlevel_check,
    .describe = lowlevel_describe,
    .run_coll = multipleI_run_coll,
};
