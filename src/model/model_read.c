/* Reads a model file and checks it: the grammar, every formula for every rank of its step, and what is told beside the
 * steps (files, weights, sums) against the steps. Each message tells the line. */
#include "model/model_line.h"

#include "model/model_facts.h"
#include "model/model_text.h"

#include "base/checked.h"
#include "base/checksum.h"
#include "base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A line whose attributes follow from the steps: compared at the end. */
struct told {
    char *text;
    int line;
};

struct reader {
    struct model_lines lines;
    struct model model;
    struct told *files, *phases;
    struct model_ranks ranks; /* of the step, or of the phase around it: not owned */
    int64_t turns;            /* of the loops around, together */
    int64_t collectives;      /* of all steps so far, times their loops */
    int64_t evaluated;        /* characters of formulas, each rank for itself */
    struct pl_error *error;
};

static pl_status fail_memory(struct reader *reader)
{
    return pl_fail(reader->error, PL_E_NOMEM, "not enough memory for a model");
}

static pl_status keep_told(struct reader *reader, struct told **told, int count, const char *text)
{
    struct told *more = realloc(*told, (size_t)(count + 1) * sizeof *more);
    if (!more)
        return fail_memory(reader);
    *told = more;
    more[count] = (struct told){text_dup(text), reader->lines.number};
    return more[count].text ? PL_OK : fail_memory(reader);
}

/* ---- steps ---- */

static pl_status take_value(struct reader *reader, const struct model_line *words, const char *key,
                            struct model_value *value)
{
    const char *text = model_line_value(words, key);
    if (!text)
        return PL_OK;
    value->text = text_dup(text);
    if (!value->text)
        return fail_memory(reader);
    const pl_status status = model_formula_parse(text, NULL, &value->formula, NULL, reader->error);
    return status == PL_OK ? PL_OK : model_line_within(&reader->lines, key);
}

static pl_status take_ranks(struct reader *reader, const struct model_line *words, struct model_ranks *ranks)
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
static pl_status take_number(struct reader *reader, const struct model_line *words, const char *key, int64_t min,
                             int64_t max, int64_t otherwise, int64_t *ret_number)
{
    const char *text = model_line_value(words, key);
    *ret_number = otherwise;
    if (text && !units_parse_int(text, min, max, ret_number))
        return model_line_fail(&reader->lines, "%s=%s must be a whole number from %" PRId64 " to %" PRId64, key, text,
                               min, max);
    return PL_OK;
}

static pl_status take_text(struct reader *reader, const struct model_line *words, const char *key, char **ret_text)
{
    const char *value = model_line_value(words, key);
    if (!value)
        return PL_OK;
    *ret_text = text_dup(value);
    return *ret_text ? PL_OK : fail_memory(reader);
}

#define EVALUATED_MAX (INT64_C(1) << 35) /* a minute or two */

/* A formula must have a value for every rank, at the first execution. */
static pl_status check_value(struct reader *reader, const struct model_value *value, const char *key, int64_t min,
                             int64_t max)
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
static pl_status check_call(struct reader *reader, const struct model_step *step)
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
    pl_status status = check_value(reader, &step->size, "size", 0, INT64_MAX);
    if (status == PL_OK)
        status = check_value(reader, &step->memory, "memory", 0, reader->model.layout_count);
    if (status == PL_OK)
        status = check_value(reader, &step->offset, "offset", step->access ? -1 : INT64_MIN,
                             INT64_MAX); /* -1: not known */
    return status == PL_OK ? check_value(reader, &step->instance, "instance", 0, INT64_MAX) : status;
}

