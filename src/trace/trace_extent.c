#include "trace/trace_extent.h"

#include "base/checked.h"
#include "trace/trace_format.h"
#include "trace/trace_type.h"

#include <assert.h>
#include <complex.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

/* ---- shapes ---- */

/* The places of a type's data, in their order. A type of a million pieces in equal distances is a few shapes. */
enum shape_kind { SHAPE_DENSE, SHAPE_REPEAT, SHAPE_LIST };

struct shape_item {
    int64_t at, before; /* place, and bytes of data of the items before it */
    const struct trace_shape *shape;
};

struct trace_shape {
    enum shape_kind kind;
    int64_t size;                    /* bytes of data */
    int64_t at;                      /* DENSE */
    int64_t count, stride;           /* REPEAT; LIST: count */
    const struct trace_shape *inner; /* REPEAT */
    struct shape_item *items;        /* LIST: none of them is empty */
    struct trace_shape *next;        /* of all that were made */
};

/* A type: its data, and its bounds, which say where the next one goes. */
struct shape_type {
    const struct trace_shape *shape;
    int64_t lower, upper;
    int64_t align;
};

struct shape_maker {
    struct trace_shape *made;
    struct pl_error *error;
};

enum { DIMENSIONS_MAX = 64 };

static pl_status shape_too_large(const struct shape_maker *maker)
{
    return pl_fail(maker->error, PL_E_FORMAT, "datatype: it reaches over more than 2^63 bytes");
}

static struct trace_shape *shape_new(struct shape_maker *maker, struct trace_shape shape)
{
    struct trace_shape *made = malloc(sizeof *made);
    if (!made) {
        free(shape.items);
        pl_fail(maker->error, PL_E_NOMEM, "datatype: not enough memory for its places");
        return NULL;
    }
    *made = shape;
    made->next = maker->made;
    maker->made = made;
    return made;
}

static const struct trace_shape *shape_dense(struct shape_maker *maker, int64_t at, int64_t size)
{
    return shape_new(maker, (struct trace_shape){.kind = SHAPE_DENSE, .at = at, .size = size});
}

/* NULL: the error is set. */
static const struct trace_shape *shape_repeat(struct shape_maker *maker, const struct trace_shape *inner, int64_t count,
                                              int64_t stride)
{
    int64_t size, reach;
    if (count <= 0 || inner->size == 0)
        return shape_dense(maker, 0, 0);
    if (count == 1)
        return inner;
    if (!checked_mul(count, inner->size, &size) || !checked_mul(count, stride, &reach)) {
        shape_too_large(maker);
        return NULL;
    }
    if (inner->kind == SHAPE_DENSE && stride == inner->size)
        return shape_dense(maker, inner->at, size);
    return shape_new(maker, (struct trace_shape){
                                .kind = SHAPE_REPEAT, .size = size, .count = count, .stride = stride, .inner = inner});
}

/* Shapes that follow each other; what continues the one before becomes part of it. Takes `items`, of which `at` and
 * `shape` are set. */
static const struct trace_shape *shape_list(struct shape_maker *maker, struct shape_item *items, int64_t count)
{
    int64_t kept = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        const struct trace_shape *shape = items[i].shape;
        struct shape_item *last = kept ? &items[kept - 1] : NULL;
        int64_t at;
        if (shape->size == 0)
            continue;
        if (!checked_add(size, shape->size, &size) || !checked_add(items[i].at, shape->at, &at)) {
            free(items);
            shape_too_large(maker);
            return NULL;
        }
        if (last && shape->kind == SHAPE_DENSE && last->shape->kind == SHAPE_DENSE &&
            wrapping_add(wrapping_add(last->at, last->shape->at), last->shape->size) == at) {
            last->shape = shape_dense(maker, last->shape->at, last->shape->size + shape->size);
            if (!last->shape) {
                free(items);
                return NULL;
            }
            continue;
        }
        items[kept++] = (struct shape_item){items[i].at, size - shape->size, shape};
    }
    if (kept == 0 || (kept == 1 && items[0].shape->kind == SHAPE_DENSE)) {
        const int64_t at = kept ? items[0].at + items[0].shape->at : 0;
        free(items);
        return shape_dense(maker, at, size);
    }
    return shape_new(maker, (struct trace_shape){.kind = SHAPE_LIST, .size = size, .count = kept, .items = items});
}

