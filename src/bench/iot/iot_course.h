/* The course of a test: steps in a row, each started together, timed, and agreed upon by all ranks.
 *
 * After a step that failed on any rank the course goes straight to the steps that close what was opened. So no rank
 * ever waits for one that has left. */
#ifndef PIOLET_BENCH_IOT_COURSE_H
#define PIOLET_BENCH_IOT_COURSE_H

#include "bench/iot/iot.h"

/* Does one thing for `test`, the test's own state. May call collectives: every rank that takes part is in the same
 * step. */
typedef pl_status iot_step(void *test, struct pl_error *error);

enum {
    IOT_WRITES = 1,     /* only where the set writes */
    IOT_READS = 2,      /* only where it reads */
    IOT_OPENS = 4,      /* what the IOT_CLOSES steps undo */
    IOT_CLOSES = 8,     /* also after a failure, once the IOT_OPENS step has succeeded */
    IOT_ALONE = 16,     /* rank 0 alone; the others sleep until it is done */
    IOT_EVERYWHERE = 32 /* with IOT_ALONE: the others too, but not measured */
};

struct iot_course {
    iot_step *step;  /* NULL: nothing to do */
    const char *key; /* its time goes into the results under this name; NULL: not */
    int when;
};

/* Runs `count` steps. All ranks return alike. */
pl_status iot_course_coll(struct iot_run *run, const struct iot_course *course, size_t count, void *test,
                          struct pl_error *error, struct coll_verdict *ret_verdict);

#endif
