/* The pure parts of b_eff_io: the document's table, where calls go, how long patterns take, and what is averaged. */
#include "bench/beffio/beffio.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Type, chunk, chunks of a call, time units; the place in this list is the pattern's number. */
const struct beffio_pattern BEFFIO_TABLE[BEFFIO_PATTERNS_ALL] = {
    {0, BEFFIO_MB1, 1, 0},
    {0, BEFFIO_MPART, 1, 4},
    {0, BEFFIO_MB1, 2, 4},
    {0, BEFFIO_MB1, 1, 4},
    {0, BEFFIO_KB32, 32, 2},
    {0, BEFFIO_KB1, 1024, 2},
    {0, BEFFIO_KB32_8, 32, 2},
    {0, BEFFIO_KB1_8, 1024, 2},
    {0, BEFFIO_MB1_8, 1, 2},
    {1, BEFFIO_MB1, 1, 0},
    {1, BEFFIO_MPART, 1, 4},
    {1, BEFFIO_MB1, 1, 2},
    {1, BEFFIO_KB32, 1, 1},
    {1, BEFFIO_KB1, 1, 1},
    {1, BEFFIO_KB32_8, 1, 1},
    {1, BEFFIO_KB1_8, 1, 1},
    {1, BEFFIO_MB1_8, 1, 2},
    {2, BEFFIO_MB1, 1, 0},
    {2, BEFFIO_MPART, 1, 2},
    {2, BEFFIO_MB1, 1, 2},
    {2, BEFFIO_KB32, 1, 1},
    {2, BEFFIO_KB1, 1, 1},
    {2, BEFFIO_KB32_8, 1, 1},
    {2, BEFFIO_KB1_8, 1, 1},
    {2, BEFFIO_MB1_8, 1, 2},
    {3, BEFFIO_MB1, 1, 0},
    {3, BEFFIO_MPART, 1, 2},
    {3, BEFFIO_MB1, 1, 2},
    {3, BEFFIO_KB32, 1, 1},
    {3, BEFFIO_KB1, 1, 1},
    {3, BEFFIO_KB32_8, 1, 1},
    {3, BEFFIO_KB1_8, 1, 1},
    {3, BEFFIO_MB1_8, 1, 2},
    {3, BEFFIO_FILL, 1, 0},
    {4, BEFFIO_MB1, 1, 0},
    {4, BEFFIO_MPART, 1, 2},
    {4, BEFFIO_MB1, 1, 2},
    {4, BEFFIO_KB32, 1, 1},
    {4, BEFFIO_KB1, 1, 1},
    {4, BEFFIO_KB32_8, 1, 1},
    {4, BEFFIO_KB1_8, 1, 1},
    {4, BEFFIO_MB1_8, 1, 2},
    {4, BEFFIO_FILL, 1, 0},
    /* not in the table: the document's future work, measured on request and outside of the average */
    {5, BEFFIO_MB1, 1, 0},
    {5, BEFFIO_MPART, 1, 2},
    {5, BEFFIO_MB1, 1, 2},
    {5, BEFFIO_KB32, 1, 1},
    {5, BEFFIO_KB1, 1, 1},
    {5, BEFFIO_KB32_8, 1, 1},
    {5, BEFFIO_KB1_8, 1, 1},
    {5, BEFFIO_MB1_8, 1, 2},
};

static const int64_t KB = 1024, MB = 1024 * 1024;

int64_t beffio_mpart(int64_t node_memory_bytes, enum beffio_release release)
{
    const int64_t part = node_memory_bytes / 128 / 8 * 8;
    if (release == BEFFIO_RELEASE_2_1 && part > 1024 * MB)
        return 1024 * MB;
    return part > 2 * MB ? part : 2 * MB;
}

