/* Classes, cells and requests of BT-IO. */
#include "bench/apps/btio.h"

#include "base/rng.h"

#include <string.h>

const char *const BTIO_SUBTYPE_NAMES[BTIO_SUBTYPES] = {
    [BTIO_FULL] = "full", [BTIO_SIMPLE] = "simple", [BTIO_EPIO] = "epio"};

const struct btio_class BTIO_CLASSES[] = {
    {"S", 12, 60}, {"W", 24, 200}, {"A", 64, 200}, {"B", 102, 200}, {"C", 162, 200}, {"D", 408, 250}, {NULL, 0, 0},
};

/* ---- the plan ---- */

static int64_t btio_square_root(int ranks)
{
    int64_t q = 1;
    while ((q + 1) * (q + 1) <= ranks)
        q++;
    return q;
}

static pl_status btio_check_ranks(const struct btio_class *class, int ranks, int64_t q, struct pl_error *error)
{
    const int64_t most = class->size / BTIO_CELL_LEAST;
    if (q * q != ranks && q < most)
        return pl_fail(error, PL_E_USAGE,
                       "%d ranks: BT-IO needs a square number of them; the nearest are %lld and %lld", ranks,
                       (long long)(q * q), (long long)((q + 1) * (q + 1)));
    if (q > most || q * q != ranks)
        return pl_fail(error, PL_E_USAGE,
                       "%d ranks: class %s has %lld points along each side, and a cell at least %d; allowed: squares "
                       "up to %lld ranks",
                       ranks, class->name, (long long)class->size, BTIO_CELL_LEAST, (long long)(most * most));
    return PL_OK;
}

static pl_status btio_make_dist(const struct btio_class *class, int ranks, piolet_dist **ret_dist,
                                struct pl_error *error)
{
    const struct piolet_dist_spec spec = {.kind = PIOLET_DIST_MULTIPARTITION};
    const struct piolet_dist_shape shape = {.dims = 3, .size = {class->size, class->size, class->size}, .procs = ranks};
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (piolet_dist_new(&spec, &shape, ret_dist, message, sizeof message) != PIOLET_DIST_OK)
        return pl_fail(error, PL_E_USAGE, "%s", message);
    return PL_OK;
}

pl_status btio_plan_make(const struct btio_options *options, int ranks, struct btio_plan *ret_plan,
                         struct pl_error *error)
{
    const int64_t q = btio_square_root(ranks), dumps = options->class->steps / BTIO_INTERVAL;
    if (btio_check_ranks(options->class, ranks, q, error) != PL_OK)
        return error->status;
    if (options->dumps > dumps)
        return pl_fail(error, PL_E_USAGE,
                       "--dumps: class %s has %lld time steps and a dump every %d; allowed: 1 to %lld",
                       options->class->name, (long long)options->class->steps, BTIO_INTERVAL, (long long)dumps);
    const int64_t side = (options->class->size + q - 1) / q;
    if (options->subtype == BTIO_EPIO && options->method == BTIO_POSIX &&
        side * side * side * BTIO_POINT_BYTES > BTIO_RECORD_MOST)
        return pl_fail(error, PL_E_USAGE,
                       "--iomethod posix: a cell has more than %d bytes, the most of a record; allowed: more ranks, or "
                       "--iomethod mpi",
                       BTIO_RECORD_MOST);
    piolet_dist *dist;
    if (btio_make_dist(options->class, ranks, &dist, error) != PL_OK)
        return error->status;
    *ret_plan = (struct btio_plan){.options = *options, .ranks = ranks, .cells = q, .cell_max = side, .dist = dist};
    ret_plan->options.dumps = options->dumps ? options->dumps : dumps;
    return PL_OK;
}

void btio_plan_clear(struct btio_plan *plan)
{
    piolet_dist_free(plan->dist);
    plan->dist = NULL;
}

bool btio_plan_is_records(const struct btio_plan *plan)
{
    return plan->options.subtype == BTIO_EPIO && plan->options.method == BTIO_POSIX;
}

/* ---- cells ---- */

struct btio_cell btio_plan_cell(const struct btio_plan *plan, int rank, int64_t number)
{
    struct piolet_dist_axis axes[PIOLET_DIST_DIMS_MAX];
    struct btio_cell cell;
    piolet_dist_box(plan->dist, rank, number, axes);
    for (int d = 0; d < 3; d++) {
        cell.low[d] = axes[d].first;
        cell.size[d] = piolet_dist_axis_size(&axes[d]);
    }
    return cell;
}

int64_t btio_plan_points(const struct btio_plan *plan, int rank)
{
    return piolet_dist_count(plan->dist, rank);
}

int64_t btio_plan_requests(const struct btio_plan *plan, int rank)
{
    if (plan->options.subtype == BTIO_FULL)
        return 1;
    if (plan->options.subtype == BTIO_EPIO)
        return plan->cells;
    int64_t lines = 0;
    for (int64_t c = 0; c < plan->cells; c++) {
        const struct btio_cell cell = btio_plan_cell(plan, rank, c);
        lines += cell.size[1] * cell.size[2];
    }
    return lines;
}

int64_t btio_plan_side(const struct btio_plan *plan)
{
    return plan->options.class->size / plan->cells + 1 + 2 * BTIO_GHOST;
}

