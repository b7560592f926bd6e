#include "measure/analysis_select.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool parse_rank(const char **text, int *ret_rank)
{
    if (**text < '0' || **text > '9')
        return false;
    char *end;
    const long value = strtol(*text, &end, 10);
    if (value > INT_MAX)
        return false;
    *text = end;
    *ret_rank = (int)value;
    return true;
}

bool analysis_ranks_parse(const char *list, struct analysis_ranks *ret_ranks)
{
    struct analysis_ranks ranks = {0};
    const char *at = list;
    for (;;) {
        int first, last;
        if (ranks.count == sizeof ranks.ranges / sizeof ranks.ranges[0] || !parse_rank(&at, &first))
            return false;
        last = first;
        if (*at == '-' && (at++, !parse_rank(&at, &last) || last < first))
            return false;
        ranks.ranges[ranks.count].first = first;
        ranks.ranges[ranks.count++].last = last;
        if (*at == '\0')
            break;
        if (*at++ != ',')
            return false;
    }
    *ret_ranks = ranks;
    return true;
}

bool analysis_ranks_hold(const struct analysis_ranks *ranks, int rank)
{
    for (size_t i = 0; i < ranks->count; i++)
        if (rank >= ranks->ranges[i].first && rank <= ranks->ranges[i].last)
            return true;
    return ranks->count == 0;
}

/* The set behind the chosen one, of any block of any file; {0} gives the first. */
static bool next_set(const struct analysis_input *input, struct analysis_chosen *chosen)
{
    int64_t number = 0;
    bool behind = chosen->set == NULL;
    for (size_t f = 0; f < input->file_count; f++) {
        struct blockfile *file = &input->files[f];
        for (size_t b = 0; b < file->block_count; b++) {
            const struct blockfile_block *block = &file->blocks[b];
            number++;
            if (!behind && number < chosen->block_number)
                continue;
            const size_t first = behind ? 0 : (size_t)(chosen->set - block->sets) + 1;
            behind = true;
            if (first < block->set_count) {
                *chosen = (struct analysis_chosen){file, block, number, &block->sets[first]};
                return true;
            }
        }
    }
    return false;
}

bool analysis_next(const struct analysis_request *request, const struct analysis_input *input,
                   struct analysis_chosen *chosen)
{
    while (next_set(input, chosen))
        if ((!request->block || chosen->block_number == request->block) &&
            (!request->test || strcmp(chosen->block->testname, request->test) == 0) &&
            (!request->set || chosen->set->number == request->set))
            return true;
    return false;
}

bool analysis_is_kernel(const struct blockfile_block *block)
{
    return strcasecmp(block->class_name, "Kernel") == 0;
}

bool analysis_is_times(const struct blockfile_series *series)
{
    static const char *const samples[] = {"at", "busy", "queue", "read_wait", "write_wait"}; /* of devices */
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        if (strcmp(series->key, samples[i]) == 0)
            return false;
    return strcmp(series->unit, "ns") == 0;
}

bool analysis_moves_data(const char *key)
{
    static const char *const others[] = {"t", "wI", "wtI", "wwI", "rI", "rtI", "rwI", "b"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return true;
}

static bool series_seen_before(const struct blockfile_set *set, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(set->series[i].key, set->series[index].key) == 0)
            return true;
    return false;
}

static bool time_seen_before(const struct blockfile_set *set, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(set->times[i].key, set->times[index].key) == 0)
            return true;
    return false;
}

/* What has hundreds of series has them for hundreds of ranks: the first few name all operations. */
enum { DESCRIBED = 256 };

static void describe_series(const struct blockfile_set *set, int *low, int *high, FILE *stream)
{
    const char *before = "operations ";
    for (size_t i = 0; i < set->series_count; i++) {
        const struct blockfile_series *series = &set->series[i];
        *low = series->rank < *low ? series->rank : *low;
        *high = series->rank > *high ? series->rank : *high;
        if (i >= DESCRIBED || !analysis_is_times(series) || series_seen_before(set, i))
            continue;
        fprintf(stream, "%s%s", before, series->key);
        if (series->count)
            fprintf(stream, " (0-%" PRId64 ")", series->count - 1);
        before = ", ";
    }
}

/* Single times are all that most kernels have. */
static void describe_times(const struct blockfile_set *set, int *low, int *high, FILE *stream)
{
    const char *before = "times ";
    for (size_t i = 0; i < set->time_count; i++) {
        *low = set->times[i].rank < *low ? set->times[i].rank : *low;
        *high = set->times[i].rank > *high ? set->times[i].rank : *high;
        if (i >= DESCRIBED || time_seen_before(set, i))
            continue;
        fprintf(stream, "%s%s", before, set->times[i].key);
        before = ", ";
    }
}

static void describe_set(const struct blockfile_set *set, FILE *stream)
{
    int low = INT_MAX;
    int high = -1;
    fprintf(stream, "    set %" PRId64 ": ", set->number);
    describe_series(set, &low, &high, stream);
    if (set->series_count == 0)
        describe_times(set, &low, &high, stream);
    if (high >= 0)
        fprintf(stream, "; ranks %d-%d%s\n", low, high, set->error_count ? " (failed)" : "");
    else
        fprintf(stream, "no series%s\n", set->error_count ? " (failed)" : "");
}

void analysis_describe(const struct analysis_input *input, FILE *stream)
{
    enum { SETS_SHOWN = 20 };
    int64_t number = 0;
    fputs("There is:\n", stream);
    for (size_t f = 0; f < input->file_count; f++) {
        for (size_t b = 0; b < input->files[f].block_count; b++) {
            const struct blockfile_block *block = &input->files[f].blocks[b];
            fprintf(stream, "  block %" PRId64 ": test %s, %zu set(s), in %s\n", ++number, block->testname,
                    block->set_count, input->files[f].path);
            for (size_t s = 0; s < block->set_count && s < SETS_SHOWN; s++)
                describe_set(&block->sets[s], stream);
            if (block->set_count > SETS_SHOWN)
                fprintf(stream, "    and %zu more sets\n", block->set_count - SETS_SHOWN);
        }
    }
}