/* ---- types become shapes ---- */

static pl_status shape_of(struct shape_maker *maker, const struct trace_type *type, struct shape_type *ret);

static bool shape_pad(struct shape_type *type)
{
    const int64_t over = type->align > 1 ? (type->upper - type->lower) % type->align : 0;
    return over <= 0 || checked_add(type->upper, type->align - over, &type->upper);
}

static pl_status shape_of_named(struct shape_maker *maker, enum trace_type_name name, struct shape_type *ret)
{
#define ALIGN_OF(c)                                                                                                    \
    offsetof(                                                                                                          \
        struct {                                                                                                       \
            char before;                                                                                               \
            c value;                                                                                                   \
        },                                                                                                             \
        value)
    static const struct {
        int64_t size, align, second, second_size, extent;
    } sizes[] = {
#define TYPE(name, c) {sizeof(c), ALIGN_OF(c), 0, 0, sizeof(c)},
#define PAIR(name, a, b)                                                                                               \
    {sizeof(a), ALIGN_OF(a) > ALIGN_OF(b) ? ALIGN_OF(a) : ALIGN_OF(b),                                                 \
     offsetof(                                                                                                         \
         struct {                                                                                                      \
             a first;                                                                                                  \
             b second;                                                                                                 \
         },                                                                                                            \
         second),                                                                                                      \
     sizeof(b), sizeof(struct {                                                                                        \
         a first;                                                                                                      \
         b second;                                                                                                     \
     })},
#include "trace/trace_type.def"
#undef TYPE
#undef PAIR
    };
    assert((size_t)name < sizeof sizes / sizeof sizes[0]);
    *ret = (struct shape_type){.upper = sizes[name].extent, .align = sizes[name].align};
    if (sizes[name].second_size == 0) {
        ret->shape = shape_dense(maker, 0, sizes[name].size);
    } else {
        struct shape_item *items = calloc(2, sizeof *items);
        if (!items)
            return pl_fail(maker->error, PL_E_NOMEM, "datatype: not enough memory for its places");
        items[0].shape = shape_dense(maker, 0, sizes[name].size);
        items[1] = (struct shape_item){sizes[name].second, 0, shape_dense(maker, 0, sizes[name].second_size)};
        if (!items[0].shape || !items[1].shape) {
            free(items);
            return maker->error->status;
        }
        ret->shape = shape_list(maker, items, 2);
    }
    return ret->shape ? PL_OK : maker->error->status;
}

/* Fortran's kinds, as compilers for this machine choose them. */
static pl_status shape_of_kind(struct shape_maker *maker, const struct trace_type *type, struct shape_type *ret)
{
    const int64_t digits = type->numbers[0], range = type->kind == TRACE_TYPE_F90_INTEGER ? 0 : type->numbers[1];
    int64_t size;
    if (type->kind == TRACE_TYPE_F90_INTEGER)
        size = digits <= 2 ? 1 : digits <= 4 ? 2 : digits <= 9 ? 4 : digits <= 18 ? 8 : 16;
    else
        size = digits <= 6 && range <= 37 ? 4 : digits <= 15 && range <= 307 ? 8 : 16;
    *ret = (struct shape_type){.align = size};
    ret->upper = type->kind == TRACE_TYPE_F90_COMPLEX ? 2 * size : size;
    ret->shape = shape_dense(maker, 0, ret->upper);
    return ret->shape ? PL_OK : maker->error->status;
}

/* `count` of a type, `stride` bytes from one to the next. */
static pl_status shape_of_row(struct shape_maker *maker, const struct shape_type *inner, int64_t count, int64_t stride,
                              struct shape_type *ret)
{
    int64_t last;
    *ret = (struct shape_type){.align = inner->align};
    if (count < 0)
        return pl_fail(maker->error, PL_E_FORMAT, "datatype: a negative number of elements");
    ret->shape = shape_repeat(maker, inner->shape, count, stride);
    if (!ret->shape)
        return maker->error->status;
    if (count == 0)
        return PL_OK;
    if (!checked_mul(count - 1, stride, &last) || !checked_add(inner->lower, last < 0 ? last : 0, &ret->lower) ||
        !checked_add(inner->upper, last > 0 ? last : 0, &ret->upper))
        return shape_too_large(maker);
    return PL_OK;
}

