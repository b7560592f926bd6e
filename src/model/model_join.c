#include "model/model_join.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/rng.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- classes of ranks ---- */

static void table_class_clear(struct model_class *class)
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
        table_class_clear(&table->classes[i]);
    free(table->classes);
    free(table->index);
    *table = (struct model_table){0};
}

/* ---- a class of one rank ---- */

/* `whole`: with the numbers themselves, not their structure alone. */
static uint64_t table_hash_seq(const struct model_seq *seq, bool whole)
{
    uint64_t hash = seq->count;
    const uint64_t first = whole ? 0 : (uint64_t)model_seq_at(seq, 0);
    for (size_t i = 0; i < seq->count; i++) {
        const struct model_grid *grid = &seq->grids[i];
        hash = rng_at(hash, (uint64_t)grid->levels);
        for (int64_t at = 0; grid->levels == MODEL_GRID_LIST && at < grid->count[0]; at++)
            hash = rng_at(hash, (uint64_t)model_seq_grid_at(seq, grid, at) - first);
        if (grid->levels == MODEL_GRID_LIST)
            continue;
        if (seq->count > 1 || whole)
            hash = rng_at(hash, (uint64_t)grid->base - first);
        for (int level = 0; level < grid->levels; level++) {
            hash = rng_at(hash, (uint64_t)grid->count[level]);
            if (seq->count > 1 || whole)
                hash = rng_at(hash, (uint64_t)grid->stride[level]);
        }
    }
    return hash;
}

static uint64_t table_hash_item(const struct model_item *item)
{
    const struct model_call *call = &item->call;
    const void *const words[] = {call->function, call->file, call->name, call->text};
    uint64_t hash = rng_at((uint64_t)item->kind, (uint64_t)item->turns);
    hash = rng_at(hash, (uint64_t)call->etype_bytes * 2 + call->holes);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        hash = rng_at(hash, (uint64_t)(uintptr_t)words[i]);
    for (int i = 0; i < item->param_count; i++)
        hash = rng_at(hash, table_hash_seq(&item->params[i], item->kind != MODEL_CALL));
    for (int i = 0; i < item->count; i++)
        hash = rng_at(hash, table_hash_item(&item->body[i]));
    return rng_at(hash, (uint64_t)item->count);
}

static int table_count_leaves(const struct model_item *items, int count)
{
    int leaves = 0;
    for (int i = 0; i < count; i++)
        leaves += items[i].kind == MODEL_LOOP ? table_count_leaves(items[i].body, items[i].count) : 1;
    return leaves;
}

static int table_columns_of(const struct model_item *item)
{
    int columns = 0;
    for (int i = 0; i < item->param_count; i++)
        columns += 1 + (model_seq_is_grid(&item->params[i]) ? item->params[i].grids[0].levels : 0);
    return columns;
}

static void table_collect_leaves(struct model_class *class, const struct model_item *items, int count)
{
    for (int i = 0; i < count; i++) {
        if (items[i].kind == MODEL_LOOP) {
            table_collect_leaves(class, items[i].body, items[i].count);
            continue;
        }
        class->leaves[class->leaf_count++] = (struct model_leaf){&items[i], class->column_count,
                                                                 items[i].observed.sum_ns};
        class->column_count += table_columns_of(&items[i]);
    }
}

static bool table_fill_columns(struct model_class *class, const struct model_leaf *leaf)
{
    assert(leaf->column >= 0 && leaf->column < class->column_count && leaf->item->param_count > 0);
    struct model_seq *column = &class->columns[leaf->column];
    bool ok = true;
    for (int i = 0; i < leaf->item->param_count && ok; i++) {
        const struct model_seq *param = &leaf->item->params[i];
        ok = model_seq_add(column++, model_seq_at(param, 0));
        for (int level = 0; model_seq_is_grid(param) && level < param->grids[0].levels && ok; level++)
            ok = model_seq_add(column++, param->grids[0].stride[level]);
    }
    return ok;
}

