/* The benchmark `run`: for iot.c, iot_run.c and iot_results.c, and its rates for all. */
#ifndef PIOLET_BENCH_IOT_BENCH_H
#define PIOLET_BENCH_IOT_BENCH_H

#include "bench/iot/iot.h"
#include "lab/runner/lab.h"

struct iot_options {
    struct option_texts set;
    const char *keywords;
    bool overwrite;
    struct iot_spec spec; /* behind `prepare`; no blocks: not read yet */
};

pl_status iot_run_coll(struct lab_run *lab, struct pl_error *error);
pl_status iot_results(const struct analysis_request *request, const struct analysis_input *input, struct result *result,
                      struct pl_error *error);

/* ---- rates: each is defined here, once ---- */

/* A rate of a set is bytes that all ranks moved / time in which at least one was in an operation (analysis_rows.h has
 * both definitions). What differs is which times count, and then the name differs. */
enum iot_rate {
    IOT_WRITE,
    IOT_READ,
    IOT_UPDATE,
    IOT_WRITE_SYNC,  /* with the time until the data were on the device */
    IOT_WRITE_CYCLE, /* start, task and wait of an interleaved test */
    IOT_READ_CYCLE,
    IOT_RATES
};

struct iot_rate_rule {
    const char *series[3]; /* a rank's time is the sum of these series; the first one's operations move the data */
    const char *added;     /* a single time that is added; NULL: none */
    const char *time;      /* of kernels: one single time in their place, of the whole file; NULL: none */
};

extern const struct iot_rate_rule IOT_RATE_RULES[IOT_RATES];
extern const struct quantity_kind IOT_RATE_KINDS[IOT_RATES];

/* Of a set in a block file: NaN where it was not measured or failed. */
pl_status iot_rate_of_set(const struct analysis_chosen *chosen, enum iot_rate rate, struct result_rate *ret_rate,
                          struct pl_error *error);

/* Of the set that was just measured; 0: not measured. On rank 0. */
double iot_rate_coll(const struct iot_run *run, enum iot_rate rate);

#endif
