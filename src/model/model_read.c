/* Reads a model file and checks it: the grammar, every formula for every rank of its step, and what is told beside the
 * steps (files, weights, sums) against the steps. Each message tells the line. */
#include "model/model_line.h"

#include "base/array.h"
#include "model/model.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/units.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A line whose attributes follow from the steps: compared at the end. */
struct told {
    char *text;
    int line;
};

enum { LOOPS_MAX = 64 }; /* inside of each other */

struct reader {
    struct model_lines lines;
    struct model model;
    struct told *files, *phases;
    struct model_ranks ranks; /* of the step, or of the phase around it: not owned */
    int64_t turns;            /* of the loops around, together */
    const struct model_step *around[LOOPS_MAX + 1];
    int around_count;
    int64_t collectives; /* of all steps so far, times their loops */
    int version;
    int64_t evaluated; /* characters of formulas, each rank for itself */
    int64_t looked_at; /* executions of loops without a rule */
    struct pl_error *error;
};

static pl_status model_read_fail_memory(struct reader *reader)
{
    return pl_fail(reader->error, PL_E_NOMEM, "not enough memory for a model");
}

static pl_status model_read_keep_told(struct reader *reader, struct told **told, int count, const char *text)
{
    struct told *more = realloc(*told, (size_t)(count + 1) * sizeof *more);
    if (!more)
        return model_read_fail_memory(reader);
    *told = more;
    more[count] = (struct told){text_dup(text), reader->lines.number};
    return more[count].text ? PL_OK : model_read_fail_memory(reader);
}

/* ---- steps ---- */

static pl_status model_read_take_value(struct reader *reader, const struct model_line *words, const char *key,
                                       struct model_value *value)
{
    const char *text = model_line_value(words, key);
    if (!text)
        return PL_OK;
    value->text = text_dup(text);
    if (!value->text)
        return model_read_fail_memory(reader);
    const pl_status status = model_formula_parse(text, NULL, &value->formula, NULL, reader->error);
    return status == PL_OK ? PL_OK : model_line_within(&reader->lines, key);
}

static pl_status model_read_take_ranks(struct reader *reader, const struct model_line *words, struct model_ranks *ranks)
{
    const char *end, *text = model_line_value(words, "ranks");
    if (!text)
        return model_line_fail(&reader->lines, "ranks= is missing");
    if (model_ranks_parse(text, ranks, &end, reader->error) != PL_OK)
        return model_line_within(&reader->lines, "ranks");
    if (*end)
        return model_line_fail(&reader->lines, "ranks=%s has something behind it", text);
    if (ranks->ranges[ranks->count - 1].last >= reader->model.ranks)
        return model_line_fail(&reader->lines, "ranks=%s: the program has the ranks 0 to %" PRId64, text,
                               reader->model.ranks - 1);
    reader->ranks = *ranks;
    return PL_OK;
}

/* A whole number of the line; `otherwise` if it is not there. */
static pl_status model_read_take_number(struct reader *reader, const struct model_line *words, const char *key,
                                        int64_t min, int64_t max, int64_t otherwise, int64_t *ret_number)
{
    const char *text = model_line_value(words, key);
    *ret_number = otherwise;
    if (text && !units_parse_int(text, min, max, ret_number))
        return model_line_fail(&reader->lines, "%s=%s must be a whole number from %" PRId64 " to %" PRId64, key, text,
                               min, max);
    return PL_OK;
}

static pl_status model_read_take_text(struct reader *reader, const struct model_line *words, const char *key,
                                      char **ret_text)
{
    const char *value = model_line_value(words, key);
    if (!value)
        return PL_OK;
    *ret_text = text_dup(value);
    return *ret_text ? PL_OK : model_read_fail_memory(reader);
}

#define EVALUATED_MAX   (INT64_C(1) << 35) /* a minute or two */
#define TURNS_LOOKED_AT (INT64_C(1) << 31) /* of loops without a rule */