int64_t beffio_chunk_bytes(enum beffio_chunk chunk, int64_t mpart_bytes)
{
    switch (chunk) {
    case BEFFIO_KB1:
        return KB;
    case BEFFIO_KB1_8:
        return KB + 8;
    case BEFFIO_KB32:
        return 32 * KB;
    case BEFFIO_KB32_8:
        return 32 * KB + 8;
    case BEFFIO_MB1:
        return MB;
    case BEFFIO_MB1_8:
        return MB + 8;
    case BEFFIO_MPART:
        return mpart_bytes;
    default:
        return 0;
    }
}

int64_t beffio_call_bytes(int pattern, int64_t mpart_bytes)
{
    assert(pattern >= 0 && pattern < BEFFIO_PATTERNS_ALL);
    return BEFFIO_TABLE[pattern].chunks * beffio_chunk_bytes(BEFFIO_TABLE[pattern].chunk, mpart_bytes);
}

int beffio_type_first(int type)
{
    int pattern = 0;
    while (pattern < BEFFIO_PATTERNS_ALL && BEFFIO_TABLE[pattern].type < type)
        pattern++;
    return pattern;
}

int beffio_type_end(int type)
{
    return beffio_type_first(type + 1);
}

int beffio_counterpart(int type, enum beffio_chunk chunk)
{
    int found = -1;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_pattern *pattern = &BEFFIO_TABLE[p];
        const bool same_length = pattern->chunks == 1 || chunk < BEFFIO_MB1;
        if (pattern->chunk == chunk && pattern->units > 0 && same_length)
            found = p;
    }
    assert(found >= 0);
    return found;
}

bool beffio_is_planned(int type)
{
    return type >= 3;
}

bool beffio_is_collective(int type)
{
    return type == 0 || type == 1 || type == 4;
}

const char *beffio_method_name(enum beffio_method method)
{
    static const char *const names[BEFFIO_METHODS] = {"write", "rewrite", "read"};
    return names[method];
}

const char *beffio_type_name(int type)
{
    static const char *const names[BEFFIO_TYPES_ALL] = {
        "strided, collective, scattering", "strided, collective, shared pointer",
        "separate files, non-collective",  "segmented, non-collective",
        "segmented, collective",           "random, non-collective (not averaged)"};
    return names[type];
}

const char *beffio_chunk_name(enum beffio_chunk chunk)
{
    static const char *const names[] = {"1k", "1k+8", "32k", "32k+8", "1M", "1M+8", "M_PART", "fill"};
    return names[chunk];
}

/* ---- layout ---- */

/* Type 1's calls wait for each other, so release 2.1 takes ten times as many of them, but never more than type 2 made.
 */
static int64_t beffio_repeats_2_1(const struct beffio_measured *measured, enum beffio_chunk chunk, int64_t mpart_bytes)
{
    int64_t least = INT64_MAX;
    for (int type = 0; type < 3; type++) {
        const int64_t bytes = measured->process_bytes[beffio_counterpart(type, chunk)];
        const int64_t repeats = bytes / beffio_chunk_bytes(chunk, mpart_bytes) * (type == 1 ? 10 : 1);
        if (bytes >= 0 && repeats < least)
            least = repeats;
    }
    return least == INT64_MAX || least < 1 ? 1 : least;
}

int64_t beffio_repeats(const struct beffio_measured *measured, enum beffio_chunk chunk, int64_t mpart_bytes)
{
    int64_t sum = 0, types = 0;
    if (measured->release == BEFFIO_RELEASE_2_1)
        return beffio_repeats_2_1(measured, chunk, mpart_bytes);
    for (int type = 0; type < 3; type++) {
        const int64_t bytes = measured->process_bytes[beffio_counterpart(type, chunk)];
        if (bytes < 0)
            continue;
        sum += bytes;
        types++;
    }
    const int64_t repeats = types ? sum / types / beffio_chunk_bytes(chunk, mpart_bytes) : 1;
    return repeats > 1 ? repeats : 1;
}

