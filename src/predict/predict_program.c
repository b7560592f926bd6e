/* The text of a type (docs/trace-format.md) is read by descent; each constructor tells how long its pieces are. */
#include "predict/predict.h"

#include "base/checked.h"
#include "predict/predict_source.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- pieces of a type ---- */

enum { DEPTH_MAX = 64, LIST_MAX = 32 };

struct piece {
    double size;  /* bytes of data; 0: not known */
    double bytes; /* that lie together */
    bool dense;   /* without holes: copies of it in a row lie together */
};

struct list {
    double first, sum, count;
    double values[LIST_MAX]; /* the first ones */
};

struct reader {
    const char *at;
    int depth;
    bool failed;
};

static struct piece piece_read_type(struct reader *reader);

static void piece_pass(struct reader *reader, char c)
{
    if (*reader->at == c)
        reader->at++;
    else
        reader->failed = true;
}

static double piece_read_number(struct reader *reader)
{
    char *end;
    const double number = strtod(reader->at, &end);
    if (end == reader->at)
        reader->failed = true;
    reader->at = end;
    return number;
}

static void piece_list_add(struct list *list, double value)
{
    if (list->count == 0)
        list->first = value;
    if (list->count < LIST_MAX)
        list->values[(int)list->count] = value;
    list->count++;
    list->sum += value;
}

/* "[1 4 7]" or "[1:3*3]"; words are passed over. */
static struct list piece_read_list(struct reader *reader)
{
    struct list list = {0};
    for (piece_pass(reader, '['); !reader->failed && *reader->at != ']'; reader->at += *reader->at == ' ') {
        if (*reader->at >= 'a' && *reader->at <= 'z') {
            reader->at += strspn(reader->at, "abcdefghijklmnopqrstuvwxyz_");
            continue;
        }
        const double first = piece_read_number(reader);
        if (*reader->at != ':') {
            piece_list_add(&list, first);
            continue;
        }
        reader->at++;
        const double step = piece_read_number(reader);
        piece_pass(reader, '*');
        const double count = piece_read_number(reader);
        for (int i = 0; i < count && i < LIST_MAX; i++)
            piece_list_add(&list, first + i * step);
        if (count > LIST_MAX) {
            list.count += count - LIST_MAX;
            list.sum += (count - LIST_MAX) * (first + step * (count + LIST_MAX - 1) / 2);
        }
    }
    piece_pass(reader, ']');
    return list;
}

/* "C," or "F,": Fortran's order? */
static bool piece_read_order(struct reader *reader)
{
    const bool fortran = *reader->at == 'F';
    piece_pass(reader, fortran ? 'F' : 'C');
    piece_pass(reader, ',');
    return fortran;
}

/* `count` blocks of `length` elements; `joined`: they lie together. */
static struct piece piece_blocks(double count, double length, struct piece of, bool joined)
{
    const double size = count * length * of.size;
    if (!of.dense)
        return (struct piece){size, of.bytes, false};
    return joined ? (struct piece){size, size, true} : (struct piece){size, length * of.size, false};
}

/* ---- constructors: the reader stands behind the opening bracket ---- */

static struct piece piece_read_contiguous(struct reader *reader)
{
    const double count = piece_read_number(reader);
    piece_pass(reader, ',');
    return piece_blocks(1, count, piece_read_type(reader), true);
}

static struct piece piece_read_vector(struct reader *reader, bool in_bytes)
{
    const double count = piece_read_number(reader);
    piece_pass(reader, ',');
    const double length = piece_read_number(reader);
    piece_pass(reader, ',');
    const double stride = piece_read_number(reader);
    piece_pass(reader, ',');
    const struct piece of = piece_read_type(reader);
    return piece_blocks(count, length, of, count == 1 || stride == (in_bytes ? length * of.size : length));
}

static struct piece piece_read_indexed(struct reader *reader)
{
    const struct list lengths = piece_read_list(reader);
    piece_pass(reader, ',');
    piece_read_list(reader);
    piece_pass(reader, ',');
    const struct piece of = piece_read_type(reader);
    return lengths.count > 0 ? piece_blocks(lengths.count, lengths.sum / lengths.count, of, lengths.count == 1) : of;
}

