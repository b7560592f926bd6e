/* How a datatype was made, as text: the name of a basic type, or its constructor with what it was given.
 *
 *     contiguous(n,T)  vector(n,blocklength,stride,T)  hvector(…)  indexed([blocklengths],[displacements],T)
 *     hindexed(…)  indexed_block(blocklength,[displacements],T)  hindexed_block(…)
 *     struct([blocklengths],[displacements],[T T …])  subarray([sizes],[subsizes],[starts],C|F,T)
 *     darray(size,rank,[gsizes],[distributions],[arguments],[psizes],C|F,T)  resized(lb,extent,T)  dup(T)
 *
 * In lists, a row of values at equal distances is FIRST:STEP*COUNT. */
#include "tracer/tracer.h"

#include "mpi/real.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* ---- types as text ---- */

enum { DEPTH_MAX = 64, TEXT_MAX = 1 << 20 }; /* a longer one ends in "..." */

/* The arguments of a constructor: integers, then addresses, then counts of the large functions. */
struct contents {
    int combiner;
    int64_t *values;
    int64_t value_count;
    MPI_Datatype *types;
    int64_t type_count;
};

static void tracer_type_add_one(MPI_Datatype type, int depth, struct text *text);

#if PIOLET_IS_OPENMPI
static bool tracer_type_get_contents(MPI_Datatype type, struct contents *contents)
{
    int integers, addresses, types;
    if (real.Type_get_envelope(type, &integers, &addresses, &types, &contents->combiner) != MPI_SUCCESS)
        return false;
    if (contents->combiner == MPI_COMBINER_NAMED)
        return true;
    int *integer = calloc((size_t)integers + 1, sizeof *integer);
    MPI_Aint *address = calloc((size_t)addresses + 1, sizeof *address);
    contents->values = calloc((size_t)integers + (size_t)addresses + 1, sizeof *contents->values);
    contents->types = calloc((size_t)types + 1, sizeof(MPI_Datatype));
    const bool ok = integer && address && contents->values && contents->types &&
                    real.Type_get_contents(type, integers, addresses, types, integer, address, contents->types) ==
                        MPI_SUCCESS;
    for (int i = 0; ok && i < integers; i++)
        contents->values[contents->value_count++] = integer[i];
    for (int i = 0; ok && i < addresses; i++)
        contents->values[contents->value_count++] = address[i];
    contents->type_count = ok ? types : 0;
    free(integer);
    free(address);
    return ok;
}
#else
/* The large form: it answers for types of both. Subarrays and darrays of the large form have their counts among the
 * large ones, behind integers that are single: put() brings them in order. */
static bool tracer_type_get_contents(MPI_Datatype type, struct contents *contents)
{
    MPI_Count integers, addresses, large, types;
    if (real.Type_get_envelope_c(type, &integers, &addresses, &large, &types, &contents->combiner) != MPI_SUCCESS)
        return false;
    if (contents->combiner == MPI_COMBINER_NAMED)
        return true;
    int *integer = calloc((size_t)integers + 1, sizeof *integer);
    MPI_Aint *address = calloc((size_t)addresses + 1, sizeof *address);
    MPI_Count *count = calloc((size_t)large + 1, sizeof *count);
    contents->values = calloc((size_t)(integers + addresses + large) + 1, sizeof *contents->values);
    contents->types = calloc((size_t)types + 1, sizeof(MPI_Datatype));
    const bool ok = integer && address && count && contents->values && contents->types &&
                    real.Type_get_contents_c(type, integers, addresses, large, types, integer, address, count,
                                             contents->types) == MPI_SUCCESS;
    for (MPI_Count i = 0; ok && i < integers; i++)
        contents->values[contents->value_count++] = integer[i];
    for (MPI_Count i = 0; ok && i < addresses; i++)
        contents->values[contents->value_count++] = address[i];
    for (MPI_Count i = 0; ok && i < large; i++)
        contents->values[contents->value_count++] = count[i];
    contents->type_count = ok ? types : 0;
    free(integer);
    free(address);
    free(count);
    return ok;
}
#endif

static void tracer_type_add_list(struct text *text, const int64_t *values, int64_t count)
{
    text_add(text, "[");
    for (int64_t i = 0; i < count && text->length < TEXT_MAX;) {
        const int64_t step = i + 1 < count ? values[i + 1] - values[i] : 0;
        int64_t run = 1;
        while (i + run < count && values[i + run] - values[i + run - 1] == step)
            run++;
        run = run < 3 ? 1 : run;
        text_format(text, "%s%" PRId64, i ? " " : "", values[i]);
        if (run > 1)
            text_format(text, ":%" PRId64 "*%" PRId64, step, run);
        i += run;
    }
    text_add(text, text->length < TEXT_MAX ? "]" : "...]");
}