static bool table_settle(struct model_item *items, int count)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        ok = table_settle(items[i].body, items[i].count);
        for (int p = 0; p < items[i].param_count && ok; p++)
            ok = model_seq_settle(&items[i].params[p]);
    }
    return ok;
}

static bool table_class_begin(struct model_class *class, int64_t rank, struct model_list *list)
{
    *class = (struct model_class){.list = *list};
    *list = (struct model_list){0};
    if (!table_settle(class->list.items, class->list.count))
        return false;
    for (int i = 0; i < class->list.count; i++)
        class->hash = rng_at(class->hash, table_hash_item(&class->list.items[i]));
    class->leaves = calloc((size_t)table_count_leaves(class->list.items, class->list.count) + 1, sizeof *class->leaves);
    if (!class->leaves)
        return false;
    table_collect_leaves(class, class->list.items, class->list.count);
    class->columns = calloc((size_t) class->column_count + 1, sizeof *class->columns);
    if (!class->columns) {
        class->column_count = 0;
        return false;
    }
    assert(class->leaf_count == table_count_leaves(class->list.items, class->list.count));
    bool ok = model_ranks_add(&class->ranks, rank);
    for (int i = 0; i < class->leaf_count && ok; i++)
        ok = table_fill_columns(class, &class->leaves[i]);
    return ok;
}

/* ---- classes of many ranks ---- */

static void table_absorb_events(struct model_item *item, const struct model_item *more)
{
    for (int i = 0; i < item->count && i < more->count; i++)
        table_absorb_events(&item->body[i], &more->body[i]);
    if (more->inner_events > item->inner_events)
        item->inner_events = more->inner_events;
}

static bool table_class_absorb(struct model_class *class, struct model_class *more)
{
    assert(class->leaf_count == more->leaf_count && class->column_count == more->column_count);
    bool ok = true;
    for (int64_t rank = -1; ok && (rank = model_ranks_next(&more->ranks, rank)) >= 0;)
        ok = model_ranks_add(&class->ranks, rank);
    for (int i = 0; i < class->column_count && ok; i++)
        ok = model_seq_add_seq(&class->columns[i], &more->columns[i]);
    for (int i = 0; i < class->list.count && i < more->list.count; i++)
        table_absorb_events(&class->list.items[i], &more->list.items[i]);
    for (int i = 0; i < class->leaf_count; i++) {
        struct model_item *item = (struct model_item *)class->leaves[i].item; /* the class owns it */
        model_observed_add(&item->observed, &more->leaves[i].item->observed);
        if (more->leaves[i].slowest_ns > class->leaves[i].slowest_ns)
            class->leaves[i].slowest_ns = more->leaves[i].slowest_ns;
    }
    table_class_clear(more);
    return ok;
}

static size_t table_place(const struct model_table *table, uint64_t hash)
{
    assert(table->index_size > table->count && (table->index_size & (table->index_size - 1)) == 0);
    size_t at = hash & (table->index_size - 1);
    while (table->index[at] && table->classes[table->index[at] - 1].hash != hash)
        at = (at + 1) & (table->index_size - 1);
    return at;
}

static bool table_grow(struct model_table *table)
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
        index[table_place(table, table->classes[i].hash)] = i + 1;
    return true;
}

/* Takes the class over, also on failure. Classes are told apart by 64 bits of hash. */
static bool table_put(struct model_table *table, struct model_class *class)
{
    if (!table_grow(table)) {
        table_class_clear(class);
        return false;
    }
    const size_t at = table_place(table, class->hash);
    if (table->index[at])
        return table_class_absorb(&table->classes[table->index[at] - 1], class);
    table->classes[table->count++] = *class;
    table->index[at] = table->count;
    return true;
}