static struct piece piece_read_indexed_block(struct reader *reader)
{
    const double length = piece_read_number(reader);
    piece_pass(reader, ',');
    const struct list places = piece_read_list(reader);
    piece_pass(reader, ',');
    return piece_blocks(places.count, length, piece_read_type(reader), places.count == 1);
}

/* Members are told by the first one: programs put like ones into a struct for a view. */
static struct piece piece_read_struct(struct reader *reader)
{
    const struct list lengths = piece_read_list(reader);
    struct piece first = {0};
    piece_pass(reader, ',');
    piece_read_list(reader);
    piece_pass(reader, ',');
    piece_pass(reader, '[');
    for (int i = 0; !reader->failed && *reader->at && *reader->at != ']'; i++, reader->at += *reader->at == ' ') {
        const struct piece member = piece_read_type(reader);
        if (i == 0)
            first = member;
    }
    piece_pass(reader, ']');
    return piece_blocks(lengths.count, lengths.first, first, lengths.count == 1);
}

/* Elements in a row: the fastest dimension's, times those of the next one while a whole dimension is taken. */
static struct piece piece_read_subarray(struct reader *reader)
{
    const struct list sizes = piece_read_list(reader);
    piece_pass(reader, ',');
    const struct list parts = piece_read_list(reader);
    piece_pass(reader, ',');
    piece_read_list(reader);
    piece_pass(reader, ',');
    const bool fortran = piece_read_order(reader);
    const struct piece of = piece_read_type(reader);
    const int dimensions = (int)fmin(parts.count, LIST_MAX);
    double row = 1, all = 1;
    bool whole = true;
    for (int i = 0; i < dimensions; i++) {
        const int d = fortran ? i : dimensions - 1 - i;
        row *= whole ? parts.values[d] : 1;
        all *= parts.values[d];
        whole = whole && d < sizes.count && parts.values[d] == sizes.values[d];
    }
    return piece_blocks(row > 0 ? all / row : 0, row, of, whole);
}

/* The fastest dimension decides: a block of it, or what is dealt out cyclically. */
static struct piece piece_read_darray(struct reader *reader)
{
    piece_read_number(reader);
    piece_pass(reader, ',');
    piece_read_number(reader);
    piece_pass(reader, ',');
    const struct list sizes = piece_read_list(reader);
    piece_pass(reader, ',');
    piece_read_list(reader);
    piece_pass(reader, ',');
    const struct list arguments = piece_read_list(reader);
    piece_pass(reader, ',');
    const struct list grid = piece_read_list(reader);
    piece_pass(reader, ',');
    const bool fortran = piece_read_order(reader);
    const struct piece of = piece_read_type(reader);
    const int last = fortran ? 0 : (int)fmin(sizes.count, LIST_MAX) - 1;
    if (last < 0 || !(grid.values[last] > 0))
        return (struct piece){0};
    const bool told = last < arguments.count && arguments.values[last] > 0; /* else MPI_DISTRIBUTE_DFLT_DARG */
    return piece_blocks(2, told ? arguments.values[last] : ceil(sizes.values[last] / grid.values[last]), of, false);
}

static struct piece piece_read_resized(struct reader *reader)
{
    piece_read_number(reader);
    piece_pass(reader, ',');
    const double extent = piece_read_number(reader);
    piece_pass(reader, ',');
    struct piece of = piece_read_type(reader);
    of.dense = of.dense && extent == of.size;
    return of;
}