/* A formula must have a value for every rank, at the first execution. */
static pl_status model_read_check_value(struct reader *reader, const struct model_value *value, const char *key,
                                        int64_t min, int64_t max)
{
    const struct model_ranks *ranks = &reader->ranks;
    if (value->formula &&
        !checked_add(reader->evaluated, saturating_mul(model_ranks_total(ranks), (int64_t)strlen(value->text)),
                     &reader->evaluated))
        reader->evaluated = INT64_MAX;
    if (reader->evaluated > EVALUATED_MAX)
        return model_line_fail(&reader->lines, "checking its formulas for %" PRId64 " ranks is too much work",
                               reader->model.ranks);
    for (int64_t rank = -1; value->formula && (rank = model_ranks_next(ranks, rank)) >= 0;) {
        int64_t number;
        if (!model_formula_value(value->formula, rank, 0, &number))
            return model_line_fail(&reader->lines, "%s has no value for rank %" PRId64, key, rank);
        if (number < min)
            return model_line_fail(&reader->lines, "%s is negative for rank %" PRId64, key, rank);
        if (number > max)
            return model_line_fail(&reader->lines,
                                   "%s is %" PRId64 " for rank %" PRId64 ", and may be %" PRId64 " at most", key,
                                   number, rank, max);
    }
    return PL_OK;
}

/* What an operation must have, and may not have. */
static pl_status model_read_check_call(struct reader *reader, const struct model_step *step)
{
    const struct model_operation is = model_operation_of(step->operation);
    if (step->size.text && !is.reads && !is.writes)
        return model_line_fail(&reader->lines, "'%s' is no operation that moves data, and has a size", step->operation);
    if (step->access && step->file < 0)
        return model_line_fail(&reader->lines, "file= is missing");
    if (step->access && is.pointer != MODEL_SHARED && !step->offset.text)
        return model_line_fail(&reader->lines, "offset= is missing");
    if (step->access && is.pointer == MODEL_SHARED && step->offset.text)
        return model_line_fail(&reader->lines, "the shared file pointer has no offset=");
    if (step->memory.text && !step->access)
        return model_line_fail(&reader->lines, "'%s' moves no data, and has memory=", step->operation);
    pl_status status = model_read_check_value(reader, &step->size, "size", 0, INT64_MAX);
    if (status == PL_OK)
        status = model_read_check_value(reader, &step->memory, "memory", 0, reader->model.layout_count);
    if (status == PL_OK)
        status = model_read_check_value(reader, &step->offset, "offset", step->access ? -1 : INT64_MIN,
                                        INT64_MAX); /* -1: not known */
    return status == PL_OK ? model_read_check_value(reader, &step->instance, "instance", 0, INT64_MAX) : status;
}

static pl_status model_read_call(struct reader *reader, const struct model_line *words, bool in_phase,
                                 struct model_step *step)
{
    static const char *const KEYS[] = {"ranks", "file",   "instance", "size", "offset", "etype",
                                       "holes", "memory", "name",     "with", NULL};
    int64_t file, etype;
    step->kind = MODEL_CALL;
    step->leaf = reader->model.leaf_count++;
    step->operation = text_dup(words->word[0]);
    pl_status status = step->operation ? model_line_check(&reader->lines, words, 1, KEYS)
                                       : model_read_fail_memory(reader);
    if (status == PL_OK && !in_phase)
        status = model_read_take_ranks(reader, words, &step->ranks);
    else if (status == PL_OK && model_line_value(words, "ranks"))
        status = model_line_fail(&reader->lines, "ranks= belongs to the phase");
    if (status == PL_OK)
        status = model_read_take_number(reader, words, "file", 1, reader->model.file_count, 0, &file);
    if (status == PL_OK)
        status = model_read_take_number(reader, words, "etype", 1, INT64_MAX, 1, &etype);
    if (status != PL_OK)
        return status;
    step->file = (int)file - 1;
    const char *holes = model_line_value(words, "holes");
    step->holes = holes && strcmp(holes, "yes") == 0;
    if ((status = model_read_take_value(reader, words, "instance", &step->instance)) != PL_OK ||
        (status = model_read_take_value(reader, words, "size", &step->size)) != PL_OK ||
        (status = model_read_take_value(reader, words, "offset", &step->offset)) != PL_OK ||
        (status = model_read_take_value(reader, words, "memory", &step->memory)) != PL_OK ||
        (status = model_read_take_text(reader, words, "name", &step->name)) != PL_OK ||
        (status = model_read_take_text(reader, words, "with", &step->detail)) != PL_OK)
        return status;
    step->access = step->size.text != NULL;
    step->etype_bytes = step->access ? etype : 0;
    if (step->access && !in_phase)
        return model_line_fail(&reader->lines, "an access stands outside of a phase");
    return model_read_check_call(reader, step);
}