pl_status model_table_add(struct model_table *table, int64_t rank, struct model_list *list, struct pl_error *error)
{
    struct model_class class;
    bool ok = table_class_begin(&class, rank, list);
    if (!ok)
        table_class_clear(&class);
    ok = ok && table_put(table, &class);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for the calls of rank %lld", (long long)rank);
}

pl_status model_table_merge(struct model_table *table, struct model_table *more, struct pl_error *error)
{
    bool ok = true;
    for (size_t i = 0; i < more->count; i++)
        ok = table_put(table, &more->classes[i]) && ok;
    more->count = 0; /* the classes have moved */
    table->failed_calls += more->failed_calls;
    model_table_clear(more);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory to merge the calls of ranks");
}

/* ---- joining them ---- */

void model_joint_clear(struct model_joint *joint)
{
    for (int i = 0; i < joint->count; i++)
        model_joint_clear(&joint->body[i]);
    free(joint->body);
    free(joint->parts);
    *joint = (struct model_joint){0};
}

/* Moves `item` to the end of a body; clears it when memory is short. */
static bool join_append(struct model_joint *list, struct model_joint *item)
{
    if (!ARRAY_ROOM(list->body, list->count, list->capacity, 4)) {
        model_joint_clear(item);
        return false;
    }
    list->body[list->count++] = *item;
    *item = (struct model_joint){0};
    return true;
}

/* ---- the list of one class ---- */

static int64_t join_sum(const struct model_seq *seq)
{
    int64_t sum = 0;
    for (size_t i = 0; i < seq->count; i++) {
        const struct model_grid *grid = &seq->grids[i];
        const int64_t total = model_grid_total(grid);
        for (int64_t at = 0; grid->levels == MODEL_GRID_LIST && at < total; at++)
            sum = saturating_add(sum, model_seq_grid_at(seq, grid, at));
        if (grid->levels == MODEL_GRID_LIST)
            continue;
        sum = saturating_add(sum, saturating_mul(grid->base, total));
        for (int level = 0; level < grid->levels; level++) /* each number of a level comes equally often */
            sum = saturating_add(
                sum, saturating_mul(saturating_mul(grid->count[level] - 1, grid->stride[level]), total) / 2);
    }
    return sum;
}

static bool join_from_items(const struct model_class *class, const struct model_item *items, int count, int *leaf,
                            struct model_joint *list)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        const struct model_item *item = &items[i];
        struct model_joint joint = {.kind = item->kind,
                                    .has_comm = item->has_comm,
                                    .turns = item->turns,
                                    .inner_events = item->inner_events,
                                    .item = item};
        joint.parts = malloc(sizeof *joint.parts);
        if (joint.parts && item->kind == MODEL_LOOP) {
            joint.parts[joint.part_count++] = (struct model_part){class, -1, -1, item->turns, item, false};
            ok = join_from_items(class, item->body, item->count, leaf, &joint);
        } else if (joint.parts) {
            joint.parts[joint.part_count++] = (struct model_part){class, (*leaf)++, -1, 0, item, false};
            if (item->kind == MODEL_COMM)
                joint.collectives = join_sum(&item->params[MODEL_PARAM_COLLECTIVES]);
        } else {
            ok = false;
        }
        list->collectives = saturating_add(list->collectives, joint.collectives);
        ok = join_append(list, &joint) && ok;
    }
    return ok;
}

/* ---- two lists ---- */

static bool join_same_call(const struct model_call *a, const struct model_call *b)
{
    return a->function == b->function && a->file == b->file && a->name == b->name && a->text == b->text &&
           a->etype_bytes == b->etype_bytes && a->holes == b->holes;
}

static int64_t join_each_time(const struct model_joint *joint);

static bool join_is_free(const struct model_joint *joint)
{
    return joint->kind == MODEL_LOOP && joint->item->free;
}

static bool join_has_access(const struct model_joint *joint)
{
    bool found = joint->kind == MODEL_CALL && joint->item->call.access;
    for (int i = 0; i < joint->count && !found; i++)
        found = join_has_access(&joint->body[i]);
    return found;
}