static struct piece piece_read_basic(struct reader *reader, const char *name, size_t length)
{
    static const struct {
        const char *name;
        int size;
    } SIZES[] = {
        {"MPI_BYTE", 1},
        {"MPI_CHAR", 1},
        {"MPI_PACKED", 1},
        {"MPI_SIGNED_CHAR", 1},
        {"MPI_INT8_T", 1},
        {"MPI_UNSIGNED_CHAR", 1},
        {"MPI_UINT8_T", 1},
        {"MPI_CHARACTER", 1},
        {"MPI_SHORT", 2},
        {"MPI_INT16_T", 2},
        {"MPI_UNSIGNED_SHORT", 2},
        {"MPI_UINT16_T", 2},
        {"MPI_INT", 4},
        {"MPI_FLOAT", 4},
        {"MPI_UNSIGNED", 4},
        {"MPI_INT32_T", 4},
        {"MPI_UINT32_T", 4},
        {"MPI_INTEGER", 4},
        {"MPI_REAL", 4},
        {"MPI_REAL4", 4},
        {"MPI_INTEGER4", 4},
        {"MPI_LOGICAL", 4},
        {"MPI_DOUBLE", 8},
        {"MPI_LONG", 8},
        {"MPI_LONG_LONG", 8},
        {"MPI_LONG_LONG_INT", 8},
        {"MPI_UNSIGNED_LONG", 8},
        {"MPI_INT64_T", 8},
        {"MPI_UINT64_T", 8},
        {"MPI_OFFSET", 8},
        {"MPI_DOUBLE_PRECISION", 8},
        {"MPI_REAL8", 8},
        {"MPI_INTEGER8", 8},
        {"MPI_COMPLEX", 8},
        {"MPI_LONG_DOUBLE", 16},
        {"MPI_DOUBLE_COMPLEX", 16},
        {"MPI_C_COMPLEX", 8},
        {"MPI_C_DOUBLE_COMPLEX", 16},
    };
    for (size_t i = 0; i < sizeof SIZES / sizeof SIZES[0]; i++)
        if (strlen(SIZES[i].name) == length && memcmp(SIZES[i].name, name, length) == 0)
            return (struct piece){SIZES[i].size, SIZES[i].size, true};
    reader->failed = true;
    return (struct piece){0};
}

static struct piece piece_read_constructor(struct reader *reader, const char *name, size_t length)
{
    const struct {
        const char *name;
        struct piece (*read)(struct reader *reader);
    } READERS[] = {{"contiguous", piece_read_contiguous},
                   {"indexed", piece_read_indexed},
                   {"hindexed", piece_read_indexed},
                   {"indexed_block", piece_read_indexed_block},
                   {"hindexed_block", piece_read_indexed_block},
                   {"struct", piece_read_struct},
                   {"subarray", piece_read_subarray},
                   {"darray", piece_read_darray},
                   {"resized", piece_read_resized},
                   {"dup", piece_read_type}};
    for (size_t i = 0; i < sizeof READERS / sizeof READERS[0]; i++)
        if (strlen(READERS[i].name) == length && memcmp(READERS[i].name, name, length) == 0)
            return READERS[i].read(reader);
    if (length == 6 && memcmp(name, "vector", 6) == 0)
        return piece_read_vector(reader, false);
    if (length == 7 && memcmp(name, "hvector", 7) == 0)
        return piece_read_vector(reader, true);
    reader->failed = true;
    return (struct piece){0};
}

static struct piece piece_read_type(struct reader *reader)
{
    const char *name = reader->at;
    const size_t length = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789");
    if (reader->failed || ++reader->depth > DEPTH_MAX) {
        reader->failed = true;
        return (struct piece){0};
    }
    reader->at += length;
    struct piece piece;
    if (*reader->at == '(') {
        reader->at++;
        piece = piece_read_constructor(reader, name, length);
        piece_pass(reader, ')');
    } else {
        piece = piece_read_basic(reader, name, length);
    }
    reader->depth--;
    return reader->failed ? (struct piece){0} : piece;
}

int64_t predict_piece_bytes(const char *type)
{
    struct reader reader = {.at = type};
    const struct piece piece = piece_read_type(&reader);
    return !reader.failed && piece.bytes >= 1 && piece.bytes < 9e18 ? (int64_t)piece.bytes : 0;
}

/* ---- the view in force ---- */

