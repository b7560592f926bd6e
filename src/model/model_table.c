#include "model/model_table.h"

#include "base/rng.h"

#include <stdlib.h>
#include <string.h>

static void class_clear(struct model_class *class)
{
    model_list_clear(&class->list);
    model_ranks_clear(&class->ranks);
    for (int i = 0; i < class->column_count; i++)
        model_seq_clear(&class->columns[i]);
    free(class->columns);
    free(class->leaves);
    *class = (struct model_class){0};
}

void model_table_clear(struct model_table *table)
{
    for (size_t i = 0; i < table->count; i++)
        class_clear(&table->classes[i]);
    free(table->classes);
    free(table->index);
    *table = (struct model_table){0};
}

/* ---- a class of one rank ---- */

static uint64_t hash_seq(const struct model_seq *seq)
{
    uint64_t hash = seq->count;
    for (size_t i = 0; i < seq->count; i++) {
        const struct model_grid *grid = &seq->grids[i];
        hash = rng_at(hash, (uint64_t)grid->levels);
        if (seq->count > 1)
            hash = rng_at(hash, (uint64_t)grid->base - (uint64_t)seq->grids[0].base);
        for (int level = 0; level < grid->levels; level++) {
            hash = rng_at(hash, (uint64_t)grid->count[level]);
            if (seq->count > 1)
                hash = rng_at(hash, (uint64_t)grid->stride[level]);
        }
    }
    return hash;
}

static uint64_t hash_item(const struct model_item *item)
{
    const struct model_call *call = &item->call;
    const void *const words[] = {call->function, call->file, call->name, call->text};
    uint64_t hash = rng_at((uint64_t)item->kind, (uint64_t)item->turns);
    hash = rng_at(rng_at(hash, (uint64_t)item->collectives), (uint64_t)call->etype_bytes * 2 + call->holes);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = rng_at(hash, (uint64_t)(uintptr_t)words[i]);
    for (int i = 0; i < item->param_count; i++)
        hash = rng_at(hash, hash_seq(&item->params[i]));
    for (int i = 0; i < item->count; i++)
        hash = rng_at(hash, hash_item(&item->body[i]));
    return rng_at(hash, (uint64_t)item->count);
}

static int count_leaves(const struct model_item *items, int count)
{
    int leaves = 0;
    for (int i = 0; i < count; i++)
        leaves += items[i].kind == MODEL_LOOP ? count_leaves(items[i].body, items[i].count) : 1;
    return leaves;
}

static int columns_of(const struct model_item *item)
{
    int columns = 1;
    for (int i = 0; i < item->param_count; i++)
        columns += 1 + (item->params[i].count == 1 ? item->params[i].grids[0].levels : 0);
    return columns;
}

static void collect_leaves(struct model_class *class, const struct model_item *items, int count)
{
    for (int i = 0; i < count; i++) {
        if (items[i].kind == MODEL_LOOP) {
            collect_leaves(class, items[i].body, items[i].count);
            continue;
        }
        class->leaves[class->leaf_count++] = (struct model_leaf){&items[i], class->column_count,
                                                                 items[i].observed.sum_ns};
        class->column_count += columns_of(&items[i]);
    }
}

static bool fill_columns(struct model_class *class, const struct model_leaf *leaf)
{
    struct model_seq *column = &class->columns[leaf->column];
    bool ok = model_seq_add(column++, leaf->item->bytes);
    for (int i = 0; i < leaf->item->param_count && ok; i++) {
        const struct model_seq *param = &leaf->item->params[i];
        ok = model_seq_add(column++, param->grids[0].base);
        for (int level = 0; param->count == 1 && level < param->grids[0].levels && ok; level++)
            ok = model_seq_add(column++, param->grids[0].stride[level]);
    }
    return ok;
}

static bool settle(struct model_item *items, int count)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        ok = settle(items[i].body, items[i].count);
        for (int p = 0; p < items[i].param_count && ok; p++)
            ok = model_seq_settle(&items[i].params[p]);
    }
    return ok;
}