static bool join_is_cut(const struct model_joint *joint)
{
    for (int i = 0; i < joint->part_count; i++)
        if (joint->parts[i].collectives >= 0)
            return true;
    return false;
}

/* One that is longer is cut, which needs that it is always as long. */
static bool join_matches_comm(const struct model_joint *a, const struct model_joint *b)
{
    if (a->collectives == b->collectives && !join_is_cut(a) && !join_is_cut(b))
        return true;
    const int64_t each_a = join_each_time(a), each_b = join_each_time(b);
    if (a->collectives == b->collectives)
        return each_a == each_b && each_a >= 0;
    return each_a > 0 && each_b > 0 && a->collectives % each_a == 0 && b->collectives % each_b == 0 &&
           a->collectives / each_a == b->collectives / each_b;
}

static bool join_is_one_kind(const struct model_joint *a, const struct model_joint *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind != MODEL_CALL)
        return a->item->shape == b->item->shape;
    const struct model_call *x = &a->item->call, *y = &b->item->call;
    return join_same_call(x, y) && x->class == y->class && x->who == y->who && x->how == y->how &&
           x->position == y->position;
}

/* Whether a call of a loop without a rule is in another one too. */
static bool join_shares_kind(const struct model_joint *a, const struct model_joint *b)
{
    for (int i = 0; i < a->count; i++)
        for (int k = 0; k < b->count; k++) {
            const struct model_joint *x = &a->body[i].body[0], *y = &b->body[k].body[0];
            if (x->kind == MODEL_CALL && y->kind == MODEL_CALL &&
                (x->item->call.file == y->item->call.file || join_same_call(&x->item->call, &y->item->call)))
                return true;
        }
    return false;
}

/* Whether a loop of calls, each of another kind, may be told as one without a rule, whose rows are its turns. */
static bool join_is_like_free(const struct model_joint *loop, const struct model_joint *free)
{
    if (loop->kind != MODEL_LOOP || loop->collectives != free->collectives || free->count != 1)
        return false;
    bool shares = false;
    int before = -1;
    for (int i = 0; i < loop->count; i++) {
        const struct model_joint *call = &loop->body[i];
        int place = 0;
        if (call->kind == MODEL_LOOP || (call->kind == MODEL_CALL && (call->item->call.name || !call->item->call.file)))
            return false;
        if (call->kind == MODEL_COMM && call->item->shape == rng_at((uint64_t)MODEL_COMM, true)) /* much of it */
            return false;
        for (int k = 0; k < i; k++)
            if (loop->body[k].item->shape == call->item->shape)
                return false;
        for (int k = 0; k < free->body[0].count && call->kind == MODEL_CALL; k++) {
            const struct model_joint *other = &free->body[0].body[k].body[0];
            shares |= other->kind == MODEL_CALL && other->item->call.file == call->item->call.file;
        }
        while (place < free->body[0].count && !join_is_one_kind(&free->body[0].body[place].body[0], call))
            place++;
        if (place < before || (place == before && place < free->body[0].count)) /* the rows have another order */
            return false;
        before = place;
    }
    return shares && join_has_access(loop);
}

/* A loop that communicates and opens files is no phase, and one without a rule must be. */
static bool join_parts_files(const struct model_joint *a, const struct model_joint *b)
{
    return (a->has_comm || b->has_comm) && (model_free_has_files(a->item) || model_free_has_files(b->item));
}