static pl_status shape_of_vector(struct shape_maker *maker, const struct trace_type *type,
                                 const struct shape_type *inner, struct shape_type *ret)
{
    const int64_t extent = inner->upper - inner->lower;
    int64_t stride = type->numbers[2];
    struct shape_type block;
    if (type->kind == TRACE_TYPE_VECTOR && !checked_mul(stride, extent, &stride))
        return shape_too_large(maker);
    const pl_status status = shape_of_row(maker, inner, type->numbers[1], extent, &block);
    return status == PL_OK ? shape_of_row(maker, &block, type->numbers[0], stride, ret) : status;
}

/* Blocks at places: the forms of indexed, and struct. */
static pl_status shape_of_blocks(struct shape_maker *maker, const struct trace_type *type,
                                 const struct shape_type *inner, struct shape_type *ret)
{
    const bool is_block = type->kind == TRACE_TYPE_INDEXED_BLOCK || type->kind == TRACE_TYPE_HINDEXED_BLOCK;
    const bool is_struct = type->kind == TRACE_TYPE_STRUCT;
    const bool by_extent = type->kind == TRACE_TYPE_INDEXED || type->kind == TRACE_TYPE_INDEXED_BLOCK;
    const struct trace_type_list *places = &type->lists[is_block ? 0 : 1];
    struct shape_item *items = calloc((size_t)places->count + 1, sizeof *items);
    pl_status status = items ? PL_OK : pl_fail(maker->error, PL_E_NOMEM, "datatype: not enough memory for its places");
    struct shape_type block = {0};
    int64_t length_before = -1;
    bool any = false;
    *ret = (struct shape_type){.align = 1};
    for (int i = 0; i < places->count && status == PL_OK; i++) {
        const struct shape_type *of = is_struct ? &inner[i] : inner;
        const int64_t length = is_block ? type->numbers[0] : type->lists[0].values[i];
        int64_t at = places->values[i], lower, upper;
        if (is_struct || length != length_before)
            status = shape_of_row(maker, of, length, of->upper - of->lower, &block);
        length_before = length;
        if (status == PL_OK && ((by_extent && !checked_mul(at, of->upper - of->lower, &at)) ||
                                !checked_add(at, block.lower, &lower) || !checked_add(at, block.upper, &upper)))
            status = shape_too_large(maker);
        if (status != PL_OK)
            break;
        items[i] = (struct shape_item){.at = at, .shape = block.shape};
        if (length == 0)
            continue; /* an empty block has no bounds */
        ret->lower = !any || lower < ret->lower ? lower : ret->lower;
        ret->upper = !any || upper > ret->upper ? upper : ret->upper;
        ret->align = of->align > ret->align ? of->align : ret->align;
        any = true;
    }
    if (status != PL_OK) {
        free(items);
        return status;
    }
    ret->shape = shape_list(maker, items, places->count);
    if (!ret->shape)
        return maker->error->status;
    return !is_struct || shape_pad(ret) ? PL_OK : shape_too_large(maker);
}

/* ---- arrays ---- */

/* What one dimension of an array has of the elements inside of it: `count` of them from `start` on. */
static pl_status shape_of_slice(struct shape_maker *maker, const struct trace_shape *inner, int64_t start,
                                int64_t count, int64_t element, const struct trace_shape **ret)
{
    int64_t at;
    const struct trace_shape *row = shape_repeat(maker, inner, count, element);
    struct shape_item *items = row ? calloc(1, sizeof *items) : NULL;
    if (!items)
        return row ? pl_fail(maker->error, PL_E_NOMEM, "datatype: not enough memory for its places")
                   : maker->error->status;
    if (!checked_mul(start, element, &at)) {
        free(items);
        return shape_too_large(maker);
    }
    items[0] = (struct shape_item){.at = at, .shape = row};
    *ret = shape_list(maker, items, 1);
    return *ret ? PL_OK : maker->error->status;
}