static bool class_begin(struct model_class *class, int64_t rank, struct model_list *list)
{
    *class = (struct model_class){.list = *list};
    *list = (struct model_list){0};
    if (!settle(class->list.items, class->list.count))
        return false;
    for (int i = 0; i < class->list.count; i++)
        class->hash = rng_at(class->hash, hash_item(&class->list.items[i]));
    class->leaves = calloc((size_t)count_leaves(class->list.items, class->list.count) + 1, sizeof *class->leaves);
    if (!class->leaves)
        return false;
    collect_leaves(class, class->list.items, class->list.count);
    class->columns = calloc((size_t) class->column_count + 1, sizeof *class->columns);
    if (!class->columns) {
        class->column_count = 0;
        return false;
    }
    bool ok = model_ranks_add(&class->ranks, rank);
    for (int i = 0; i < class->leaf_count && ok; i++)
        ok = fill_columns(class, &class->leaves[i]);
    return ok;
}

/* ---- classes of many ranks ---- */

static bool class_absorb(struct model_class *class, struct model_class *more)
{
    bool ok = true;
    for (int64_t rank = -1; ok && (rank = model_ranks_next(&more->ranks, rank)) >= 0;)
        ok = model_ranks_add(&class->ranks, rank);
    for (int i = 0; i < class->column_count && ok; i++)
        ok = model_seq_add_seq(&class->columns[i], &more->columns[i]);
    for (int i = 0; i < class->leaf_count; i++) {
        struct model_item *item = (struct model_item *)class->leaves[i].item; /* the class owns it */
        model_observed_add(&item->observed, &more->leaves[i].item->observed);
        if (more->leaves[i].slowest_ns > class->leaves[i].slowest_ns)
            class->leaves[i].slowest_ns = more->leaves[i].slowest_ns;
    }
    class_clear(more);
    return ok;
}

static size_t place(const struct model_table *table, uint64_t hash)
{
    size_t at = hash & (table->index_size - 1);
    while (table->index[at] && table->classes[table->index[at] - 1].hash != hash)
        at = (at + 1) & (table->index_size - 1);
    return at;
}

static bool grow(struct model_table *table)
{
    if (table->count < table->capacity)
        return true;
    const size_t capacity = table->capacity ? 2 * table->capacity : 8;
    struct model_class *classes = realloc(table->classes, capacity * sizeof *classes);
    size_t *index = calloc(2 * capacity, sizeof *index);
    if (classes)
        table->classes = classes;
    if (!classes || !index) {
        free(index);
        return false;
    }
    free(table->index);
    table->index = index;
    table->index_size = 2 * capacity;
    table->capacity = capacity;
    for (size_t i = 0; i < table->count; i++)
        index[place(table, table->classes[i].hash)] = i + 1;
    return true;
}

/* Takes the class over, also on failure. Classes are told apart by 64 bits of hash. */
static bool put(struct model_table *table, struct model_class *class)
{
    if (!grow(table)) {
        class_clear(class);
        return false;
    }
    const size_t at = place(table, class->hash);
    if (table->index[at])
        return class_absorb(&table->classes[table->index[at] - 1], class);
    table->classes[table->count++] = *class;
    table->index[at] = table->count;
    return true;
}

pl_status model_table_add(struct model_table *table, int64_t rank, struct model_list *list, struct pl_error *error)
{
    struct model_class class;
    bool ok = class_begin(&class, rank, list);
    if (!ok)
        class_clear(&class);
    ok = ok && put(table, &class);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for the calls of rank %lld", (long long)rank);
}

pl_status model_table_merge(struct model_table *table, struct model_table *more, struct pl_error *error)
{
    bool ok = true;
    for (size_t i = 0; i < more->count; i++)
        ok = put(table, &more->classes[i]) && ok;
    more->count = 0; /* the classes have moved */
    table->failed_calls += more->failed_calls;
    model_table_clear(more);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory to merge the calls of ranks");
}
