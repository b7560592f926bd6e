/* The quantities of a block are its benchmark's; here they are collected, and the conditions are told. */
#include "history/history_quantity.h"

#include "bench/bench.h"
#include "lab/facts/conditions.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- collecting ---- */

static void quantity_add(struct history_quantities *list, struct history_quantity quantity)
{
    if ((list->count & (list->count - 1)) == 0) {
        struct history_quantity *more = realloc(list->list, (list->count ? 2 * list->count : 1) * sizeof *more);
        if (!more) {
            list->failed = true;
            return;
        }
        list->list = more;
    }
    list->list[list->count++] = quantity;
}

static void quantity_take(struct history_quantities *list, const struct quantity *quantity)
{
    struct history_quantity copy = {text_dup(quantity->what), text_dup(quantity->settings), quantity->unit,
                                    quantity->lower_is_better, quantity->value};
    if (copy.what && copy.settings && !list->failed)
        quantity_add(list, copy);
    if (!copy.what || !copy.settings || list->failed) {
        list->failed = true;
        free(copy.what);
        free(copy.settings);
    }
}

static int quantity_compare(const void *a, const void *b)
{
    const struct history_quantity *x = a, *y = b;
    const int order = strcmp(x->what, y->what);
    return order ? order : strcmp(x->settings, y->settings);
}

pl_status history_quantities_of(struct blockfile *file, size_t number, struct history_quantities *ret_quantities,
                                struct pl_error *error)
{
    struct history_quantities quantities = {0};
    struct result *result;
    pl_status status = bench_results_of(file, number, &result, error);
    if (status != PL_OK)
        return status;
    for (size_t i = 0; i < result->quantity_count; i++)
        quantity_take(&quantities, &result->quantities[i]);
    result_free(result);
    if (quantities.failed) {
        history_quantities_clear(&quantities);
        return pl_fail_errno(error, ENOMEM, "the quantities of '%s'", file->path);
    }
    if (quantities.count)
        qsort(quantities.list, quantities.count, sizeof *quantities.list, quantity_compare);
    *ret_quantities = quantities;
    return PL_OK;
}

void history_quantities_clear(struct history_quantities *quantities)
{
    for (size_t i = 0; i < quantities->count; i++) {
        free(quantities->list[i].what);
        free(quantities->list[i].settings);
    }
    free(quantities->list);
    *quantities = (struct history_quantities){0};
}

/* ---- conditions ---- */

/* The first word of a fact: versions behind it are what may change. */
static void add_first_word(struct text *text, const char *name, const char *value)
{
    if (value)
        text_format(text, "%s %.*s\n", name, (int)strcspn(value, " ,;"), value);
}

static void add_mpi(struct text *text, const char *library)
{
    if (library && strncmp(library, "Open MPI", 8) == 0)
        text_add(text, "MPI Open MPI\n");
    else
        add_first_word(text, "MPI", library);
}

void history_conditions(const struct blockfile_block *block, struct text *text)
{
    static const char *const none[] = {NULL};
    const char *ranks = blockfile_fact_of(block, "nprocs");
    struct conditions conditions = {0};
    const struct bench *bench = bench_of_class(block->class_name);
    const char *const *inputs = bench ? bench->conditions : NULL;
    if (conditions_number(&conditions, block, inputs ? inputs : none) < 0)
        text->failed = true;
    else
        text_format(text, "place %s\n", conditions.texts[0]);
    conditions_clear(&conditions);
    if (ranks)
        text_format(text, "ranks %s\n", ranks);
    add_mpi(text, blockfile_fact_of(block, "mpi_library"));
    add_first_word(text, "MPI-IO", blockfile_fact_of(block, "mpiio"));
}
