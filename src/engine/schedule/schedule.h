/* Data block scheduling: which of a rank's data are accessed when, where each rank accesses the file itself. A schedule
 * has rounds, which all ranks go through together: one begins when all have finished the one before. Rounds in which
 * nobody has anything are left out, so that their numbers may be as large as the file. Pure, and small whatever the
 * size of the request. */
#ifndef PIOLET_ENGINE_SCHEDULE_SCHEDULE_H
#define PIOLET_ENGINE_SCHEDULE_SCHEDULE_H

#include "engine/access/access.h"
#include "engine/move/move.h"

#include <stdbool.h>
#include <stdint.h>

static const int64_t SCHEDULE_NO_ROUND = INT64_MAX; /* nothing more from this rank */

enum schedule_kind { SCHEDULE_TURN, SCHEDULE_PARTS, SCHEDULE_SHUFFLED, SCHEDULE_WINDOWS };

struct schedule {
    enum schedule_kind kind;
    const struct view *view;
    int64_t position, limit; /* of the request's data */
    int64_t turn;            /* SCHEDULE_TURN: the round that is this rank's own */
    int64_t unit_bytes;      /* SCHEDULE_PARTS: data of a round; SCHEDULE_SHUFFLED: data that are accessed as one */
    uint64_t seed;
    struct move_domain stripes; /* SCHEDULE_WINDOWS: which bytes lie on which device */
    int64_t window_bytes;       /* of the file, in all windows of a round together */
    int first_device;           /* where this rank begins in each round */
    /* where it is: in the round's data from `from` to `end` */
    int64_t index, from, at, end;
};

/* Everything at once, in round `turn`: ranks whose turns are equal access the file together. */
struct schedule schedule_turn(const struct access_request *request, int64_t turn);
/* `bytes` of the rank's data in each round. */
struct schedule schedule_parts(const struct access_request *request, int64_t bytes);
/* Everything in one round, in units of `bytes` in an order that `seed` decides. */
struct schedule schedule_shuffled(const struct access_request *request, int64_t bytes, uint64_t seed);
/* What lies in windows of `window` bytes (rounded down to stripes, one at least), one for each device, that slide over
 * the file together. Stripes of `stripe` bytes are on the devices in turn; the rank begins with device `first`. */
struct schedule schedule_windows(const struct access_request *request, int devices, int64_t stripe, int64_t window,
                                 int first);

/* The first round at or behind `round` in which the rank has something. */
int64_t schedule_next_round(const struct schedule *schedule, int64_t round);

/* The parts of a round, one after the other: positions of the view's data. Every byte of the request is in one part of
 * one round. */
void schedule_enter(struct schedule *schedule, int64_t round);
bool schedule_next_part(struct schedule *schedule, int64_t *ret_position, int64_t *ret_bytes);

/* ---- shuffle ---- */
/* An order of numbers that looks random and needs no list. Pure. */

/* A permutation of 0 … count - 1 that `seed` decides: the number at place `index`. count > 0. */
int64_t schedule_shuffle(int64_t count, uint64_t seed, int64_t index);

#endif
