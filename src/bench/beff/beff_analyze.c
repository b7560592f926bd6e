#include "bench/beff/beff_analyze.h"

#include <stdlib.h>
#include <string.h>

struct runs {
    struct beff_results *items; /* owned */
    size_t count;
};

static void clear(struct runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        beff_results_clear(&runs->items[i]);
    free(runs->items);
}

static bool wanted(const struct analysis_request *request, const struct blockfile_block *block, int64_t number)
{
    return beff_is_beff(block) && (!request->block || request->block == number) &&
           (!request->test || strcmp(request->test, block->testname) == 0);
}

static pl_status add(struct runs *runs, struct blockfile *file, const struct blockfile_block *block, int64_t number,
                     struct pl_error *error)
{
    struct beff_results *items = realloc(runs->items, (runs->count + 1) * sizeof *items);
    if (!items)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for %zu runs", runs->count + 1);
    runs->items = items;
    const pl_status status = beff_results_read(file, block, &items[runs->count], error);
    if (status == PL_OK)
        items[runs->count++].block_number = number;
    return status;
}

static pl_status collect(const struct analysis_request *request, const struct analysis_input *input, struct runs *runs,
                         struct pl_error *error)
{
    int64_t number = 0;
    pl_status status = PL_OK;
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count && status == PL_OK; b++)
            if (wanted(request, &input->files[f].blocks[b], ++number))
                status = add(runs, &input->files[f], &input->files[f].blocks[b], number, error);
    if (status == PL_OK && runs->count == 0)
        return pl_fail(error, PL_E_INPUT, "nothing matches the selection, or what matches is no run of b_eff");
    return status;
}

static void print(const struct analysis_request *request, const struct runs *runs)
{
    beff_print_summary(runs->items, runs->count, request->text);
    for (size_t i = 0; i < runs->count && request->times; i++)
        beff_print_protocol(&runs->items[i], request->text);
    if (runs->count == 1 && !request->times)
        beff_print_tables(&runs->items[0], request->text);
    if (runs->count > 1 && !request->times)
        fputs("\nThe tables of one run by method, message length and pattern: --block N\n", request->text);
}

pl_status beff_analyze(const struct analysis_request *request, const struct analysis_input *input,
                       struct pl_error *error)
{
    struct runs runs = {0};
    pl_status status = collect(request, input, &runs, error);
    if (status == PL_OK && request->text)
        print(request, &runs);
    if (status == PL_OK && request->json)
        beff_write_json(runs.items, runs.count, request->json);
    if (status == PL_OK && request->csv)
        beff_write_csv(runs.items, runs.count, request->csv);
    if (status == PL_OK && request->plot)
        status = beff_plot(runs.items, runs.count, request->plot, error);
    clear(&runs);
    return status;
}