/* Blocks of `block` elements, dealt to `processes`; this one is at `position`. */
static pl_status shape_of_cyclic(struct shape_maker *maker, const struct trace_shape *inner, int64_t elements,
                                 int64_t block, int64_t processes, int64_t position, int64_t element,
                                 const struct trace_shape **ret)
{
    int64_t round, start, stride;
    if (!checked_mul(block, processes, &round) || !checked_mul(block, position, &start) ||
        !checked_mul(round, element, &stride))
        return shape_too_large(maker);
    const int64_t left = elements > start ? elements - start : 0;
    const int64_t whole = left / round + (left % round >= block), rest = left % round < block ? left % round : 0;
    struct shape_item *items = calloc(2, sizeof *items);
    const struct trace_shape *one = shape_repeat(maker, inner, block, element);
    if (!items || !one) {
        free(items);
        return one ? pl_fail(maker->error, PL_E_NOMEM, "datatype: not enough memory for its places")
                   : maker->error->status;
    }
    items[0] = (struct shape_item){.at = start * element, .shape = shape_repeat(maker, one, whole, stride)};
    items[1] = (struct shape_item){.at = (start + whole * round) * element,
                                   .shape = shape_repeat(maker, inner, rest, element)};
    if (!items[0].shape || !items[1].shape) {
        free(items);
        return maker->error->status;
    }
    *ret = shape_list(maker, items, 2);
    return *ret ? PL_OK : maker->error->status;
}

static pl_status shape_of_dimension(struct shape_maker *maker, const struct trace_type *type, int dimension,
                                    int64_t position, const struct trace_shape *inner, int64_t element,
                                    const struct trace_shape **ret)
{
    const int64_t elements = type->lists[0].values[dimension];
    if (type->kind == TRACE_TYPE_SUBARRAY) {
        const int64_t count = type->lists[1].values[dimension], start = type->lists[2].values[dimension];
        if (count < 0 || start < 0 || count > elements || start > elements - count)
            return pl_fail(maker->error, PL_E_FORMAT, "datatype: a subarray that leaves its array");
        return shape_of_slice(maker, inner, start, count, element, ret);
    }
    const int64_t processes = type->lists[3].values[dimension];
    int64_t block = type->lists[2].values[dimension];
    switch ((enum trace_type_distribution)type->lists[1].values[dimension]) {
    case TRACE_TYPE_NONE:
        return shape_of_slice(maker, inner, 0, elements, element, ret);
    case TRACE_TYPE_CYCLIC:
        block = block > 0 ? block : 1;
        break;
    default:
        block = block > 0 ? block : elements / processes + (elements % processes != 0);
        if (elements > 0 && processes < elements / block)
            return pl_fail(maker->error, PL_E_FORMAT, "datatype: a darray whose blocks do not hold its array");
    }
    return shape_of_cyclic(maker, inner, elements, block > 0 ? block : 1, processes, position, element, ret);
}

/* subarray and darray: the innermost dimension first, which is the last one in C's order. */
static pl_status shape_of_array(struct shape_maker *maker, const struct trace_type *type,
                                const struct shape_type *inner, struct shape_type *ret)
{
    const int dims = type->lists[0].count;
    int64_t position[DIMENSIONS_MAX] = {0}, element = inner->upper - inner->lower;
    if (dims < 1 || dims > DIMENSIONS_MAX)
        return pl_fail(maker->error, PL_E_FORMAT, "datatype: an array of %d dimensions", dims);
    if (type->kind == TRACE_TYPE_DARRAY) { /* processes stand in C's order, whatever that of the array is */
        int64_t rank = type->numbers[1];
        for (int i = dims - 1; i >= 0; i--) {
            const int64_t processes = type->lists[3].values[i];
            if (processes < 1 || rank < 0)
                return pl_fail(maker->error, PL_E_FORMAT, "datatype: a darray of no processes");
            position[i] = rank % processes;
            rank /= processes;
        }
    }
    *ret = *inner;
    for (int k = 0; k < dims; k++) {
        const int i = type->is_fortran ? k : dims - 1 - k;
        const int64_t elements = type->lists[0].values[i];
        if (elements < 0)
            return pl_fail(maker->error, PL_E_FORMAT, "datatype: an array of negative size");
        const pl_status status = shape_of_dimension(maker, type, i, position[i], ret->shape, element, &ret->shape);
        if (status != PL_OK)
            return status;
        if (!checked_mul(element, elements, &element))
            return shape_too_large(maker);
    }
    ret->lower = 0;
    ret->upper = element;
    return PL_OK;
}

/* ---- a whole type ---- */

