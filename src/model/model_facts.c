#include "model/model_facts.h"

#include "base/checked.h"
#include "base/rng.h"
#include "model/model_pool.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct search {
    const struct model *model;
    struct model_facts *facts;
    struct model_phase_facts *phase; /* around; NULL: none */
    int64_t next_number;
    int64_t bytes, turns; /* moved by all accesses so far; turns of all steps so far */
    struct pl_error *error;
};

void model_facts_clear(struct model_facts *facts)
{
    free(facts->phases);
    free(facts->files);
    *facts = (struct model_facts){0};
}

/* ---- one access ---- */

enum { LOOK = 64 }; /* executions that tell how offsets go on */

/* How the offsets of one rank go on. A list of offsets is random, another formula is not. */
static enum model_order order_of(const struct model_step *step, int64_t rank, int64_t turns)
{
    int64_t size, before, offset;
    if (step->offset.text && strstr(step->offset.text, "][n]"))
        return MODEL_RANDOM;
    if (step->holes)
        return MODEL_STRIDED;
    if (!step->offset.formula || !model_formula_value(step->size.formula, rank, 0, &size) ||
        !model_formula_value(step->offset.formula, rank, 0, &before))
        return MODEL_SEQUENTIAL;
    const int64_t etype = step->etype_bytes > 0 ? step->etype_bytes : 1;
    for (int64_t n = 1; n < turns && n < LOOK; n++, before = offset)
        if (!model_formula_value(step->offset.formula, rank, n, &offset) ||
            wrapping_mul(wrapping_sub(offset, before), etype) != size)
            return MODEL_STRIDED;
    return MODEL_SEQUENTIAL;
}

static pl_status fail_bytes(struct search *search, const struct model_step *step)
{
    return pl_fail(search->error, PL_E_FORMAT, "the sizes of %s add up beyond 2^63 bytes", step->operation);
}

/* Sums up the sizes over the ranks. */
static pl_status take_sizes(struct search *search, const struct model_step *step, const struct model_ranks *ranks,
                            int64_t turns, int64_t *ret_sum)
{
    struct model_phase_facts *phase = search->phase;
    *ret_sum = 0;
    for (int64_t rank = -1; (rank = model_ranks_next(ranks, rank)) >= 0;) {
        int64_t size;
        if (!model_formula_value(step->size.formula, rank, 0, &size) || size < 0)
            return pl_fail(search->error, PL_E_FORMAT, "the size of %s is no number of bytes for rank %" PRId64,
                           step->operation, rank);
        if (!checked_add(*ret_sum, size, ret_sum))
            return fail_bytes(search, step);
        if (phase->largest < 0 || size < phase->smallest)
            phase->smallest = size;
        if (size > phase->largest)
            phase->largest = size;
    }
    return checked_mul(*ret_sum, turns, ret_sum) ? PL_OK : fail_bytes(search, step);
}

static void take_use(struct model_file_facts *file, const struct model_operation *is)
{
    file->pointers[is->pointer] = true;
    file->collective |= is->collective;
    file->independent |= !is->collective;
    file->split |= is->split;
    file->nonblocking |= is->nonblocking;
    file->blocking |= !is->nonblocking && !is->split;
}

/* `turns`: executions in one phase. */
static pl_status take_access(struct search *search, const struct model_step *step, int64_t turns)
{
    struct model_phase_facts *phase = search->phase;
    struct model_file_facts *file = step->file >= 0 ? &search->facts->files[step->file] : NULL;
    const struct model_ranks *ranks = &phase->step->ranks;
    const struct model_operation is = model_operation_of(step->operation);
    int64_t sum, all, executions;
    const pl_status status = take_sizes(search, step, ranks, turns, &sum);
    if (status != PL_OK)
        return status;
    /* Of all phases and files together, read and written: whoever sums up a part of them stays below. */
    if (!checked_mul(sum, phase->count, &all) || !checked_mul(turns, phase->count, &executions) ||
        !checked_add(search->bytes, all, &search->bytes))
        return fail_bytes(search, step);
    const enum model_order order = order_of(step, model_ranks_next(ranks, -1), executions);
    *(is.reads ? &phase->read_bytes : &phase->written_bytes) += sum;
    if (order > phase->order)
        phase->order = order;
    if (phase->file < 0)
        phase->file = step->file;
    if (!file)
        return PL_OK;
    *(is.reads ? &file->read_bytes : &file->written_bytes) += all;
    if (phase->largest > file->largest)
        file->largest = phase->largest;
    take_use(file, &is);
    return PL_OK;
}

