/* The text of a type (docs/trace-format.md) is read by descent; each constructor tells how long its pieces are. */
#include "predict/predict_piece.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static struct piece read_type(struct reader *reader);

static void pass(struct reader *reader, char c)
{
    if (*reader->at == c)
        reader->at++;
    else
        reader->failed = true;
}

static double read_number(struct reader *reader)
{
    char *end;
    const double number = strtod(reader->at, &end);
    if (end == reader->at)
        reader->failed = true;
    reader->at = end;
    return number;
}

static void list_add(struct list *list, double value)
{
    if (list->count == 0)
        list->first = value;
    if (list->count < LIST_MAX)
        list->values[(int)list->count] = value;
    list->count++;
    list->sum += value;
}

/* "[1 4 7]" or "[1:3*3]"; words are passed over. */
static struct list read_list(struct reader *reader)
{
    struct list list = {0};
    for (pass(reader, '['); !reader->failed && *reader->at != ']'; reader->at += *reader->at == ' ') {
        if (*reader->at >= 'a' && *reader->at <= 'z') {
            reader->at += strspn(reader->at, "abcdefghijklmnopqrstuvwxyz_");
            continue;
        }
        const double first = read_number(reader);
        if (*reader->at != ':') {
            list_add(&list, first);
            continue;
        }
        reader->at++;
        const double step = read_number(reader);
        pass(reader, '*');
        const double count = read_number(reader);
        for (int i = 0; i < count && i < LIST_MAX; i++)
            list_add(&list, first + i * step);
        if (count > LIST_MAX) {
            list.count += count - LIST_MAX;
            list.sum += (count - LIST_MAX) * (first + step * (count + LIST_MAX - 1) / 2);
        }
    }
    pass(reader, ']');
    return list;
}

/* "C," or "F,": Fortran's order? */
static bool read_order(struct reader *reader)
{
    const bool fortran = *reader->at == 'F';
    pass(reader, fortran ? 'F' : 'C');
    pass(reader, ',');
    return fortran;
}

/* `count` blocks of `length` elements; `joined`: they lie together. */
static struct piece blocks(double count, double length, struct piece of, bool joined)
{
    const double size = count * length * of.size;
    if (!of.dense)
        return (struct piece){size, of.bytes, false};
    return joined ? (struct piece){size, size, true} : (struct piece){size, length * of.size, false};
}

/* ---- constructors: the reader stands behind the opening bracket ---- */

static struct piece read_contiguous(struct reader *reader)
{
    const double count = read_number(reader);
    pass(reader, ',');
    return blocks(1, count, read_type(reader), true);
}

static struct piece read_vector(struct reader *reader, bool in_bytes)
{
    const double count = read_number(reader);
    pass(reader, ',');
    const double length = read_number(reader);
    pass(reader, ',');
    const double stride = read_number(reader);
    pass(reader, ',');
    const struct piece of = read_type(reader);
    return blocks(count, length, of, count == 1 || stride == (in_bytes ? length * of.size : length));
}

static struct piece read_indexed(struct reader *reader)
{
    const struct list lengths = read_list(reader);
    pass(reader, ',');
    read_list(reader);
    pass(reader, ',');
    const struct piece of = read_type(reader);
    return lengths.count > 0 ? blocks(lengths.count, lengths.sum / lengths.count, of, lengths.count == 1) : of;
}

static struct piece read_indexed_block(struct reader *reader)
{
    const double length = read_number(reader);
    pass(reader, ',');
    const struct list places = read_list(reader);
    pass(reader, ',');
    return blocks(places.count, length, read_type(reader), places.count == 1);
}

/* Members are told by the first one: programs put like ones into a struct for a view. */
static struct piece read_struct(struct reader *reader)
{
    const struct list lengths = read_list(reader);
    struct piece first = {0};
    pass(reader, ',');
    read_list(reader);
    pass(reader, ',');
    pass(reader, '[');
    for (int i = 0; !reader->failed && *reader->at && *reader->at != ']'; i++, reader->at += *reader->at == ' ') {
        const struct piece member = read_type(reader);
        if (i == 0)
            first = member;
    }
    pass(reader, ']');
    return blocks(lengths.count, lengths.first, first, lengths.count == 1);
}

/* Elements in a row: the fastest dimension's, times those of the next one while a whole dimension is taken. */
static struct piece read_subarray(struct reader *reader)
{
    const struct list sizes = read_list(reader);
    pass(reader, ',');
    const struct list parts = read_list(reader);
    pass(reader, ',');
    read_list(reader);
    pass(reader, ',');
    const bool fortran = read_order(reader);
    const struct piece of = read_type(reader);
    const int dimensions = (int)fmin(parts.count, LIST_MAX);
    double row = 1, all = 1;
    bool whole = true;
    for (int i = 0; i < dimensions; i++) {
        const int d = fortran ? i : dimensions - 1 - i;
        row *= whole ? parts.values[d] : 1;
        all *= parts.values[d];
        whole = whole && d < sizes.count && parts.values[d] == sizes.values[d];
    }
    return blocks(row > 0 ? all / row : 0, row, of, whole);
}

