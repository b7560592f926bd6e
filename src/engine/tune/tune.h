/* Tuning: what the choice between ways of collective access is made of. First from what is known before a call (the
 * thresholds), then from what earlier calls of the file took (the records). Pure: no clock, no storage.
 *
 * A rank by itself copies small pieces through a map of the file, which is quick only where that is made already
 * (storage_map.h). So it counts as a way of its own, and where all ranks come to places they have been to before, calls
 * go the direct way so that the next ones may take it. */
#ifndef PIOLET_ENGINE_TUNE_TUNE_H
#define PIOLET_ENGINE_TUNE_TUNE_H

#include "engine/storage/storage_map.h"

#include <stddef.h>
#include <stdint.h>

enum {
    TUNE_LARGE_BYTES = 131072,      /* pieces of so many bytes reach the file at full speed by themselves; */
    TUNE_DIRECT_READ_BYTES = 32768, /* those that are read do so from here on, where the file lies in memory: a block is
                                     * copied twice; */
    TUNE_SMALL_BYTES = 4096,        /* smaller ones than these do so only through a map of it */
    TUNE_SPARSE = 64,               /* where fewer than one byte in so many is wanted, whole blocks are a waste */
    TUNE_CLASSES = 12,
};

enum tune_way {
    TUNE_AGGREGATE, /* through the blocks of aggregators */
    TUNE_DIRECT,    /* each rank for itself, */
    TUNE_HELD,      /* and all parts of the file that they want are mapped already */
    TUNE_WAYS,
};
struct tune_record {
    int64_t calls;
    int64_t tried[TUNE_WAYS];
    int64_t spent;          /* calls that went the direct way so that later ones find the file mapped */
    double cost[TUNE_WAYS]; /* nanoseconds for a byte */
};

/* Calls that differ much in size say little of each other: the class of a call's bytes, of those within a factor of 4.
 */
int tune_class(int64_t bytes);

/* How a call went: nanoseconds for a byte. */
void tune_note(struct tune_record *record, enum tune_way way, double cost);

/* Which way the next call goes, where the rank that knows the file least knows it so. direct_first: before anything was
 * tried, the direct way is likely the better one. */
enum tune_way tune_choose(struct tune_record *record, enum storage_ground ground, bool direct_first);

/* What was learned, for a user; "" where nothing is decided yet. `class`: of the last call. */
void tune_explain(const struct tune_record records[TUNE_CLASSES], int class, char *ret_text, size_t bytes);

#endif