static pl_status shape_of_made(struct shape_maker *maker, const struct trace_type *type, const struct shape_type *inner,
                               struct shape_type *ret)
{
    switch (type->kind) {
    case TRACE_TYPE_DUP:
        *ret = *inner;
        return PL_OK;
    case TRACE_TYPE_CONTIGUOUS:
        return shape_of_row(maker, inner, type->numbers[0], inner->upper - inner->lower, ret);
    case TRACE_TYPE_VECTOR:
    case TRACE_TYPE_HVECTOR:
        return shape_of_vector(maker, type, inner, ret);
    case TRACE_TYPE_RESIZED:
        *ret = *inner;
        ret->lower = type->numbers[0];
        return checked_add(type->numbers[0], type->numbers[1], &ret->upper) ? PL_OK : shape_too_large(maker);
    case TRACE_TYPE_SUBARRAY:
    case TRACE_TYPE_DARRAY:
        return shape_of_array(maker, type, inner, ret);
    default:
        return shape_of_blocks(maker, type, inner, ret);
    }
}

static pl_status shape_of(struct shape_maker *maker, const struct trace_type *type, struct shape_type *ret)
{
    int64_t extent;
    if (type->kind == TRACE_TYPE_NAMED)
        return shape_of_named(maker, type->name, ret);
    if (type->kind >= TRACE_TYPE_F90_REAL)
        return shape_of_kind(maker, type, ret);
    struct shape_type *inner = calloc((size_t)type->type_count + 1, sizeof *inner);
    pl_status status = inner ? PL_OK : pl_fail(maker->error, PL_E_NOMEM, "datatype: not enough memory for its parts");
    for (int i = 0; i < type->type_count && status == PL_OK; i++) {
        status = shape_of(maker, &type->types[i], &inner[i]);
        if (status == PL_OK && !checked_sub(inner[i].upper, inner[i].lower, &extent))
            status = shape_too_large(maker);
    }
    if (status == PL_OK)
        status = shape_of_made(maker, type, inner, ret);
    free(inner);
    return status;
}

/* ---- views ---- */

static void shape_free_all(struct trace_shape *shape)
{
    while (shape) {
        struct trace_shape *next = shape->next;
        free(shape->items);
        free(shape);
        shape = next;
    }
}

static pl_status view_make_shape(struct trace_view *view, const char *text, const char *detail, struct pl_error *error)
{
    struct shape_maker maker = {.error = error};
    struct shape_type made;
    struct trace_type type;
    pl_status status = trace_type_parse(text, &type, error);
    if (status != PL_OK)
        return status;
    status = shape_of(&maker, &type, &made);
    trace_type_clear(&type);
    if (status == PL_OK && !checked_sub(made.upper, made.lower, &view->extent))
        status = shape_too_large(&maker);
    /* The trace says what the MPI made of it, and MPIs pad differently. */
    const int64_t size = trace_detail_number(detail, "size", -1);
    view->extent = trace_detail_number(detail, "extent", view->extent);
    if (status == PL_OK && size >= 0 && size != made.shape->size)
        status = pl_fail(error, PL_E_FORMAT,
                         "datatype: it has %" PRId64 " bytes by its text, and had %" PRId64 " in the program",
                         made.shape->size, size);
    if (status != PL_OK) {
        shape_free_all(maker.made);
        return status;
    }
    view->shapes = maker.made;
    view->shape = made.shape;
    view->size = made.shape->size;
    return PL_OK;
}

static int64_t view_etype_bytes(const char *text, struct pl_error *error)
{
    struct trace_view alone = {0};
    const pl_status status = view_make_shape(&alone, text, "", error);
    const int64_t bytes = status == PL_OK ? alone.size : -1;
    trace_view_clear(&alone);
    return bytes;
}

