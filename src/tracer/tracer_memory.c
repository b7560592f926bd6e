/* Where the data of an access lies in memory, told where it is scattered. How a type was made is looked up once, and
 * forgotten when the program frees the type: its handle may then come back for another one. */
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* A program that makes a new layout for every call must not fill memory and disk: what is too long, or comes when there
 * are too many, is only told to be scattered. */
enum { BUCKETS = 256, LAYOUT_MAX = 16 << 10, LAYOUTS_MAX = 4 << 20 };

static const char UNKNOWN[] = " memory=\"...\"";

struct layout {
    const char *field;   /* NULL: one piece, however many there are */
    bool one_is_a_piece; /* a single one is */
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

static struct known_type **bucket_of(MPI_Datatype handle)
{
    const uint64_t bits = (uint64_t)(uintptr_t)handle;
    return &types[(bits * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

/* Equal texts are at the same place. */
static const char *keep_text(const char *field, size_t length)
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
static bool is_of_addresses(const char *made)
{
    const bool lists = strncmp(made, "hindexed", 8) == 0 || strncmp(made, "struct", 6) == 0;
    const char *opens = strchr(made, '('), *bytes = strstr(made, "MPI_BYTE");
    return lists && opens && bytes && !strchr(opens + 1, '(') && (bytes[-1] == ',' || bytes[-1] == '[');
}

static struct layout look_at(MPI_Datatype type)
{
    MPI_Count size, lower, extent, true_lower, true_extent;
    struct layout layout = {0};
    struct text made = {0}, field = {0};
    if (tracer_type_is_basic(type) || real.Type_size_x(type, &size) != MPI_SUCCESS ||
        real.Type_get_extent_x(type, &lower, &extent) != MPI_SUCCESS ||
        tracer_real()->Type_get_true_extent_x(type, &true_lower, &true_extent) != MPI_SUCCESS)
        return layout;
    layout.one_is_a_piece = true_extent == size;
    if (layout.one_is_a_piece && extent == size)
        return layout;
    tracer_type_text(type, &made);
    trace_add_field_text(&field, "memory", text_get(&made));
    const bool whole = !made.failed && !field.failed && !strstr(text_get(&made), "...") &&
                       !is_of_addresses(text_get(&made));
    pthread_mutex_lock(&lock);
    layout.field = whole ? keep_text(field.data, field.length) : UNKNOWN;
    pthread_mutex_unlock(&lock);
    text_clear(&made);
    text_clear(&field);
    return layout;
}

static struct layout find(MPI_Datatype type)
{
    pthread_mutex_lock(&lock);
    const struct known_type *known = *bucket_of(type);
    while (known && known->handle != type)
        known = known->next;
    const struct layout found = known ? known->layout : (struct layout){0};
    pthread_mutex_unlock(&lock);
    if (known)
        return found;
    struct known_type *added = malloc(sizeof *added); /* without memory, it is looked at again */
    const struct layout layout = look_at(type);
    if (added) {
        pthread_mutex_lock(&lock);
        *added = (struct known_type){type, layout, *bucket_of(type)};
        *bucket_of(type) = added;
        pthread_mutex_unlock(&lock);
    }
    return layout;
}

const char *tracer_memory_field(const void *buffer, MPI_Datatype type, int64_t count)
{
    static _Thread_local struct {
        unsigned generation;
        MPI_Datatype type;
        struct layout layout;
    } last;
    const unsigned now = atomic_load_explicit(&generation, memory_order_acquire);
    if (last.type != type || last.generation != now) {
        last.layout = find(type);
        last.type = type;
        last.generation = now;
    }
    if (!last.layout.field || (count == 1 && last.layout.one_is_a_piece))
        return NULL;
    return buffer == MPI_BOTTOM ? UNKNOWN : last.layout.field; /* addresses are others in every run */
}

static void forget(MPI_Datatype type)
{
    pthread_mutex_lock(&lock);
    for (struct known_type **link = bucket_of(type); *link;) {
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
        forget(*datatype);
    return behind->Type_free(datatype);
}
TRACER_ALIAS(Type_free)
