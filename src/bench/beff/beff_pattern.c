#include "bench/beff/beff_pattern.h"

#include "base/rng.h"
#include "base/units.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name, *label;
    bool numbered;  /* the name always has a number */
    int dimensions; /* of a grid, whose directions have numbers */
} KINDS[BEFF_KINDS] = {
    [BEFF_RING] = {.name = "ring", .label = "ring", .numbered = true},
    [BEFF_RANDOM] = {.name = "random", .label = "random", .numbered = true},
    [BEFF_WORST_CYCLE] = {.name = "worst-cycle", .label = "worst-case cycle"},
    [BEFF_BISECTION_BEST] = {.name = "best-bisection", .label = "best bisection"},
    [BEFF_BISECTION_WORST] = {.name = "worst-bisection", .label = "worst bisection"},
    [BEFF_CART2] = {.name = "cart2d", .label = "2-D", .dimensions = 2},
    [BEFF_CART3] = {.name = "cart3d", .label = "3-D", .dimensions = 3},
    [BEFF_PINGPONG] = {.name = "ping-pong", .label = "ping-pong"},
};

/* ---- grids ---- */

static int largest_divisor(int n, int limit)
{
    while (n % limit)
        limit--;
    return limit;
}

static int root_below(int n, int power)
{
    int root = 1;
    while (power == 2 ? (int64_t)(root + 1) * (root + 1) <= n : (int64_t)(root + 1) * (root + 1) * (root + 1) <= n)
        root++;
    return root;
}

/* The smallest sum of extents is the smallest surface between processes. */
static void grid3(int n, int ret_extents[BEFF_DIMENSIONS])
{
    int best = n + 2; /* of n x 1 x 1 */
    ret_extents[0] = n;
    ret_extents[1] = ret_extents[2] = 1;
    for (int c = root_below(n, 3); c >= 1; c--) {
        if (n % c)
            continue;
        const int b = largest_divisor(n / c, root_below(n / c, 2));
        if (b < c || n / c / b + b + c >= best)
            continue;
        best = n / c / b + b + c;
        ret_extents[0] = n / c / b;
        ret_extents[1] = b;
        ret_extents[2] = c;
    }
}

void beff_grid(int n, int dimensions, int ret_extents[BEFF_DIMENSIONS])
{
    if (dimensions == 3) {
        grid3(n, ret_extents);
        return;
    }
    const int b = largest_divisor(n, root_below(n, 2));
    ret_extents[0] = n / b;
    ret_extents[1] = b;
    ret_extents[2] = 1;
}

static void add_link(struct beff_links *links, int to, int from)
{
    links->to[links->count] = to;
    links->from[links->count++] = from;
}

/* Ranks count along the last dimension first, as in MPI_Cart_create. */
static struct beff_links grid_links(struct beff_pattern pattern, int n, int rank)
{
    int extents[BEFF_DIMENSIONS];
    struct beff_links links = {0};
    beff_grid(n, KINDS[pattern.kind].dimensions, extents);
    int stride = n;
    assert(extents[0] > 0 && extents[1] > 0 && extents[2] > 0);
    for (int d = 0; d < BEFF_DIMENSIONS; d++) {
        stride /= extents[d];
        if (extents[d] == 1 || (pattern.number && pattern.number != d + 1))
            continue;
        const int at = rank / stride % extents[d];
        const int before = rank + ((at + extents[d] - 1) % extents[d] - at) * stride;
        const int behind = rank + ((at + 1) % extents[d] - at) * stride;
        add_link(&links, before, behind);
        add_link(&links, behind, before);
    }
    return links;
}

/* ---- rings ---- */

void beff_random_order(int n, uint64_t seed, int number, int *ret_order)
{
    const uint64_t stream = rng_at(seed, (uint64_t)number);
    for (int i = 0; i < n; i++)
        ret_order[i] = i;
    for (int i = n - 1; i > 0; i--) {
        const int j = (int)(rng_unit(rng_at(stream, (uint64_t)i)) * (i + 1));
        const int other = ret_order[j];
        ret_order[j] = ret_order[i];
        ret_order[i] = other;
    }
}

/* A message to the left, received from the right, then the other way round. In a ring of 2 both neighbours are the
 * same process. */
static struct beff_links ring_links(int left, int right)
{
    struct beff_links links = {0};
    add_link(&links, left, right);
    add_link(&links, right, left);
    return links;
}

static struct beff_links cycle_links(const int *order, int n, int rank)
{
    int at = 0;
    while (order[at] != rank)
        at++;
    return ring_links(order[(at + n - 1) % n], order[(at + 1) % n]);
}

static int worst_at(int position, int n)
{
    return position % 2 ? n - 1 - position / 2 : position / 2;
}

static struct beff_links worst_links(int n, int rank)
{
    const int at = rank <= (n - 1) / 2 ? 2 * rank : 2 * (n - 1 - rank) + 1;
    return ring_links(worst_at((at + n - 1) % n, n), worst_at((at + 1) % n, n));
}

static struct beff_links partition_links(int pattern, int n, int rank)
{
    const struct beff_rings rings = beff_rings_of(pattern, n);
    const struct beff_ring ring = beff_ring_at(&rings, rank);
    const int at = rank - ring.first;
    return ring_links(ring.first + (at + ring.size - 1) % ring.size, ring.first + (at + 1) % ring.size);
}