void beffio_layout_plan(struct beffio_layout *layout, int type, int nprocs, int64_t mpart_bytes,
                        const struct beffio_measured *measured)
{
    memset(layout, 0, sizeof *layout);
    *layout = (struct beffio_layout){.type = type, .nprocs = nprocs, .mpart_bytes = mpart_bytes};
    if (!beffio_is_planned(type))
        return;
    int64_t sum = 0;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_pattern *pattern = &BEFFIO_TABLE[p];
        if (pattern->chunk == BEFFIO_FILL)
            continue;
        layout->calls[p] = pattern->units ? beffio_repeats(measured, pattern->chunk, mpart_bytes) : 1;
        sum += layout->calls[p] * beffio_chunk_bytes(pattern->chunk, mpart_bytes);
    }
    if (type == BEFFIO_RANDOM)
        return;
    layout->segment_bytes = (sum + MB - 1) / MB * MB;
    layout->fill_bytes = layout->segment_bytes - sum;
    layout->calls[beffio_type_end(type) - 1] = layout->fill_bytes > 0;
    assert(layout->fill_bytes >= 0 && layout->fill_bytes < MB && layout->fill_bytes % 8 == 0);
}

int64_t beffio_layout_call_bytes(const struct beffio_layout *layout, int pattern)
{
    return BEFFIO_TABLE[pattern].chunk == BEFFIO_FILL ? layout->fill_bytes
                                                      : beffio_call_bytes(pattern, layout->mpart_bytes);
}

/* Processes whose chunks lie in one region. */
static int64_t beffio_sharers(const struct beffio_layout *layout)
{
    return layout->type == 0 || layout->type == 1 || layout->type == BEFFIO_RANDOM ? layout->nprocs : 1;
}

int64_t beffio_layout_start(const struct beffio_layout *layout, int pattern)
{
    int64_t start = 0;
    for (int p = beffio_type_first(layout->type); p < pattern; p++)
        start += layout->calls[p] * beffio_layout_call_bytes(layout, p) * beffio_sharers(layout);
    return start;
}

int64_t beffio_layout_offset(const struct beffio_layout *layout, int pattern, int rank, int64_t index)
{
    const int64_t call_bytes = beffio_layout_call_bytes(layout, pattern);
    const int64_t start = beffio_layout_start(layout, pattern);
    if (layout->type == 0) /* a call's chunks lie n chunks apart: its first one is behind those of the lower ranks */
        return start + index * call_bytes * layout->nprocs + rank * (call_bytes / BEFFIO_TABLE[pattern].chunks);
    if (beffio_sharers(layout) > 1)
        return start + (index * layout->nprocs + rank) * call_bytes;
    return start + rank * layout->segment_bytes + index * call_bytes;
}

int64_t beffio_layout_total(const struct beffio_layout *layout)
{
    int64_t sum = 0;
    for (int p = beffio_type_first(layout->type); p < beffio_type_end(layout->type); p++)
        sum += layout->calls[p] * beffio_layout_call_bytes(layout, p) * layout->nprocs;
    return sum;
}

/* ---- schedule ---- */

double beffio_pattern_s(int pattern, double time_s)
{
    return time_s / 3 * BEFFIO_TABLE[pattern].units / BEFFIO_UNITS;
}

static int64_t beffio_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Calls between two decisions last so many times as long as one: with one call before the first of two or more
 * decisions, they still take less than a tenth in all. */
enum { DECISION_FACTOR = 20 };

/* One call, unless a pattern that was measured before tells that it is too short beside the decision. */
static int64_t beffio_first_batch(const struct beffio_loop_plan *plan, const struct beffio_state *state)
{
    if (plan->expected_s <= 0)
        return 1;
    const double most_s = fmin(plan->limit_s, plan->pace_s) / 16; /* it may last ten times as long as expected */
    const double calls = fmin(DECISION_FACTOR * state->decision_s, most_s) / plan->expected_s;
    return calls < 1 ? 1 : (int64_t)fmin(calls, 1e15);
}

