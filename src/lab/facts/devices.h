/* Block devices behind a directory, and what they do while something is measured: the numbers of `iostat -x`, taken
 * from /proc/diskstats at regular times.
 *
 * Where there is no device (memory, network, a FUSE server) that is a fact and no error: the list is empty and says
 * why. No MPI here. */
#ifndef PIOLET_LAB_DEVICES_H
#define PIOLET_LAB_DEVICES_H

#include "base/blockfile.h"
#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DEVICES_MAX = 64, DEVICES_NAME_MAX = 48, DEVICES_WHY_MAX = 200 };

/* ---- which ---- */

struct devices_list {
    char names[DEVICES_MAX][DEVICES_NAME_MAX]; /* the one that holds the file system first, then what is below it */
    int count;
    char why[DEVICES_WHY_MAX]; /* where there are none: "tmpfs: in memory" */
};

/* Partition and whole disk, members of RAID, LVM and btrfs, the device of a loop device's file. */
pl_status devices_behind(const char *directory, struct devices_list *ret_list, struct pl_error *error);

/* Adds a device of `sys` ("/sys") and what it lies on, each once; not beyond a loop device's file. */
void devices_add(struct devices_list *list, const char *sys, const char *name);

/* The folder /sys/fs/btrfs/UUID of the file system that the device belongs to; false: none. */
bool devices_btrfs(const char *sys, const char *name, char *ret_path, size_t capacity);

/* The content of a small file of /sys without its line end; "" where it cannot be read. */
const char *devices_read_text(const char *path, char *text, size_t capacity);

/* ---- counters; pure ---- */

struct devices_counters {
    int64_t reads, read_merges, read_bytes, read_wait_ns;
    int64_t writes, write_merges, written_bytes, write_wait_ns;
    int64_t busy_ns, queue_ns; /* time with a request under way; the same weighted by their number */
};

/* One line of /proc/diskstats; false where it is none. */
bool devices_parse(const char *line, char ret_name[DEVICES_NAME_MAX], struct devices_counters *ret_counters);
/* The line of a device in the whole text; false: it is not there. */
bool devices_parse_text(const char *text, const char *name, struct devices_counters *ret_counters);

/* What was counted between two readings; a counter that ran over at 32 bits goes on. */
struct devices_counters devices_difference(const struct devices_counters *before, const struct devices_counters *after);

/* The columns of `iostat -x`; a mean over no request is 0, as there. */
struct devices_rates {
    double reads_per_s, writes_per_s, read_merges_per_s, write_merges_per_s;
    double read_bytes_per_s, written_bytes_per_s;
    double read_wait_ms, write_wait_ms, wait_ms; /* r_await, w_await, await */
    double read_request_bytes, write_request_bytes;
    double queue_length, busy_percent; /* aqu-sz, %util */
};
struct devices_rates devices_rates(const struct devices_counters *difference, int64_t interval_ns);

/* ---- sampling ---- */

struct devices;

/* Starts a thread that reads the counters now and every `period_ns`. NULL: `error` says why. */
struct devices *devices_start(const char *directory, int64_t period_ns, struct pl_error *error);
/* Takes a last sample and ends the thread; the samples stay. Accepts NULL; a second call does nothing. */
void devices_stop(struct devices *devices);
void devices_free(struct devices *devices); /* stops first; accepts NULL */

const struct devices_list *devices_of(const struct devices *devices);

struct devices_sample {
    int64_t at_ns;                   /* CLOCK_REALTIME at the start, then by a clock that is never set */
    struct devices_counters counted; /* since the sample before */
};
/* Samples of a device, by its place in the list. Call after devices_stop(). */
const struct devices_sample *devices_samples(const struct devices *devices, int device, size_t *ret_count);

/* A set for each device (docs/block-format.md), times since `start_ns` (CLOCK_REALTIME). Call after devices_stop();
 * repetition 0: there is none. */
pl_status devices_write(const struct devices *devices, struct blockfile_writer *writer, int64_t start_ns,
                        int repetition, struct pl_error *error);

#endif
