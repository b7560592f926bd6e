/* What follows from a model: the calls of each rank, phases, files and their sizes. */
#include "model/model.h"

#include "base/checked.h"
#include "base/rng.h"
#include "model/model_fold.h"
#include "model/model_line.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- every call of a rank ---- */

/* What a model says, call by call. */

static void expand_clear_value(struct model_value *value)
{
    free(value->text);
    model_formula_free(value->formula);
}

void model_step_clear(struct model_step *step)
{
    for (int i = 0; i < step->count && step->body; i++)
        model_step_clear(&step->body[i]);
    free(step->body);
    model_ranks_clear(&step->ranks);
    expand_clear_value(&step->size);
    expand_clear_value(&step->offset);
    expand_clear_value(&step->instance);
    expand_clear_value(&step->memory);
    expand_clear_value(&step->turns_of);
    expand_clear_value(&step->collectives_of);
    free(step->operation);
    free(step->name);
    free(step->detail);
}

void model_clear(struct model *model)
{
    for (int i = 0; i < model->step_count && model->steps; i++)
        model_step_clear(&model->steps[i]);
    for (int i = 0; i < model->layout_count; i++)
        free(model->layouts[i]);
    free(model->layouts);
    free(model->fresh);
    free(model->steps);
    free(model->program);
    free(model->mpi);
    free(model->mpiio);
    *model = (struct model){0};
}

static bool expand_ends_in(const char *word, const char *end)
{
    const size_t length = strlen(word), tail = strlen(end);
    return length >= tail && strcmp(word + length - tail, end) == 0;
}

struct model_operation model_operation_of(const char *operation)
{
    const char *word = operation + (operation[0] == 'i' && (operation[1] == 'r' || operation[1] == 'w'));
    struct model_operation is = {.nonblocking = word != operation, .pointer = MODEL_INDIVIDUAL};
    is.reads = strncmp(word, "read", 4) == 0;
    is.writes = strncmp(word, "write", 5) == 0;
    is.split = expand_ends_in(word, "_begin") || expand_ends_in(word, "_end");
    is.collective = strstr(word, "_all") || strstr(word, "_ordered");
    if (strstr(word, "_at"))
        is.pointer = MODEL_EXPLICIT;
    else if (strstr(word, "_shared") || strstr(word, "_ordered"))
        is.pointer = MODEL_SHARED;
    return is;
}

pl_status model_comm_take(struct model_step *step, const char *text, struct pl_error *error)
{
    const char *digits = text + strspn(text, "0123456789");
    if (digits > text && !*digits && digits - text < 18) {
        step->collectives = strtoll(text, NULL, 10);
        return PL_OK;
    }
    step->collectives_of.text = text_dup(text);
    if (!step->collectives_of.text)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a formula");
    const pl_status status = model_formula_parse(text, NULL, &step->collectives_of.formula, NULL, error);
    if (status == PL_OK)
        step->collectives = model_collectives(step, model_ranks_next(&step->ranks, -1), 0);
    return status;
}

const struct model_step *model_only_call(const struct model_step *step)
{
    const struct model_step *found = step->kind == MODEL_CALL ? step : NULL;
    for (int i = 0; i < step->count; i++) {
        const struct model_step *inside = model_only_call(&step->body[i]);
        if (step->body[i].kind != MODEL_COMM && (!inside || found))
            return NULL;
        found = inside ? inside : found;
    }
    return found;
}

int64_t model_collectives(const struct model_step *step, int64_t rank, int64_t n)
{
    int64_t number;
    if (!step->collectives_of.formula)
        return step->collectives;
    return model_formula_value(step->collectives_of.formula, rank, n, &number) && number > 0 ? number : 0;
}

int64_t model_turns(const struct model_step *loop, int64_t rank, int64_t n)
{
    int64_t number;
    if (!loop->turns_of.formula)
        return loop->turns;
    return model_formula_value(loop->turns_of.formula, rank, n, &number) && number > 0 ? number : 0;
}