int64_t beffio_next_batch(const struct beffio_loop_plan *plan, const struct beffio_state *state)
{
    enum { GROWTH = 4, PARTS = 4, LAST = 20 };
    const int64_t room = plan->most_calls - state->calls;
    const double limit_s = plan->each_call ? INFINITY : plan->limit_s;
    assert(room >= 0 && (state->calls == 0 || state->batch > 0));
    if (state->calls == 0)
        return beffio_smaller(beffio_first_batch(plan, state), room);
    /* the slower of the whole loop and of its last batch: a cache that has filled up shows in the latter */
    const double mean_s = (state->elapsed_s - state->spent_s) / (double)state->calls;
    const double call_s = fmax(fmax(mean_s, state->batch_s / (double)state->batch), 1e-9);
    if (room <= 0 || state->elapsed_s + call_s / 2 >= limit_s) /* as near to the limit as whole calls allow */
        return 0;
    const double left = fmin((limit_s - state->elapsed_s) / call_s, 1e18);
    const double quarter = fmin(left, fmin(plan->pace_s / call_s, 1e18)) / PARTS;
    double calls = fmin((double)state->batch * GROWTH, quarter);
    /* even where that is more than a quarter; and a rest that is too short for a decision of its own is taken along */
    const double least = DECISION_FACTOR * state->decision_s / call_s;
    calls = fmax(calls, fmin(ceil(least), left));
    if (left - calls < least || (left * call_s <= limit_s / LAST && isfinite(limit_s)))
        calls = round(left); /* the end is met as near as whole calls allow */
    /* a region that surely ends before its time needs no decision any more */
    if ((double)room * call_s <= fmin(limit_s - state->elapsed_s, plan->pace_s) / 2)
        return room;
    return beffio_smaller(calls < 1 ? 1 : (int64_t)calls, room);
}

int64_t beffio_calls_in_space(int64_t calls, int64_t bytes, int64_t free_bytes)
{
    const int64_t reserve = (INT64_C(4) << 20) + free_bytes / 100;
    const int64_t fit = free_bytes > reserve && bytes > 0 ? (free_bytes - reserve) / bytes : 0;
    return bytes == 0 ? calls : beffio_smaller(calls, fit);
}

/* ---- values ---- */

double beffio_method_value(const double type[BEFFIO_TYPES])
{
    double sum = type[0];
    for (int t = 0; t < BEFFIO_TYPES; t++)
        sum += type[t];
    return sum / (BEFFIO_TYPES + 1);
}

double beffio_rewrite_value(const struct beffio_rates *rates, bool order_2_0)
{
    return order_2_0 ? rates->type[BEFFIO_REWRITE][0] : beffio_method_value(rates->type[BEFFIO_REWRITE]);
}

double beffio_partition_value(const struct beffio_rates *rates, bool order_2_0)
{
    return 0.25 * beffio_method_value(rates->type[BEFFIO_WRITE]) + 0.25 * beffio_rewrite_value(rates, order_2_0) +
           0.5 * beffio_method_value(rates->type[BEFFIO_READ]);
}

double beffio_value_2_1(const struct beffio_rates *rates, const double read[BEFFIO_TYPES])
{
    double writes = rates->type[BEFFIO_REWRITE][0];
    for (int t = 0; t < BEFFIO_TYPES; t++)
        writes += rates->type[BEFFIO_WRITE][t];
    return sqrt(writes / 6 * beffio_method_value(read));
}

double beffio_cache_share(double bytes, double cache_bytes)
{
    return bytes > cache_bytes ? cache_bytes / bytes : 1;
}

double beffio_coffee_minutes(double memory_bytes, double mb_per_s)
{
    return mb_per_s > 0 ? memory_bytes / (mb_per_s * 1e6) / 60 : NAN;
}
