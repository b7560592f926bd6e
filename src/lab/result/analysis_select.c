/* Which sets are chosen, how they are named, and which of them a chart has room for. */
#include "lab/result/analysis_select.h"

#include "base/units.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- selection ---- */

static bool select_parse_rank(const char **text, int *ret_rank)
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
        if (ranks.count == sizeof ranks.ranges / sizeof ranks.ranges[0] || !select_parse_rank(&at, &first))
            return false;
        last = first;
        if (*at == '-' && (at++, !select_parse_rank(&at, &last) || last < first))
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
static bool select_next_set(const struct analysis_input *input, struct analysis_chosen *chosen)
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
    while (select_next_set(input, chosen))
        if ((!request->block || chosen->block_number == request->block) &&
            (!request->test || strcmp(chosen->block->testname, request->test) == 0) &&
            (!request->set || chosen->set->number == request->set))
            return true;
    return false;
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

static bool select_series_seen_before(const struct blockfile_set *set, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(set->series[i].key, set->series[index].key) == 0)
            return true;
    return false;
}

static bool select_time_seen_before(const struct blockfile_set *set, size_t index)
{
    for (size_t i = 0; i < index; i++)
        if (strcmp(set->times[i].key, set->times[index].key) == 0)
            return true;
    return false;
}

/* What has hundreds of series has them for hundreds of ranks: the first few name all operations. */
enum { DESCRIBED = 256 };

static void select_describe_series(const struct blockfile_set *set, int *low, int *high, FILE *stream)
{
    const char *before = "operations ";
    for (size_t i = 0; i < set->series_count; i++) {
        const struct blockfile_series *series = &set->series[i];
        *low = series->rank < *low ? series->rank : *low;
        *high = series->rank > *high ? series->rank : *high;
        if (i >= DESCRIBED || !analysis_is_times(series) || select_series_seen_before(set, i))
            continue;
        fprintf(stream, "%s%s", before, series->key);
        if (series->count)
            fprintf(stream, " (0-%" PRId64 ")", series->count - 1);
        before = ", ";
    }
}

/* Single times are all that most kernels have. */
static void select_describe_times(const struct blockfile_set *set, int *low, int *high, FILE *stream)
{
    const char *before = "times ";
    for (size_t i = 0; i < set->time_count; i++) {
        *low = set->times[i].rank < *low ? set->times[i].rank : *low;
        *high = set->times[i].rank > *high ? set->times[i].rank : *high;
        if (i >= DESCRIBED || select_time_seen_before(set, i))
            continue;
        fprintf(stream, "%s%s", before, set->times[i].key);
        before = ", ";
    }
}

static void select_describe_set(const struct blockfile_set *set, FILE *stream)
{
    int low = INT_MAX;
    int high = -1;
    fprintf(stream, "    set %" PRId64 ": ", set->number);
    select_describe_series(set, &low, &high, stream);
    if (set->series_count == 0)
        select_describe_times(set, &low, &high, stream);
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
                select_describe_set(&block->sets[s], stream);
            if (block->set_count > SETS_SHOWN)
                fprintf(stream, "    and %zu more sets\n", block->set_count - SETS_SHOWN);
        }
    }
}

double analysis_slowest_ns(const struct blockfile_set *set, const char *key)
{
    double longest = NAN;
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0)
            longest = fmax(longest, (double)set->times[i].nanoseconds);
    return longest;
}

/* ---- names ---- */

bool analysis_one_process(const struct blockfile_set *set)
{
    if (blockfile_param_of(set, "collective"))
        return false;
    int rank = -1;
    for (size_t i = 0; i < set->series_count; i++) {
        const struct blockfile_series *series = &set->series[i];
        if (series->count == 0 || series->rank == rank)
            continue;
        if (rank >= 0)
            return false;
        rank = series->rank;
    }
    return rank >= 0;
}

const char *analysis_processes_text(const char *nprocs, bool one_process, char text[ANALYSIS_NAME_MAX])
{
    if (!nprocs || !nprocs[0])
        snprintf(text, ANALYSIS_NAME_MAX, one_process ? "1 process" : "? processes");
    else if (strcmp(nprocs, "1") == 0)
        snprintf(text, ANALYSIS_NAME_MAX, "1 process");
    else
        snprintf(text, ANALYSIS_NAME_MAX, "%s%.12s processes", one_process ? "1 of " : "", nprocs);
    return text;
}

const char *analysis_access_text(const char *testname, const char *collective, char text[ANALYSIS_NAME_MAX])
{
    const char *access = "";
    if (collective && collective[0])
        access = strcmp(collective, "true") == 0 ? " collective" : " independent";
    snprintf(text, ANALYSIS_NAME_MAX, "%.40s%s", testname, access);
    return text;
}