int64_t model_turns_in(const struct model_step *loop, int64_t rank, int64_t n, int64_t executions)
{
    int64_t sum = 0;
    if (!loop->varies)
        return saturating_mul(model_turns(loop, rank, 0), executions);
    for (int64_t i = 0; i < executions; i++)
        sum = saturating_add(sum, model_turns(loop, rank, n + i));
    return sum;
}

bool model_is_free(const struct model_step *step)
{
    bool found = step->varies;
    for (int i = 0; i < step->count && !found; i++)
        found = model_is_free(&step->body[i]);
    return found;
}

/* ---- expansion ---- */

struct walk {
    const struct model *model;
    int64_t rank, tick, calls;
    int64_t *done; /* executions of each leaf so far, and then of each loop */
    model_take_event *take;
    void *context;
    struct pl_error *error;
    bool stopped;
};

static bool expand_value_of(const struct model_value *value, int64_t rank, int64_t n, int64_t *ret_number)
{
    *ret_number = -1;
    return !value->formula || model_formula_value(value->formula, rank, n, ret_number);
}

static bool expand_memory_of(const struct walk *walk, const struct model_step *step, struct model_event *event)
{
    event->memory = 0;
    return !step->memory.formula || (model_formula_value(step->memory.formula, event->rank, event->n, &event->memory) &&
                                     event->memory >= 0 && event->memory <= walk->model->layout_count);
}

static pl_status expand_walk_call(struct walk *walk, const struct model_step *step)
{
    struct model_event event = {.step = step, .rank = walk->rank, .n = walk->done[step->leaf]++, .tick = walk->tick};
    assert(step->kind == MODEL_CALL && step->leaf >= 0 && step->leaf < walk->model->leaf_count);
    walk->tick = saturating_add(walk->tick, 1);
    walk->calls++;
    if (!expand_value_of(&step->size, event.rank, event.n, &event.size) ||
        !expand_value_of(&step->offset, event.rank, event.n, &event.offset) ||
        !expand_value_of(&step->instance, event.rank, event.n, &event.instance) ||
        !expand_memory_of(walk, step, &event))
        return pl_fail(walk->error, PL_E_FORMAT, "a formula of %s has no value for rank %" PRId64 " and n = %" PRId64,
                       step->operation, event.rank, event.n);
    walk->stopped = !walk->take(walk->context, &event);
    return PL_OK;
}

/* Each event of communication is a tick; where it is not known how many there were, it is one. */
static int64_t expand_ticks_of(const struct model_step *step)
{
    const double mean = step->observed.calls > 0 ? step->observed.events / (double)step->observed.calls : 1;
    return mean > 1 ? saturating_int(mean + 0.5) : 1;
}

static pl_status expand_walk_steps(struct walk *walk, const struct model_step *steps, int count, bool told);

/* A turn without a call of this rank is as all others are: time passes, however often. */
static pl_status expand_walk_loop(struct walk *walk, const struct model_step *loop, bool told)
{
    const int64_t turns = model_turns(loop, walk->rank, walk->done[walk->model->leaf_count + loop->loop]++);
    const bool free = model_is_free(loop);
    pl_status status = PL_OK;
    for (int64_t turn = 0; turn < turns && status == PL_OK && !walk->stopped; turn++) {
        const int64_t calls = walk->calls, tick = walk->tick;
        status = expand_walk_steps(walk, loop->body, loop->count, told);
        if (walk->calls != calls || free)
            continue;
        walk->tick = saturating_add(tick, saturating_mul(walk->tick - tick, turns));
        break;
    }
    return status;
}

