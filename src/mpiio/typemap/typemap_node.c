/* Sums of data, and the life of nodes. */
#include "mpiio/typemap/typemap_node.h"
#include "mpiio/mem.h"

pl_status typemap_overflow(struct pl_error *error)
{
    return pl_fail(error, PL_E_TYPE, "a datatype is larger than 64 bits can count");
}

pl_status typemap_no_memory(struct pl_error *error)
{
    return pl_fail(error, PL_E_NOMEM, "not enough memory for the typemap of a datatype");
}

/* ---- Sums -------------------------------------------------------------------------------------------------------- */

void typemap_sum_dense(int64_t bytes, struct typemap_sum *ret_sum)
{
    *ret_sum = (struct typemap_sum){.size = bytes,
                                    .high = bytes,
                                    .end = bytes,
                                    .head = bytes,
                                    .pieces = bytes > 0,
                                    .largest = bytes,
                                    .monotone = true,
                                    .ascending = true};
}

/* The footprint itself must be countable: then every difference of two displacements inside is, too. */
static bool is_countable(const struct typemap_sum *sum)
{
    int64_t footprint;
    return !__builtin_sub_overflow(sum->high, sum->low, &footprint);
}

bool typemap_sum_append(struct typemap_sum *sum, const struct typemap_sum *next, int64_t at)
{
    const struct typemap_sum old = *sum;
    const bool touch = at == old.end;
    int64_t low, high, end, last;
    if (__builtin_add_overflow(old.size, next->size, &sum->size) || __builtin_add_overflow(at, next->low, &low) ||
        __builtin_add_overflow(at, next->high, &high) || __builtin_add_overflow(at, next->end, &end) ||
        __builtin_add_overflow(at, next->last, &last))
        return false;
    sum->low = typemap_min(old.low, low);
    sum->high = typemap_max(old.high, high);
    if (!is_countable(sum))
        return false;
    sum->end = end;
    sum->last = touch && next->pieces == 1 ? old.last : last;
    sum->head = touch && old.pieces == 1 ? old.head + next->head : old.head;
    sum->pieces = old.pieces + next->pieces - touch;
    sum->largest = typemap_max(old.largest, next->largest);
    if (touch)
        sum->largest = typemap_max(sum->largest, old.end - old.last + next->head);
    sum->height = typemap_max(old.height, next->height);
    sum->monotone = old.monotone && next->monotone && at >= old.end;
    sum->ascending = old.ascending && next->ascending && at >= old.last;
    return true;
}

bool typemap_sum_repeat(const struct typemap_sum *child, int64_t count, int64_t stride, struct typemap_sum *ret_sum)
{
    const bool touch = stride == child->end;
    struct typemap_sum sum = *child;
    int64_t shift;
    if (__builtin_mul_overflow(child->size, count, &sum.size) || __builtin_mul_overflow(stride, count - 1, &shift))
        return false;
    if (touch && child->pieces == 1) {
        typemap_sum_dense(sum.size, ret_sum);
        return true;
    }
    if (__builtin_add_overflow(child->low, typemap_min(shift, 0), &sum.low) ||
        __builtin_add_overflow(child->high, typemap_max(shift, 0), &sum.high) || !is_countable(&sum) ||
        __builtin_add_overflow(child->end, shift, &sum.end) || __builtin_add_overflow(child->last, shift, &sum.last))
        return false;
    sum.pieces = child->pieces * count - (touch ? count - 1 : 0); /* at most the size, which is countable */
    if (touch)
        sum.largest = typemap_max(sum.largest, child->end - child->last + child->head);
    sum.height++;
    sum.monotone = child->monotone && stride >= child->end;
    sum.ascending = child->ascending && stride >= child->last;
    *ret_sum = sum;
    return true;
}

/* ---- Nodes ------------------------------------------------------------------------------------------------------- */

struct typemap_node *typemap_node_new(const struct typemap_sum *sum, int64_t count)
{
    struct typemap_node *node = mem_zalloc(1, sizeof *node);
    if (!node)
        return NULL;
    atomic_init(&node->refs, 1);
    node->sum = *sum;
    node->count = count;
    return node;
}

struct typemap_node *typemap_node_ref(struct typemap_node *node)
{
    if (node)
        atomic_fetch_add_explicit(&node->refs, 1, memory_order_relaxed);
    return node;
}

/* Lets go of one reference; who lets the last one go puts the node on the chain of the dead. */
static void let_go(struct typemap_node *node, struct typemap_node **dead)
{
    if (!node || atomic_fetch_sub_explicit(&node->refs, 1, memory_order_acq_rel) != 1)
        return;
    node->next_dead = *dead;
    *dead = node;
}

/* A chain in the place of recursion: types may be nested deeper than a thread's stack is. */
void typemap_node_unref(struct typemap_node *node)
{
    struct typemap_node *dead = NULL;
    let_go(node, &dead);
    while (dead) {
        struct typemap_node *gone = dead;
        dead = gone->next_dead;
        let_go(gone->child, &dead);
        for (int64_t i = 0; gone->children && i < gone->count; i++)
            let_go(gone->children[i], &dead);
        mem_free(gone->children);
        mem_free(gone->pieces);
        mem_free(gone);
    }
}

int64_t typemap_node_find(const struct typemap_node *node, int64_t position)
{
    if (!node->pieces)
        return position / node->unit;
    int64_t low = 0, high = node->count; /* piece `low` begins at or before the position, piece `high` behind it */
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (node->pieces[middle].before <= position)
            low = middle;
        else
            high = middle;
    }
    return low;
}
