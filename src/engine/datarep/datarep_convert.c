/* Data on their way between memory and file. */
#include "engine/datarep/datarep_core.h"
#include "engine/datarep/datarep_element.h"
#include "engine/typemap/typemap.h"
#include "engine/typemap/typemap_node.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

/* An access in progress: elements of the signature and bytes of memory go by in step. */
struct passage {
    const struct datarep *rep;
    enum datarep_direction direction;
    char *memory; /* never written to where the direction is that of writing to the file */
    char *file;
    struct typemap *map; /* of the type in memory */
    struct typemap_made made;
    struct typemap_cursor places, elements;
    int64_t delivered;  /* bytes of data in memory that went by */
    int64_t n_elements; /* the same in elements */
    int64_t misfit;     /* number of the first element that did not fit, or -1 */
    int misfit_kind;
};

static void passage_clear(struct passage *passage)
{
    typemap_cursor_clear(&passage->places);
    typemap_cursor_clear(&passage->elements);
    typemap_unref(passage->map);
    typemap_made_clear(&passage->made);
}

static pl_status passage_init(struct passage *passage, const struct datarep *rep, MPI_Datatype type,
                              enum datarep_direction direction, struct pl_error *error)
{
    *passage = (struct passage){.rep = rep, .direction = direction, .misfit = -1};
    pl_status status = typemap_of(type, &passage->map, error);
    if (!status)
        status = typemap_cursor_init(&passage->places, passage->map, error);
    if (!status && !datarep_is_native(rep))
        status = datarep_made(rep, type, &passage->made, error);
    if (!status && !datarep_is_native(rep))
        status = typemap_cursor_init(&passage->elements, passage->made.signature, error);
    return status;
}

/* Addresses may be absolute, with a buffer of MPI_BOTTOM. */
static char *datarep_convert_address(const struct passage *passage, int64_t displacement)
{
    return (char *)((uintptr_t)passage->memory + (uintptr_t)displacement); /* NOLINT(performance-no-int-to-ptr) */
}

/* ---- As it is ---------------------------------------------------------------------------------------------------- */

static void datarep_convert_copy_bytes(struct passage *passage, int64_t bytes)
{
    passage->delivered += bytes;
    while (bytes > 0) {
        int64_t at;
        const int64_t n = typemap_cursor_next(&passage->places, bytes, &at);
        char *memory = datarep_convert_address(passage, at);
        memcpy(passage->direction == DATAREP_READ ? memory : passage->file,
               passage->direction == DATAREP_READ ? passage->file : memory, (size_t)n);
        passage->file += n;
        bytes -= n;
    }
}

/* ---- external32 -------------------------------------------------------------------------------------------------- */

static void note_misfit(struct passage *passage, int kind, int64_t element)
{
    if (passage->misfit < 0) {
        passage->misfit = element;
        passage->misfit_kind = kind;
    }
}

/* n elements of one kind, which may lie in several pieces of memory. A piece never ends inside of an element. */
static void convert_run(struct passage *passage, int number, int64_t n)
{
    const struct datarep_kind *kind = datarep_kind(number);
    assert(kind && kind->native_bytes > 0);
    while (n > 0) {
        int64_t at;
        const int64_t bytes = typemap_cursor_next(&passage->places, n * kind->native_bytes, &at);
        assert(bytes % kind->native_bytes == 0);
        const int64_t part = bytes / kind->native_bytes;
        const int64_t good = passage->direction == DATAREP_READ
                                 ? datarep_decode_run(kind, passage->file, datarep_convert_address(passage, at), part)
                                 : datarep_encode_run(kind, datarep_convert_address(passage, at), passage->file, part);
        if (good < part)
            note_misfit(passage, number, passage->n_elements + good);
        passage->file += part * kind->file_bytes;
        passage->delivered += bytes;
        passage->n_elements += part;
        n -= part;
    }
}