/* Whether two items, before which there are as many collectives, are one step of the program. */
static bool join_matches(const struct model_joint *a, const struct model_joint *b)
{
    if (join_is_free(a) && join_is_free(b)) /* all that one has and the other has not, that does in no turn */
        return a->collectives == b->collectives && a->turns == b->turns && a->count == b->count &&
               join_shares_kind(&a->body[0], &b->body[0]) && !join_parts_files(a, b);
    if (join_is_free(a) || join_is_free(b))
        return !join_parts_files(a, b) && (join_is_free(a) ? join_is_like_free(b, a) : join_is_like_free(a, b));
    if (a->kind != b->kind || a->has_comm != b->has_comm ||
        (a->turns != b->turns && (a->has_comm || !join_has_access(a))))
        return false;
    if (a->kind == MODEL_CALL)
        return join_same_call(&a->item->call, &b->item->call);
    if (a->kind == MODEL_COMM)
        return join_matches_comm(a, b);
    if (a->has_comm)
        return a->collectives == b->collectives;
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!join_matches(&a->body[i], &b->body[i]))
            return false;
    return true;
}

static bool join_add_parts(struct model_joint *joint, const struct model_joint *more)
{
    assert(joint->part_count > 0 && more->part_count > 0);
    struct model_part *parts = realloc(joint->parts,
                                       (size_t)(joint->part_count + more->part_count + 1) * sizeof *parts);
    if (!parts)
        return false;
    joint->parts = parts;
    memcpy(parts + joint->part_count, more->parts, (size_t)more->part_count * sizeof *parts);
    joint->part_count += more->part_count;
    return true;
}

static bool join_merge_bodies(struct model_joint *a, struct model_joint *b);

/* Adds parts to a joint for ranks that never do it, before or behind those that do: loops around it have no turns for
 * them. */
static bool join_add_absent(struct model_joint *joint, const struct model_part *who, int count, bool before)
{
    struct model_part *parts = malloc((size_t)(joint->part_count + count + 1) * sizeof *parts);
    bool ok = parts != NULL;
    if (!ok)
        return false;
    memcpy(parts + (before ? count : 0), joint->parts, (size_t)joint->part_count * sizeof *parts);
    for (int i = 0; i < count; i++)
        parts[(before ? 0 : joint->part_count) + i] = (struct model_part){who[i].class, -1, -1, 0, NULL, false};
    free(joint->parts);
    joint->parts = parts;
    joint->part_count += count;
    for (int i = 0; i < joint->count && ok; i++)
        ok = join_add_absent(&joint->body[i], who, count, before);
    return ok;
}

static bool join_merge_items(struct model_joint *a, struct model_joint *b);

static bool join_is_kind(const struct model_joint *a, const struct model_joint *b)
{
    return join_is_one_kind(&a->body[0], &b->body[0]);
}

/* Loops of the kinds of two loops without a rule, from body[first] on: those of one kind are one. The ranks of each do
 * none of what only the other has. */
static bool join_merge_kinds(struct model_joint *a, struct model_joint *b, int first)
{
    const int own = a->count;
    bool ok = true;
    for (int k = first; k < b->count && ok; k++) {
        int at = first;
        while (at < own && !join_is_kind(&a->body[at], &b->body[k]))
            at++;
        if (at < own) {
            struct model_joint *to = &a->body[at], *from = &b->body[k];
            to->turns = from->turns > to->turns ? from->turns : to->turns;
            if (from->body[0].inner_events > to->body[0].inner_events)
                to->body[0].inner_events = from->body[0].inner_events;
            ok = join_add_parts(to, from) && join_add_parts(&to->body[0], &from->body[0]);
            continue;
        }
        ok = join_add_absent(&b->body[k], a->parts, a->part_count - b->part_count, true);
        ok = join_append(a, &b->body[k]) && ok;
    }
    for (int at = first; at < own && ok; at++)
        if (a->body[at].part_count < a->part_count)
            ok = join_add_absent(&a->body[at], b->parts, b->part_count, false);
    return ok;
}

/* Which places the kinds of `b` get among those of `a`, new ones behind them; true: they ascend. */
static bool join_place_kinds(const struct model_joint *a, const struct model_joint *b, int *place)
{
    int next = a->count;
    bool ascends = true;
    for (int k = 0; k < b->count; k++) {
        place[k] = 0;
        while (place[k] < a->count && !join_is_kind(&a->body[place[k]], &b->body[k]))
            place[k]++;
        if (place[k] == a->count)
            place[k] = next++;
        ascends = ascends && (k == 0 || place[k] > place[k - 1]);
    }
    return ascends;
}

