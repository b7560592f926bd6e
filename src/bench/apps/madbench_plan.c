/* Request sizes, offsets and order of MADbench2. */
#include "bench/apps/madbench.h"

#include "base/rng.h"

#include <assert.h>
#include <limits.h>

enum { AHEAD = 2 /* rounds that W reads before it writes */ };

static bool madbench_is_square(int64_t number)
{
    int64_t root = 1;
    while (root * root < number)
        root++;
    return root * root == number;
}

static int64_t madbench_round_up(int64_t bytes, int64_t block)
{
    return (bytes + block - 1) / block * block;
}

/* ---- the plan ---- */

static pl_status madbench_check_gangs(const struct madbench_options *options, int ranks, struct pl_error *error)
{
    const int64_t gangs = options->gangs;
    if (!madbench_is_square(ranks))
        return pl_fail(error, PL_E_USAGE, "%d ranks: MADbench2 needs a square number of them: 1, 4, 9, 16, …", ranks);
    if (ranks % gangs != 0 || !madbench_is_square(ranks / gangs))
        return pl_fail(
            error, PL_E_USAGE,
            "--gangs: %lld gangs of %d ranks; allowed: numbers that leave each gang a square number of ranks",
            (long long)gangs, ranks);
    if (options->bins % gangs != 0)
        return pl_fail(error, PL_E_USAGE, "--gangs: %lld gangs cannot share %lld bins; allowed: divisors of --bins",
                       (long long)gangs, (long long)options->bins);
    return PL_OK;
}

static pl_status madbench_check_together(const struct madbench_options *options, int ranks, struct pl_error *error)
{
    if (options->calls == MADBENCH_COLLECTIVE &&
        (options->files == MADBENCH_UNIQUE || options->method == MADBENCH_POSIX || options->mode == MADBENCH_ASYNC ||
         options->rmod > 1 || options->wmod > 1))
        return pl_fail(error, PL_E_USAGE,
                       "--calls collective: allowed only with shared files, MPI-IO, --iomode sync, and without "
                       "--rmod and --wmod");
    if (options->mode == MADBENCH_ASYNC && options->method == MADBENCH_POSIX)
        return pl_fail(error, PL_E_USAGE, "--iomode async: allowed only with --iomethod mpi");
    if (options->rmod > ranks || options->wmod > ranks)
        return pl_fail(error, PL_E_USAGE, "%s: %lld ranks take turns, but there are %d; allowed: 1 to %d",
                       options->rmod > ranks ? "--rmod" : "--wmod",
                       (long long)(options->rmod > ranks ? options->rmod : options->wmod), ranks, ranks);
    return PL_OK;
}

/* Rows (or columns) of a block-cyclic distribution that process `place` of `count` has. */
static int64_t madbench_rows_of(int64_t pixels, int64_t scatter, int64_t place, int64_t count)
{
    const int64_t blocks = pixels / scatter, more = blocks % count;
    return blocks / count * scatter + (place < more ? scatter : place == more ? pixels % scatter : 0);
}

/* Bytes of the part that a rank of a square grid of `ranks` has; rank 0 has most. */
static int64_t madbench_part_bytes(const struct madbench_options *options, int rank, int ranks)
{
    int side = 1;
    while (side * side < ranks)
        side++;
    assert(side * side == ranks && rank < ranks);
    return madbench_rows_of(options->pixels, options->scatter, rank % side, side) *
           madbench_rows_of(options->pixels, options->scatter, rank / side, side) * (int64_t)sizeof(double);
}

pl_status madbench_plan_make(const struct madbench_options *options, int ranks, struct madbench_plan *ret_plan,
                             struct pl_error *error)
{
    if (madbench_check_gangs(options, ranks, error) != PL_OK || madbench_check_together(options, ranks, error) != PL_OK)
        return error->status;
    const int members = ranks / (int)options->gangs;
    const int64_t largest = madbench_part_bytes(options, 0, members);
    struct madbench_plan plan = {
        .options = *options,
        .ranks = ranks,
        .members = members,
        .stride_bytes = madbench_round_up(madbench_part_bytes(options, 0, ranks), options->block_bytes),
        .result_stride_bytes = madbench_round_up(largest, options->block_bytes),
        .rounds = options->bins / options->gangs};
    /* A result takes the place of matrices that all ranks have read; in a shared file only where regions of results
     * begin where regions of matrices do. */
    assert(plan.result_stride_bytes <= plan.stride_bytes * options->gangs);
    plan.overwrites = options->files == MADBENCH_SHARED &&
                      plan.result_stride_bytes != plan.stride_bytes * options->gangs;
    if (largest / (int64_t)sizeof(double) > INT_MAX)
        return pl_fail(error, PL_E_USAGE,
                       "--pixels: a request would have %lld bytes; allowed: up to %lld (more ranks, fewer pixels)",
                       (long long)largest, (long long)INT_MAX * (long long)sizeof(double));
    *ret_plan = plan;
    return PL_OK;
}