/* `told`: who does it is told around; else each step tells. */
static pl_status expand_walk_steps(struct walk *walk, const struct model_step *steps, int count, bool told)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK && !walk->stopped; i++) {
        const struct model_step *step = &steps[i];
        const bool tells = !told && (step->phase > 0 || step->kind != MODEL_LOOP);
        if (tells && !model_ranks_has(&step->ranks, walk->rank))
            continue;
        if (step->kind == MODEL_CALL)
            status = expand_walk_call(walk, step);
        else if (step->kind == MODEL_COMM)
            walk->tick = saturating_add(walk->tick, expand_ticks_of(step));
        else
            status = expand_walk_loop(walk, step, told || tells);
    }
    return status;
}

pl_status model_expand(const struct model *model, int64_t rank, model_take_event *take, void *context,
                       struct pl_error *error)
{
    assert(rank >= 0 && rank < model->ranks);
    struct walk walk = {.model = model, .rank = rank, .take = take, .context = context, .error = error};
    walk.done = calloc((size_t)model->leaf_count + (size_t)model->loop_count + 1, sizeof *walk.done);
    if (!walk.done)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to expand a model");
    const pl_status status = expand_walk_steps(&walk, model->steps, model->step_count, false);
    free(walk.done);
    return status;
}

/* ---- patterns ---- */

/* "FORMULA}" or "FORMULA:WIDTH}" at *pattern, which is moved behind it. */
static pl_status expand_render_slot(const char **pattern, int64_t rank, int64_t n, struct text *text,
                                    struct pl_error *error)
{
    struct model_formula *value = NULL, *width = NULL;
    int64_t number = 0, digits = 0;
    pl_status status = model_formula_parse(*pattern, "}:", &value, pattern, error);
    if (status == PL_OK && **pattern == ':')
        status = model_formula_parse(*pattern + 1, "}", &width, pattern, error);
    if (status == PL_OK && **pattern != '}')
        status = pl_fail(error, PL_E_FORMAT, "a number in a name or argument does not end in '}'");
    if (status == PL_OK && (!model_formula_value(value, rank, n, &number) ||
                            (width && !model_formula_value(width, rank, n, &digits)) || digits < 0 || digits > 18))
        status = pl_fail(error, PL_E_FORMAT,
                         "a formula in a name or argument has no value for rank %" PRId64 " and n = %" PRId64, rank, n);
    if (status == PL_OK) {
        text_format(text, "%0*" PRId64, (int)digits, number);
        ++*pattern;
    }
    model_formula_free(value);
    model_formula_free(width);
    return status;
}

pl_status model_render(const char *pattern, int64_t rank, int64_t n, struct text *text, struct pl_error *error)
{
    struct text escaped = {0};
    pl_status status = PL_OK;
    while (*pattern && status == PL_OK) {
        if (*pattern == '{') {
            pattern++;
            status = expand_render_slot(&pattern, rank, n, &escaped, error);
        } else {
            text_append(&escaped, pattern++, 1);
        }
    }
    if (status == PL_OK && escaped.data && !text_unescape(escaped.data))
        status = pl_fail(error, PL_E_FORMAT, "a name or argument has a broken escape");
    if (status == PL_OK)
        text_add(text, text_get(&escaped));
    text_clear(&escaped);
    return status;
}

/* ---- phases and files ---- */

enum { LOOPS_MAX = 80 }; /* inside of each other: more than a reader or folding lets through */