pl_status trace_view_init(struct trace_view *view, const char *detail, struct pl_error *error)
{
    *view = (struct trace_view){.etype_bytes = 1, .size = 1, .extent = 1};
    if (!detail || !*detail)
        return PL_OK;
    char *etype = trace_detail_text(detail, "etype"), *filetype = trace_detail_text(detail, "filetype"),
         *datarep = trace_detail_text(detail, "datarep");
    pl_status status = PL_OK;
    if (!filetype)
        status = pl_fail(error, PL_E_FORMAT, "filetype= is missing");
    else if (datarep && strcmp(datarep, "native") != 0 && strcmp(datarep, "internal") != 0)
        status = pl_fail(error, PL_E_UNSUPPORTED, "places in the data representation '%.100s' are not known", datarep);
    if (status == PL_OK)
        status = view_make_shape(view, filetype, detail, error);
    view->disp = trace_detail_number(detail, "disp", 0);
    view->etype_bytes = trace_detail_number(detail, "etype_bytes", -1);
    if (status == PL_OK && view->etype_bytes < 0)
        view->etype_bytes = etype ? view_etype_bytes(etype, error) : 1;
    if (status == PL_OK && view->etype_bytes < 0)
        status = error->status;
    if (status == PL_OK && view->shape->kind == SHAPE_DENSE && view->shape->at == 0 && view->size == view->extent &&
        view->size > 0) { /* one after the other, however the type was made */
        shape_free_all(view->shapes);
        view->shapes = NULL;
        view->shape = NULL;
    }
    free(etype);
    free(filetype);
    free(datarep);
    if (status != PL_OK)
        trace_view_clear(view);
    return status;
}

void trace_view_clear(struct trace_view *view)
{
    shape_free_all(view->shapes);
    *view = (struct trace_view){.etype_bytes = 1, .size = 1, .extent = 1};
}

/* ---- extents ---- */

struct extent_walk {
    trace_extent_take *take;
    void *context;
    int64_t first, bytes; /* a piece that may go on; bytes 0: none */
    int64_t skip, left;   /* bytes of data before the access, and of it */
    bool ended, overflows;
};

static void walk_give(struct extent_walk *walk)
{
    if (walk->bytes > 0 && !walk->take(walk->context, walk->first, walk->bytes))
        walk->ended = true;
    walk->bytes = 0;
}

static void walk_dense(struct extent_walk *walk, int64_t at, int64_t size)
{
    int64_t end;
    assert(walk->skip < size && walk->left > 0);
    const int64_t length = size - walk->skip < walk->left ? size - walk->skip : walk->left;
    if (!checked_add(at, walk->skip, &at) || !checked_add(at, length, &end)) {
        walk->overflows = walk->ended = true;
        return;
    }
    walk->skip = 0;
    walk->left -= length;
    if (walk->bytes > 0 && walk->first + walk->bytes == at) {
        walk->bytes += length;
        return;
    }
    walk_give(walk);
    walk->first = at;
    walk->bytes = length;
}