int64_t madbench_plan_matrix_bytes(const struct madbench_plan *plan, int rank)
{
    return madbench_part_bytes(&plan->options, rank, plan->ranks);
}

int64_t madbench_plan_result_bytes(const struct madbench_plan *plan, int rank)
{
    return madbench_part_bytes(&plan->options, rank % plan->members, plan->members);
}

bool madbench_plan_is_even(const struct madbench_plan *plan)
{
    const int last = plan->ranks - 1; /* who has least */
    return madbench_plan_matrix_bytes(plan, 0) == madbench_plan_matrix_bytes(plan, last) &&
           madbench_plan_result_bytes(plan, 0) == madbench_plan_result_bytes(plan, last);
}

/* ---- requests ---- */

int64_t madbench_plan_region_bytes(const struct madbench_plan *plan)
{
    return plan->options.bins * plan->stride_bytes;
}

int64_t madbench_plan_requests(const struct madbench_plan *plan)
{
    return 2 * plan->options.bins + 2 * plan->rounds;
}

static struct madbench_request matrix_of(enum madbench_function function, int64_t bin)
{
    return (struct madbench_request){.function = function, .writes = function == MADBENCH_S, .number = bin};
}

static struct madbench_request result_of(enum madbench_function function, int64_t round)
{
    return (struct madbench_request){
        .function = function, .writes = function == MADBENCH_W, .is_result = true, .number = round};
}

/* W: the reads of the first rounds; then a write, and while there is more, the reads of a later round; at the end the
 * writes alone. */
static struct madbench_request w_request(const struct madbench_plan *plan, int64_t index)
{
    const int64_t gangs = plan->options.gangs, ahead = plan->rounds < AHEAD ? plan->rounds : AHEAD;
    const int64_t first = ahead * gangs, cycle = 1 + gangs;
    if (index < first)
        return matrix_of(MADBENCH_W, index);
    const int64_t mixed = (plan->rounds - ahead) * cycle, place = index - first;
    if (place >= mixed)
        return result_of(MADBENCH_W, plan->rounds - ahead + place - mixed);
    const int64_t round = place / cycle, step = place % cycle;
    return step == 0 ? result_of(MADBENCH_W, round) : matrix_of(MADBENCH_W, (round + ahead) * gangs + step - 1);
}

struct madbench_request madbench_plan_request(const struct madbench_plan *plan, int rank, int64_t index)
{
    const int64_t bins = plan->options.bins, behind_w = 2 * bins + plan->rounds;
    struct madbench_request request = index < bins       ? matrix_of(MADBENCH_S, index)
                                      : index < behind_w ? w_request(plan, index - bins)
                                                         : result_of(MADBENCH_C, index - behind_w);
    const int64_t stride = request.is_result ? plan->result_stride_bytes : plan->stride_bytes;
    request.bytes = request.is_result ? madbench_plan_result_bytes(plan, rank) : madbench_plan_matrix_bytes(plan, rank);
    request.offset = request.number * stride;
    if (plan->options.files == MADBENCH_SHARED)
        request.offset += rank * bins * stride;
    return request;
}

struct apps_cost madbench_plan_cost(const struct madbench_plan *plan)
{
    /* Of each matrix all ranks together have every number, and of each result the ranks of its gang. */
    const int64_t ranks = plan->ranks, matrix = plan->options.pixels * plan->options.pixels * (int64_t)sizeof(double);
    const int64_t requests = (plan->options.bins + plan->rounds) * ranks;
    const int64_t sizes = madbench_plan_is_even(plan) || plan->options.gangs > 1 ? 0 : plan->options.bins;
    const int64_t buffers = 1 + (plan->options.mode == MADBENCH_ASYNC) + (plan->options.gangs > 1);
    return (struct apps_cost){
        .file_bytes = ranks * madbench_plan_region_bytes(plan) +
                      (plan->options.files == MADBENCH_SHARED && plan->options.gangs > 1
                           ? ranks * plan->rounds * plan->result_stride_bytes /* sparse: beyond the matrices */
                           : 0),
        .write_bytes = 2 * plan->options.bins * matrix,
        .read_bytes = 2 * plan->options.bins * matrix,
        .memory_bytes = buffers * madbench_plan_result_bytes(plan, 0) +
                        madbench_plan_requests(plan) * SAMPLE_OPERATION_BYTES + sizes * (int64_t)sizeof(double),
        .write_requests = requests,
        .read_requests = requests};
}

/* ---- data ---- */

uint64_t madbench_data_seed(uint64_t seed, int rank, const struct madbench_request *request)
{
    return rng_at(rng_at(seed, (uint64_t)rank), (uint64_t)(2 * request->number + request->is_result));
}

double madbench_value(uint64_t data_seed, int64_t index)
{
    return rng_unit(rng_at(data_seed, (uint64_t)index));
}
