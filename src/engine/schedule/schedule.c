#include "engine/schedule/schedule.h"
#include "base/rng.h"

#include <assert.h>

/* ---- Shuffle ----------------------------------------------------------------------------------------------------- */

enum { TURNS = 4 };

/* A Feistel network: whatever mixes the halves, each turn can be undone, so that the whole is a permutation of the
 * numbers of 2 × half bits. */
static uint64_t schedule_shuffle_permute(uint64_t number, int half, uint64_t seed)
{
    const uint64_t mask = (UINT64_C(1) << half) - 1;
    uint64_t left = number >> half, right = number & mask;
    for (uint64_t turn = 0; turn < TURNS; turn++) {
        const uint64_t mixed = left ^ (rng_at(rng_at(seed, turn), right) & mask);
        left = right;
        right = mixed;
    }
    return left << half | right;
}

int64_t schedule_shuffle(int64_t count, uint64_t seed, int64_t index)
{
    assert(count > 0 && index >= 0 && index < count);
    int half = 1;
    while (half < 32 && (uint64_t)(count - 1) >> (2 * half) != 0)
        half++;
    /* There are less than four times as many numbers as wanted: those beyond lead, in the end, to one that is not. */
    uint64_t number = (uint64_t)index;
    do
        number = schedule_shuffle_permute(number, half, seed);
    while (number >= (uint64_t)count);
    return (int64_t)number;
}

/* ---- The schedule ------------------------------------------------------------------------------------------------ */

static int64_t schedule_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static struct schedule schedule_make(enum schedule_kind kind, const struct access_request *request)
{
    assert(request->position >= 0 && request->bytes >= 0);
    return (struct schedule){.kind = kind,
                             .view = request->view,
                             .position = request->position,
                             .limit = request->position + request->bytes};
}

struct schedule schedule_turn(const struct access_request *request, int64_t turn)
{
    assert(turn >= 0);
    struct schedule schedule = schedule_make(SCHEDULE_TURN, request);
    schedule.turn = turn;
    return schedule;
}

struct schedule schedule_parts(const struct access_request *request, int64_t bytes)
{
    assert(bytes > 0);
    struct schedule schedule = schedule_make(SCHEDULE_PARTS, request);
    schedule.unit_bytes = bytes;
    return schedule;
}

struct schedule schedule_shuffled(const struct access_request *request, int64_t bytes, uint64_t seed)
{
    assert(bytes > 0);
    struct schedule schedule = schedule_make(SCHEDULE_SHUFFLED, request);
    schedule.unit_bytes = bytes;
    schedule.seed = seed;
    return schedule;
}

struct schedule schedule_windows(const struct access_request *request, int devices, int64_t stripe, int64_t window,
                                 int first)
{
    assert(devices > 0 && stripe > 0 && window > 0 && first >= 0 && first < devices);
    struct schedule schedule = schedule_make(SCHEDULE_WINDOWS, request);
    move_domain_cyclic(&schedule.stripes, 0, INT64_MAX, devices, stripe, stripe, true);
    schedule.window_bytes = devices * stripe * (window > stripe ? window / stripe : 1);
    schedule.first_device = first;
    return schedule;
}

/* ---- rounds ---- */

/* Where the data of this rank reach byte round × window_bytes of the file. */
static int64_t window_position(const struct schedule *schedule, int64_t round)
{
    int64_t byte;
    if (__builtin_mul_overflow(round, schedule->window_bytes, &byte))
        return schedule->limit;
    const int64_t position = view_position(schedule->view, byte);
    return position < schedule->position ? schedule->position : schedule_least(position, schedule->limit);
}

static int64_t schedule_next_window(const struct schedule *schedule, int64_t round)
{
    const int64_t position = window_position(schedule, round);
    if (position >= schedule->limit)
        return SCHEDULE_NO_ROUND;
    return view_byte(schedule->view, position) / schedule->window_bytes;
}