/* Letters: n a number, l a list of the first number's length, o an order; t a type, T all of them as a list. The first
 * number is told only where it is one of the letters: a list shows its length. */
static const struct form {
    const char *name, *letters;
    int combiner;
    bool counts_first; /* the first value is the length of the lists and not told itself */
} FORMS[] = {
    {"dup", "t", MPI_COMBINER_DUP, false},
    {"contiguous", "nt", MPI_COMBINER_CONTIGUOUS, false},
    {"vector", "nnnt", MPI_COMBINER_VECTOR, false},
    {"hvector", "nnnt", MPI_COMBINER_HVECTOR, false},
    {"indexed", "llt", MPI_COMBINER_INDEXED, true},
    {"hindexed", "llt", MPI_COMBINER_HINDEXED, true},
    {"indexed_block", "nlt", MPI_COMBINER_INDEXED_BLOCK, true},
    {"hindexed_block", "nlt", MPI_COMBINER_HINDEXED_BLOCK, true},
    {"struct", "llT", MPI_COMBINER_STRUCT, true},
    {"subarray", "lllot", MPI_COMBINER_SUBARRAY, true},
    {"resized", "nnt", MPI_COMBINER_RESIZED, false},
    {"f90_real", "nn", MPI_COMBINER_F90_REAL, false},
    {"f90_complex", "nn", MPI_COMBINER_F90_COMPLEX, false},
    {"f90_integer", "n", MPI_COMBINER_F90_INTEGER, false},
};

static void tracer_type_add_order(struct text *text, int64_t order)
{
    text_add(text, order == MPI_ORDER_C ? "C" : "F");
}

/* MPI_Type_create_subarray_c: integers ndims, order; then sizes, subsizes, starts. */
static void tracer_type_put_subarray_in_order(struct contents *contents)
{
    const int64_t dims = contents->values[0];
    if (contents->combiner != MPI_COMBINER_SUBARRAY || contents->value_count != 2 + 3 * dims ||
        (contents->values[1] != MPI_ORDER_C && contents->values[1] != MPI_ORDER_FORTRAN))
        return;
    const int64_t last = contents->values[contents->value_count - 1];
    if (last == MPI_ORDER_C || last == MPI_ORDER_FORTRAN)
        return; /* the usual one: ndims, sizes, subsizes, starts, order */
    const int64_t order = contents->values[1];
    memmove(contents->values + 1, contents->values + 2, (size_t)(3 * dims) * sizeof *contents->values);
    contents->values[contents->value_count - 1] = order;
}

/* size, rank, ndims, gsizes, distributions, arguments, psizes, order. The large form has gsizes at the end. */
static void tracer_type_add_darray(const struct contents *contents, struct text *text)
{
    const int64_t *v = contents->values, dims = v[2];
    const int64_t order = v[3 + 4 * dims]; /* of the usual form */
    const bool is_large = order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN;
    const int64_t *rest = is_large ? v + 3 : v + 3 + dims, *sizes = is_large ? v + 4 + 3 * dims : v + 3;
    text_format(text, "darray(%" PRId64 ",%" PRId64 ",", v[0], v[1]);
    tracer_type_add_list(text, sizes, dims);
    for (int i = 0; i < 3; i++) {
        text_add(text, ",");
        if (i == 0) {
            text_add(text, "[");
            for (int64_t k = 0; k < dims; k++)
                text_format(text, "%s%s", k ? " " : "",
                            rest[k] == MPI_DISTRIBUTE_BLOCK    ? "block"
                            : rest[k] == MPI_DISTRIBUTE_CYCLIC ? "cyclic"
                                                               : "none");
            text_add(text, "]");
        } else {
            tracer_type_add_list(text, rest + i * dims, dims);
        }
    }
    text_add(text, ",");
    tracer_type_add_order(text, rest[3 * dims]);
    text_add(text, ",");
}

static void tracer_type_add_form(const struct form *form, const struct contents *contents, int depth, struct text *text)
{
    const int64_t *value = contents->values, *const end = value + contents->value_count;
    const int64_t length = form->counts_first ? *value++ : 0;
    text_format(text, "%s(", form->name);
    for (const char *c = form->letters; *c; c++) {
        text_add(text, c > form->letters ? "," : "");
        if (*c == 'l' && length <= end - value) {
            tracer_type_add_list(text, value, length);
            value += length;
        } else if (*c == 'n' && value < end) {
            text_format(text, "%" PRId64, *value++);
        } else if (*c == 'o' && value < end) {
            tracer_type_add_order(text, *value++);
        } else if (*c == 't' && contents->type_count > 0) {
            tracer_type_add_one(contents->types[0], depth + 1, text);
        } else if (*c == 'T') {
            text_add(text, "[");
            for (int64_t i = 0; i < contents->type_count; i++) {
                text_add(text, i ? " " : "");
                tracer_type_add_one(contents->types[i], depth + 1, text);
            }
            text_add(text, "]");
        }
    }
    text_add(text, ")");
}