static int64_t shape_item_of(const struct trace_shape *shape, int64_t skip)
{
    int64_t low = 0, high = shape->count; /* the last item that begins at or before `skip` */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (shape->items[middle].before <= skip)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* `base` is where the shape stands; what is skipped lies inside of it. */
static void walk_shape(struct extent_walk *walk, const struct trace_shape *shape, int64_t base)
{
    int64_t at;
    assert(walk->skip < shape->size);
    if (shape->kind == SHAPE_DENSE) {
        if (checked_add(base, shape->at, &at))
            walk_dense(walk, at, shape->size);
        else
            walk->overflows = walk->ended = true;
    } else if (shape->kind == SHAPE_REPEAT) {
        int64_t i = walk->skip / shape->inner->size;
        for (walk->skip %= shape->inner->size; i < shape->count && walk->left > 0 && !walk->ended; i++) {
            if (checked_add(base, i * shape->stride, &at)) /* count * stride was looked at */
                walk_shape(walk, shape->inner, at);
            else
                walk->overflows = walk->ended = true;
        }
    } else {
        int64_t i = shape_item_of(shape, walk->skip);
        for (walk->skip -= shape->items[i].before; i < shape->count && walk->left > 0 && !walk->ended; i++) {
            if (checked_add(base, shape->items[i].at, &at))
                walk_shape(walk, shape->items[i].shape, at);
            else
                walk->overflows = walk->ended = true;
        }
    }
}

bool trace_extents_each(const struct trace_view *view, int64_t offset, int64_t bytes, trace_extent_take *take,
                        void *context)
{
    struct extent_walk walk = {.take = take, .context = context, .left = bytes};
    int64_t at;
    if (offset < 0 || bytes < 0 || view->etype_bytes < 0 || !checked_mul(offset, view->etype_bytes, &walk.skip))
        return false;
    if (bytes == 0)
        return true;
    if (view->size <= 0)
        return false;
    if (!view->shape) {
        if (!checked_add(view->disp, walk.skip, &at) || !checked_add(at, bytes, &walk.skip))
            return false;
        take(context, at, bytes);
        return true;
    }
    int64_t tile = walk.skip / view->size;
    for (walk.skip %= view->size; walk.left > 0 && !walk.ended; tile++) {
        if (!checked_mul(tile, view->extent, &at) || !checked_add(view->disp, at, &at))
            return false;
        walk_shape(&walk, view->shape, at);
    }
    if (!walk.ended)
        walk_give(&walk);
    return !walk.overflows;
}

static bool extent_take_one(void *context, int64_t first, int64_t bytes)
{
    (void)bytes;
    *(int64_t *)context = first;
    return false;
}

bool trace_extents_range(const struct trace_view *view, int64_t offset, int64_t bytes, int64_t *ret_first,
                         int64_t *ret_end)
{
    struct trace_view single = *view;
    int64_t position, last;
    single.etype_bytes = 1; /* places of bytes */
    if (offset < 0 || bytes < 0 || view->etype_bytes < 0 || !checked_mul(offset, view->etype_bytes, &position) ||
        !checked_add(position, bytes > 0 ? bytes - 1 : 0, &last) ||
        !trace_extents_each(&single, position, 1, extent_take_one, ret_first) ||
        !trace_extents_each(&single, last, 1, extent_take_one, ret_end))
        return false;
    *ret_end += bytes > 0;
    return true;
}

/* ---- as text ---- */

/* Pieces that are looked at for one text: a short one tells no more than some runs, and a file of a few bytes may ask
 * for any number. */
enum { PIECES_SHORT = 1 << 16, PIECES_MAX = 1 << 24 };

struct extent_text {
    struct text *text;
    int most, runs;                     /* most 0: every piece */
    int64_t first, bytes, step, pieces; /* a run that may go on; pieces 0: none */
    int seen;
    bool cut;
};

/* The run, or as much of it as there is room for. */
static void extent_add_run(struct extent_text *to)
{
    const bool is_row = to->most > 0 && to->pieces >= 3;
    int64_t first = to->first;
    for (int64_t i = 0; i < (is_row ? 1 : to->pieces); i++, first = wrapping_add(first, to->step)) {
        if (to->most > 0 && to->runs == to->most) {
            to->cut = true;
            break;
        }
        text_format(to->text, "%s%" PRId64 "+%" PRId64, to->runs++ ? "," : "", first, to->bytes);
    }
    if (is_row && !to->cut)
        text_format(to->text, ":%" PRId64 "*%" PRId64, to->step, to->pieces);
    to->pieces = 0;
}

static bool extent_take_text(void *context, int64_t first, int64_t bytes)
{
    struct extent_text *to = context;
    const int64_t from = wrapping_sub(first, to->first);
    if (to->seen++ == (to->most > 0 ? PIECES_SHORT : PIECES_MAX)) {
        to->cut = true;
        return false;
    }
    if (to->most > 0 && to->pieces > 0 && bytes == to->bytes &&
        (to->pieces == 1 || from == wrapping_mul(to->step, to->pieces))) {
        to->step = to->pieces == 1 ? from : to->step;
        to->pieces++;
        return true;
    }
    if (to->pieces == 2 && bytes == to->bytes) { /* the second may begin a run with this one */
        const int64_t second = wrapping_add(to->first, to->step);
        to->pieces = 1;
        extent_add_run(to);
        to->first = second;
        to->step = wrapping_sub(first, second);
        to->pieces = 2;
        return !to->cut;
    }
    if (to->pieces > 0)
        extent_add_run(to);
    to->first = first;
    to->bytes = bytes;
    to->pieces = 1;
    if (to->most == 0)
        extent_add_run(to);
    return !to->cut && !to->text->failed;
}

void trace_extents_add_text(const struct trace_view *view, int64_t offset, int64_t bytes, int most, struct text *text)
{
    struct extent_text to = {.text = text, .most = most};
    const size_t before = text->length;
    const bool known = trace_extents_each(view, offset, bytes, extent_take_text, &to);
    if (to.pieces > 0)
        extent_add_run(&to);
    if (to.cut || (!known && text->length > before))
        text_add(text, ",...");
    else if (text->length == before)
        text_add(text, "-");
}