static pl_status model_read_steps(struct reader *reader, bool in_phase, struct model_step *parent, int depth);

/* How often a rank comes to what stands inside of the loops around; -1: too often to be looked at one by one. */
static int64_t model_read_executions(struct reader *reader, int64_t rank)
{
    int64_t executions = 1;
    for (int i = 0; i < reader->around_count; i++) {
        if (reader->around[i]->varies)
            reader->looked_at = saturating_add(reader->looked_at, executions);
        if (reader->looked_at > TURNS_LOOKED_AT)
            return -1;
        executions = model_turns_in(reader->around[i], rank, 0, executions);
    }
    return executions;
}

/* The most turns that a rank makes in any execution. */
static pl_status model_read_most_turns(struct reader *reader, struct model_step *step)
{
    for (int64_t rank = -1; (rank = model_ranks_next(&reader->ranks, rank)) >= 0;) {
        const int64_t executions = step->varies ? model_read_executions(reader, rank) : 1;
        reader->looked_at = saturating_add(reader->looked_at, executions);
        if (executions < 0 || reader->looked_at > TURNS_LOOKED_AT)
            return model_line_fail(&reader->lines, "more than 2^31 turns of loops follow no rule: given up");
        for (int64_t n = 0; n < executions; n++) {
            int64_t number;
            if (!model_formula_value(step->turns_of.formula, rank, n, &number))
                return model_line_fail(&reader->lines, "'loop': no number of turns for rank %" PRId64 ", n = %" PRId64,
                                       rank, n);
            if (number < 0 || number > MODEL_TURNS_MAX)
                return model_line_fail(&reader->lines,
                                       "'loop': %" PRId64 " turns for rank %" PRId64 ", n = %" PRId64
                                       "; allowed: 0 to 2^53",
                                       number, rank, n);
            step->turns = number > step->turns ? number : step->turns;
        }
    }
    return step->turns > 0 ? PL_OK : model_line_fail(&reader->lines, "'loop': no rank makes a turn");
}

/* A number; in phases, where all that is told of the ranks stands around, also a formula of the rank and of n. */
static pl_status model_read_turns(struct reader *reader, const char *text, bool in_phase, struct model_step *step)
{
    if (units_parse_int(text, 1, MODEL_TURNS_MAX, &step->turns))
        return PL_OK;
    if (!in_phase || reader->version == 1)
        return model_line_fail(&reader->lines, "'loop' needs a number of turns from 1 to 2^53%s",
                               reader->version == 1 ? "" : "; in phases also a formula");
    step->turns_of.text = text_dup(text);
    if (!step->turns_of.text)
        return model_read_fail_memory(reader);
    if (model_formula_parse(text, NULL, &step->turns_of.formula, NULL, reader->error) != PL_OK)
        return model_line_within(&reader->lines, "'loop' needs a number of turns, or a formula");
    step->varies = model_formula_has_turn(step->turns_of.formula);
    return model_read_most_turns(reader, step);
}