/* ---- one open ---- */

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many names the ranks use; the pattern has the rank in it. Names are told apart by 64 bits of hash. */
static pl_status count_names(const struct model_step *step, const struct model_ranks *ranks, int64_t *ret_count,
                             struct pl_error *error)
{
    const size_t total = (size_t)model_ranks_total(ranks);
    uint64_t *names = calloc(total + 1, sizeof *names);
    size_t count = 0;
    pl_status status = PL_OK;
    if (!names)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the names of files");
    for (int64_t rank = -1; status == PL_OK && (rank = model_ranks_next(ranks, rank)) >= 0;) {
        struct text name = {0};
        status = model_render(step->name, rank, 0, &name, error);
        if (status == PL_OK && name.failed)
            status = pl_fail(error, PL_E_NOMEM, "not enough memory for the names of files");
        names[count++] = model_hash_text(text_get(&name));
        text_clear(&name);
    }
    *ret_count = 0;
    if (status == PL_OK) {
        qsort(names, count, sizeof *names, by_number);
        for (size_t i = 0; i < count; i++)
            *ret_count += i == 0 || names[i] != names[i - 1];
    }
    free(names);
    return status;
}

static pl_status take_open(struct search *search, const struct model_step *step, const struct model_ranks *ranks)
{
    struct model_file_facts *file = &search->facts->files[step->file];
    const int64_t processes = model_ranks_total(ranks);
    int64_t names = 1;
    if (processes <= file->processes) /* the open of most ranks tells */
        return PL_OK;
    file->name = step->name;
    file->processes = processes;
    if (strstr(step->name, "idP")) {
        const pl_status status = count_names(step, ranks, &names, search->error);
        if (status != PL_OK)
            return status;
    }
    file->type = names == processes ? MODEL_FILE_UNIQUE : names == 1 ? MODEL_FILE_SHARED : MODEL_FILE_GROUPED;
    return PL_OK;
}

/* ---- all steps ---- */

static pl_status search_steps(struct search *search, const struct model_step *steps, int count, int64_t turns,
                              int depth, const struct model_ranks *told);

static pl_status fail_turns(struct search *search)
{
    return pl_fail(search->error, PL_E_FORMAT, "more than 2^63 turns");
}

static void begin_phase(struct search *search, const struct model_step *step, int64_t count)
{
    struct model_facts *facts = search->facts;
    search->phase = &facts->phases[facts->phase_count++];
    *search->phase = (struct model_phase_facts){.step = step, .count = count, .largest = -1, .file = -1};
    search->phase->processes = model_ranks_total(&step->ranks);
    search->phase->number = search->next_number;
    facts->total += count;
}

static pl_status search_call(struct search *search, const struct model_step *step, int64_t turns,
                             const struct model_ranks *ranks)
{
    if (step->kind != MODEL_CALL)
        return PL_OK;
    if (step->file >= 0 && strcmp(step->operation, "set_view") == 0)
        search->facts->files[step->file].views += turns;
    if (step->file >= 0 && step->name)
        return take_open(search, step, ranks);
    return step->access && search->phase ? take_access(search, step, turns) : PL_OK;
}

/* Phases in one turn of a step: no more than there are turns of all steps together. */
static int64_t phases_in(const struct model_step *step)
{
    int64_t phases = step->phase > 0;
    for (int i = 0; i < step->count && !step->phase; i++)
        phases = saturating_add(phases,
                                saturating_mul(phases_in(&step->body[i]),
                                               step->body[i].phase || !step->body[i].turns ? 1 : step->body[i].turns));
    return phases;
}

