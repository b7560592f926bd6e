#include "model/model_join.h"

#include <stdlib.h>
#include <string.h>

void model_joint_clear(struct model_joint *joint)
{
    for (int i = 0; i < joint->count; i++)
        model_joint_clear(&joint->body[i]);
    free(joint->body);
    free(joint->parts);
    *joint = (struct model_joint){0};
}

/* Moves `item` to the end of a body; clears it when memory is short. */
static bool append(struct model_joint *list, struct model_joint *item)
{
    if (list->count == list->capacity) {
        const int capacity = list->capacity ? 2 * list->capacity : 4;
        struct model_joint *body = realloc(list->body, (size_t)capacity * sizeof *body);
        if (!body) {
            model_joint_clear(item);
            return false;
        }
        list->body = body;
        list->capacity = capacity;
    }
    list->body[list->count++] = *item;
    *item = (struct model_joint){0};
    return true;
}

/* ---- the list of one class ---- */

static bool from_items(const struct model_class *class, const struct model_item *items, int count, int *leaf,
                       struct model_joint *list)
{
    bool ok = true;
    for (int i = 0; i < count && ok; i++) {
        const struct model_item *item = &items[i];
        struct model_joint joint = {.kind = item->kind,
                                    .has_comm = item->has_comm,
                                    .turns = item->turns,
                                    .collectives = item->collectives,
                                    .item = item};
        if (item->kind == MODEL_LOOP) {
            ok = from_items(class, item->body, item->count, leaf, &joint);
        } else if ((joint.parts = malloc(sizeof *joint.parts))) {
            joint.parts[joint.part_count++] = (struct model_part){class, (*leaf)++};
        } else {
            ok = false;
        }
        list->collectives += joint.collectives * (item->kind == MODEL_LOOP ? item->turns : 1);
        ok = append(list, &joint) && ok;
    }
    return ok;
}

/* ---- two lists ---- */

static int64_t collectives_of(const struct model_joint *joint)
{
    return joint->kind == MODEL_LOOP ? joint->turns * joint->collectives : joint->collectives;
}

static bool same_call(const struct model_call *a, const struct model_call *b)
{
    return a->function == b->function && a->file == b->file && a->name == b->name && a->text == b->text &&
           a->etype_bytes == b->etype_bytes && a->holes == b->holes;
}

/* Whether two items, before which there are as many collectives, are one step of the program. */
static bool matches(const struct model_joint *a, const struct model_joint *b)
{
    if (a->kind != b->kind || a->has_comm != b->has_comm || a->turns != b->turns)
        return false;
    if (a->kind == MODEL_CALL)
        return same_call(&a->item->call, &b->item->call);
    if (a->kind == MODEL_COMM)
        return (a->collectives > 0) == (b->collectives > 0);
    if (a->has_comm)
        return a->collectives == b->collectives;
    if (a->count != b->count)
        return false;
    for (int i = 0; i < a->count; i++)
        if (!matches(&a->body[i], &b->body[i]))
            return false;
    return true;
}

static bool add_parts(struct model_joint *joint, const struct model_joint *more)
{
    struct model_part *parts = realloc(joint->parts,
                                       (size_t)(joint->part_count + more->part_count + 1) * sizeof *parts);
    if (!parts)
        return false;
    joint->parts = parts;
    memcpy(parts + joint->part_count, more->parts, (size_t)more->part_count * sizeof *parts);
    joint->part_count += more->part_count;
    return true;
}

static bool merge_bodies(struct model_joint *a, struct model_joint *b);

/* Puts `b` into `a`, which it matches. */
static bool merge_items(struct model_joint *a, struct model_joint *b)
{
    if (a->kind != MODEL_LOOP)
        return add_parts(a, b);
    if (a->has_comm)
        return merge_bodies(a, b);
    bool ok = true;
    for (int i = 0; i < a->count; i++)
        ok = merge_items(&a->body[i], &b->body[i]) && ok;
    return ok;
}

/* Communication of different length: what both have is cut off `longer` and becomes an item of its own. */
static bool cut(struct model_joint *longer, int64_t collectives, struct model_joint *ret_first)
{
    *ret_first = *longer;
    ret_first->collectives = collectives;
    ret_first->parts = malloc((size_t)(longer->part_count + 1) * sizeof *ret_first->parts);
    if (!ret_first->parts)
        return false;
    memcpy(ret_first->parts, longer->parts, (size_t)longer->part_count * sizeof *longer->parts);
    longer->collectives -= collectives;
    return true;
}