static pl_status model_read_loop(struct reader *reader, const struct model_line *words, bool in_phase,
                                 struct model_step *step, int depth)
{
    static const char *const KEYS[] = {NULL};
    step->kind = MODEL_LOOP;
    step->loop = reader->model.loop_count++;
    const pl_status status = model_line_check(&reader->lines, words, 2, KEYS);
    if (status != PL_OK)
        return status;
    if (words->count != 2)
        return model_line_fail(&reader->lines, "'loop' needs a number of turns from 1 to 2^53");
    const pl_status turns = model_read_turns(reader, words->word[1], in_phase, step);
    if (turns != PL_OK)
        return turns;
    const int64_t around = reader->turns;
    if (!checked_mul(around, step->turns, &reader->turns) || reader->turns > MODEL_TURNS_MAX)
        return model_line_fail(&reader->lines, "the loops inside of each other have more than 2^53 turns together");
    assert(reader->around_count <= LOOPS_MAX);
    reader->around[reader->around_count++] = step;
    const pl_status read = model_read_steps(reader, in_phase, step, depth + 1);
    reader->around_count--;
    reader->turns = around;
    return read;
}

/* Inside of a phase its ranks hold; communication keeps a copy, so that whoever walks over it finds them there. */
static pl_status model_read_copy_ranks(struct reader *reader, const struct model_line *words, struct model_ranks *ranks)
{
    if (model_line_value(words, "ranks"))
        return model_line_fail(&reader->lines, "ranks= belongs to the phase");
    for (int64_t rank = -1; (rank = model_ranks_next(&reader->ranks, rank)) >= 0;)
        if (!model_ranks_add(ranks, rank))
            return model_read_fail_memory(reader);
    return PL_OK;
}

static pl_status model_read_comm(struct reader *reader, const struct model_line *words, bool in_phase,
                                 struct model_step *step)
{
    static const char *const KEYS[] = {"ranks", "collectives", NULL};
    step->kind = MODEL_COMM;
    step->leaf = reader->model.leaf_count++;
    if (in_phase && reader->version == 1)
        return model_line_fail(&reader->lines, "communication stands inside of a phase");
    pl_status status = model_line_check(&reader->lines, words, 1, KEYS);
    if (status == PL_OK && !in_phase)
        status = model_read_take_ranks(reader, words, &step->ranks);
    else if (status == PL_OK)
        status = model_read_copy_ranks(reader, words, &step->ranks);
    const char *text = model_line_value(words, "collectives");
    if (status == PL_OK && text && model_comm_take(step, text, reader->error) != PL_OK)
        status = model_line_within(&reader->lines, "collectives");
    if (status == PL_OK && step->collectives_of.formula)
        status = model_read_check_value(reader, &step->collectives_of, "collectives", 0, MODEL_TURNS_MAX);
    if (status != PL_OK)
        return status;
    if (step->collectives > MODEL_TURNS_MAX)
        return model_line_fail(&reader->lines, "collectives=%s is more than 2^53", text);
    reader->collectives = saturating_add(reader->collectives, saturating_mul(step->collectives, reader->turns));
    return reader->collectives <= MODEL_TURNS_MAX
               ? PL_OK
               : model_line_fail(&reader->lines, "there are more than 2^53 collectives up to here");
}