/* ---- pairs ---- */

static struct beff_links pair_links(int partner, bool paired)
{
    struct beff_links links = {0};
    add_link(&links, paired ? partner : BEFF_NOBODY, paired ? partner : BEFF_NOBODY);
    return links;
}

struct beff_links beff_pattern_links(struct beff_pattern pattern, int n, int rank, uint64_t seed, int *order)
{
    const int paired = n - n % 2;
    switch (pattern.kind) {
    case BEFF_RANDOM:
        beff_random_order(n, seed, pattern.number, order);
        return cycle_links(order, n, rank);
    case BEFF_WORST_CYCLE:
        return worst_links(n, rank);
    case BEFF_BISECTION_BEST:
        return pair_links(rank ^ 1, rank < paired);
    case BEFF_BISECTION_WORST:
        return pair_links(paired - 1 - rank, rank < paired);
    case BEFF_CART2:
    case BEFF_CART3:
        return grid_links(pattern, n, rank);
    case BEFF_PINGPONG:
        return pair_links(1 - rank, rank < 2);
    default:
        return partition_links(pattern.number, n, rank);
    }
}

/* ---- all of them ---- */

int64_t beff_pattern_messages(struct beff_pattern pattern, int n)
{
    switch (pattern.kind) {
    case BEFF_BISECTION_BEST:
    case BEFF_BISECTION_WORST:
        return n - n % 2;
    case BEFF_PINGPONG:
        return 2;
    case BEFF_CART2:
    case BEFF_CART3:
        return (int64_t)n * grid_links(pattern, n, 0).count;
    default:
        return 2 * (int64_t)n;
    }
}

int beff_links_max(int n)
{
    const int links = grid_links((struct beff_pattern){BEFF_CART3, 0}, n, 0).count;
    return links > 2 ? links : 2;
}

static bool has_messages(struct beff_pattern pattern, int n)
{
    return KINDS[pattern.kind].dimensions == 0 || grid_links(pattern, n, 0).count > 0;
}

bool beff_pattern_next(int n, int random_patterns, int index, struct beff_pattern *ret_pattern)
{
    static const struct beff_pattern FIXED[] = {
        {BEFF_PINGPONG, 0}, {BEFF_RING, 1},  {BEFF_RING, 2},        {BEFF_RING, 3},           {BEFF_RING, 4},
        {BEFF_RING, 5},     {BEFF_RING, 6},  {BEFF_WORST_CYCLE, 0}, {BEFF_BISECTION_BEST, 0}, {BEFF_BISECTION_WORST, 0},
        {BEFF_CART2, 1},    {BEFF_CART2, 2}, {BEFF_CART2, 0},       {BEFF_CART3, 1},          {BEFF_CART3, 2},
        {BEFF_CART3, 3},    {BEFF_CART3, 0}};
    for (size_t i = 0; i < sizeof FIXED / sizeof FIXED[0]; i++)
        if (has_messages(FIXED[i], n) && index-- == 0) {
            *ret_pattern = FIXED[i];
            return true;
        }
    *ret_pattern = (struct beff_pattern){BEFF_RANDOM, index + 1};
    return index < random_patterns;
}

int beff_pattern_count(int n, int random_patterns)
{
    int count = 0;
    struct beff_pattern pattern;
    while (beff_pattern_next(n, 0, count, &pattern))
        count++;
    return count + random_patterns;
}

/* ---- names ---- */

static bool shows_number(struct beff_pattern pattern)
{
    return KINDS[pattern.kind].numbered || pattern.number > 0;
}

const char *beff_pattern_name(struct beff_pattern pattern, char name[BEFF_NAME_MAX])
{
    snprintf(name, BEFF_NAME_MAX, shows_number(pattern) ? "%s-%d" : "%s", KINDS[pattern.kind].name, pattern.number);
    return name;
}

bool beff_pattern_parse(const char *name, struct beff_pattern *ret_pattern)
{
    enum { RANDOM_MOST = 1000000 };
    static const int MOST[BEFF_KINDS] = {
        [BEFF_RING] = BEFF_RING_PATTERNS, [BEFF_RANDOM] = RANDOM_MOST, [BEFF_CART2] = 2, [BEFF_CART3] = 3};
    for (int kind = 0; kind < BEFF_KINDS; kind++) {
        const size_t length = strlen(KINDS[kind].name);
        int64_t number = 0;
        if (strncmp(name, KINDS[kind].name, length) != 0)
            continue;
        if (name[length] == '\0' ? KINDS[kind].numbered
                                 : name[length] != '-' || !units_parse_int(name + length + 1, 1, MOST[kind], &number))
            continue;
        *ret_pattern = (struct beff_pattern){(enum beff_kind)kind, (int)number};
        return true;
    }
    return false;
}

const char *beff_pattern_label(struct beff_pattern pattern, char label[BEFF_NAME_MAX])
{
    const char *name = KINDS[pattern.kind].label;
    if (KINDS[pattern.kind].dimensions)
        snprintf(label, BEFF_NAME_MAX, pattern.number ? "%s, direction %d" : "%s together", name, pattern.number);
    else
        snprintf(label, BEFF_NAME_MAX, shows_number(pattern) ? "%s %d" : "%s", name, pattern.number);
    return label;
}
