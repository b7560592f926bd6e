/* The data that tests write and check: doubles uniform in [0, 1) (IOT-10).
 *
 * All blocks are windows into one pool of random numbers, drawn anew from each set's seed. Where a block's window
 * begins is a hash of its place in the file (and of a salt). So a block costs nothing to prepare, and a block from
 * another place, rank or run does not match: another run has another pool, and another place another window (in 4095
 * cases of 4096; so misplaced data are noticed as soon as a few blocks are concerned). */
#ifndef PIOLET_BENCH_IOT_DATA_H
#define PIOLET_BENCH_IOT_DATA_H

#include "base/status.h"

#include <stddef.h>
#include <stdint.h>

enum iot_check { IOT_CHECK_NONE, IOT_CHECK_SAMPLE, IOT_CHECK_FULL };

struct iot_data {
    double *pool; /* owned */
    uint64_t seed;
};

enum { IOT_DATA_WINDOWS = 4096, IOT_DATA_STEP = 8 /* doubles between windows: a cache line */ };

/* Bytes that iot_data_init() takes. */
int64_t iot_data_memory(int64_t longest_bytes);

pl_status iot_data_init(struct iot_data *data, int64_t longest_bytes, uint64_t seed, struct pl_error *error);
void iot_data_clear(struct iot_data *data);

/* What belongs at byte `offset` of the file. */
const double *iot_data_block(const struct iot_data *data, int64_t offset, uint64_t salt);

/* Reads `got` and compares it with `wanted`: nothing, first, last and one number in every 4 KiB, or all.
 * Returns the index of a wrong number, or -1. */
int64_t iot_data_check(enum iot_check check, const double *wanted, const double *got, int64_t count, uint64_t where);

enum iot_check iot_check_named(const char *name);

/* A pseudo-random order of 0 … n-1 in closed form: no list, every number once, the same for the same seed. */

struct iot_order {
    int64_t count;
    uint64_t seed;
    int half_bits; /* a Feistel network of two halves of so many bits covers [0, count) */
};

struct iot_order iot_order_make(int64_t count, uint64_t seed);

/* The number at place `index` of the order. */
int64_t iot_order_at(const struct iot_order *order, int64_t index);

/* The computation that singleI and multipleI put between start and end of an I/O: matrix times vector. */

struct iot_task {
    int order;       /* n: the matrix is n × n */
    int repetitions; /* products in one task */
    double *matrix;  /* owned, with the vectors behind it */
    double *vector;
    double *product;
    uint64_t round;
};

int64_t iot_task_memory(int order);
pl_status iot_task_init(struct iot_task *task, int order, int repetitions, struct pl_error *error);
void iot_task_clear(struct iot_task *task);

/* Back to the first vector: the same sequence of results follows. */
void iot_task_reset(struct iot_task *task);

/* One task. The result depends on all tasks since the reset; it is the same on every call sequence. */
double iot_task_run(struct iot_task *task);

#endif