const char *analysis_test_text(const struct analysis_chosen *chosen, char text[ANALYSIS_NAME_MAX])
{
    return analysis_access_text(chosen->block->testname, blockfile_param_of(chosen->set, "collective"), text);
}

const char *analysis_sizes_text(const struct blockfile_set *set, char text[ANALYSIS_NAME_MAX])
{
    const char *const file_text = blockfile_param_of(set, "filesize_bytes");
    const char *const block_text = blockfile_param_of(set, "blocksize_bytes");
    char file[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX];
    int64_t bytes;
    const bool has_file = file_text && units_parse_int(file_text, 0, INT64_MAX, &bytes);
    if (has_file)
        units_bytes(bytes, file);
    const bool has_block = block_text && units_parse_int(block_text, 0, INT64_MAX, &bytes);
    if (has_block)
        units_bytes(bytes, block);
    const char *const method = blockfile_param_of(set, "method"), *const pattern = blockfile_param_of(set, "pattern");
    const bool has_pattern = method && pattern; /* b_eff_io: sizes alone do not tell which set it is */
    const int length = snprintf(text, ANALYSIS_NAME_MAX, "%s%s%s%s%s", has_file ? "file " : "", has_file ? file : "",
                                has_file && has_block ? ", " : "", has_block ? "block " : "", has_block ? block : "");
    if (has_pattern && length >= 0 && length < ANALYSIS_NAME_MAX)
        snprintf(text + length, (size_t)(ANALYSIS_NAME_MAX - length), "%s%.16s, pattern %.16s", length ? ", " : "",
                 method, pattern);
    return text;
}

const char *analysis_op_text(const char *key, char text[ANALYSIS_NAME_MAX])
{
    static const struct {
        const char *key, *name;
    } names[] = {{"w", "write"}, {"r", "read"}, {"u", "update"}, {"t", "task"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i].key) == 0) {
            snprintf(text, ANALYSIS_NAME_MAX, "%s (%s)", names[i].name, key);
            return text;
        }
    snprintf(text, ANALYSIS_NAME_MAX, "%.20s", key);
    return text;
}

const char *analysis_path_text(const char *path, char text[ANALYSIS_NAME_MAX])
{
    enum { PATH_COLUMNS = 40 };
    const size_t length = strlen(path);
    if (length <= PATH_COLUMNS)
        snprintf(text, ANALYSIS_NAME_MAX, "%s", path);
    else
        snprintf(text, ANALYSIS_NAME_MAX, "...%s", path + length - (PATH_COLUMNS - 3));
    return text;
}

const char *analysis_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- what a chart draws ---- */

/* ---- what there is ---- */

static bool choice_is_selected(const struct analysis_request *request, const struct blockfile_series *series)
{
    return analysis_is_times(series) && analysis_ranks_hold(&request->ranks, series->rank) &&
           (!request->op || strcmp(series->key, request->op) == 0) && series->count > request->from &&
           series->count - request->from > request->skip && request->to - request->from >= request->skip;
}

static int choice_compare_ranks(const void *a, const void *b)
{
    const int x = *(const int *)a;
    const int y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Distinct ranks with selected samples, in their order, to ret_ranks[series_count]. */
static size_t choice_ranks_of(const struct analysis_request *request, const struct blockfile_set *set, int *ret_ranks)
{
    size_t count = 0;
    for (size_t i = 0; set->error_count == 0 && i < set->series_count; i++)
        if (choice_is_selected(request, &set->series[i]))
            ret_ranks[count++] = set->series[i].rank;
    qsort(ret_ranks, count, sizeof *ret_ranks, choice_compare_ranks);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ret_ranks[i] != ret_ranks[i - 1])
            ret_ranks[distinct++] = ret_ranks[i];
    return distinct;
}