/* Whether the first ranks of both ask for the same sizes. */
static bool same_sizes(const struct model_joint *a, const struct model_joint *b)
{
    for (int i = 0; i < a->count && i < b->count; i++)
        if (!same_sizes(&a->body[i], &b->body[i]))
            return false;
    return a->kind != MODEL_CALL || a->item->bytes == b->item->bytes;
}

enum { AHEAD_MAX = 512 }; /* else lists that have nothing in common take the square of their length */

/* Where `wanted` is found from `at` on, not far, before any collective: -1 if nowhere. */
static int find_ahead(const struct model_joint *list, int at, const struct model_joint *wanted, bool sizes)
{
    for (const int last = at + AHEAD_MAX; at < list->count && at < last; at++) {
        if (matches(&list->body[at], wanted) && (!sizes || same_sizes(&list->body[at], wanted)))
            return at;
        if (collectives_of(&list->body[at]) > 0)
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

static bool pass(struct merge *merge, int side)
{
    struct model_joint *item = &merge->list[side]->body[merge->at[side]++];
    merge->position[side] += collectives_of(item);
    return append(&merge->result, item);
}

static bool pass_both(struct merge *merge)
{
    struct model_joint *a = &merge->list[0]->body[merge->at[0]], *b = &merge->list[1]->body[merge->at[1]];
    bool ok = true;
    if (a->kind == MODEL_COMM && a->collectives != b->collectives) {
        const int shorter = a->collectives > b->collectives;
        struct model_joint first;
        struct model_joint *longer = shorter == 0 ? b : a, *whole = shorter == 0 ? a : b;
        if (!cut(longer, whole->collectives, &first))
            return false;
        ok = add_parts(whole, &first);
        free(first.parts);
        merge->position[1 - shorter] += whole->collectives;
        return pass(merge, shorter) && ok;
    }
    ok = merge_items(a, b);
    merge->position[1] += collectives_of(b);
    model_joint_clear(b);
    merge->at[1]++;
    return pass(merge, 0) && ok;
}

/* Whether the next items of both are one step. Sizes may differ, unless there is one of the same size further on. */
static bool meets(const struct merge *merge)
{
    const struct model_joint *a = &merge->list[0]->body[merge->at[0]], *b = &merge->list[1]->body[merge->at[1]];
    if (!matches(a, b))
        return false;
    return a->has_comm || same_sizes(a, b) ||
           (find_ahead(merge->list[0], merge->at[0] + 1, b, true) < 0 &&
            find_ahead(merge->list[1], merge->at[1] + 1, a, true) < 0);
}

/* Which list goes on where the two do not meet. */
static int choose_side(const struct merge *merge)
{
    const struct model_joint *a = &merge->list[0]->body[merge->at[0]], *b = &merge->list[1]->body[merge->at[1]];
    for (int sizes = 1; sizes >= 0; sizes--) {
        if (find_ahead(merge->list[0], merge->at[0] + sizes, b, sizes) >= 0)
            return 0;
        if (find_ahead(merge->list[1], merge->at[1] + sizes, a, sizes) >= 0)
            return 1;
    }
    return collectives_of(a) > 0 && collectives_of(b) == 0;
}

static bool merge_bodies(struct model_joint *a, struct model_joint *b)
{
    struct merge merge = {.list = {a, b}};
    bool ok = true;
    while (ok && (merge.at[0] < a->count || merge.at[1] < b->count)) {
        if (merge.at[0] == a->count || merge.at[1] == b->count)
            ok = pass(&merge, merge.at[0] == a->count);
        else if (merge.position[0] != merge.position[1])
            ok = pass(&merge, merge.position[1] < merge.position[0]);
        else if (meets(&merge))
            ok = pass_both(&merge);
        else
            ok = pass(&merge, choose_side(&merge));
    }
    for (int i = 0; i < a->count; i++)
        model_joint_clear(&a->body[i]); /* moved ones are empty */
    free(a->body);
    a->body = merge.result.body;
    a->count = merge.result.count;
    a->capacity = merge.result.capacity;
    return ok;
}

bool model_join(const struct model_table *table, struct model_joint *ret_root)
{
    bool ok = true;
    *ret_root = (struct model_joint){.kind = MODEL_LOOP, .turns = 1, .has_comm = true};
    for (size_t i = 0; i < table->count && ok; i++) {
        const struct model_class *class = &table->classes[i];
        struct model_joint list = {.kind = MODEL_LOOP, .turns = 1, .has_comm = true};
        int leaf = 0;
        ok = from_items(class, class->list.items, class->list.count, &leaf, &list);
        ok = ok && merge_bodies(ret_root, &list);
        model_joint_clear(&list);
    }
    return ok;
}