struct search {
    const struct model *model;
    struct model_facts *facts;
    struct model_phase_facts *phase; /* around; NULL: none */
    int64_t next_number;
    int64_t bytes, turns;                       /* moved by all accesses so far; turns of all steps so far */
    int64_t evaluated;                          /* sizes that were looked at one by one */
    const struct model_step *around[LOOPS_MAX]; /* loops, the outermost first */
    int around_count, phase_from;               /* the first one that is inside of the phase */
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
static enum model_order facts_order_of(const struct model_step *step, int64_t rank, int64_t turns)
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

static pl_status facts_fail_bytes(struct search *search, const struct model_step *step)
{
    return pl_fail(search->error, PL_E_FORMAT, "the sizes of %s add up beyond 2^63 bytes", step->operation);
}

static void facts_note_size(struct model_phase_facts *phase, int64_t size)
{
    if (phase->largest < 0 || size < phase->smallest)
        phase->smallest = size;
    if (size > phase->largest)
        phase->largest = size;
}

#define EXECUTIONS_MAX (INT64_C(1) << 28) /* whose sizes are looked at one by one: seconds */

/* Sums up the sizes of a rank: in one phase, and in all of the family, of which each may have other ones. */
static pl_status facts_add_sizes(struct search *search, const struct model_step *step, int64_t rank, int64_t *sum,
                                 int64_t *all)
{
    struct model_phase_facts *phase = search->phase;
    int64_t executions = phase->count, size = 0, mine = 0;
    for (int i = search->phase_from; i < search->around_count; i++) {
        if (search->around[i]->varies)
            search->evaluated = saturating_add(search->evaluated, executions);
        if (search->evaluated > EXECUTIONS_MAX)
            break;
        executions = model_turns_in(search->around[i], rank, 0, executions);
    }
    bool fits = executions < INT64_MAX;
    const bool varies = model_formula_has_turn(step->size.formula);
    if (varies && fits)
        search->evaluated = saturating_add(search->evaluated, executions);
    if (search->evaluated > EXECUTIONS_MAX)
        return pl_fail(search->error, PL_E_FORMAT,
                       "more than 2^28 calls have sizes or turns that follow no rule: given up");
    for (int64_t n = 0; n < (varies ? executions : 1) && fits; n++) {
        if (!model_formula_value(step->size.formula, rank, n, &size) || size < 0)
            return pl_fail(search->error, PL_E_FORMAT, "the size of %s is no number of bytes for rank %" PRId64,
                           step->operation, rank);
        facts_note_size(phase, size);
        fits = checked_add(mine, size, &mine);
    }
    fits = fits && (varies || checked_mul(mine, executions, &mine)) && checked_add(*all, mine, all) &&
           checked_add(*sum, mine / phase->count, sum);
    return fits ? PL_OK : facts_fail_bytes(search, step);
}

static void facts_take_use(struct model_file_facts *file, const struct model_operation *is)
{
    assert(is->pointer >= MODEL_EXPLICIT && is->pointer <= MODEL_SHARED);
    file->pointers[is->pointer] = true;
    file->collective |= is->collective;
    file->independent |= !is->collective;
    file->split |= is->split;
    file->nonblocking |= is->nonblocking;
    file->blocking |= !is->nonblocking && !is->split;
}

/* `turns`: executions in one phase. */
static pl_status facts_take_access(struct search *search, const struct model_step *step, int64_t turns)
{
    struct model_phase_facts *phase = search->phase;
    struct model_file_facts *file = step->file >= 0 ? &search->facts->files[step->file] : NULL;
    assert(phase && turns > 0 && (!file || step->file < search->facts->file_count));
    const struct model_ranks *ranks = &phase->step->ranks;
    const struct model_operation is = model_operation_of(step->operation);
    int64_t sum = 0, all = 0, executions;
    int64_t givers = 0, place = 0, first = 0;
    for (int64_t rank = -1; (rank = model_ranks_next(ranks, rank)) >= 0;) {
        const int64_t before = all;
        const pl_status status = facts_add_sizes(search, step, rank, &sum, &all);
        if (status != PL_OK)
            return status;
        if (all == before)
            continue;
        if (step->offset.formula && model_formula_value(step->offset.formula, rank, 0, &place)) {
            first = givers == 0 ? place : first;
            phase->spread |= place != first;
        }
        givers++;
    }
    phase->spread |= givers > 1 && (step->holes || !step->offset.formula);
    phase->givers = givers > phase->givers ? givers : phase->givers;
    /* Of all phases and files together, read and written: whoever sums up a part of them stays below. */
    if (!checked_mul(turns, phase->count, &executions) || !checked_add(search->bytes, all, &search->bytes))
        return facts_fail_bytes(search, step);
    const enum model_order order = facts_order_of(step, model_ranks_next(ranks, -1), executions);
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
    facts_take_use(file, &is);
    return PL_OK;
}

/* ---- one open ---- */

static int facts_by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* How many names the ranks use; the pattern has the rank in it. Names are told apart by 64 bits of hash. */
static pl_status facts_count_names(const struct model_step *step, const struct model_ranks *ranks, int64_t *ret_count,
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
        qsort(names, count, sizeof *names, facts_by_number);
        for (size_t i = 0; i < count; i++)
            *ret_count += i == 0 || names[i] != names[i - 1];
    }
    free(names);
    return status;
}