int64_t btio_plan_buffer_bytes(const struct btio_plan *plan)
{
    const int64_t side = btio_plan_side(plan);
    return plan->cells * side * side * side * BTIO_POINT_BYTES;
}

int64_t btio_plan_even_bytes(const struct btio_plan *plan)
{
    const int64_t side = plan->cell_max;
    if (plan->options.class->size % plan->cells != 0)
        return 0;
    switch (plan->options.subtype) {
    case BTIO_FULL:
        return plan->cells * side * side * side * BTIO_POINT_BYTES;
    case BTIO_SIMPLE:
        return side * BTIO_POINT_BYTES;
    default:
        return side * side * side * BTIO_POINT_BYTES;
    }
}

struct apps_cost btio_plan_cost(const struct btio_plan *plan)
{
    const int64_t size = plan->options.class->size, dumps = plan->options.dumps;
    const int64_t bytes = size * size * size * BTIO_POINT_BYTES * dumps;
    int64_t requests = 0, most = 0;
    for (int rank = 0; rank < plan->ranks; rank++) {
        const int64_t mine = btio_plan_requests(plan, rank) * dumps;
        requests += mine;
        most = mine > most ? mine : most;
    }
    const int timed = 1 + plan->options.reads; /* series; where requests differ, one more has their sizes */
    const int64_t sizes = btio_plan_even_bytes(plan) == 0 ? most * (int64_t)sizeof(double) : 0;
    const int64_t marks = btio_plan_is_records(plan) ? requests * BTIO_MARK_BYTES : 0;
    return (struct apps_cost){.file_bytes = bytes + marks,
                              .write_bytes = bytes,
                              .read_bytes = plan->options.reads ? bytes : 0,
                              .memory_bytes = btio_plan_buffer_bytes(plan) + btio_comm_bytes(plan) +
                                              most * timed * SAMPLE_OPERATION_BYTES + sizes,
                              .write_requests = requests,
                              .read_requests = plan->options.reads ? requests : 0};
}

/* ---- requests ---- */

void btio_walk_begin(struct btio_walk *walk, const struct btio_plan *plan, int rank, int64_t dump)
{
    *walk = (struct btio_walk){.plan = plan, .rank = rank, .dump = dump, .at = btio_plan_cell(plan, rank, 0)};
}

static bool btio_next_full(struct btio_walk *walk, struct btio_request *ret_request)
{
    const int64_t points = btio_plan_points(walk->plan, walk->rank);
    *ret_request = (struct btio_request){.offset = walk->dump * points, .bytes = points * BTIO_POINT_BYTES};
    walk->cell = walk->plan->cells; /* the only one */
    return true;
}

static void btio_next_cell(struct btio_walk *walk)
{
    if (++walk->cell < walk->plan->cells)
        walk->at = btio_plan_cell(walk->plan, walk->rank, walk->cell);
}

static bool btio_next_line(struct btio_walk *walk, struct btio_request *ret_request)
{
    const struct btio_cell *at = &walk->at;
    const int64_t size = walk->plan->options.class->size;
    const int64_t point = btio_plan_point(walk->plan, at->low[0], at->low[1] + walk->row[0], at->low[2] + walk->row[1]);
    *ret_request = (struct btio_request){.offset = BTIO_COMPONENTS * (point + walk->dump * size * size * size),
                                         .bytes = at->size[0] * BTIO_POINT_BYTES,
                                         .cell = walk->cell,
                                         .row = {walk->row[0], walk->row[1]}};
    if (++walk->row[0] < at->size[1])
        return true;
    walk->row[0] = 0;
    if (++walk->row[1] < at->size[2])
        return true;
    walk->row[1] = 0;
    btio_next_cell(walk);
    return true;
}

static bool btio_next_own(struct btio_walk *walk, struct btio_request *ret_request)
{
    const struct btio_cell *at = &walk->at;
    const int64_t before = walk->dump * btio_plan_points(walk->plan, walk->rank) * BTIO_POINT_BYTES;
    const int64_t marks = btio_plan_is_records(walk->plan)
                              ? (walk->dump * walk->plan->cells + walk->cell) * BTIO_MARK_BYTES
                              : 0;
    *ret_request = (struct btio_request){.offset = before + walk->behind + marks,
                                         .bytes = at->size[0] * at->size[1] * at->size[2] * BTIO_POINT_BYTES,
                                         .cell = walk->cell};
    walk->behind += ret_request->bytes;
    btio_next_cell(walk);
    return true;
}

bool btio_walk_next(struct btio_walk *walk, struct btio_request *ret_request)
{
    if (walk->cell == walk->plan->cells)
        return false;
    switch (walk->plan->options.subtype) {
    case BTIO_FULL:
        return btio_next_full(walk, ret_request);
    case BTIO_SIMPLE:
        return btio_next_line(walk, ret_request);
    default:
        return btio_next_own(walk, ret_request);
    }
}

/* ---- data ---- */

int64_t btio_plan_point(const struct btio_plan *plan, int64_t x, int64_t y, int64_t z)
{
    return x + plan->options.class->size * (y + plan->options.class->size * z);
}

double btio_value(uint64_t seed, int64_t dump, int64_t point, int component)
{
    return rng_unit(rng_at(rng_at(seed, (uint64_t)dump), (uint64_t)(point * BTIO_COMPONENTS + component)));
}