/* What is a row depends on the order of the kinds, which is that of the first class. */
static bool join_order_kinds(const struct model_joint *a, struct model_joint *b)
{
    struct model_joint *rows = &b->body[0];
    int *place = calloc((size_t)rows->count + 1, sizeof *place);
    bool ok = place != NULL;
    if (ok && !join_place_kinds(&a->body[0], rows, place)) {
        assert(join_is_free(b) && b->part_count == 1);                /* plain loops match only where they ascend */
        ok = model_free_reorder((struct model_item *)b->item, place); /* its class owns it */
        rows->turns = rows->parts[0].turns = rows->item->turns;
        for (int k = 0; k < rows->count; k++)
            rows->body[k].turns = rows->body[k].parts[0].turns = rows->body[k].item->turns;
    }
    free(place);
    return ok;
}

/* See model_free.c for how they look like. */
static bool join_merge_free(struct model_joint *a, struct model_joint *b)
{
    struct model_joint *rows = &a->body[0], *more = &b->body[0];
    if (!join_order_kinds(a, b))
        return false;
    a->turns = b->turns > a->turns ? b->turns : a->turns;
    rows->turns = more->turns > rows->turns ? more->turns : rows->turns;
    a->inner_events = b->inner_events > a->inner_events ? b->inner_events : a->inner_events;
    rows->inner_events = more->inner_events > rows->inner_events ? more->inner_events : rows->inner_events;
    a->has_comm |= b->has_comm;
    rows->has_comm |= more->has_comm;
    return join_add_parts(a, b) && join_add_parts(rows, more) && join_merge_kinds(rows, more, 0) &&
           join_merge_kinds(a, b, 1);
}

/* A loop around the joint, with its parts but so many turns each; the joint becomes its body. */
static bool join_wrap(struct model_joint *joint, int64_t turns)
{
    struct model_joint loop = *joint;
    loop.kind = MODEL_LOOP;
    loop.turns = turns;
    loop.capacity = loop.count = 1;
    loop.body = malloc(sizeof *loop.body);
    loop.parts = malloc(((size_t)joint->part_count + 1) * sizeof *loop.parts);
    if (!loop.body || !loop.parts) {
        free(loop.body);
        free(loop.parts);
        return false;
    }
    for (int i = 0; i < joint->part_count; i++) {
        loop.parts[i] = joint->parts[i];
        loop.parts[i].leaf = -1;
        loop.parts[i].turns = turns;
        loop.parts[i].in_row = true;
    }
    loop.body[0] = *joint;
    *joint = loop;
    return true;
}

/* A plain loop gets the levels of one without a rule, see join_is_like_free(). */
static bool join_make_free(struct model_joint *loop)
{
    bool ok = true;
    for (int i = 0; i < loop->count && ok; i++)
        ok = join_wrap(&loop->body[i], 1);
    return ok && join_wrap(loop, 1);
}

/* Puts `b` into `a`, which it matches. */
static bool join_merge_items(struct model_joint *a, struct model_joint *b)
{
    if (join_is_free(a) && !join_is_free(b) && !join_make_free(b))
        return false;
    if (!join_is_free(a) && join_is_free(b)) {
        struct model_joint plain = *a;
        if (!join_make_free(&plain))
            return false;
        *a = *b;
        *b = plain;
    }
    if (join_is_free(a))
        return join_merge_free(a, b);
    assert(a->kind == b->kind && (a->turns == b->turns || !a->has_comm));
    if (b->turns > a->turns)
        a->turns = b->turns;
    if (b->inner_events > a->inner_events)
        a->inner_events = b->inner_events;
    if (a->kind != MODEL_LOOP)
        return join_add_parts(a, b);
    if (a->has_comm)
        return join_add_parts(a, b) && join_merge_bodies(a, b);
    bool ok = join_add_parts(a, b);
    for (int i = 0; i < a->count; i++)
        ok = join_merge_items(&a->body[i], &b->body[i]) && ok;
    return ok;
}