static pl_status facts_take_open(struct search *search, const struct model_step *step, const struct model_ranks *ranks)
{
    struct model_file_facts *file = &search->facts->files[step->file];
    const int64_t processes = model_ranks_total(ranks);
    int64_t names = 1;
    if (processes <= file->processes) /* the open of most ranks tells */
        return PL_OK;
    file->name = step->name;
    file->processes = processes;
    if (strstr(step->name, "idP")) {
        const pl_status status = facts_count_names(step, ranks, &names, search->error);
        if (status != PL_OK)
            return status;
    }
    file->type = names == processes ? MODEL_FILE_UNIQUE : names == 1 ? MODEL_FILE_SHARED : MODEL_FILE_GROUPED;
    return PL_OK;
}

/* ---- all steps ---- */

static pl_status facts_search_steps(struct search *search, const struct model_step *steps, int count, int64_t turns,
                                    int depth, const struct model_ranks *told);

static pl_status facts_fail_turns(struct search *search)
{
    return pl_fail(search->error, PL_E_FORMAT, "more than 2^63 turns");
}

static void facts_begin_phase(struct search *search, const struct model_step *step, int64_t count)
{
    struct model_facts *facts = search->facts;
    search->phase = &facts->phases[facts->phase_count++];
    *search->phase = (struct model_phase_facts){.step = step, .count = count, .largest = -1, .file = -1};
    search->phase->processes = model_ranks_total(&step->ranks);
    search->phase->number = search->next_number;
    search->phase_from = search->around_count;
    facts->total += count;
}

static pl_status facts_search_call(struct search *search, const struct model_step *step, int64_t turns,
                                   const struct model_ranks *ranks)
{
    if (step->kind != MODEL_CALL)
        return PL_OK;
    if (step->file >= 0 && strcmp(step->operation, "set_view") == 0)
        search->facts->files[step->file].views += turns;
    if (step->file >= 0 && step->name)
        return facts_take_open(search, step, ranks);
    return step->access && search->phase ? facts_take_access(search, step, turns) : PL_OK;
}

/* Phases in one turn of a step: no more than there are turns of all steps together. */
static int64_t facts_phases_in(const struct model_step *step)
{
    int64_t phases = step->phase > 0;
    for (int i = 0; i < step->count && !step->phase; i++)
        phases = saturating_add(phases,
                                saturating_mul(facts_phases_in(&step->body[i]),
                                               step->body[i].phase || !step->body[i].turns ? 1 : step->body[i].turns));
    return phases;
}

/* The turns of a loop that is done so often, in a phase in each of them; where they vary, on the average and by the
 * rank that makes most. */
static bool facts_turns_in(struct search *search, const struct model_step *loop, int64_t executions,
                           const struct model_ranks *ranks, int64_t *ret_turns)
{
    if (!loop->varies)
        return checked_mul(executions, loop->turns, ret_turns);
    const int64_t count = search->phase ? search->phase->count : 1, all = saturating_mul(executions, count);
    *ret_turns = 1;
    for (int64_t rank = -1; ranks && (rank = model_ranks_next(ranks, rank)) >= 0;) {
        search->evaluated = saturating_add(search->evaluated, all);
        if (search->evaluated > EXECUTIONS_MAX)
            return false;
        const int64_t mean = model_turns_in(loop, rank, 0, all) / count;
        *ret_turns = mean > *ret_turns ? mean : *ret_turns;
    }
    return *ret_turns < INT64_MAX;
}