/* The file of the first access through a view with holes. */
static int piece_file_of(const struct model_step *step)
{
    if (step->kind == MODEL_CALL)
        return step->access && step->holes ? step->file : -1;
    for (int i = 0; i < step->count; i++) {
        const int file = piece_file_of(&step->body[i]);
        if (file >= 0)
            return file;
    }
    return -1;
}

/* The last view of the file before the phase; returns true when the phase is reached. */
static bool piece_find_view(const struct model_step *steps, int count, const struct model_step *phase, int file,
                            const struct model_step **ret_view)
{
    for (int i = 0; i < count; i++) {
        if (&steps[i] == phase)
            return true;
        if (steps[i].kind == MODEL_CALL && steps[i].file == file && steps[i].detail &&
            strcmp(steps[i].operation, "set_view") == 0)
            *ret_view = &steps[i];
        if (piece_find_view(steps[i].body, steps[i].count, phase, file, ret_view))
            return true;
    }
    return false;
}

/* Of the view that is in force in a phase; 0: not known. */
static int64_t predict_piece_of(const struct model *model, const struct model_step *phase)
{
    const struct model_step *view = NULL;
    struct text detail = {0};
    struct pl_error ignored;
    const int file = piece_file_of(phase);
    int64_t bytes = 0;
    if (file < 0 || !piece_find_view(model->steps, model->step_count, phase, file, &view) || !view)
        return 0;
    if (model_render(view->detail, model_ranks_next(&view->ranks, -1), 0, &detail, &ignored) == PL_OK) {
        const char *type = strstr(text_get(&detail), " filetype=");
        if (type) {
            type += strlen(" filetype=");
            type += *type == '"' ? 1 : strncmp(type, "\\x22", 4) == 0 ? 4 : 0;
            bytes = predict_piece_bytes(type);
        }
    }
    text_clear(&detail);
    return bytes;
}

/* ---- phases of a program ---- */

/* What a prediction needs to know of a program: its phases, out of the model. */

/* ---- sums of the model ---- */

/* The last word of the line "end-steps LINES HASH"; "" where there is none, or "-" in a model made by hand. */
static void program_take_hash(const char *text, char hash[PREDICT_HASH_MAX])
{
    const char *line = strncmp(text, "end-steps ", 10) == 0 ? text : strstr(text, "\nend-steps ");
    char word[PREDICT_HASH_MAX] = "";
    if (line)
        sscanf(line + (*line == '\n'), "end-steps %*s %23s", word);
    snprintf(hash, PREDICT_HASH_MAX, "%s", strcmp(word, "-") == 0 ? "" : word);
}

static pl_status program_take_hashes(const struct model *model, const char *text, struct predict_program *program,
                                     struct pl_error *error)
{
    struct text written = {0};
    model_write(model, false, &written);
    program_take_hash(text, program->hash[0]);
    program_take_hash(text_get(&written), program->hash[1]);
    const bool failed = written.failed;
    text_clear(&written);
    return failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for a model") : PL_OK;
}

/* ---- phases ---- */

