/* For tests of mapped files: a file on the file system of the build and one in memory (/dev/shm), each with a model of
 * what it must hold. */
#ifndef PIOLET_TESTS_MAPPED_FILE_H
#define PIOLET_TESTS_MAPPED_FILE_H

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/bus_guard.h"
#include "base/rng.h"
#include "engine/fault/fault.h"
#include "engine/storage/storage_map.h"

enum { PLACES = 2 };

static struct pl_error error;
static char path[PLACES][64];
static size_t full_bytes;            /* of a full file; model and found have room for twice as much */
static unsigned char *model, *found; /* what must be there, and what was read */

static inline int mapped_set_up(const char *name, size_t bytes)
{
    snprintf(path[0], sizeof path[0], "%s.%d.tmp", name, (int)getpid());
    snprintf(path[1], sizeof path[1], "/dev/shm/%s.%d.tmp", name, (int)getpid());
    full_bytes = bytes;
    model = calloc(2, bytes);
    found = calloc(2, bytes);
    return model && found ? 0 : -1;
}

static inline int clean_up(void **state)
{
    (void)state;
    unlink(path[0]);
    unlink(path[1]);
    return fault_plan_load(NULL, 0, &error);
}

static inline int tear_down(void **state)
{
    free(model);
    free(found);
    return clean_up(state);
}

static inline void fine(pl_status status)
{
    if (status != PL_OK)
        fail_msg("%s", error.text);
}

/* cmocka sets a handler of its own at the beginning of each test: ours takes the place that it had. */
static inline void renew_guard(void)
{
    static struct sigaction ours;
    if (ours.sa_sigaction)
        sigaction(SIGBUS, &ours, NULL);
    assert_true(bus_guard_ready());
    sigaction(SIGBUS, NULL, &ours);
}

static inline struct storage *open_at(int where, int flags)
{
    renew_guard();
    struct storage *storage = NULL;
    fine(storage_open(path[where], flags, 0644, &storage, &error));
    storage_map_allow(storage, 64 << 20);
    return storage;
}

/* A file full of random bytes, the same in `model`; NULL: this file system is none that is mapped. */
static inline struct storage *open_full(int where)
{
    struct storage *storage = open_at(where, O_RDWR | O_CREAT | O_TRUNC);
    if (storage_map_reach(storage, true) == 0) {
        print_message("'%s' is not mapped\n", path[where]);
        storage_close(storage, &error);
        return NULL;
    }
    memset(model, 0, 2 * full_bytes);
    for (size_t i = 0; i < full_bytes; i += 8) {
        const uint64_t word = rng_at(7, i);
        memcpy(model + i, &word, 8);
    }
    fine(storage_write(storage, 0, model, (int64_t)full_bytes, NULL, &error));
    return storage;
}

static inline void assert_model(struct storage *storage, int64_t bytes)
{
    int64_t there = 0;
    fine(storage_read(storage, 0, found, bytes + 1, &there, &error));
    assert_int_equal(there, bytes);
    if (memcmp(found, model, (size_t)bytes) != 0)
        fail_msg("the file has other bytes");
}

#endif