/* `turns`: of the loops around, inside of a phase those of the phase. `depth`: loops around the phase. */
static pl_status facts_search_step(struct search *search, const struct model_step *step, int64_t turns, int depth,
                                   const struct model_ranks *told)
{
    const bool begins = step->phase > 0;
    if (!checked_add(search->turns, turns, &search->turns)) /* so that sums of counts and phases fit */
        return facts_fail_turns(search);
    if (begins)
        facts_begin_phase(search, step, turns);
    const int64_t inner = begins ? 1 : turns;
    pl_status status = PL_OK;
    int64_t all;
    if (step->kind != MODEL_LOOP)
        status = facts_search_call(search, step, inner, told ? told : &step->ranks);
    else if (!facts_turns_in(search, step, inner, begins ? &step->ranks : told, &all))
        status = facts_fail_turns(search);
    else if (search->around_count == LOOPS_MAX)
        status = pl_fail(search->error, PL_E_FORMAT, "too many loops inside of each other");
    else {
        search->around[search->around_count++] = step;
        status = facts_search_steps(search, step->body, step->count, all, depth + 1, begins ? &step->ranks : told);
        search->around_count--;
    }
    if (begins) {
        search->phase = NULL;
        search->next_number++;
    }
    return status;
}

/* Phases of one loop come in turn, from `first` on. Where loops are inside of the loop, their numbers are not told. */
static void facts_number_family(struct model_facts *facts, int first, int64_t turns)
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

static pl_status facts_search_steps(struct search *search, const struct model_step *steps, int count, int64_t turns,
                                    int depth, const struct model_ranks *told)
{
    pl_status status = PL_OK;
    for (int i = 0; i < count && status == PL_OK; i++) {
        const int first = search->facts->phase_count;
        const int64_t number = search->next_number, inside = facts_phases_in(&steps[i]);
        status = facts_search_step(search, &steps[i], turns, depth, told);
        if (depth == 0 && !steps[i].phase && steps[i].kind == MODEL_LOOP) {
            facts_number_family(search->facts, first, steps[i].turns);
            search->next_number = saturating_add(number, saturating_mul(inside, steps[i].turns));
        }
    }
    return status;
}

/* Small accesses beside the data of the same file. The rule is told in docs/model.md. */
enum { METADATA_MAX = 65536, METADATA_RATIO = 16, METADATA_SHARE = 100 };

static void facts_find_metadata(struct model_facts *facts, bool is_old)
{
    for (int i = 0; i < facts->phase_count; i++) {
        struct model_phase_facts *phase = &facts->phases[i];
        if (phase->file < 0)
            continue;
        const struct model_file_facts *file = &facts->files[phase->file];
        const int64_t bytes = (phase->read_bytes + phase->written_bytes) * phase->count;
        const bool of_all = phase->givers >= file->processes && phase->spread && phase->order != MODEL_RANDOM;
        phase->metadata = (is_old || !of_all) && phase->largest <= METADATA_MAX &&
                          phase->largest <= file->largest / METADATA_RATIO &&
                          bytes <= (file->read_bytes + file->written_bytes) / METADATA_SHARE;
    }
}

static void facts_sum_up(struct model_facts *facts)
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
    const pl_status status = facts_search_steps(&search, model->steps, model->step_count, 1, 0, NULL);
    if (status != PL_OK) {
        model_facts_clear(&facts);
        return status;
    }
    facts_find_metadata(&facts, model->is_old);
    facts_sum_up(&facts);
    *ret_facts = facts;
    return PL_OK;
}