static pl_status check_misfit(const struct passage *passage, struct pl_error *error)
{
    static const char *const classes[] = {
        [DATAREP_BYTES] = "byte",
        [DATAREP_SIGNED] = "signed integer",
        [DATAREP_UNSIGNED] = "unsigned integer",
        [DATAREP_FLOAT] = "floating-point number",
        [DATAREP_EXTENDED] = "long double",
        [DATAREP_TRUTH] = "truth value",
        [DATAREP_WIDE] = "wide character",
    };
    if (passage->misfit < 0)
        return PL_OK;
    const struct datarep_kind *kind = datarep_kind(passage->misfit_kind);
    const bool reads = passage->direction == DATAREP_READ;
    return pl_fail(error, PL_E_CONVERSION,
                   "element %lld, a %s of %d bytes in the %s, does not fit the %d bytes in the %s",
                   (long long)passage->misfit, classes[kind->class], reads ? kind->file_bytes : kind->native_bytes,
                   reads ? "file" : "memory", reads ? kind->native_bytes : kind->file_bytes,
                   reads ? "memory" : "file of external32");
}

/* At most `elements` of them, as far as they are whole within `bytes` of the file. */
static void datarep_convert_elements(struct passage *passage, int64_t elements, int64_t bytes)
{
    while (elements > 0) {
        int kind;
        const int64_t run = signature_next(&passage->elements, elements, &kind);
        const int64_t size = datarep_kind(kind)->file_bytes, whole = typemap_min(run, bytes / size);
        convert_run(passage, kind, whole);
        if (whole < run)
            return;
        elements -= run;
        bytes -= run * size;
    }
}

/* ---- Registered -------------------------------------------------------------------------------------------------- */

/* How many elements of one item are whole within `bytes` of the file, and what they take in memory. */
static int64_t count_whole(struct passage *passage, int64_t bytes, int64_t *ret_native)
{
    int64_t elements = 0, rest = typemap_shape(passage->made.signature)->size;
    *ret_native = 0;
    while (rest > 0) {
        int kind;
        const int64_t run = signature_next(&passage->elements, rest, &kind);
        const struct datarep_sizes sizes = datarep_sizes(passage->rep, kind);
        const int64_t whole = typemap_min(run, bytes / sizes.file);
        elements += whole;
        *ret_native += whole * sizes.native;
        if (whole < run)
            break;
        rest -= run;
        bytes -= run * sizes.file;
    }
    return elements;
}

/* Without a function, what lies in the file is what lies in memory: then sizes must agree. */
static pl_status copy_registered(struct passage *passage, int64_t native_bytes, struct pl_error *error)
{
    const struct typemap *signature = passage->made.signature;
    int64_t rest = typemap_shape(signature)->size;
    typemap_cursor_seek(&passage->elements, 0);
    while (rest > 0) {
        int kind;
        rest -= signature_next(&passage->elements, rest, &kind);
        const struct datarep_sizes sizes = datarep_sizes(passage->rep, kind);
        if (sizes.file != sizes.native)
            return pl_fail(error, PL_E_CONVERSION,
                           "data representation '%s' has no function to convert elements of %lld bytes in memory and "
                           "%lld in the file",
                           passage->rep->name, (long long)sizes.native, (long long)sizes.file);
    }
    datarep_convert_copy_bytes(passage, native_bytes);
    return PL_OK;
}

/* `items` whole items and `elements` of one more. The counts of the program's functions are elements, not items, and
 * `position` goes on in them from call to call (MPI-4.0, 14.5.3). */
static pl_status call_functions(struct passage *passage, MPI_Datatype type, int64_t items, int64_t elements,
                                struct pl_error *error)
{
    const int64_t in_item = typemap_shape(passage->made.signature)->size;
    assert(in_item > 0);
    const int64_t size = typemap_shape(passage->made.map)->size;
    const int64_t most = datarep_call_max(passage->rep, passage->direction), at_once = most / in_item;
    pl_status status = PL_OK;
    if (at_once == 0)
        return pl_fail(error, PL_E_CONVERSION, "a datatype of %lld elements: more than a conversion function can count",
                       (long long)in_item);
    for (int64_t done = 0; !status && done < items;) {
        const int64_t n = typemap_min(items - done, at_once);
        status = datarep_call(passage->rep, passage->direction, passage->memory, type, n * in_item, done * in_item,
                              passage->file, error);
        done += n;
        passage->file += n * size;
    }
    if (!status && elements > 0)
        status = datarep_call(passage->rep, passage->direction, passage->memory, type, elements, items * in_item,
                              passage->file, error);
    return status;
}