/* `turns`: of the loops around, inside of a phase those of the phase. `depth`: loops around the phase. */
static pl_status search_step(struct search *search, const struct model_step *step, int64_t turns, int depth,
                             const struct model_ranks *told)
{
    const bool begins = step->phase > 0;
    if (!checked_add(search->turns, turns, &search->turns)) /* so that sums of counts and phases fit */
        return fail_turns(search);
    if (begins)
        begin_phase(search, step, turns);
    const int64_t inner = begins ? 1 : turns;
    pl_status status = PL_OK;
    int64_t all;
    if (step->kind != MODEL_LOOP)
        status = search_call(search, step, inner, told ? told : &step->ranks);
    else if (!checked_mul(inner, step->turns, &all))
        status = fail_turns(search);
    else
        status = search_steps(search, step->body, step->count, all, depth + 1, begins ? &step->ranks : told);
    if (begins) {
        search->phase = NULL;
        search->next_number++;
    }
    return status;
}

/* Phases of one loop come in turn, from `first` on. Where loops are inside of the loop, their numbers are not told. */
static void number_family(struct model_facts *facts, int first, int64_t turns)
{
    bool plain = true;
    for (int i = first; i < facts->phase_count; i++)
        plain = plain && facts->phases[i].count == turns;
    for (int i = first; i < facts->phase_count; i++) {
        facts->phases[i].step_by = facts->phase_count - first;
        if (!plain)
            facts->phases[i].number = 0;
    }
}

static pl_status search_steps(struct search *search, const struct model_step *steps, int count, int64_t turns,
                              int depth, const struct model_ranks *told)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        const int first = search->facts->phase_count;
        const int64_t number = search->next_number, inside = phases_in(&steps[i]);
        status = search_step(search, &steps[i], turns, depth, told);
        if (depth == 0 && !steps[i].phase && steps[i].kind == MODEL_LOOP) {
            number_family(search->facts, first, steps[i].turns);
            search->next_number = saturating_add(number, saturating_mul(inside, steps[i].turns));
        }
    }
    return status;
}

/* Small accesses beside the data of the same file. The rule is told in docs/model.md. */
enum { METADATA_MAX = 65536, METADATA_RATIO = 16, METADATA_SHARE = 100 };

static void find_metadata(struct model_facts *facts)
{
    for (int i = 0; i < facts->phase_count; i++) {
        struct model_phase_facts *phase = &facts->phases[i];
        if (phase->file < 0)
            continue;
        const struct model_file_facts *file = &facts->files[phase->file];
        const int64_t bytes = (phase->read_bytes + phase->written_bytes) * phase->count;
        phase->metadata = phase->largest <= METADATA_MAX && phase->largest <= file->largest / METADATA_RATIO &&
                          bytes <= (file->read_bytes + file->written_bytes) / METADATA_SHARE;
    }
}

static void sum_up(struct model_facts *facts)
{
    for (int i = 0; i < facts->phase_count; i++) {
        const struct model_phase_facts *phase = &facts->phases[i];
        facts->read_bytes += phase->read_bytes * phase->count;
        facts->written_bytes += phase->written_bytes * phase->count;
        if (phase->file >= 0 && !phase->metadata && phase->order > facts->files[phase->file].order)
            facts->files[phase->file].order = phase->order;
    }
}

pl_status model_facts_find(const struct model *model, struct model_facts *ret_facts, struct pl_error *error)
{
    struct model_facts facts = {.file_count = model->file_count};
    struct search search = {.model = model, .facts = &facts, .next_number = 1, .error = error};
    facts.phases = calloc((size_t)model->phase_count + 1, sizeof *facts.phases);
    facts.files = calloc((size_t)model->file_count + 1, sizeof *facts.files);
    if (!facts.phases || !facts.files) {
        model_facts_clear(&facts);
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a model");
    }
    for (int i = 0; i < model->file_count; i++)
        facts.files[i].name = "";
    const pl_status status = search_steps(&search, model->steps, model->step_count, 1, 0, NULL);
    if (status != PL_OK) {
        model_facts_clear(&facts);
        return status;
    }
    find_metadata(&facts);
    sum_up(&facts);
    *ret_facts = facts;
    return PL_OK;
}
