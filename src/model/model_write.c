/* The text of a model file: docs/model.md has the grammar. */
#include "base/checked.h"
#include "model/model.h"

#include "model/model_line.h"

#include "trace/trace_format.h"

#include <inttypes.h>
#include <string.h>

const char *model_order_word(enum model_order order)
{
    static const char *const WORDS[] = {"sequential", "strided", "random"};
    return WORDS[order];
}

/* " key=a,b": the words whose flag is set. */
static void model_write_add_words(struct text *text, const char *key, const bool *flags, const char *const *words,
                                  int count)
{
    const char *between = "";
    text_format(text, " %s=", key);
    for (int i = 0; i < count; i++)
        if (flags[i]) {
            text_format(text, "%s%s", between, words[i]);
            between = ",";
        }
    if (!*between)
        text_add(text, "none");
}

void model_facts_file(const struct model_file_facts *file, struct text *text)
{
    static const char *const TYPES[] = {"shared", "unique", "grouped"};
    static const char *const POINTERS[] = {"explicit", "individual", "shared"};
    static const char *const CALLS[] = {"collective", "independent"};
    static const char *const WAITS[] = {"blocking", "nonblocking", "split"};
    const bool calls[] = {file->collective, file->independent};
    const bool waits[] = {file->blocking, file->nonblocking, file->split};
    text_format(text, "name=\"%s\" type=%s processes=%" PRId64 " access=%s", file->name, TYPES[file->type],
                file->processes, model_order_word(file->order));
    model_write_add_words(text, "pointer", file->pointers, POINTERS, 3);
    model_write_add_words(text, "calls", calls, CALLS, 2);
    model_write_add_words(text, "waits", waits, WAITS, 3);
    text_format(text, " views=%" PRId64 " written=%" PRId64 " read=%" PRId64, file->views, file->written_bytes,
                file->read_bytes);
}

void model_facts_phase(const struct model_phase_facts *phase, struct text *text)
{
    text_format(text, "count=%" PRId64, phase->count);
    if (phase->number > 0 && phase->count == 1)
        text_format(text, " numbers=%" PRId64, phase->number);
    else if (phase->number > 0)
        text_format(text, " numbers=%" PRId64 "-%" PRId64, phase->number,
                    saturating_add(phase->number, saturating_mul(phase->count - 1, phase->step_by)));
    if (phase->number > 0 && phase->count > 1 && phase->step_by > 1)
        text_format(text, "/%" PRId64, phase->step_by);
    text_add(text, " ranks=");
    model_ranks_write(&phase->step->ranks, text);
    text_format(text, " weight=%" PRId64 " access=%s", phase->read_bytes + phase->written_bytes,
                model_order_word(phase->order));
    if (phase->metadata)
        text_add(text, " kind=metadata");
}

/* ---- steps ---- */

struct writer {
    struct text *text;
    const struct model_facts *facts;
    bool in_phase;
};

static void model_write_indent(struct text *text, int depth)
{
    for (int i = 0; i < depth; i++)
        text_add(text, "  ");
}

static void model_write_add_value(struct text *text, const char *key, const struct model_value *value)
{
    if (value->text)
        text_format(text, " %s=%s", key, value->text);
}

static void model_write_call(struct text *text, const struct model_step *step)
{
    text_add(text, step->operation);
    if (step->ranks.count) {
        text_add(text, " ranks=");
        model_ranks_write(&step->ranks, text);
    }
    if (step->file >= 0)
        text_format(text, " file=%d", step->file + 1);
    if (step->instance.text && strcmp(step->instance.text, "0") != 0)
        model_write_add_value(text, "instance", &step->instance);
    model_write_add_value(text, "size", &step->size);
    model_write_add_value(text, "offset", &step->offset);
    if (step->access && step->etype_bytes != 1)
        text_format(text, " etype=%" PRId64, step->etype_bytes);
    if (step->holes)
        text_add(text, " holes=yes");
    model_write_add_value(text, "memory", &step->memory);
    if (step->name)
        text_format(text, " name=\"%s\"", step->name);
    if (step->detail)
        text_format(text, " with=\"%s\"", step->detail);
    text_add(text, "\n");
}

static void model_write_comm(struct text *text, const struct model_step *step, bool in_phase)
{
    text_add(text, "comm");
    if (!in_phase) {
        text_add(text, " ranks=");
        model_ranks_write(&step->ranks, text);
    }
    if (step->collectives_of.text)
        text_format(text, " collectives=%s\n", step->collectives_of.text);
    else
        text_format(text, " collectives=%" PRId64 "\n", step->collectives);
}

static void model_write_steps(struct writer *writer, const struct model_step *steps, int count, int depth);

static void model_write_loop(struct writer *writer, const struct model_step *step, int depth)
{
    if (step->turns_of.text)
        text_format(writer->text, "loop %s\n", step->turns_of.text);
    else
        text_format(writer->text, "loop %" PRId64 "\n", step->turns);
    model_write_steps(writer, step->body, step->count, depth + 1);
    model_write_indent(writer->text, depth);
    text_add(writer->text, "end\n");
}