/* A phase holds one step, which is then told to be a phase. */
static pl_status model_read_phase(struct reader *reader, const struct model_line *words, bool in_phase,
                                  struct model_step *step, int depth)
{
    static const char *const KEYS[] = {"count", "numbers", "ranks", "weight", "access", "kind", NULL};
    struct model_ranks ranks = {0};
    struct model_step holder = {.kind = MODEL_LOOP};
    const int number = reader->model.phase_count + 1, line = reader->lines.number;
    int64_t told;
    if (in_phase)
        return model_line_fail(&reader->lines, "a phase stands inside of a phase");
    if (words->count < 2 || !units_parse_int(words->word[1], number, number, &told))
        return model_line_fail(&reader->lines, "this is phase %d", number);
    pl_status status = model_line_check(&reader->lines, words, 2, KEYS);
    if (status == PL_OK)
        status = model_read_keep_told(reader, &reader->phases, reader->model.phase_count++, words->attributes);
    if (status == PL_OK)
        status = model_read_take_ranks(reader, words, &ranks);
    if (status == PL_OK)
        status = model_read_steps(reader, true, &holder, depth + 1);
    if (status == PL_OK && holder.count != 1) {
        reader->lines.number = line;
        status = model_line_fail(&reader->lines, "phase %d must hold one step, and holds %d", number, holder.count);
    }
    if (status != PL_OK || !holder.body) {
        model_ranks_clear(&ranks);
        model_step_clear(&holder);
        return status;
    }
    *step = holder.body[0];
    free(holder.body);
    step->phase = number;
    step->ranks = ranks;
    return PL_OK;
}

static pl_status model_read_step(struct reader *reader, const struct model_line *words, bool in_phase,
                                 struct model_step *step, int depth)
{
    if (depth > LOOPS_MAX)
        return model_line_fail(&reader->lines, "too many loops inside of each other");
    if (strcmp(words->word[0], "loop") == 0)
        return model_read_loop(reader, words, in_phase, step, depth);
    if (strcmp(words->word[0], "comm") == 0)
        return model_read_comm(reader, words, in_phase, step);
    if (strcmp(words->word[0], "phase") == 0)
        return model_read_phase(reader, words, in_phase, step, depth);
    return model_read_call(reader, words, in_phase, step);
}

/* Steps up to "end", or on the outermost level up to "end-steps", which is left to the caller. */
static pl_status model_read_steps(struct reader *reader, bool in_phase, struct model_step *parent, int depth)
{
    struct model_line words;
    int capacity = 0;
    for (;;) {
        if (!model_line_next(&reader->lines, &words))
            return model_line_fail(&reader->lines, "the file ends inside of the steps");
        if (depth > 0 && strcmp(words.word[0], "end") == 0)
            return parent->count ? PL_OK : model_line_fail(&reader->lines, "nothing stands before this 'end'");
        if (strcmp(words.word[0], "end-steps") == 0)
            return depth == 0 ? model_line_sum(&reader->lines, &words)
                              : model_line_fail(&reader->lines, "an 'end' is missing before it");
        if (!ARRAY_ROOM(parent->body, parent->count, capacity, 4))
            return model_read_fail_memory(reader);
        struct model_step *step = &parent->body[parent->count];
        *step = (struct model_step){.file = -1};
        const pl_status status = model_read_step(reader, &words, in_phase, step, depth);
        parent->count++; /* what was read is cleared with the parent */
        if (status != PL_OK)
            return status;
    }
}

/* ---- head and observed part ---- */

static pl_status model_read_head(struct reader *reader)
{
    struct model_line words;
    while (model_line_next(&reader->lines, &words)) {
        const char *key = words.word[0];
        pl_status status = PL_OK;
        if (strcmp(key, "steps") == 0)
            break;
        if (strcmp(key, "program") == 0 && !reader->model.program)
            reader->model.program = text_dup(words.rest);
        else if (strcmp(key, "ranks") == 0 && units_parse_int(words.rest, 1, MODEL_RANKS_MAX, &reader->model.ranks))
            continue;
        else if (strcmp(key, "file") == 0)
            status = model_read_keep_told(reader, &reader->files, reader->model.file_count++, words.attributes);
        else if (strcmp(key, "memory") == 0)
            status = model_layout_read(&reader->lines, &words, &reader->model);
        else
            status = model_line_fail(&reader->lines, "expected program, ranks (1 to %d), file, memory or steps",
                                     (int)MODEL_RANKS_MAX);
        if (status != PL_OK)
            return status;
    }
    if (!reader->model.program || !text_unescape(reader->model.program) || reader->model.ranks < 1)
        return model_line_fail(&reader->lines, "'program NAME' and 'ranks N' must stand before 'steps'");
    return PL_OK;
}

