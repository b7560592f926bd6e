/* A model in a few words. */
#include "model/model.h"

#include "base/checked.h"
#include "model/model_facts.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* "10.1 MiB": requests are powers of two more often than not. */
static void add_bytes(struct text *text, int64_t bytes)
{
    static const char *const UNITS[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    double number = (double)bytes;
    int unit = 0;
    for (; number >= 1024 && unit < 5; unit++)
        number /= 1024;
    if (unit == 0 || number == (double)(int64_t)number)
        text_format(text, "%.0f %s", number, UNITS[unit]);
    else
        text_format(text, "%.1f %s", number, UNITS[unit]);
}

/* "collective strided write", "nonblocking independent sequential reads". */
static void add_operation(struct text *text, const char *operation, const char *order, bool many)
{
    const struct model_operation is = model_operation_of(operation);
    text_format(text, "%s%s %s %s%s",
                is.nonblocking ? "nonblocking "
                : is.split     ? "split "
                               : "",
                is.collective ? "collective" : "independent", order, is.reads ? "read" : "write", many ? "s" : "");
}

/* The accesses of a phase: how often each is done, and in which order. `turns`: of the loops around. */
static void add_step(struct text *text, const struct model_step *step, const char *order, int64_t turns)
{
    if (step->kind == MODEL_LOOP && step->count == 1) {
        add_step(text, &step->body[0], order, saturating_mul(turns, step->turns));
        return;
    }
    if (step->kind == MODEL_LOOP)
        text_format(text, "%" PRId64 " × (", saturating_mul(turns, step->turns));
    else if (turns > 1)
        text_format(text, "%" PRId64 " ", turns);
    for (int i = 0; i < step->count; i++) {
        text_add(text, i ? ", " : "");
        add_step(text, &step->body[i], order, 1);
    }
    if (step->kind == MODEL_LOOP)
        text_add(text, ")");
    else if (step->access)
        add_operation(text, step->operation, order, turns > 1);
    else
        text_add(text, step->operation);
}

void model_words_phase(const struct model_phase_facts *phase, struct text *text)
{
    text_format(text, "%" PRId64 " × ", phase->count);
    add_step(text, phase->step, model_order_word(phase->order), 1);
    text_add(text, " of ");
    add_bytes(text, phase->smallest);
    if (phase->smallest != phase->largest) {
        text_add(text, " to ");
        add_bytes(text, phase->largest);
    }
    text_format(text, phase->processes == 1 ? " by 1 process" : " by each of %" PRId64 " processes", phase->processes);
}

enum { PHASES_TOLD = 8 };

static void add_phases(struct text *text, const struct model_facts *facts)
{
    int told = 0, data = 0;
    int64_t metadata = 0;
    text_format(text, "%" PRId64 " phase%s", facts->total, facts->total == 1 ? "" : "s");
    for (int i = 0; i < facts->phase_count; i++) {
        if (facts->phases[i].metadata) {
            metadata += facts->phases[i].count;
            continue;
        }
        if (++data > PHASES_TOLD)
            continue;
        text_add(text, told++ ? ", " : ": ");
        model_words_phase(&facts->phases[i], text);
    }
    if (data > PHASES_TOLD)
        text_format(text, ", and %d families more", data - PHASES_TOLD);
    if (metadata > 0)
        text_format(text, "%s%" PRId64 " of small accesses to metadata", told ? ", " : ": ", metadata);
}

static void add_files(struct text *text, const struct model_facts *facts)
{
    static const char *const TYPES[] = {"shared file", "file for each process", "file for each group of processes"};
    static const char *const MANY[] = {"shared files", "times a file for each process", "times a file for each group"};
    int count[3] = {0};
    for (int i = 0; i < facts->file_count; i++) /* of those with data: a file that is only looked at says little */
        count[facts->files[i].type] += facts->files[i].read_bytes + facts->files[i].written_bytes > 0;
    for (int type = 0; type < 3; type++)
        if (count[type] == 1)
            text_format(text, "; %s%s", type ? "one " : "", TYPES[type]);
        else if (count[type] > 1)
            text_format(text, "; %d %s", count[type], MANY[type]);
}

void model_words(const struct model *model, struct text *text)
{
    struct model_facts facts;
    struct pl_error error;
    if (model_facts_find(model, &facts, &error) != PL_OK) {
        text->failed = true;
        return;
    }
    add_phases(text, &facts);
    text_add(text, "; ");
    add_bytes(text, facts.written_bytes);
    text_add(text, " written, ");
    add_bytes(text, facts.read_bytes);
    text_add(text, " read");
    add_files(text, &facts);
    model_facts_clear(&facts);
}