static bool choice_same_params(const struct blockfile_set *a, const struct blockfile_set *b)
{
    if (a->param_count != b->param_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (strcmp(a->params[i].key, b->params[i].key) != 0 || strcmp(a->params[i].value, b->params[i].value) != 0)
            return false;
    return true;
}

static bool choice_same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool choice_same_kind(const struct analysis_chosen *a, const struct analysis_chosen *b)
{
    return strcmp(a->block->testname, b->block->testname) == 0 &&
           choice_same_text(blockfile_param_of(a->set, "collective"), blockfile_param_of(b->set, "collective")) &&
           choice_same_text(blockfile_fact_of(a->block, "nprocs"), blockfile_fact_of(b->block, "nprocs")) &&
           analysis_one_process(a->set) == analysis_one_process(b->set);
}

/* Kind, and whether it is a repeat: both by comparison with those before it. */
static void choice_classify(struct analysis_choice *choice, struct analysis_candidate *candidate)
{
    const size_t own = choice->count;
    for (size_t i = own; i-- > 0 && choice->sets[i].chosen.block == candidate->chosen.block && !candidate->repeat;)
        candidate->repeat = choice_same_params(choice->sets[i].chosen.set, candidate->chosen.set);
    /* the first of each kind comes early, so this loop is short; the set before is the most likely one */
    if (own && choice_same_kind(&choice->sets[own - 1].chosen, &candidate->chosen)) {
        candidate->kind = choice->sets[own - 1].kind;
        return;
    }
    candidate->kind = choice->kinds;
    for (size_t i = 0; i < own && candidate->kind == choice->kinds; i++)
        if (choice_same_kind(&choice->sets[i].chosen, &candidate->chosen))
            candidate->kind = choice->sets[i].kind;
    choice->kinds += candidate->kind == choice->kinds;
}

static pl_status choice_add_set(const struct analysis_request *request, struct analysis_choice *choice,
                                const struct analysis_chosen *chosen, struct pl_error *error)
{
    int *ranks = malloc((chosen->set->series_count + 1) * sizeof *ranks);
    struct analysis_candidate *sets = choice->sets;
    if (ranks && (choice->count & (choice->count + 1)) == 0) /* 0, 1, 3, 7, …: room for as many again */
        sets = realloc(choice->sets, (2 * choice->count + 1) * sizeof *sets);
    if (sets)
        choice->sets = sets;
    if (!ranks || !sets) {
        free(ranks);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a plot");
    }
    struct analysis_candidate candidate = {.chosen = *chosen, .last_rank = -1};
    candidate.ranks = choice_ranks_of(request, chosen->set, ranks);
    free(ranks);
    if (candidate.ranks == 0)
        return PL_OK;
    choice_classify(choice, &candidate);
    sets[choice->count++] = candidate;
    return PL_OK;
}

pl_status analysis_choice_build(const struct analysis_request *request, const struct analysis_input *input,
                                struct analysis_choice *ret_choice, struct pl_error *error)
{
    struct analysis_choice choice = {0};
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    while (status == PL_OK && analysis_next(request, input, &chosen))
        status = choice_add_set(request, &choice, &chosen, error);
    if (status)
        analysis_choice_clear(&choice);
    *ret_choice = choice;
    return status;
}

void analysis_choice_clear(struct analysis_choice *choice)
{
    free(choice->sets);
    *choice = (struct analysis_choice){0};
}

/* ---- what is drawn ---- */

/* The `count` lowest ranks of a set; returns how many it has of them. */
static size_t choice_draw_ranks(const struct analysis_request *request, struct analysis_candidate *candidate,
                                size_t count)
{
    int *ranks = malloc((candidate->chosen.set->series_count + 1) * sizeof *ranks);
    const size_t there = ranks ? choice_ranks_of(request, candidate->chosen.set, ranks) : 0;
    const size_t drawn = there < count ? there : count;
    candidate->last_rank = drawn ? ranks[drawn - 1] : -1;
    free(ranks);
    return drawn;
}

static bool choice_is_of(const struct analysis_candidate *candidate, size_t kind)
{
    return kind == ANALYSIS_ALL_KINDS || candidate->kind == kind;
}

size_t analysis_choice_spread(const struct analysis_request *request, struct analysis_choice *choice, size_t kind,
                              size_t limit)
{
    size_t sets = 0;
    size_t all = 0;
    size_t different = 0;
    for (size_t i = 0; i < choice->count; i++)
        if (choice_is_of(&choice->sets[i], kind)) {
            sets++;
            all += choice->sets[i].ranks;
            different += !choice->sets[i].repeat;
        }
    const bool room = all <= limit;
    const size_t share = different && different < limit ? limit / different : 1;
    const size_t ranks = room || sets == 1 ? limit : share;
    size_t drawn = 0;
    size_t seen = 0;
    size_t taken = 0;
    for (size_t i = 0; i < choice->count; i++) {
        struct analysis_candidate *candidate = &choice->sets[i];
        if (!choice_is_of(candidate, kind) || (candidate->repeat && !room))
            continue;
        /* of `different` sets the first, the last, and those evenly between them */
        const bool wanted = room || different <= limit || limit == 1 || seen == taken * (different - 1) / (limit - 1);
        seen++;
        if (!wanted || drawn == limit)
            continue;
        taken++;
        drawn += choice_draw_ranks(request, candidate, ranks);
    }
    return all - drawn;
}

const struct analysis_candidate *analysis_choice_of(struct analysis_choice *choice, const struct blockfile_set *set)
{
    for (size_t i = 0; i < choice->count; i++) {
        const size_t at = (choice->cursor + i) % choice->count;
        if (choice->sets[at].chosen.set == set) {
            choice->cursor = at;
            return &choice->sets[at];
        }
    }
    return NULL;
}
