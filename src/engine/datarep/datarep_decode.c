/* From an MPI datatype to its typemap and its signature in a file. Goes through the type as typemap_of() does; only the
 * leaves differ, and the bounds of structs, of which MPI knows only those in memory. */
#include "base/container.h"
#include "engine/datarep/datarep_core.h"
#include "engine/datarep/datarep_element.h"
#include "engine/mem.h"
#include "engine/typemap/typemap.h"
#include "engine/typemap/typemap_node.h"
#include "mpi/real.h"

#include <assert.h>
#include <float.h>
#include <pthread.h>
#include <stddef.h>

/* ---- Signatures -------------------------------------------------------------------------------------------------- */

/* A run of n elements of kind k is a dense stretch of n "bytes" at k << 57. Copies of a run lie side by side, so that
 * they are one longer run; copies of anything else lie on top of each other (extent 0), since only their order counts.
 */

static const int64_t RUN_MAX = ((int64_t)1 << SIGNATURE_KIND_SHIFT) - 1;

/* Gives a signature the bounds that let its copies follow each other; takes the reference. */
static pl_status datarep_signature_finish(struct typemap *raw, struct typemap **ret_signature, struct pl_error *error)
{
    const struct typemap_shape *shape = typemap_shape(raw);
    pl_status status;
    if (shape->largest > RUN_MAX)
        status = typemap_overflow(error);
    else
        status = typemap_resized(raw, 0, shape->dense ? shape->size : 0, ret_signature, error);
    typemap_unref(raw);
    return status;
}

pl_status signature_run(int kind, int64_t elements, struct typemap **ret_signature, struct pl_error *error)
{
    assert(kind >= 0 && kind < SIGNATURE_KINDS_MAX && elements >= 0);
    struct typemap *dense = NULL, *placed = NULL;
    const int64_t at = (int64_t)kind << SIGNATURE_KIND_SHIFT, one = 1;
    pl_status status = typemap_dense(elements, &dense, error);
    if (!status)
        status = typemap_indexed(1, &at, &one, dense, &placed, error);
    typemap_unref(dense);
    return status ? status : datarep_signature_finish(placed, ret_signature, error);
}

pl_status signature_repeat(struct typemap *child, int64_t count, struct typemap **ret_signature, struct pl_error *error)
{
    return signature_list(1, &count, &child, ret_signature, error);
}

/* Where child i lies: behind the run before it where both are of one kind, else where its kind says. */
static void place_children(int64_t n, const int64_t *counts, struct typemap *const *children, int64_t *displacements)
{
    int64_t end = -1; /* of the run before, if it was one */
    for (int64_t i = 0; i < n; i++) {
        displacements[i] = 0;
        if (counts[i] <= 0 || typemap_shape(children[i])->size == 0)
            continue;
        const struct typemap_shape *shape = typemap_shape(children[i]);
        int64_t length = 0;
        if (!shape->dense || __builtin_mul_overflow(shape->size, counts[i], &length) || length > RUN_MAX) {
            end = -1;
            continue;
        }
        const int64_t start = shape->true_lb;
        if (end >= 0 && end >> SIGNATURE_KIND_SHIFT == start >> SIGNATURE_KIND_SHIFT &&
            length <= RUN_MAX - (end & RUN_MAX))
            displacements[i] = end - start;
        end = start + displacements[i] + length;
    }
}

pl_status signature_list(int64_t n, const int64_t *counts, struct typemap *const *children,
                         struct typemap **ret_signature, struct pl_error *error)
{
    struct typemap *raw = NULL;
    int64_t *displacements = mem_zalloc((size_t)n + 1, sizeof *displacements);
    if (!displacements)
        return typemap_no_memory(error);
    place_children(n, counts, children, displacements);
    const pl_status status = typemap_list(n, displacements, counts, children, &raw, error);
    mem_free(displacements);
    return status ? status : datarep_signature_finish(raw, ret_signature, error);
}

int64_t signature_next(struct typemap_cursor *cursor, int64_t limit, int *ret_kind)
{
    int64_t at = 0;
    const int64_t elements = typemap_cursor_next(cursor, limit, &at);
    *ret_kind = (int)(at >> SIGNATURE_KIND_SHIFT);
    return elements;
}

