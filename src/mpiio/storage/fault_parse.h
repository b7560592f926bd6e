/* A fault plan as it is once read. Internal to the fault plan. */
#ifndef PIOLET_MPIIO_STORAGE_FAULT_PARSE_H
#define PIOLET_MPIIO_STORAGE_FAULT_PARSE_H

#include "mpiio/storage/fault.h"

#include <stdint.h>

enum { FAULT_RULES_MAX = 64 };

enum fault_when { FAULT_AT, FAULT_FROM, FAULT_CHANCE };

struct fault_rule {
    int call; /* FAULT_CALL_COUNT: any */
    enum fault_when when;
    int64_t nth;
    double chance;
    int what;
};

struct fault_plan {
    uint64_t seed;
    int count;
    struct fault_rule rules[FAULT_RULES_MAX];
};

/* Takes only what concerns `rank`, but checks all. */
pl_status fault_parse(const char *text, int rank, struct fault_plan *ret_plan, struct pl_error *error);

#endif