int64_t schedule_next_round(const struct schedule *schedule, int64_t round)
{
    assert(round >= 0);
    const int64_t bytes = schedule->limit - schedule->position;
    if (bytes == 0)
        return SCHEDULE_NO_ROUND;
    switch (schedule->kind) {
    case SCHEDULE_TURN:
        return round <= schedule->turn ? schedule->turn : SCHEDULE_NO_ROUND;
    case SCHEDULE_PARTS:
        return round <= (bytes - 1) / schedule->unit_bytes ? round : SCHEDULE_NO_ROUND;
    case SCHEDULE_SHUFFLED:
        return round == 0 ? 0 : SCHEDULE_NO_ROUND;
    case SCHEDULE_WINDOWS:
        return schedule_next_window(schedule, round);
    }
    return SCHEDULE_NO_ROUND;
}

void schedule_enter(struct schedule *schedule, int64_t round)
{
    schedule->index = 0;
    schedule->from = schedule->position;
    schedule->end = schedule->limit;
    if (schedule->kind == SCHEDULE_PARTS) {
        schedule->from += round * schedule->unit_bytes;
        schedule->end = schedule_least(schedule->limit - schedule->from, schedule->unit_bytes) + schedule->from;
    } else if (schedule->kind == SCHEDULE_WINDOWS) {
        schedule->from = window_position(schedule, round);
        schedule->end = window_position(schedule, round + 1);
    }
    assert(schedule->from >= schedule->position && schedule->from <= schedule->end && schedule->end <= schedule->limit);
    schedule->at = schedule->from;
}

/* ---- parts ---- */

/* Units begin at multiples of their size, as pieces of regular views do; the first may be a part of one. */
static bool next_unit(struct schedule *schedule, int64_t *ret_position, int64_t *ret_bytes)
{
    const int64_t unit = schedule->unit_bytes, first = schedule->position / unit;
    const int64_t units = (schedule->limit - 1) / unit - first + 1;
    if (schedule->index >= units)
        return false;
    const int64_t number = first + schedule_shuffle(units, schedule->seed, schedule->index++);
    const int64_t begin = number > first ? number * unit : schedule->position;
    *ret_position = begin;
    *ret_bytes = schedule_least(schedule->limit - begin, unit - begin % unit);
    assert(*ret_bytes > 0 && begin + *ret_bytes <= schedule->limit);
    return true;
}

/* Stripe by stripe of one device, then the next device. */
static bool next_stripe(struct schedule *schedule, int64_t *ret_position, int64_t *ret_bytes)
{
    const struct move_domain *stripes = &schedule->stripes;
    for (; schedule->index < stripes->aggregators; schedule->index++, schedule->at = schedule->from) {
        const int device = (int)((schedule->first_device + schedule->index) % stripes->aggregators);
        const int64_t at = move_domain_next(stripes, schedule->view, device, schedule->at, schedule->end);
        if (at >= schedule->end)
            continue;
        const int64_t row = move_domain_round(stripes, view_byte(schedule->view, at));
        const int64_t behind = view_position(schedule->view, move_window_end(stripes, device, row));
        schedule->at = schedule_least(behind, schedule->end);
        *ret_position = at;
        *ret_bytes = schedule->at - at;
        assert(*ret_bytes > 0);
        return true;
    }
    return false;
}

bool schedule_next_part(struct schedule *schedule, int64_t *ret_position, int64_t *ret_bytes)
{
    if (schedule->kind == SCHEDULE_SHUFFLED)
        return next_unit(schedule, ret_position, ret_bytes);
    if (schedule->kind == SCHEDULE_WINDOWS)
        return next_stripe(schedule, ret_position, ret_bytes);
    if (schedule->at >= schedule->end)
        return false;
    *ret_position = schedule->at;
    *ret_bytes = schedule->end - schedule->at;
    schedule->at = schedule->end;
    return true;
}