/* How many collectives it has each time; -1: not always as many. */
static int64_t join_each_time(const struct model_joint *joint)
{
    int64_t each = -1;
    for (int i = 0; i < joint->part_count; i++) {
        const struct model_part *part = &joint->parts[i];
        if (part->leaf < 0) /* a rank that never does it */
            return -1;
        const struct model_leaf *leaf = &part->class->leaves[part->leaf];
        const struct model_seq *seq = &leaf->item->params[MODEL_PARAM_COLLECTIVES];
        int64_t now = part->collectives;
        if (now < 0) {
            now = model_seq_at(seq, 0);
            if (!model_seq_is_grid(seq) || seq->grids[0].levels > 1 ||
                (seq->grids[0].levels == 1 && seq->grids[0].stride[0] != 0))
                return -1;
        }
        if (now < 0 || (each >= 0 && now != each))
            return -1;
        each = now;
    }
    return each;
}

/* Communication of different length: what both have is cut off `longer` and becomes an item of its own. */
static bool join_cut(struct model_joint *longer, int64_t collectives, struct model_joint *ret_first)
{
    assert(longer->kind == MODEL_COMM && collectives >= 0 && collectives < longer->collectives);
    *ret_first = *longer;
    ret_first->collectives = collectives;
    ret_first->parts = malloc((size_t)(longer->part_count + 1) * sizeof *ret_first->parts);
    if (!ret_first->parts)
        return false;
    memcpy(ret_first->parts, longer->parts, (size_t)longer->part_count * sizeof *longer->parts);
    const int64_t each = join_each_time(longer), executions = longer->collectives / each;
    assert(each > 0 && executions > 0 && collectives % executions == 0);
    for (int i = 0; i < longer->part_count; i++) {
        ret_first->parts[i].collectives = collectives / executions;
        longer->parts[i].collectives = each - collectives / executions;
    }
    longer->collectives -= collectives;
    return true;
}

/* Whether the first ranks of both ask for the same sizes. */
static bool join_same_sizes(const struct model_joint *a, const struct model_joint *b)
{
    if (a->kind == MODEL_CALL && b->kind == MODEL_CALL)
        return model_seq_at(&a->item->params[MODEL_PARAM_SIZE], 0) ==
               model_seq_at(&b->item->params[MODEL_PARAM_SIZE], 0);
    for (int i = 0; i < a->count && i < b->count; i++)
        if (!join_same_sizes(&a->body[i], &b->body[i]))
            return false;
    return true;
}

enum { AHEAD_MAX = 512 }; /* else lists that have nothing in common take the square of their length */

/* Where `wanted` is found from `at` on, not far, before any collective: -1 if nowhere. */
static int join_find_ahead(const struct model_joint *list, int at, const struct model_joint *wanted, bool sizes)
{
    for (const int last = at + AHEAD_MAX; at < list->count && at < last; at++) {
        if (join_matches(&list->body[at], wanted) && (!sizes || join_same_sizes(&list->body[at], wanted)))
            return at;
        if (list->body[at].collectives > 0)
            return -1;
    }
    return -1;
}

struct merge { /* of two lists into a third */
    struct model_joint *list[2];
    int at[2];
    int64_t position[2]; /* collectives before */
    struct model_joint result;
};

static bool join_pass(struct merge *merge, int side)
{
    assert(merge->at[side] < merge->list[side]->count);
    struct model_joint *item = &merge->list[side]->body[merge->at[side]++];
    merge->position[side] += item->collectives;
    return join_append(&merge->result, item);
}