/* The fastest dimension decides: a block of it, or what is dealt out cyclically. */
static struct piece read_darray(struct reader *reader)
{
    read_number(reader);
    pass(reader, ',');
    read_number(reader);
    pass(reader, ',');
    const struct list sizes = read_list(reader);
    pass(reader, ',');
    read_list(reader);
    pass(reader, ',');
    const struct list arguments = read_list(reader);
    pass(reader, ',');
    const struct list grid = read_list(reader);
    pass(reader, ',');
    const bool fortran = read_order(reader);
    const struct piece of = read_type(reader);
    const int last = fortran ? 0 : (int)fmin(sizes.count, LIST_MAX) - 1;
    if (last < 0 || !(grid.values[last] > 0))
        return (struct piece){0};
    const bool told = last < arguments.count && arguments.values[last] > 0; /* else MPI_DISTRIBUTE_DFLT_DARG */
    return blocks(2, told ? arguments.values[last] : ceil(sizes.values[last] / grid.values[last]), of, false);
}

static struct piece read_resized(struct reader *reader)
{
    read_number(reader);
    pass(reader, ',');
    const double extent = read_number(reader);
    pass(reader, ',');
    struct piece of = read_type(reader);
    of.dense = of.dense && extent == of.size;
    return of;
}

static struct piece read_basic(struct reader *reader, const char *name, size_t length)
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

static struct piece read_constructor(struct reader *reader, const char *name, size_t length)
{
    const struct {
        const char *name;
        struct piece (*read)(struct reader *reader);
    } READERS[] = {{"contiguous", read_contiguous},
                   {"indexed", read_indexed},
                   {"hindexed", read_indexed},
                   {"indexed_block", read_indexed_block},
                   {"hindexed_block", read_indexed_block},
                   {"struct", read_struct},
                   {"subarray", read_subarray},
                   {"darray", read_darray},
                   {"resized", read_resized},
                   {"dup", read_type}};
    for (size_t i = 0; i < sizeof READERS / sizeof READERS[0]; i++)
        if (strlen(READERS[i].name) == length && memcmp(READERS[i].name, name, length) == 0)
            return READERS[i].read(reader);
    if (length == 6 && memcmp(name, "vector", 6) == 0)
        return read_vector(reader, false);
    if (length == 7 && memcmp(name, "hvector", 7) == 0)
        return read_vector(reader, true);
    reader->failed = true;
    return (struct piece){0};
}

static struct piece read_type(struct reader *reader)
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
        piece = read_constructor(reader, name, length);
        pass(reader, ')');
    } else {
        piece = read_basic(reader, name, length);
    }
    reader->depth--;
    return reader->failed ? (struct piece){0} : piece;
}

int64_t predict_piece_bytes(const char *type)
{
    struct reader reader = {.at = type};
    const struct piece piece = read_type(&reader);
    return !reader.failed && piece.bytes >= 1 && piece.bytes < 9e18 ? (int64_t)piece.bytes : 0;
}

/* ---- the view in force ---- */

/* The file of the first access through a view with holes. */
static int file_of(const struct model_step *step)
{
    if (step->kind == MODEL_CALL)
        return step->access && step->holes ? step->file : -1;
    for (int i = 0; i < step->count; i++) {
        const int file = file_of(&step->body[i]);
        if (file >= 0)
            return file;
    }
    return -1;
}

/* The last view of the file before the phase; returns true when the phase is reached. */
static bool find_view(const struct model_step *steps, int count, const struct model_step *phase, int file,
                      const struct model_step **ret_view)
{
    for (int i = 0; i < count; i++) {
        if (&steps[i] == phase)
            return true;
        if (steps[i].kind == MODEL_CALL && steps[i].file == file && steps[i].detail &&
            strcmp(steps[i].operation, "set_view") == 0)
            *ret_view = &steps[i];
        if (find_view(steps[i].body, steps[i].count, phase, file, ret_view))
            return true;
    }
    return false;
}

int64_t predict_piece_of(const struct model *model, const struct model_step *phase)
{
    const struct model_step *view = NULL;
    struct text detail = {0};
    struct pl_error ignored;
    const int file = file_of(phase);
    int64_t bytes = 0;
    if (file < 0 || !find_view(model->steps, model->step_count, phase, file, &view) || !view)
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
