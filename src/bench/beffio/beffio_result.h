/* One measured pattern, and its way into a block file and back: a set for each. No MPI. */
#ifndef PIOLET_BENCH_BEFFIO_RESULT_H
#define PIOLET_BENCH_BEFFIO_RESULT_H

#include "base/blockfile.h"
#include "bench/beffio/beffio_layout.h"
#include "bench/beffio/beffio_value.h"

#define BEFFIO_CLASS "beffio"
#define BEFFIO_TEST  "b_eff_io"

/* Plain numbers: rank 0 sends it to the others as it is. */
struct beffio_result {
    int32_t path;      /* of the run, from 0 */
    int32_t partition; /* its processes */
    int32_t method, pattern;
    int32_t failed;
    int32_t decisions;
    int64_t chunk_bytes, call_bytes; /* l, L */
    int64_t calls;                   /* of each process */
    int64_t planned;                 /* calls of the region; 0: open */
    int64_t bytes;                   /* of all processes */
    int64_t start_bytes;             /* of the region */
    int64_t segment_bytes;           /* types 3 and 4 */
    int64_t scheduled_ns;
    int64_t time_ns;     /* loop and sync, of the slowest process */
    int64_t sync_ns;     /* part of time_ns */
    int64_t decide_ns;   /* cost of the decisions to go on, part of time_ns */
    int64_t open_ns;     /* of the file, in a type's first pattern */
    int64_t position_ns; /* view or pointer */
    int64_t close_ns;    /* in a type's last pattern */
};

/* The numbers of a result by name, as they stand in block files and exports. `field` < BEFFIO_FIELDS. */
enum { BEFFIO_FIELDS = 14 };
const char *beffio_field_name(int field);
int64_t beffio_field(const struct beffio_result *result, int field);

void beffio_result_write(const struct beffio_result *result, struct blockfile_writer *writer);
/* False: not a set of ours. */
bool beffio_result_read(const struct blockfile_set *set, int path, struct beffio_result *ret_result);

/* A growing list. {0} is empty. */
struct beffio_results {
    struct beffio_result *list; /* owned */
    size_t count;
};

bool beffio_results_add(struct beffio_results *results, const struct beffio_result *result); /* false: no memory */
void beffio_results_clear(struct beffio_results *results);
/* The last one, so that what was measured again counts; NULL: none. */
const struct beffio_result *beffio_results_find(const struct beffio_results *results, int path, int partition,
                                                enum beffio_method method, int pattern);

/* The sets of all blocks of one run. */
bool beffio_results_load(struct beffio_results *results, const struct blockfile *file, const char *run);

/* Whether a pattern of the type failed in this method; then the type has no value in it. */
bool beffio_type_failed(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                        int type);

/* Bytes and time from open to close of a type; false where a pattern is missing or failed. */
bool beffio_type_total(const struct beffio_results *results, int path, int partition, enum beffio_method method,
                       int type, double *ret_bytes, double *ret_s);

/* The rates of all types: MB/s, NAN where not measured. */
void beffio_rates_of(const struct beffio_results *results, int path, int partition, struct beffio_rates *ret_rates);

/* Bytes of a process in the initial write of types 0 to 2. */
void beffio_measured_of(const struct beffio_results *results, int path, int partition,
                        struct beffio_measured *ret_measured);

#endif
