/* From an MPI datatype to its typemap and its signature in a file. Goes through the type as typemap_of() does; only the
 * leaves differ, and the bounds of structs, of which MPI knows only those in memory. */
#include "mpi/real.h"
#include "mpiio/datarep/datarep_core.h"
#include "mpiio/datarep/datarep_element.h"
#include "mpiio/mem.h"
#include "mpiio/typemap/typemap_decode.h"
#include "mpiio/typemap/typemap_node.h"

#include <pthread.h>

struct maker {
    struct typemap_maker typemap_maker; /* first: the callbacks get its address */
    const struct datarep *rep;
};

static const struct datarep *rep_of(const struct typemap_maker *maker)
{
    return ((const struct maker *)maker)->rep;
}

static bool find(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made)
{
    return datarep_cache_find(rep_of(maker), type, ret_made);
}

/* ---- Leaves ------------------------------------------------------------------------------------------------------ */

struct datarep_sizes datarep_sizes(const struct datarep *rep, int number)
{
    if (rep->family == DATAREP_REGISTERED)
        return rep->kinds[number];
    const struct datarep_kind *kind = datarep_kind(number);
    return (struct datarep_sizes){kind->native_bytes, kind->file_bytes};
}

/* The number of a pair of sizes in a registered representation; a new one where it did not come along before. */
static int number_sizes(const struct datarep *rep, struct datarep_sizes sizes)
{
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
static pl_status add_sizes(const struct datarep *rep, const struct typemap *signature, int64_t *ret_bytes,
                           struct pl_error *error)
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

static pl_status leaf(const struct typemap_maker *maker, MPI_Datatype type, int combiner, struct typemap_made *ret_made,
                      struct pl_error *error)
{
    const struct datarep *rep = rep_of(maker);
    int64_t bytes = 0;
    pl_status status = rep->family == DATAREP_EXTERNAL32
                           ? datarep_external32(type, combiner, &ret_made->signature, error)
                           : sign_registered(rep, type, &ret_made->signature, error);
    if (!status)
        status = add_sizes(rep, ret_made->signature, &bytes, error);
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

static pl_status complete(const struct typemap_maker *maker, const struct typemap_contents *contents,
                          const struct typemap_made *inner, struct typemap_made *made, struct pl_error *error)
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

static pl_status settle(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *made,
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
    const struct maker maker = {{.owner = rep, .find = find, .leaf = leaf, .complete = complete, .settle = settle},
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

pl_status datarep_size(const struct datarep *rep, MPI_Datatype type, int64_t *ret_bytes, struct pl_error *error)
{
    struct typemap *map = NULL;
    const pl_status status = datarep_typemap(rep, type, &map, error);
    if (!status)
        *ret_bytes = typemap_shape(map)->size;
    typemap_unref(map);
    return status;
}

pl_status datarep_extent(const struct datarep *rep, MPI_Datatype type, int64_t *ret_extent, struct pl_error *error)
{
    struct typemap *map = NULL;
    const pl_status status = datarep_typemap(rep, type, &map, error);
    if (!status)
        *ret_extent = typemap_shape(map)->extent;
    typemap_unref(map);
    return status;
}