/* ---- Predefined types -------------------------------------------------------------------------------------------- */

/* Predefined datatypes in external32: the table of MPI-4.0, 14.5.2. */

/* long double of this compiler */
#if LDBL_MANT_DIG == 64
#define DATAREP_LONG_DOUBLE DATAREP_EXTENDED
#else
#define DATAREP_LONG_DOUBLE DATAREP_FLOAT
#endif

struct named {
    MPI_Datatype type;
    int class, file_bytes, parts; /* as struct datarep_kind has them */
};

/* The size in memory comes from MPI: Fortran's default types depend on how the program was compiled. */
static pl_status datarep_named_sign(const struct named *named, int64_t native_bytes, int64_t elements,
                                    struct typemap **ret_signature, struct pl_error *error)
{
    const int kind = datarep_kind_find((enum datarep_class)named->class, native_bytes, named->file_bytes, named->parts);
    if (kind == DATAREP_KIND_NONE)
        return pl_fail(error, PL_E_TYPE,
                       "no conversion to external32 for a datatype of %lld bytes in memory and %d in "
                       "the file",
                       (long long)native_bytes, named->file_bytes);
    return signature_run(kind, elements, ret_signature, error);
}

/* ---- Single values ----------------------------------------------------------------------------------------------- */

static bool find_in(const struct named *table, size_t n, MPI_Datatype type, struct named *ret)
{
    for (size_t i = 0; i < n; i++)
        if (type == table[i].type) {
            *ret = table[i];
            return true;
        }
    return false;
}

/* Some MPIs have MPI_DATATYPE_NULL in the place of a type that they lack: that one never comes here. */
static bool find_single(MPI_Datatype type, struct named *ret)
{
    const struct named table[] = {
#define NAMED(name, class, file_bytes, parts) {name, DATAREP_##class, file_bytes, parts},
#include "engine/datarep/datarep_named.def"
#undef NAMED
    };
    return find_in(table, sizeof table / sizeof table[0], type, ret);
}

/* ---- Two values in one type -------------------------------------------------------------------------------------- */

/* Two of the same kind, side by side. */
static bool find_double(MPI_Datatype type, struct named *ret)
{
    const struct named table[] = {
        {MPI_2INT, DATAREP_SIGNED, 4, 1},    {MPI_2INTEGER, DATAREP_SIGNED, 4, 1},
        {MPI_2REAL, DATAREP_FLOAT, 4, 1},    {MPI_2DOUBLE_PRECISION, DATAREP_FLOAT, 8, 1},
#ifdef MPI_2COMPLEX
        {MPI_2COMPLEX, DATAREP_FLOAT, 8, 2}, {MPI_2DOUBLE_COMPLEX, DATAREP_FLOAT, 16, 2},
#endif
    };
    return find_in(table, sizeof table / sizeof table[0], type, ret);
}

/* A value with an int behind it. */
static bool datarep_named_find_pair(MPI_Datatype type, struct named *ret)
{
    const struct named table[] = {
        {MPI_FLOAT_INT, DATAREP_FLOAT, 4, 1},
        {MPI_DOUBLE_INT, DATAREP_FLOAT, 8, 1},
        {MPI_LONG_INT, DATAREP_SIGNED, 4, 1},
        {MPI_SHORT_INT, DATAREP_SIGNED, 2, 1},
        {MPI_LONG_DOUBLE_INT, DATAREP_LONG_DOUBLE, 16, 1},
    };
    return find_in(table, sizeof table / sizeof table[0], type, ret);
}

static pl_status sign_pair(const struct named *first, int64_t native_bytes, struct typemap **ret_signature,
                           struct pl_error *error)
{
    const struct named second = {.class = DATAREP_SIGNED, .file_bytes = 4, .parts = 1};
    struct typemap *both[2] = {0};
    pl_status status = datarep_named_sign(first, native_bytes - (int64_t)sizeof(int), 1, &both[0], error);
    if (!status)
        status = datarep_named_sign(&second, sizeof(int), 1, &both[1], error);
    if (!status)
        status = signature_list(2, (const int64_t[]){1, 1}, both, ret_signature, error);
    typemap_unref(both[0]);
    typemap_unref(both[1]);
    return status;
}

