/* What a prediction needs to know of a program: its phases, out of the model. */
#include "predict/predict.h"

#include "base/checked.h"
#include "predict/predict_piece.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- sums of the model ---- */

/* The last word of the line "end-steps LINES HASH"; "" where there is none, or "-" in a model made by hand. */
static void take_hash(const char *text, char hash[PREDICT_HASH_MAX])
{
    const char *line = strncmp(text, "end-steps ", 10) == 0 ? text : strstr(text, "\nend-steps ");
    char word[PREDICT_HASH_MAX] = "";
    if (line)
        sscanf(line + (*line == '\n'), "end-steps %*s %23s", word);
    snprintf(hash, PREDICT_HASH_MAX, "%s", strcmp(word, "-") == 0 ? "" : word);
}

static pl_status take_hashes(const struct model *model, const char *text, struct predict_program *program,
                             struct pl_error *error)
{
    struct text written = {0};
    model_write(model, false, &written);
    take_hash(text, program->hash[0]);
    take_hash(text_get(&written), program->hash[1]);
    const bool failed = written.failed;
    text_clear(&written);
    return failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for a model") : PL_OK;
}

/* ---- phases ---- */

static bool has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

struct walk {
    struct predict_phase *phase;
    struct text operations;
    int64_t calls[PREDICT_DIRECTIONS]; /* of a process in one execution */
};

/* Goes through the steps of a phase. `turns`: executions of the step in one execution of the phase. */
static void walk_step(struct walk *walk, const struct model_step *step, int64_t turns)
{
    for (int i = 0; i < step->count; i++)
        walk_step(walk, &step->body[i], saturating_mul(turns, step->turns));
    if (step->kind != MODEL_CALL)
        return;
    if (!has_word(text_get(&walk->operations), step->operation))
        text_format(&walk->operations, "%s%s", walk->operations.length ? "," : "", step->operation);
    if (!step->access)
        return;
    const struct model_operation is = model_operation_of(step->operation);
    const enum predict_direction direction = is.reads ? PREDICT_READ : PREDICT_WRITE;
    walk->calls[direction] = saturating_add(walk->calls[direction], turns);
    walk->phase->access[direction].collective |= is.collective;
    walk->phase->access[direction].shared_pointer |= is.pointer == MODEL_SHARED;
    walk->phase->holes |= step->holes;
}

static void name_phase(struct predict_phase *phase, const struct model_phase_facts *facts, int index)
{
    const int64_t first = facts->number, last = saturating_add(first, saturating_mul(facts->count - 1, facts->step_by));
    if (first <= 0) /* loops inside of each other: no numbers */
        snprintf(phase->label, sizeof phase->label, "#%d", index + 1);
    else if (facts->count == 1)
        snprintf(phase->label, sizeof phase->label, "%" PRId64, first);
    else if (facts->step_by > 1)
        snprintf(phase->label, sizeof phase->label, "%" PRId64 "-%" PRId64 "/%" PRId64, first, last, facts->step_by);
    else
        snprintf(phase->label, sizeof phase->label, "%" PRId64 "-%" PRId64, first, last);
}

static pl_status make_phase(const struct model *model, const struct model_facts *facts, int index,
                            struct predict_phase *phase, struct pl_error *error)
{
    const struct model_phase_facts *from = &facts->phases[index];
    struct walk walk = {.phase = phase};
    struct text words = {0};
    phase->count = from->count;
    phase->processes = from->processes;
    phase->weight_bytes = from->read_bytes + from->written_bytes;
    phase->order = from->order;
    phase->metadata = from->metadata;
    phase->unique = from->file >= 0 && facts->files[from->file].type == MODEL_FILE_UNIQUE && from->processes > 1;
    phase->access[PREDICT_WRITE].bytes = from->written_bytes;
    phase->access[PREDICT_READ].bytes = from->read_bytes;
    name_phase(phase, from, index);
    walk_step(&walk, from->step, 1);
    model_words_phase(from, &words);
    const int64_t piece = phase->holes ? predict_piece_of(model, from->step) : 0;
    for (int i = 0; i < PREDICT_DIRECTIONS; i++) {
        struct predict_access *access = &phase->access[i];
        const int64_t requests = saturating_mul(walk.calls[i], from->processes);
        access->request = requests > 0 ? access->bytes / requests : 0;
        access->piece = piece > 0 && piece < access->request ? piece : access->request;
    }
    phase->operations = text_dup(text_get(&walk.operations));
    phase->words = text_dup(text_get(&words));
    const bool ok = !walk.operations.failed && !words.failed && phase->operations && phase->words;
    text_clear(&walk.operations);
    text_clear(&words);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for a phase");
}

pl_status predict_program_make(const struct model *model, const char *text, struct predict_program *ret_program,
                               struct pl_error *error)
{
    struct model_facts facts;
    struct predict_program program = {.ranks = model->ranks, .phase_count = model->phase_count};
    pl_status status = model_facts_find(model, &facts, error);
    if (status != PL_OK)
        return status;
    program.name = text_dup(model->program);
    program.phases = calloc((size_t)program.phase_count + 1, sizeof *program.phases);
    if (!program.name || !program.phases) {
        program.phase_count = 0;
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for a model");
    } else {
        status = take_hashes(model, text, &program, error);
    }
    for (int i = 0; i < program.phase_count && status == PL_OK; i++)
        status = make_phase(model, &facts, i, &program.phases[i], error);
    model_facts_clear(&facts);
    if (status == PL_OK)
        *ret_program = program;
    else
        predict_program_clear(&program);
    return status;
}

void predict_program_clear(struct predict_program *program)
{
    for (int i = 0; i < program->phase_count; i++) {
        free(program->phases[i].operations);
        free(program->phases[i].words);
    }
    free(program->phases);
    free(program->name);
    *program = (struct predict_program){0};
}

bool predict_program_same(const struct predict_program *a, const struct predict_program *b, struct text *ret_why)
{
    if (a->ranks != b->ranks) {
        text_format(ret_why, "it has %" PRId64 " processes, not %" PRId64, b->ranks, a->ranks);
        return false;
    }
    if (a->phase_count != b->phase_count) {
        text_format(ret_why, "it has %d entries of phases, not %d", b->phase_count, a->phase_count);
        return false;
    }
    for (int i = 0; i < a->phase_count; i++) {
        const struct predict_phase *p = &a->phases[i], *q = &b->phases[i];
        if (p->count == q->count && p->weight_bytes == q->weight_bytes && p->processes == q->processes &&
            strcmp(p->operations, q->operations) == 0)
            continue;
        text_format(ret_why, "its phase %s is %s, not %s", q->label, q->words, p->words);
        return false;
    }
    return true;
}