static bool program_has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; (at = strstr(at, word)); at += length)
        if ((at == list || at[-1] == ',') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

struct walk {
    struct predict_phase *phase;
    const struct model_phase_facts *facts;
    struct text operations;
    int64_t calls[PREDICT_DIRECTIONS]; /* of a process in one execution */
};

/* Turns that vary, in one execution of the phase on the average, by the rank that makes most. */
static int64_t program_mean_turns(const struct walk *walk, const struct model_step *loop, int64_t executions)
{
    const struct model_ranks *ranks = &walk->facts->step->ranks;
    const int64_t all = saturating_mul(executions, walk->facts->count);
    int64_t most = 0;
    for (int64_t rank = -1; (rank = model_ranks_next(ranks, rank)) >= 0;) {
        const int64_t turns = model_turns_in(loop, rank, 0, all);
        most = turns > most ? turns : most;
    }
    return (most + walk->facts->count - 1) / walk->facts->count;
}

/* Goes through the steps of a phase. `turns`: executions of the step in one execution of the phase. */
static void program_walk_step(struct walk *walk, const struct model_step *step, int64_t turns)
{
    const int64_t inside = step->varies ? program_mean_turns(walk, step, turns) : saturating_mul(turns, step->turns);
    for (int i = 0; i < step->count; i++)
        program_walk_step(walk, &step->body[i], inside);
    if (step->kind != MODEL_CALL)
        return;
    if (!program_has_word(text_get(&walk->operations), step->operation))
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

static void program_name_phase(struct predict_phase *phase, const struct model_phase_facts *facts, int index)
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

static pl_status program_make_phase(const struct model *model, const struct model_facts *facts, int index,
                                    struct predict_phase *phase, struct pl_error *error)
{
    assert(index >= 0 && index < facts->phase_count);
    const struct model_phase_facts *from = &facts->phases[index];
    struct walk walk = {.phase = phase, .facts = from};
    struct text words = {0};
    phase->count = from->count;
    phase->processes = from->processes;
    phase->weight_bytes = from->read_bytes + from->written_bytes;
    phase->order = from->order;
    phase->metadata = from->metadata;
    phase->unique = from->file >= 0 && facts->files[from->file].type == MODEL_FILE_UNIQUE && from->processes > 1;
    phase->access[PREDICT_WRITE].bytes = from->written_bytes;
    phase->access[PREDICT_READ].bytes = from->read_bytes;
    program_name_phase(phase, from, index);
    program_walk_step(&walk, from->step, 1);
    model_words_phase(from, &words);
    const int64_t piece = phase->holes ? predict_piece_of(model, from->step) : 0;
    assert(phase->access[PREDICT_WRITE].bytes + phase->access[PREDICT_READ].bytes == phase->weight_bytes);
    for (int i = 0; i < PREDICT_DIRECTIONS; i++) {
        struct predict_access *access = &phase->access[i];
        const int64_t requests = saturating_mul(walk.calls[i], from->processes);
        access->request = requests > 0 ? access->bytes / requests : 0;
        access->piece = piece > 0 && piece < access->request ? piece : access->request;
        assert(access->piece <= access->request);
    }
    phase->operations = text_dup(text_get(&walk.operations));
    phase->words = text_dup(text_get(&words));
    const bool ok = !walk.operations.failed && !words.failed && phase->operations && phase->words;
    text_clear(&walk.operations);
    text_clear(&words);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for a phase");
}

int predict_unit_of_call(const struct predict_program *program, const char *operation)
{
    for (int i = 0; operation && i < program->call_count; i++)
        if (strcmp(program->calls[i], operation) == 0)
            return program->phase_count + i;
    return -1;
}

const char *predict_unit_label(const struct prediction *prediction, int unit)
{
    const struct predict_program *program = &prediction->program;
    assert(unit >= 0 && unit < predict_unit_count(prediction));
    return unit < program->phase_count ? program->phases[unit].label : program->calls[unit - program->phase_count];
}

/* Kinds of calls outside of phases. False when memory is short. */
static bool program_take_calls(struct predict_program *program, const struct model_step *steps, int count)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        if (steps[i].phase > 0)
            continue;
        if (steps[i].kind == MODEL_LOOP)
            ok = program_take_calls(program, steps[i].body, steps[i].count);
        if (steps[i].kind != MODEL_CALL || predict_unit_of_call(program, steps[i].operation) >= 0)
            continue;
        char **calls = realloc(program->calls, (size_t)(program->call_count + 1) * sizeof *calls);
        ok = calls && (calls[program->call_count] = text_dup(steps[i].operation));
        program->calls = calls ? calls : program->calls;
        program->call_count += ok;
    }
    return ok;
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
        status = program_take_hashes(model, text, &program, error);
    }
    if (status == PL_OK && !program_take_calls(&program, model->steps, model->step_count))
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for a model");
    for (int i = 0; i < program.phase_count && status == PL_OK; i++)
        status = program_make_phase(model, &facts, i, &program.phases[i], error);
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
    for (int i = 0; i < program->call_count; i++)
        free(program->calls[i]);
    free(program->calls);
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