/* A phase of one operation with one size, through views with holes: where its data would be if each process had its
 * own part of the file in each turn (the form of Table XI of the document). */
static void model_write_layout(struct text *text, const struct model_phase_facts *phase, int depth)
{
    const struct model_step *step = model_only_call(phase->step);
    if (!step || step->kind != MODEL_CALL || !step->holes || phase->smallest != phase->largest || phase->processes < 2)
        return;
    model_write_indent(text, depth);
    text_format(text, "# equivalent layout in bytes: idP*%" PRId64 "+n*%" PRId64 "\n", phase->largest,
                phase->largest * phase->processes);
}

static void model_write_phase(struct writer *writer, const struct model_step *step, int depth)
{
    struct model_step inside = *step;
    const struct model_ranks none = {0};
    text_format(writer->text, "phase %d ", step->phase);
    model_facts_phase(&writer->facts->phases[step->phase - 1], writer->text);
    text_add(writer->text, "\n");
    model_write_layout(writer->text, &writer->facts->phases[step->phase - 1], depth + 1);
    inside.phase = 0;
    inside.ranks = none; /* told by the phase */
    writer->in_phase = true;
    model_write_steps(writer, &inside, 1, depth + 1);
    writer->in_phase = false;
    model_write_indent(writer->text, depth);
    text_add(writer->text, "end\n");
}

static void model_write_steps(struct writer *writer, const struct model_step *steps, int count, int depth)
{
    for (int i = 0; i < count; i++) {
        model_write_indent(writer->text, depth);
        if (steps[i].phase)
            model_write_phase(writer, &steps[i], depth);
        else if (steps[i].kind == MODEL_LOOP)
            model_write_loop(writer, &steps[i], depth);
        else if (steps[i].kind == MODEL_COMM)
            model_write_comm(writer->text, &steps[i], writer->in_phase);
        else
            model_write_call(writer->text, &steps[i]);
    }
}

/* ---- what was seen ---- */

static void model_write_seen(struct text *text, const struct model_step *steps, int count)
{
    for (int i = 0; i < count; i++) {
        const struct model_step *step = &steps[i];
        const struct model_observed *seen = &step->observed;
        model_write_seen(text, step->body, step->count);
        if (step->kind == MODEL_LOOP || seen->calls == 0)
            continue;
        text_format(text, "seen %d %s calls=%" PRId64, step->leaf + 1,
                    step->kind == MODEL_COMM ? "comm" : step->operation, seen->calls);
        if (step->kind == MODEL_COMM)
            text_format(text, " events=%.0f gap_ns=%.0f\n", seen->events, seen->gap_ns);
        else
            text_format(text,
                        " sum_ns=%.0f slowest_ns=%.0f min_ns=%" PRId64 " max_ns=%" PRId64 " first_ns=%" PRId64
                        " gap_ns=%.0f\n",
                        seen->sum_ns, step->slowest_ns, seen->min_ns, seen->max_ns, seen->first_ns, seen->gap_ns);
    }
}

static void model_write_observed(const struct model *model, struct text *text)
{
    const size_t from = text->length;
    text_add(text, "observed\nmpi ");
    text_add_escaped(text, model->mpi);
    text_add(text, "\nmpiio ");
    text_add_escaped(text, model->mpiio);
    text_format(text, "\nfailed_calls %" PRId64 "\nincomplete_ranks %" PRId64 "\n", model->failed_calls,
                model->incomplete_ranks);
    for (int i = 0; i < model->file_count && model->fresh; i++)
        if (model->fresh[i].read_bytes > 0 || model->fresh[i].written_bytes > 0 || model->fresh[i].unlinked)
            text_format(text, "fresh %d read_bytes=%.0f written_bytes=%.0f%s\n", i + 1, model->fresh[i].read_bytes,
                        model->fresh[i].written_bytes, model->fresh[i].unlinked ? " unlinked=1" : "");
    model_write_seen(text, model->steps, model->step_count);
    trace_add_end(text, from, "observed");
}

void model_write(const struct model *model, bool observed, struct text *text)
{
    struct model_facts facts;
    struct pl_error error;
    if (model_facts_find(model, &facts, &error) != PL_OK) {
        text->failed = true;
        return;
    }
    text_add(text, MODEL_FIRST_LINE);
    const size_t from = text->length;
    text_add(text, "program ");
    text_add_escaped(text, model->program);
    text_format(text, "\nranks %" PRId64 "\n", model->ranks);
    for (int i = 0; i < facts.file_count; i++) {
        text_format(text, "file %d ", i + 1);
        model_facts_file(&facts.files[i], text);
        text_add(text, "\n");
    }
    for (int i = 0; i < model->layout_count; i++)
        text_format(text, model->layouts[i] ? "memory %d type=\"%s\"\n" : "memory %d left_out=yes\n", i + 1,
                    model->layouts[i]);
    text_add(text, "steps\n");
    struct writer writer = {text, &facts, false};
    model_write_steps(&writer, model->steps, model->step_count, 0);
    trace_add_end(text, from, "steps");
    if (observed)
        model_write_observed(model, text);
    model_facts_clear(&facts);
}