static pl_status pass_registered(struct passage *passage, MPI_Datatype type, int64_t count, int64_t bytes,
                                 struct pl_error *error)
{
    const int64_t size = typemap_shape(passage->made.map)->size, items = typemap_min(count, bytes / size);
    assert(size > 0 && count > 0);
    int64_t rest_native = 0, elements = 0;
    if (items < count)
        elements = count_whole(passage, bytes - items * size, &rest_native);
    const int64_t native = items * typemap_shape(passage->map)->size + rest_native;
    if (!datarep_has_conversion(passage->rep, passage->direction))
        return copy_registered(passage, native, error);
    const pl_status status = items + elements > 0 ? call_functions(passage, type, items, elements, error) : PL_OK;
    if (!status)
        passage->delivered = native;
    return status;
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

static pl_status datarep_convert_check_counts(const struct passage *passage, int64_t count, int64_t *ret_bytes,
                                              struct pl_error *error)
{
    const struct typemap *map = passage->made.map ? passage->made.map : passage->map;
    int64_t in_memory;
    if (count < 0)
        return pl_fail(error, PL_E_COUNT, "a negative count");
    if (__builtin_mul_overflow(count, typemap_shape(map)->size, ret_bytes) ||
        __builtin_mul_overflow(count, typemap_shape(passage->map)->size, &in_memory))
        return pl_fail(error, PL_E_COUNT, "more data than 64 bits can count");
    return PL_OK;
}

/* `bytes` is what the file has; negative: everything. */
static pl_status datarep_convert_pass(struct passage *passage, int64_t count, MPI_Datatype type, int64_t bytes,
                                      struct pl_error *error)
{
    int64_t all = 0;
    const pl_status status = datarep_convert_check_counts(passage, count, &all, error);
    if (status)
        return status;
    bytes = bytes < 0 ? all : typemap_min(bytes, all);
    if (all == 0)
        return PL_OK;
    switch (passage->rep->family) {
    case DATAREP_NATIVE:
        datarep_convert_copy_bytes(passage, bytes);
        return PL_OK;
    case DATAREP_EXTERNAL32:
        datarep_convert_elements(passage, count * typemap_shape(passage->made.signature)->size, bytes);
        return check_misfit(passage, error);
    case DATAREP_REGISTERED:
        break;
    }
    return pass_registered(passage, type, count, bytes, error);
}

pl_status datarep_encode(const struct datarep *rep, const void *buffer, int64_t count, MPI_Datatype type,
                         char *file_bytes, struct pl_error *error)
{
    struct passage passage;
    pl_status status = passage_init(&passage, rep, type, DATAREP_WRITE, error);
    passage.memory = (char *)buffer;
    passage.file = file_bytes;
    if (!status)
        status = datarep_convert_pass(&passage, count, type, -1, error);
    passage_clear(&passage);
    return status;
}

pl_status datarep_decode(const struct datarep *rep, void *buffer, int64_t count, MPI_Datatype type,
                         const char *file_bytes, int64_t bytes, int64_t *ret_native, struct pl_error *error)
{
    struct passage passage;
    pl_status status = passage_init(&passage, rep, type, DATAREP_READ, error);
    passage.memory = buffer;
    passage.file = (char *)file_bytes;
    if (!status)
        status = datarep_convert_pass(&passage, count, type, bytes < 0 ? 0 : bytes, error);
    *ret_native = passage.delivered;
    passage_clear(&passage);
    return status;
}