static void tracer_type_add_named(MPI_Datatype type, struct text *text)
{
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length = 0;
    tracer_real()->Type_get_name(type, name, &length);
    text_add(text, *name ? name : "?");
}

static void tracer_type_add_made(struct contents *contents, int depth, struct text *text)
{
    if (contents->combiner == MPI_COMBINER_DARRAY && contents->type_count == 1) {
        tracer_type_add_darray(contents, text);
        tracer_type_add_one(contents->types[0], depth + 1, text);
        text_add(text, ")");
        return;
    }
    if (contents->combiner == MPI_COMBINER_SUBARRAY)
        tracer_type_put_subarray_in_order(contents);
    for (size_t i = 0; i < sizeof FORMS / sizeof FORMS[0]; i++)
        if (FORMS[i].combiner == contents->combiner) {
            tracer_type_add_form(&FORMS[i], contents, depth, text);
            return;
        }
    text_format(text, "combiner%d", contents->combiner);
}

/* Those that MPI made itself: the named ones, and Fortran's kinds. */
static bool tracer_type_is_basic(MPI_Datatype type)
{
    int combiner;
#if PIOLET_IS_OPENMPI
    int count[3];
    const int code = real.Type_get_envelope(type, &count[0], &count[1], &count[2], &combiner);
#else
    MPI_Count count[4];
    const int code = real.Type_get_envelope_c(type, &count[0], &count[1], &count[2], &count[3], &combiner);
#endif
    return code != MPI_SUCCESS || combiner == MPI_COMBINER_NAMED || combiner == MPI_COMBINER_F90_REAL ||
           combiner == MPI_COMBINER_F90_COMPLEX || combiner == MPI_COMBINER_F90_INTEGER;
}

/* Inner types that are no basic ones are ours to free. */
static void tracer_type_free_all(const struct contents *contents)
{
    for (int64_t i = 0; i < contents->type_count; i++)
        if (!tracer_type_is_basic(contents->types[i]))
            real.Type_free(&contents->types[i]);
}

static void tracer_type_add_one(MPI_Datatype type, int depth, struct text *text)
{
    struct contents contents = {0};
    if (depth > DEPTH_MAX || text->length > TEXT_MAX) {
        text_add(text, "...");
    } else if (!tracer_type_get_contents(type, &contents)) {
        text_add(text, "?");
    } else if (contents.combiner == MPI_COMBINER_NAMED) {
        tracer_type_add_named(type, text);
    } else {
        tracer_type_add_made(&contents, depth, text);
    }
    tracer_type_free_all(&contents);
    free(contents.values);
    free(contents.types);
}

void tracer_type_text(MPI_Datatype type, struct text *text)
{
    tracer_type_add_one(type, 0, text);
}

/* ---- types that were seen ---- */

/* Where the data of an access lies in memory, told where it is scattered. How a type was made is looked up once, and
 * forgotten when the program frees the type: its handle may then come back for another one. */

/* A program that makes a new layout for every call must not fill memory and disk: what is too long, or comes when there
 * are too many, is only told to be scattered. */
enum { BUCKETS = 256, LAYOUT_MAX = 16 << 10, LAYOUTS_MAX = 4 << 20 };

static const char UNKNOWN[] = " memory=\"...\"";

struct layout {
    const char *field;   /* NULL: one piece, however many there are */
    bool one_is_a_piece; /* a single one is */
    int64_t bytes;       /* -1: not known */
};

struct known_type {
    MPI_Datatype handle;
    struct layout layout;
    struct known_type *next;
};