static pl_status read_call(struct reader *reader, const struct model_line *words, bool in_phase,
                           struct model_step *step)
{
    static const char *const KEYS[] = {"ranks", "file",   "instance", "size", "offset", "etype",
                                       "holes", "memory", "name",     "with", NULL};
    int64_t file, etype;
    step->kind = MODEL_CALL;
    step->leaf = reader->model.leaf_count++;
    step->operation = text_dup(words->word[0]);
    pl_status status = step->operation ? model_line_check(&reader->lines, words, 1, KEYS) : fail_memory(reader);
    if (status == PL_OK && !in_phase)
        status = take_ranks(reader, words, &step->ranks);
    else if (status == PL_OK && model_line_value(words, "ranks"))
        status = model_line_fail(&reader->lines, "ranks= belongs to the phase");
    if (status == PL_OK)
        status = take_number(reader, words, "file", 1, reader->model.file_count, 0, &file);
    if (status == PL_OK)
        status = take_number(reader, words, "etype", 1, INT64_MAX, 1, &etype);
    if (status != PL_OK)
        return status;
    step->file = (int)file - 1;
    const char *holes = model_line_value(words, "holes");
    step->holes = holes && strcmp(holes, "yes") == 0;
    if ((status = take_value(reader, words, "instance", &step->instance)) != PL_OK ||
        (status = take_value(reader, words, "size", &step->size)) != PL_OK ||
        (status = take_value(reader, words, "offset", &step->offset)) != PL_OK ||
        (status = take_value(reader, words, "memory", &step->memory)) != PL_OK ||
        (status = take_text(reader, words, "name", &step->name)) != PL_OK ||
        (status = take_text(reader, words, "with", &step->detail)) != PL_OK)
        return status;
    step->access = step->size.text != NULL;
    step->etype_bytes = step->access ? etype : 0;
    if (step->access && !in_phase)
        return model_line_fail(&reader->lines, "an access stands outside of a phase");
    return check_call(reader, step);
}

static pl_status read_steps(struct reader *reader, bool in_phase, struct model_step *parent, int depth);

static pl_status read_loop(struct reader *reader, const struct model_line *words, bool in_phase,
                           struct model_step *step, int depth)
{
    static const char *const KEYS[] = {NULL};
    step->kind = MODEL_LOOP;
    const pl_status status = model_line_check(&reader->lines, words, 2, KEYS);
    if (status != PL_OK)
        return status;
    if (words->count != 2 || !units_parse_int(words->word[1], 1, MODEL_TURNS_MAX, &step->turns))
        return model_line_fail(&reader->lines, "'loop' needs a number of turns from 1 to 2^53");
    const int64_t around = reader->turns;
    if (!checked_mul(around, step->turns, &reader->turns) || reader->turns > MODEL_TURNS_MAX)
        return model_line_fail(&reader->lines, "the loops inside of each other have more than 2^53 turns together");
    const pl_status read = read_steps(reader, in_phase, step, depth + 1);
    reader->turns = around;
    return read;
}

static pl_status read_comm(struct reader *reader, const struct model_line *words, bool in_phase,
                           struct model_step *step)
{
    static const char *const KEYS[] = {"ranks", "collectives", NULL};
    step->kind = MODEL_COMM;
    step->leaf = reader->model.leaf_count++;
    if (in_phase)
        return model_line_fail(&reader->lines, "communication stands inside of a phase");
    pl_status status = model_line_check(&reader->lines, words, 1, KEYS);
    if (status == PL_OK)
        status = take_ranks(reader, words, &step->ranks);
    if (status == PL_OK)
        status = take_number(reader, words, "collectives", 0, MODEL_TURNS_MAX, 0, &step->collectives);
    if (status != PL_OK)
        return status;
    reader->collectives = saturating_add(reader->collectives, saturating_mul(step->collectives, reader->turns));
    return reader->collectives <= MODEL_TURNS_MAX
               ? PL_OK
               : model_line_fail(&reader->lines, "there are more than 2^53 collectives up to here");
}

/* A phase holds one step, which is then told to be a phase. */
static pl_status read_phase(struct reader *reader, const struct model_line *words, bool in_phase,
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
        status = keep_told(reader, &reader->phases, reader->model.phase_count++, words->attributes);
    if (status == PL_OK)
        status = take_ranks(reader, words, &ranks);
    if (status == PL_OK)
        status = read_steps(reader, true, &holder, depth + 1);
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

static pl_status read_step(struct reader *reader, const struct model_line *words, bool in_phase,
                           struct model_step *step, int depth)
{
    if (depth > 64)
        return model_line_fail(&reader->lines, "too many loops inside of each other");
    if (strcmp(words->word[0], "loop") == 0)
        return read_loop(reader, words, in_phase, step, depth);
    if (strcmp(words->word[0], "comm") == 0)
        return read_comm(reader, words, in_phase, step);
    if (strcmp(words->word[0], "phase") == 0)
        return read_phase(reader, words, in_phase, step, depth);
    return read_call(reader, words, in_phase, step);
}

/* Steps up to "end", or on the outermost level up to "end-steps", which is left to the caller. */
static pl_status read_steps(struct reader *reader, bool in_phase, struct model_step *parent, int depth)
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
        if (parent->count == capacity) {
            capacity = capacity ? 2 * capacity : 4;
            struct model_step *body = realloc(parent->body, (size_t)capacity * sizeof *body);
            if (!body)
                return fail_memory(reader);
            parent->body = body;
        }
        struct model_step *step = &parent->body[parent->count];
        *step = (struct model_step){.file = -1};
        const pl_status status = read_step(reader, &words, in_phase, step, depth);
        parent->count++; /* what was read is cleared with the parent */
        if (status != PL_OK)
            return status;
    }
}

