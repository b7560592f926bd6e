/* Request sizes, offsets and order of MADbench2. */
#include "bench/apps/madbench_plan.h"

#include "base/rng.h"

#include <limits.h>

enum { AHEAD = 2 /* rounds that W reads before it writes */ };

static bool is_square(int64_t number)
{
    int64_t root = 1;
    while (root * root < number)
        root++;
    return root * root == number;
}

static int64_t round_up(int64_t bytes, int64_t block)
{
    return (bytes + block - 1) / block * block;
}

/* ---- the plan ---- */

static pl_status check_gangs(const struct madbench_options *options, int ranks, struct pl_error *error)
{
    const int64_t gangs = options->gangs;
    if (!is_square(ranks))
        return pl_fail(error, PL_E_USAGE, "%d ranks: MADbench2 needs a square number of them: 1, 4, 9, 16, …", ranks);
    if (ranks % gangs != 0 || !is_square(ranks / gangs))
        return pl_fail(
            error, PL_E_USAGE,
            "--gangs: %lld gangs of %d ranks; allowed: numbers that leave each gang a square number of ranks",
            (long long)gangs, ranks);
    if (options->bins % gangs != 0)
        return pl_fail(error, PL_E_USAGE, "--gangs: %lld gangs cannot share %lld bins; allowed: divisors of --bins",
                       (long long)gangs, (long long)options->bins);
    return PL_OK;
}

static pl_status check_together(const struct madbench_options *options, int ranks, struct pl_error *error)
{
    if (options->block_bytes % (int64_t)sizeof(double) != 0)
        return pl_fail(error, PL_E_USAGE, "--block: %lld bytes; allowed: multiples of 8",
                       (long long)options->block_bytes);
    if (options->calls == MADBENCH_COLLECTIVE &&
        (options->files == MADBENCH_UNIQUE || options->method == MADBENCH_POSIX || options->rmod > 1 ||
         options->wmod > 1))
        return pl_fail(error, PL_E_USAGE,
                       "--calls collective: allowed only with shared files, MPI-IO, and without "
                       "--rmod and --wmod");
    if (options->rmod > ranks || options->wmod > ranks)
        return pl_fail(error, PL_E_USAGE, "%s: %lld ranks take turns, but there are %d; allowed: 1 to %d",
                       options->rmod > ranks ? "--rmod" : "--wmod",
                       (long long)(options->rmod > ranks ? options->rmod : options->wmod), ranks, ranks);
    return PL_OK;
}

pl_status madbench_plan_make(const struct madbench_options *options, int ranks, struct madbench_plan *ret_plan,
                             struct pl_error *error)
{
    if (check_gangs(options, ranks, error) != PL_OK || check_together(options, ranks, error) != PL_OK)
        return error->status;
    const int64_t numbers = options->pixels * options->pixels, members = ranks / options->gangs;
    const struct madbench_plan plan = {
        .options = *options,
        .ranks = ranks,
        .request_bytes = round_up((numbers + ranks - 1) / ranks * (int64_t)sizeof(double), options->block_bytes),
        .result_bytes = round_up((numbers + members - 1) / members * (int64_t)sizeof(double), options->block_bytes),
        .rounds = options->bins / options->gangs};
    if (plan.result_bytes / (int64_t)sizeof(double) > INT_MAX)
        return pl_fail(error, PL_E_USAGE,
                       "--pixels: a request would have %lld bytes; allowed: up to %lld (more ranks, fewer pixels)",
                       (long long)plan.result_bytes, (long long)INT_MAX * (long long)sizeof(double));
    *ret_plan = plan;
    return PL_OK;
}

/* ---- requests ---- */

int64_t madbench_plan_region_bytes(const struct madbench_plan *plan)
{
    return plan->options.bins * plan->request_bytes;
}

int64_t madbench_plan_requests(const struct madbench_plan *plan)
{
    return 2 * plan->options.bins + 2 * plan->rounds;
}

static struct madbench_request matrix_of(const struct madbench_plan *plan, enum madbench_function function, int64_t bin)
{
    return (struct madbench_request){.function = function,
                                     .writes = function == MADBENCH_S,
                                     .number = bin,
                                     .offset = bin * plan->request_bytes,
                                     .bytes = plan->request_bytes};
}

static struct madbench_request result_of(const struct madbench_plan *plan, enum madbench_function function,
                                         int64_t round)
{
    return (struct madbench_request){.function = function,
                                     .writes = function == MADBENCH_W,
                                     .is_result = true,
                                     .number = round,
                                     .offset = round * plan->result_bytes,
                                     .bytes = plan->result_bytes};
}

/* W: the reads of the first rounds; then a write, and while there is more, the reads of a later round; at the end the
 * writes alone. */
static struct madbench_request w_request(const struct madbench_plan *plan, int64_t index)
{
    const int64_t gangs = plan->options.gangs, ahead = plan->rounds < AHEAD ? plan->rounds : AHEAD;
    const int64_t first = ahead * gangs, cycle = 1 + gangs;
    if (index < first)
        return matrix_of(plan, MADBENCH_W, index);
    const int64_t mixed = (plan->rounds - ahead) * cycle, place = index - first;
    if (place >= mixed)
        return result_of(plan, MADBENCH_W, plan->rounds - ahead + place - mixed);
    const int64_t round = place / cycle, step = place % cycle;
    return step == 0 ? result_of(plan, MADBENCH_W, round)
                     : matrix_of(plan, MADBENCH_W, (round + ahead) * gangs + step - 1);
}

struct madbench_request madbench_plan_request(const struct madbench_plan *plan, int rank, int64_t index)
{
    const int64_t bins = plan->options.bins, behind_w = 2 * bins + plan->rounds;
    struct madbench_request request = index < bins       ? matrix_of(plan, MADBENCH_S, index)
                                      : index < behind_w ? w_request(plan, index - bins)
                                                         : result_of(plan, MADBENCH_C, index - behind_w);
    if (plan->options.files == MADBENCH_SHARED)
        request.offset += rank * madbench_plan_region_bytes(plan);
    return request;
}

struct apps_cost madbench_plan_cost(const struct madbench_plan *plan)
{
    const int64_t matrices = plan->options.bins * plan->ranks, results = plan->rounds * plan->ranks;
    const int64_t bytes = matrices * plan->request_bytes + results * plan->result_bytes;
    return (struct apps_cost){.file_bytes = matrices * plan->request_bytes,
                              .write_bytes = bytes,
                              .read_bytes = bytes,
                              .memory_bytes = plan->result_bytes +
                                              madbench_plan_requests(plan) * (int64_t)sizeof(double),
                              .write_requests = matrices + results,
                              .read_requests = matrices + results};
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