static struct model_step *model_read_find_leaf(struct model_step *steps, int count, int64_t leaf)
{
    for (int i = 0; i < count; i++) {
        struct model_step *found = steps[i].kind == MODEL_LOOP
                                       ? model_read_find_leaf(steps[i].body, steps[i].count, leaf)
                                   : steps[i].leaf == leaf ? &steps[i]
                                                           : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static pl_status model_read_seen(struct reader *reader, const struct model_line *words)
{
    static const char *const KEYS[] = {"calls",  "events", "sum_ns",   "slowest_ns",
                                       "min_ns", "max_ns", "first_ns", "gap_ns"};
    int64_t leaf = 0, numbers[8];
    if (words->count < 3 || !units_parse_int(words->word[1], 1, reader->model.leaf_count, &leaf))
        return model_line_fail(&reader->lines, "'seen' needs a number from 1 to %d, and an operation",
                               reader->model.leaf_count);
    for (int i = 0; i < 8; i++) {
        const pl_status status = model_read_take_number(reader, words, KEYS[i], 0, INT64_MAX, 0, &numbers[i]);
        if (status != PL_OK)
            return status;
    }
    struct model_step *step = model_read_find_leaf(reader->model.steps, reader->model.step_count, leaf - 1);
    step->slowest_ns = (double)numbers[3];
    step->observed = (struct model_observed){.calls = numbers[0],
                                             .events = (double)numbers[1],
                                             .sum_ns = (double)numbers[2],
                                             .min_ns = numbers[4],
                                             .max_ns = numbers[5],
                                             .first_ns = numbers[6],
                                             .gap_ns = (double)numbers[7]};
    return PL_OK;
}

static pl_status model_read_fresh(struct reader *reader, const struct model_line *words)
{
    struct model *model = &reader->model;
    int64_t file = 0, read = 0, written = 0, unlinked = 0;
    if (words->count < 2 || !units_parse_int(words->word[1], 1, model->file_count, &file))
        return model_line_fail(&reader->lines, "'fresh' needs a file from 1 to %d", model->file_count);
    pl_status status = model_read_take_number(reader, words, "read_bytes", 0, INT64_MAX, 0, &read);
    if (status == PL_OK)
        status = model_read_take_number(reader, words, "written_bytes", 0, INT64_MAX, 0, &written);
    if (status == PL_OK)
        status = model_read_take_number(reader, words, "unlinked", 0, 1, 0, &unlinked);
    if (status == PL_OK && !model->fresh &&
        !(model->fresh = calloc((size_t)model->file_count + 1, sizeof *model->fresh)))
        status = pl_fail(reader->error, PL_E_NOMEM, "not enough memory for a model");
    if (status == PL_OK)
        model->fresh[file - 1] = (struct model_buffers){(double)read, (double)written, unlinked != 0};
    return status;
}

static pl_status model_read_observed(struct reader *reader)
{
    struct model_line words;
    bool begun = false;
    while (model_line_next(&reader->lines, &words)) {
        const char *key = words.word[0];
        pl_status status = PL_OK;
        if (!begun && strcmp(key, "observed") == 0)
            begun = true;
        else if (begun && strcmp(key, "end-observed") == 0)
            return model_line_sum(&reader->lines, &words);
        else if (begun && strcmp(key, "seen") == 0)
            status = model_read_seen(reader, &words);
        else if (begun && strcmp(key, "fresh") == 0)
            status = model_read_fresh(reader, &words);
        else if (begun && strcmp(key, "mpi") == 0 && !reader->model.mpi)
            reader->model.mpi = text_dup(words.rest);
        else if (begun && strcmp(key, "mpiio") == 0 && !reader->model.mpiio)
            reader->model.mpiio = text_dup(words.rest);
        else if (begun && strcmp(key, "failed_calls") == 0)
            units_parse_int(words.rest, 0, INT64_MAX, &reader->model.failed_calls);
        else if (begun && strcmp(key, "incomplete_ranks") == 0)
            units_parse_int(words.rest, 0, INT64_MAX, &reader->model.incomplete_ranks);
        else
            status = model_line_fail(&reader->lines, "'%s' is not expected here", key);
        if (status != PL_OK)
            return status;
    }
    return begun ? model_line_fail(&reader->lines, "the file ends inside of the observed part") : PL_OK;
}

/* ---- the whole ---- */

static pl_status model_read_compare_told(struct reader *reader, const struct told *told, const struct text *follows)
{
    if (checksum_agrees(strcmp(told->text, text_get(follows)) == 0))
        return PL_OK;
    reader->lines.number = told->line;
    return model_line_fail(&reader->lines, "from the steps follows '%s'", text_get(follows));
}

static pl_status model_read_check_told(struct reader *reader)
{
    struct model_facts facts;
    pl_status status = model_facts_find(&reader->model, &facts, reader->error);
    if (status != PL_OK)
        return pl_within(reader->error, "%s", reader->lines.name);
    for (int i = 0; i < facts.file_count && status == PL_OK; i++) {
        struct text text = {0};
        model_facts_file(&facts.files[i], &text);
        status = model_read_compare_told(reader, &reader->files[i], &text);
        text_clear(&text);
    }
    for (int i = 0; i < facts.phase_count && status == PL_OK; i++) {
        struct text text = {0};
        model_facts_phase(&facts.phases[i], &text);
        status = model_read_compare_told(reader, &reader->phases[i], &text);
        text_clear(&text);
    }
    model_facts_clear(&facts);
    return status;
}

static void model_read_clear_told(struct told *told, int count)
{
    for (int i = 0; i < count && told; i++)
        free(told[i].text);
    free(told);
}

pl_status model_read(const char *name, const char *text, struct model *ret_model, struct pl_error *error)
{
    struct reader reader = {.turns = 1, .error = error};
    struct model_step root = {.kind = MODEL_LOOP};
    reader.version = strncmp(text, MODEL_FIRST_LINE_1_0, strlen(MODEL_FIRST_LINE_1_0)) == 0 ? 1 : 2;
    pl_status status = model_lines_begin(&reader.lines, name, text,
                                         reader.version == 1 ? MODEL_FIRST_LINE_1_0 : MODEL_FIRST_LINE, error);
    if (status == PL_OK)
        status = model_read_head(&reader);
    if (status == PL_OK)
        status = model_read_steps(&reader, false, &root, 0);
    reader.model.steps = root.body;
    reader.model.step_count = root.count;
    if (status == PL_OK)
        status = model_read_observed(&reader);
    reader.model.is_old = reader.version == 1;
    if (status == PL_OK)
        status = model_read_check_told(&reader);
    reader.model.is_old = false; /* written again, it is a new one */
    if (status == PL_OK && !reader.model.mpi)
        reader.model.mpi = text_dup("");
    if (status == PL_OK && !reader.model.mpiio)
        reader.model.mpiio = text_dup("");
    model_read_clear_told(reader.files, reader.model.file_count);
    model_read_clear_told(reader.phases, reader.model.phase_count);
    model_lines_clear(&reader.lines);
    if (status == PL_OK)
        *ret_model = reader.model;
    else
        model_clear(&reader.model);
    return status;
}

pl_status model_read_file(const char *path, struct model *ret_model, struct text *ret_text, struct pl_error *error)
{
    struct text text = {0};
    pl_status status = text_read_file(path, &text, error);
    if (status == PL_OK)
        status = model_read(path, text_get(&text), ret_model, error);
    if (status == PL_OK && ret_text)
        *ret_text = text;
    else
        text_clear(&text);
    return status;
}