/* ---- head and observed part ---- */

static pl_status read_head(struct reader *reader)
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
            status = keep_told(reader, &reader->files, reader->model.file_count++, words.attributes);
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

static struct model_step *find_leaf(struct model_step *steps, int count, int64_t leaf)
{
    for (int i = 0; i < count; i++) {
        struct model_step *found = steps[i].kind == MODEL_LOOP ? find_leaf(steps[i].body, steps[i].count, leaf)
                                   : steps[i].leaf == leaf     ? &steps[i]
                                                               : NULL;
        if (found)
            return found;
    }
    return NULL;
}

static pl_status read_seen(struct reader *reader, const struct model_line *words)
{
    static const char *const KEYS[] = {"calls",  "events", "sum_ns",   "slowest_ns",
                                       "min_ns", "max_ns", "first_ns", "gap_ns"};
    int64_t leaf = 0, numbers[8];
    if (words->count < 3 || !units_parse_int(words->word[1], 1, reader->model.leaf_count, &leaf))
        return model_line_fail(&reader->lines, "'seen' needs a number from 1 to %d, and an operation",
                               reader->model.leaf_count);
    for (int i = 0; i < 8; i++) {
        const pl_status status = take_number(reader, words, KEYS[i], 0, INT64_MAX, 0, &numbers[i]);
        if (status != PL_OK)
            return status;
    }
    struct model_step *step = find_leaf(reader->model.steps, reader->model.step_count, leaf - 1);
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

static pl_status read_observed(struct reader *reader)
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
            status = read_seen(reader, &words);
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

static pl_status compare_told(struct reader *reader, const struct told *told, const struct text *follows)
{
    if (checksum_agrees(strcmp(told->text, text_get(follows)) == 0))
        return PL_OK;
    reader->lines.number = told->line;
    return model_line_fail(&reader->lines, "from the steps follows '%s'", text_get(follows));
}

static pl_status check_told(struct reader *reader)
{
    struct model_facts facts;
    pl_status status = model_facts_find(&reader->model, &facts, reader->error);
    if (status != PL_OK)
        return pl_within(reader->error, "%s", reader->lines.name);
    for (int i = 0; i < facts.file_count && status == PL_OK; i++) {
        struct text text = {0};
        model_facts_file(&facts.files[i], &text);
        status = compare_told(reader, &reader->files[i], &text);
        text_clear(&text);
    }
    for (int i = 0; i < facts.phase_count && status == PL_OK; i++) {
        struct text text = {0};
        model_facts_phase(&facts.phases[i], &text);
        status = compare_told(reader, &reader->phases[i], &text);
        text_clear(&text);
    }
    model_facts_clear(&facts);
    return status;
}

static void clear_told(struct told *told, int count)
{
    for (int i = 0; i < count && told; i++)
        free(told[i].text);
    free(told);
}

pl_status model_read(const char *name, const char *text, struct model *ret_model, struct pl_error *error)
{
    struct reader reader = {.turns = 1, .error = error};
    struct model_step root = {.kind = MODEL_LOOP};
    pl_status status = model_lines_begin(&reader.lines, name, text, MODEL_FIRST_LINE, error);
    if (status == PL_OK)
        status = read_head(&reader);
    if (status == PL_OK)
        status = read_steps(&reader, false, &root, 0);
    reader.model.steps = root.body;
    reader.model.step_count = root.count;
    if (status == PL_OK)
        status = read_observed(&reader);
    if (status == PL_OK)
        status = check_told(&reader);
    if (status == PL_OK && !reader.model.mpi)
        reader.model.mpi = text_dup("");
    if (status == PL_OK && !reader.model.mpiio)
        reader.model.mpiio = text_dup("");
    clear_told(reader.files, reader.model.file_count);
    clear_told(reader.phases, reader.model.phase_count);
    model_lines_clear(&reader.lines);
    if (status == PL_OK)
        *ret_model = reader.model;
    else
        model_clear(&reader.model);
    return status;
}