static bool join_pass_both(struct merge *merge)
{
    assert(merge->position[0] == merge->position[1]); /* ranks meet at collectives only */
    struct model_joint *a = &merge->list[0]->body[merge->at[0]], *b = &merge->list[1]->body[merge->at[1]];
    bool ok = true;
    if (a->kind == MODEL_COMM && a->collectives != b->collectives) {
        const int shorter = a->collectives > b->collectives;
        struct model_joint first;
        struct model_joint *longer = shorter == 0 ? b : a, *whole = shorter == 0 ? a : b;
        if (!join_cut(longer, whole->collectives, &first))
            return false;
        ok = join_add_parts(whole, &first);
        free(first.parts);
        merge->position[1 - shorter] += whole->collectives;
        return join_pass(merge, shorter) && ok;
    }
    ok = join_merge_items(a, b);
    merge->position[1] += b->collectives;
    model_joint_clear(b);
    merge->at[1]++;
    return join_pass(merge, 0) && ok;
}

/* Whether the next items of both are one step. Sizes may differ, unless there is one of the same size further on. */
static bool join_meets(const struct merge *merge)
{
    const struct model_joint *a = &merge->list[0]->body[merge->at[0]], *b = &merge->list[1]->body[merge->at[1]];
    if (!join_matches(a, b))
        return false;
    return a->has_comm || join_is_free(a) || join_same_sizes(a, b) ||
           (join_find_ahead(merge->list[0], merge->at[0] + 1, b, true) < 0 &&
            join_find_ahead(merge->list[1], merge->at[1] + 1, a, true) < 0);
}

/* Which list goes on where the two do not meet. */
static int join_choose_side(const struct merge *merge)
{
    const struct model_joint *a = &merge->list[0]->body[merge->at[0]], *b = &merge->list[1]->body[merge->at[1]];
    for (int sizes = 1; sizes >= 0; sizes--) {
        if (join_find_ahead(merge->list[0], merge->at[0] + sizes, b, sizes) >= 0)
            return 0;
        if (join_find_ahead(merge->list[1], merge->at[1] + sizes, a, sizes) >= 0)
            return 1;
    }
    return a->collectives > 0 && b->collectives == 0;
}

static bool join_merge_bodies(struct model_joint *a, struct model_joint *b)
{
    struct merge merge = {.list = {a, b}};
    bool ok = true;
    while (ok && (merge.at[0] < a->count || merge.at[1] < b->count)) {
        if (merge.at[0] == a->count || merge.at[1] == b->count)
            ok = join_pass(&merge, merge.at[0] == a->count);
        else if (merge.position[0] != merge.position[1])
            ok = join_pass(&merge, merge.position[1] < merge.position[0]);
        else if (join_meets(&merge))
            ok = join_pass_both(&merge);
        else
            ok = join_pass(&merge, join_choose_side(&merge));
    }
    for (int i = 0; i < a->count; i++)
        model_joint_clear(&a->body[i]); /* moved ones are empty */
    free(a->body);
    a->body = merge.result.body;
    a->count = merge.result.count;
    a->capacity = merge.result.capacity;
    return ok;
}

bool model_join(const struct model_table *table, void (*watch)(void *context, const char *what, double part),
                void *context, struct model_joint *ret_root)
{
    bool ok = true;
    *ret_root = (struct model_joint){.kind = MODEL_LOOP, .turns = 1, .has_comm = true};
    for (size_t i = 0; i < table->count && ok; i++) {
        const struct model_class *class = &table->classes[i];
        struct model_joint list = {.kind = MODEL_LOOP, .turns = 1, .has_comm = true};
        int leaf = 0;
        if (watch)
            watch(context, "joining the ranks", (double)i / (double)table->count);
        ok = join_from_items(class, class->list.items, class->list.count, &leaf, &list);
        assert(!ok || leaf == class->leaf_count);
        ok = ok && join_merge_bodies(ret_root, &list);
        model_joint_clear(&list);
    }
    return ok;
}