/* ---- MPI_Type_create_f90_* --------------------------------------------------------------------------------------- */

/* Their sizes in the file follow from what the program asked for, not from what the compiler chose (MPI-4.0, 19.1.9).
 * An argument may be MPI_UNDEFINED, which is negative. */
static int f90_integer_bytes(int range)
{
    return range > 38 ? 0 : range > 18 ? 16 : range > 9 ? 8 : range > 4 ? 4 : range > 2 ? 2 : 1;
}

static int f90_real_bytes(int precision, int range)
{
    if (precision > 33 || range > 4931)
        return 0;
    if (precision > 15 || range > 307)
        return 16;
    return precision > 6 || range > 37 ? 8 : 4;
}

static pl_status find_f90(MPI_Datatype type, int combiner, int64_t native_bytes, struct named *ret,
                          struct pl_error *error)
{
    int arguments[2] = {0};
    MPI_Aint no_address;
    MPI_Datatype no_type;
    const bool is_integer = combiner == MPI_COMBINER_F90_INTEGER, is_complex = combiner == MPI_COMBINER_F90_COMPLEX;
    const pl_status status = typemap_check(
        real.Type_get_contents(type, is_integer ? 1 : 2, 0, 0, arguments, &no_address, &no_type),
        "MPI_Type_get_contents", error);
    if (status)
        return status;
    const int parts = is_complex ? 2 : 1;
    if (is_integer)
        *ret = (struct named){type, DATAREP_SIGNED, f90_integer_bytes(arguments[0]), 1};
    else
        *ret = (struct named){type, DATAREP_FLOAT, parts * f90_real_bytes(arguments[0], arguments[1]), parts};
    /* Up to 18 digits, a real of 16 bytes is the x87's. */
    if (!is_integer && native_bytes == 16 * parts && arguments[0] <= LDBL_DIG)
        ret->class = DATAREP_LONG_DOUBLE;
    return PL_OK;
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

pl_status datarep_external32(MPI_Datatype type, int combiner, struct typemap **ret_signature, struct pl_error *error)
{
    struct named named;
    MPI_Count native_bytes = 0;
    pl_status status = typemap_check(real.Type_size_x(type, &native_bytes), "MPI_Type_size_x", error);
    if (status)
        return status;
    if (native_bytes == 0) /* MPI_LB, MPI_UB */
        return signature_run(0, 0, ret_signature, error);
    if (combiner != MPI_COMBINER_NAMED) {
        status = find_f90(type, combiner, native_bytes, &named, error);
        return status ? status : datarep_named_sign(&named, native_bytes, 1, ret_signature, error);
    }
    if (find_single(type, &named))
        return datarep_named_sign(&named, native_bytes, 1, ret_signature, error);
    if (find_double(type, &named))
        return datarep_named_sign(&named, native_bytes / 2, 2, ret_signature, error);
    if (datarep_named_find_pair(type, &named))
        return sign_pair(&named, native_bytes, ret_signature, error);
    return pl_fail(error, PL_E_TYPE, "a predefined datatype of %lld bytes that external32 does not know",
                   (long long)native_bytes);
}

/* ---- Datatypes in a file ----------------------------------------------------------------------------------------- */

struct maker {
    struct typemap_maker typemap_maker; /* the callbacks get its address */
    const struct datarep *rep;
};

static const struct datarep *rep_of(const struct typemap_maker *maker)
{
    return container_of(maker, const struct maker, typemap_maker)->rep;
}

static bool datarep_decode_find(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made)
{
    return datarep_cache_find(rep_of(maker), type, ret_made);
}

/* ---- Leaves ------------------------------------------------------------------------------------------------------ */

struct datarep_sizes datarep_sizes(const struct datarep *rep, int number)
{
    assert(number >= 0 && number < SIGNATURE_KINDS_MAX);
    if (rep->family == DATAREP_REGISTERED)
        return rep->kinds[number];
    const struct datarep_kind *kind = datarep_kind(number);
    return (struct datarep_sizes){kind->native_bytes, kind->file_bytes};
}

/* The number of a pair of sizes in a registered representation; a new one where it did not come along before. */
static int number_sizes(const struct datarep *rep, struct datarep_sizes sizes)
{
    assert(rep->family == DATAREP_REGISTERED && sizes.native > 0 && sizes.file > 0);
    static pthread_mutex_t kinds_lock = PTHREAD_MUTEX_INITIALIZER;
    int number = 0;
    pthread_mutex_lock(&kinds_lock);
    while (number < SIGNATURE_KINDS_MAX && rep->kinds[number].file != 0 &&
           (rep->kinds[number].file != sizes.file || rep->kinds[number].native != sizes.native))
        number++;
    if (number < SIGNATURE_KINDS_MAX)
        rep->kinds[number] = sizes;
    pthread_mutex_unlock(&kinds_lock);
    return number;
}

/* For the program's functions, a predefined type is one element, pairs such as MPI_FLOAT_INT included. */
static pl_status sign_registered(const struct datarep *rep, MPI_Datatype type, struct typemap **ret_signature,
                                 struct pl_error *error)
{
    struct datarep_sizes sizes;
    MPI_Count native = 0;
    pl_status status = typemap_check(real.Type_size_x(type, &native), "MPI_Type_size_x", error);
    if (status || native == 0) /* MPI_LB, MPI_UB */
        return status ? status : signature_run(0, 0, ret_signature, error);
    sizes.native = native;
    status = datarep_call_extent(rep, type, &sizes.file, error);
    if (status)
        return status;
    const int number = number_sizes(rep, sizes);
    if (number == SIGNATURE_KINDS_MAX)
        return pl_fail(error, PL_E_UNSUPPORTED, "data representation '%s' has more than %d sizes of elements",
                       rep->name, SIGNATURE_KINDS_MAX);
    return signature_run(number, 1, ret_signature, error);
}

/* Bytes in the file of all elements of a leaf's signature, which are few. */
static pl_status datarep_decode_add_sizes(const struct datarep *rep, const struct typemap *signature,
                                          int64_t *ret_bytes, struct pl_error *error)
{
    struct typemap_cursor cursor;
    int64_t rest = typemap_shape(signature)->size;
    const pl_status status = typemap_cursor_init(&cursor, signature, error);
    if (status)
        return status;
    *ret_bytes = 0;
    while (rest > 0) {
        int kind;
        const int64_t n = signature_next(&cursor, rest, &kind);
        *ret_bytes += n * datarep_sizes(rep, kind).file;
        rest -= n;
    }
    typemap_cursor_clear(&cursor);
    return PL_OK;
}

static pl_status datarep_decode_leaf(const struct typemap_maker *maker, MPI_Datatype type, int combiner,
                                     struct typemap_made *ret_made, struct pl_error *error)
{
    const struct datarep *rep = rep_of(maker);
    int64_t bytes = 0;
    pl_status status = rep->family == DATAREP_EXTERNAL32
                           ? datarep_external32(type, combiner, &ret_made->signature, error)
                           : sign_registered(rep, type, &ret_made->signature, error);
    if (!status)
        status = datarep_decode_add_sizes(rep, ret_made->signature, &bytes, error);
    ret_made->bounding = TYPEMAP_DATA;
    return status ? status : typemap_dense(bytes, &ret_made->map, error);
}

/* ---- Constructors ------------------------------------------------------------------------------------------------ */

/* Only the members that bound a struct most strongly do: those with markers, if there are some (MPI-4.0, 5.1.6). */
static pl_status bound_struct(const struct typemap_contents *contents, const struct typemap_made *inner,
                              struct typemap_made *made, struct pl_error *error)
{
    const int64_t n = contents->n_types, *lengths = contents->values + 1, *displacements = lengths + n;
    struct typemap *deciding = NULL, *resized = NULL;
    int64_t *counts = mem_zalloc((size_t)n + 1, sizeof *counts);
    if (!counts)
        return typemap_no_memory(error);
    bool all = true;
    for (int64_t i = 0; i < n; i++) {
        counts[i] = made->bounding && inner[i].bounding == made->bounding ? lengths[i] : 0;
        all = all && counts[i] == lengths[i];
    }
    pl_status status = all ? PL_OK : typemap_list(n, displacements, counts, contents->maps, &deciding, error);
    mem_free(counts);
    if (status || all)
        return status;
    const struct typemap_shape *shape = typemap_shape(deciding);
    status = typemap_resized(made->map, shape->lb, shape->extent, &resized, error);
    typemap_unref(deciding);
    if (status)
        return status;
    typemap_unref(made->map);
    made->map = resized;
    return PL_OK;
}

static pl_status complete_struct(const struct typemap_contents *contents, const struct typemap_made *inner,
                                 struct typemap_made *made, struct pl_error *error)
{
    const int64_t n = contents->n_types, *lengths = contents->values + 1;
    struct typemap **signatures = mem_zalloc((size_t)n + 1, sizeof(struct typemap *));
    if (!signatures)
        return typemap_no_memory(error);
    for (int64_t i = 0; i < n; i++) {
        signatures[i] = inner[i].signature;
        if (lengths[i] > 0 && inner[i].bounding > made->bounding)
            made->bounding = inner[i].bounding;
    }
    const pl_status status = signature_list(n, lengths, signatures, &made->signature, error);
    mem_free(signatures);
    return status ? status : bound_struct(contents, inner, made, error);
}

static bool has_markers(int combiner)
{
    return combiner == MPI_COMBINER_RESIZED || combiner == MPI_COMBINER_SUBARRAY || combiner == MPI_COMBINER_DARRAY;
}

static pl_status datarep_decode_complete(const struct typemap_maker *maker, const struct typemap_contents *contents,
                                         const struct typemap_made *inner, struct typemap_made *made,
                                         struct pl_error *error)
{
    (void)maker;
    if (typemap_combines_struct(contents->combiner))
        return complete_struct(contents, inner, made, error);
    /* Whatever else a constructor does with its one inner type, it takes so many copies. */
    const int64_t unit = typemap_shape(inner[0].map)->size;
    const int64_t copies = unit ? typemap_shape(made->map)->size / unit : 0;
    if (has_markers(contents->combiner))
        made->bounding = TYPEMAP_MARKERS;
    else if (copies > 0 || unit == 0)
        made->bounding = inner[0].bounding;
    return signature_repeat(inner[0].signature, copies, &made->signature, error);
}

static pl_status datarep_decode_settle(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *made,
                                       struct pl_error *error)
{
    (void)error;
    datarep_cache_keep(rep_of(maker), type, made);
    return PL_OK;
}

/* ---- What is asked of it ----------------------------------------------------------------------------------------- */

pl_status datarep_made(const struct datarep *rep, MPI_Datatype type, struct typemap_made *ret_made,
                       struct pl_error *error)
{
    const struct maker maker = {{.owner = rep,
                                 .find = datarep_decode_find,
                                 .leaf = datarep_decode_leaf,
                                 .complete = datarep_decode_complete,
                                 .settle = datarep_decode_settle},
                                rep};
    return typemap_visit(&maker.typemap_maker, type, ret_made, error);
}

pl_status datarep_typemap(const struct datarep *rep, MPI_Datatype type, struct typemap **ret_map,
                          struct pl_error *error)
{
    struct typemap_made made = {0};
    if (datarep_is_native(rep))
        return typemap_of(type, ret_map, error);
    const pl_status status = datarep_made(rep, type, &made, error);
    if (status)
        return status;
    *ret_map = made.map;
    typemap_unref(made.signature);
    return PL_OK;
}

static pl_status find_shape(const struct datarep *rep, MPI_Datatype type, struct typemap_shape *ret_shape,
                            struct pl_error *error)
{
    struct typemap *map = NULL;
    const pl_status status = datarep_typemap(rep, type, &map, error);
    if (!status)
        *ret_shape = *typemap_shape(map);
    typemap_unref(map);
    return status;
}

pl_status datarep_size(const struct datarep *rep, MPI_Datatype type, int64_t *ret_bytes, struct pl_error *error)
{
    struct typemap_shape shape;
    if (find_shape(rep, type, &shape, error))
        return error->status;
    *ret_bytes = shape.size;
    return PL_OK;
}

pl_status datarep_extent(const struct datarep *rep, MPI_Datatype type, int64_t *ret_extent, struct pl_error *error)
{
    struct typemap_shape shape;
    if (find_shape(rep, type, &shape, error))
        return error->status;
    *ret_extent = shape.extent;
    return PL_OK;
}
