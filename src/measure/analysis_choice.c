#include "measure/analysis_choice.h"

#include "measure/analysis_names.h"

#include <stdlib.h>
#include <string.h>

/* ---- what there is ---- */

static bool is_selected(const struct analysis_request *request, const struct blockfile_series *series)
{
    return analysis_is_times(series) && analysis_ranks_hold(&request->ranks, series->rank) &&
           (!request->op || strcmp(series->key, request->op) == 0) && series->count > request->from &&
           series->count - request->from > request->skip && request->to - request->from >= request->skip;
}

static int compare_ranks(const void *a, const void *b)
{
    const int x = *(const int *)a;
    const int y = *(const int *)b;
    return x < y ? -1 : x > y;
}

/* Distinct ranks with selected samples, in their order, to ret_ranks[series_count]. */
static size_t ranks_of(const struct analysis_request *request, const struct blockfile_set *set, int *ret_ranks)
{
    size_t count = 0;
    for (size_t i = 0; set->error_count == 0 && i < set->series_count; i++)
        if (is_selected(request, &set->series[i]))
            ret_ranks[count++] = set->series[i].rank;
    qsort(ret_ranks, count, sizeof *ret_ranks, compare_ranks);
    size_t distinct = 0;
    for (size_t i = 0; i < count; i++)
        if (i == 0 || ret_ranks[i] != ret_ranks[i - 1])
            ret_ranks[distinct++] = ret_ranks[i];
    return distinct;
}

static bool same_params(const struct blockfile_set *a, const struct blockfile_set *b)
{
    if (a->param_count != b->param_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (strcmp(a->params[i].key, b->params[i].key) != 0 || strcmp(a->params[i].value, b->params[i].value) != 0)
            return false;
    return true;
}

static bool same_text(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

static bool same_kind(const struct analysis_chosen *a, const struct analysis_chosen *b)
{
    return strcmp(a->block->testname, b->block->testname) == 0 &&
           same_text(blockfile_param_of(a->set, "collective"), blockfile_param_of(b->set, "collective")) &&
           same_text(blockfile_fact_of(a->block, "nprocs"), blockfile_fact_of(b->block, "nprocs")) &&
           analysis_one_process(a->set) == analysis_one_process(b->set);
}

/* Kind, and whether it is a repeat: both by comparison with those before it. */
static void classify(struct analysis_choice *choice, struct analysis_candidate *candidate)
{
    const size_t own = choice->count;
    for (size_t i = own; i-- > 0 && choice->sets[i].chosen.block == candidate->chosen.block && !candidate->repeat;)
        candidate->repeat = same_params(choice->sets[i].chosen.set, candidate->chosen.set);
    /* the first of each kind comes early, so this loop is short; the set before is the most likely one */
    if (own && same_kind(&choice->sets[own - 1].chosen, &candidate->chosen)) {
        candidate->kind = choice->sets[own - 1].kind;
        return;
    }
    candidate->kind = choice->kinds;
    for (size_t i = 0; i < own && candidate->kind == choice->kinds; i++)
        if (same_kind(&choice->sets[i].chosen, &candidate->chosen))
            candidate->kind = choice->sets[i].kind;
    choice->kinds += candidate->kind == choice->kinds;
}

static pl_status add_set(const struct analysis_request *request, struct analysis_choice *choice,
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
    candidate.ranks = ranks_of(request, chosen->set, ranks);
    free(ranks);
    if (candidate.ranks == 0)
        return PL_OK;
    classify(choice, &candidate);
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
        status = add_set(request, &choice, &chosen, error);
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
static size_t draw_ranks(const struct analysis_request *request, struct analysis_candidate *candidate, size_t count)
{
    int *ranks = malloc((candidate->chosen.set->series_count + 1) * sizeof *ranks);
    const size_t there = ranks ? ranks_of(request, candidate->chosen.set, ranks) : 0;
    const size_t drawn = there < count ? there : count;
    candidate->last_rank = drawn ? ranks[drawn - 1] : -1;
    free(ranks);
    return drawn;
}

static bool is_of(const struct analysis_candidate *candidate, size_t kind)
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
        if (is_of(&choice->sets[i], kind)) {
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
        if (!is_of(candidate, kind) || (candidate->repeat && !room))
            continue;
        /* of `different` sets the first, the last, and those evenly between them */
        const bool wanted = room || different <= limit || limit == 1 || seen == taken * (different - 1) / (limit - 1);
        seen++;
        if (!wanted || drawn == limit)
            continue;
        taken++;
        drawn += draw_ranks(request, candidate, ranks);
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