struct known_text { /* kept for good: the log finds it by its place */
    struct known_text *next;
    char field[];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct known_type *types[BUCKETS];
static struct known_text *texts[BUCKETS];
static size_t text_bytes;
/* Changes when a type is forgotten: until then, a thread need not look for its last one again. */
static atomic_uint generation = 1;

static struct known_type **memory_bucket_of(MPI_Datatype handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    return &types[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

/* Equal texts are at the same place. */
static const char *memory_keep_text(const char *field, size_t length)
{
    unsigned char hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = (unsigned char)(hash * 31 + (unsigned char)field[i]);
    const struct known_text *known = texts[hash];
    while (known && strcmp(known->field, field) != 0)
        known = known->next;
    if (known)
        return known->field;
    if (length > LAYOUT_MAX || text_bytes + length > LAYOUTS_MAX)
        return UNKNOWN;
    struct known_text *text = malloc(sizeof *text + length + 1);
    if (!text)
        return UNKNOWN;
    memcpy(text->field, field, length + 1);
    text->next = texts[hash];
    texts[hash] = text;
    text_bytes += length;
    return text->field;
}

/* Pieces of bytes at byte distances: libraries gather objects of their own so (HDF5 its metadata), and where those lie
 * on the heap is another in every run. */
static bool memory_is_of_addresses(const char *made)
{
    const bool lists = strncmp(made, "hindexed", 8) == 0 || strncmp(made, "struct", 6) == 0;
    const char *opens = strchr(made, '('), *bytes = strstr(made, "MPI_BYTE");
    return lists && opens && bytes && !strchr(opens + 1, '(') && (bytes[-1] == ',' || bytes[-1] == '[');
}

static struct layout memory_look_at(MPI_Datatype type)
{
    MPI_Count size, lower, extent, true_lower, true_extent;
    struct layout layout = {.bytes = -1};
    struct text made = {0}, field = {0};
    if (real.Type_size_x(type, &size) != MPI_SUCCESS || size < 0)
        return layout;
    layout.bytes = size;
    if (tracer_type_is_basic(type) || real.Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
        tracer_real()->Type_get_true_extent_x(type, &true_lower, &true_extent) != MPI_SUCCESS)
        return layout;
    layout.one_is_a_piece = true_extent == size;
    if (layout.one_is_a_piece && extent == size)
        return layout;
    tracer_type_text(type, &made);
    trace_add_field_text(&field, "memory", text_get(&made));
    const bool whole = !made.failed && !field.failed && !strstr(text_get(&made), "...") &&
                       !memory_is_of_addresses(text_get(&made));
    pthread_mutex_lock(&lock);
    layout.field = whole ? memory_keep_text(field.data, field.length) : UNKNOWN;
    pthread_mutex_unlock(&lock);
    text_clear(&made);
    text_clear(&field);
    return layout;
}

static struct layout memory_find(MPI_Datatype type)
{
    pthread_mutex_lock(&lock);
    const struct known_type *known = *memory_bucket_of(type);
    while (known && known->handle != type)
        known = known->next;
    const struct layout found = known ? known->layout : (struct layout){0};
    pthread_mutex_unlock(&lock);
    if (known)
        return found;
    struct known_type *added = malloc(sizeof *added); /* without memory, it is looked at again */
    const struct layout layout = memory_look_at(type);
    if (added) {
        pthread_mutex_lock(&lock);
        *added = (struct known_type){type, layout, *memory_bucket_of(type)};
        *memory_bucket_of(type) = added;
        pthread_mutex_unlock(&lock);
    }
    return layout;
}

static const struct layout *memory_layout_of(MPI_Datatype type)
{
    static _Thread_local struct {
        unsigned generation;
        MPI_Datatype type;
        struct layout layout;
    } last;
    const unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    if (last.type != type || last.generation != now) {
        last.layout = memory_find(type);
        last.type = type;
        last.generation = now;
    }
    return &last.layout;
}

static const char *memory_field_of(const struct layout *layout, const void *buffer, int64_t count)
{
    if (!layout->field || (count == 1 && layout->one_is_a_piece))
        return NULL;
    return buffer == MPI_BOTTOM ? UNKNOWN : layout->field; /* addresses are others in every run */
}

int64_t tracer_memory_look(const void *buffer, MPI_Datatype type, int64_t count, const char **ret_field)
{
    const struct layout *layout = memory_layout_of(type);
    *ret_field = memory_field_of(layout, buffer, count);
    return layout->bytes;
}

static void memory_forget(MPI_Datatype type)
{
    pthread_mutex_lock(&lock);
    for (struct known_type **link = memory_bucket_of(type); *link;) {
        struct known_type *known = *link;
        if (known->handle != type) {
            link = &known->next;
            continue;
        }
        *link = known->next;
        free(known);
        atomic_fetch_add(&generation, 1);
    }
    pthread_mutex_unlock(&lock);
}

TRACER_EXPORT int MPI_Type_free(MPI_Datatype *datatype)
{
    const struct tracer_real *behind = tracer_real();
    if (datatype)
        memory_forget(*datatype);
    return behind->Type_free(datatype);
}
TRACER_ALIAS(Type_free)
