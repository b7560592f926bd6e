/* The machine beside a measurement: how busy others keep it. Read from /proc, before and behind; where that is not
 * there, nothing is known and nothing is said. */
#ifndef PIOLET_LAB_RUNNER_WATCH_H
#define PIOLET_LAB_RUNNER_WATCH_H

#include "base/blockfile.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* What /proc counts up. */
struct watch_counters {
    bool known;
    double seconds;         /* when, CLOCK_MONOTONIC */
    double busy_s, steal_s; /* of all cores together */
    double moved_bytes;     /* by the device of the place */
};

struct watch {
    struct watch_counters begin;
    int cores;
    char device[64]; /* "8:1"; "": not known */
};

/* What was seen since watch_begin(). */
struct watch_report {
    bool known;
    double load;       /* of the last minute, by the kernel */
    double busy_cores; /* that were busy, on average; those of all ranks of this node included */
    double steal;      /* part of the time that the host took away */
    double device_bytes_per_s;
};

void watch_begin(struct watch *watch, const char *path);
struct watch_report watch_look(const struct watch *watch);

/* Facts of a block's head: load and cores; and a warning where others keep the machine busy before anything was begun.
 */
void watch_facts(struct blockfile_writer *writer);
/* A sentence where the machine is too busy to trust what is measured: "load 61 on 2 cores"; false: it is not. */
bool watch_is_busy(struct text *why);

#endif
