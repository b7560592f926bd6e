/* Sets of ranks: few ranges for the usual ones, any set exactly. */
#include "model/model_formula.h"

#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

void model_ranks_clear(struct model_ranks *ranks)
{
    free(ranks->ranges);
    *ranks = (struct model_ranks){0};
}

static bool add_range(struct model_ranks *ranks, struct model_range range)
{
    if (!ranks->ranges || ranks->count == ranks->capacity) {
        const size_t capacity = ranks->capacity ? 2 * ranks->capacity : 1;
        struct model_range *ranges = realloc(ranks->ranges, capacity * sizeof *ranges);
        if (!ranges)
            return false;
        ranks->ranges = ranges;
        ranks->capacity = capacity;
    }
    ranks->ranges[ranks->count++] = range;
    return true;
}

bool model_ranks_add(struct model_ranks *ranks, int64_t rank)
{
    struct model_range *last = ranks->count ? &ranks->ranges[ranks->count - 1] : NULL;
    if (last && last->first == last->last) { /* two make a step that others may follow */
        last->step = rank - last->last;
        last->last = rank;
        return true;
    }
    if (last && rank == last->last + last->step) {
        last->last = rank;
        return true;
    }
    return add_range(ranks, (struct model_range){rank, rank, 1});
}

static bool range_has(const struct model_range *range, int64_t rank)
{
    return rank >= range->first && rank <= range->last && (rank - range->first) % range->step == 0;
}

bool model_ranks_has(const struct model_ranks *ranks, int64_t rank)
{
    size_t low = 0, high = ranks->count; /* ranges are sorted and do not overlap */
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranks->ranges[middle].last < rank)
            low = middle + 1;
        else
            high = middle;
    }
    return low < ranks->count && range_has(&ranks->ranges[low], rank);
}

int64_t model_ranks_total(const struct model_ranks *ranks)
{
    int64_t total = 0;
    for (size_t i = 0; i < ranks->count; i++)
        total += (ranks->ranges[i].last - ranks->ranges[i].first) / ranks->ranges[i].step + 1;
    return total;
}

int64_t model_ranks_next(const struct model_ranks *ranks, int64_t rank)
{
    size_t low = 0, high = ranks->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (ranks->ranges[middle].last <= rank)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == ranks->count)
        return -1;
    const struct model_range *range = &ranks->ranges[low];
    return rank < range->first ? range->first : rank + range->step - (rank - range->first) % range->step;
}

static bool take_number(const char **text, int64_t *ret_value)
{
    char *end;
    if (!isdigit((unsigned char)**text))
        return false;
    errno = 0;
    const long long value = strtoll(*text, &end, 10);
    *ret_value = value;
    *text = end;
    return errno == 0 && value <= INT32_MAX;
}

static bool take_range(const char **text, struct model_range *range)
{
    range->step = 1;
    if (!take_number(text, &range->first))
        return false;
    range->last = range->first;
    if (**text != '-')
        return true;
    ++*text;
    if (!take_number(text, &range->last) || range->last < range->first)
        return false;
    if (**text != '/')
        return true;
    ++*text;
    return take_number(text, &range->step) && range->step > 0 && (range->last - range->first) % range->step == 0;
}

pl_status model_ranks_parse(const char *text, struct model_ranks *ret_ranks, const char **ret_end,
                            struct pl_error *error)
{
    struct model_ranks ranks = {0};
    struct model_range range;
    pl_status status = PL_OK;
    for (bool more = true; more && status == PL_OK;) {
        const char *const begin = text;
        if (!take_range(&text, &range) || (ranks.count && range.first <= ranks.ranges[ranks.count - 1].last))
            status = pl_fail(error, PL_E_FORMAT,
                             "'%.20s' is no range of ranks (FIRST, FIRST-LAST or FIRST-LAST/STEP, ascending)", begin);
        else if (!add_range(&ranks, range))
            status = pl_fail(error, PL_E_NOMEM, "not enough memory for a set of ranks");
        more = *text == ',';
        text += more;
    }
    if (status != PL_OK) {
        model_ranks_clear(&ranks);
        return status;
    }
    *ret_ranks = ranks;
    *ret_end = text;
    return PL_OK;
}

static void write_range(const struct model_range *range, struct text *text)
{
    if (range->first == range->last)
        text_format(text, "%" PRId64, range->first);
    else if (range->step == 1)
        text_format(text, "%" PRId64 "-%" PRId64, range->first, range->last);
    else if (range->last == range->first + range->step)
        text_format(text, "%" PRId64 ",%" PRId64, range->first, range->last);
    else
        text_format(text, "%" PRId64 "-%" PRId64 "/%" PRId64, range->first, range->last, range->step);
}

void model_ranks_write(const struct model_ranks *ranks, struct text *text)
{
    for (size_t i = 0; i < ranks->count; i++) {
        if (i > 0)
            text_add(text, ",");
        write_range(&ranks->ranges[i], text);
    }
}
