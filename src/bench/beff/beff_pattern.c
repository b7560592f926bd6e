/* What b_eff measures, before any message is sent: message lengths, loop lengths, rings, and who sends to whom in each
 * pattern. Pure: no MPI call, no clock. */
#include "bench/beff/beff.h"

#include "base/rng.h"
#include "base/units.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- lengths, loops and rings ---- */

int64_t beff_length_max(int64_t memory_bytes)
{
    const int64_t part = memory_bytes / BEFF_MEMORY_PART;
    return part < BEFF_LENGTH_LARGEST ? part : BEFF_LENGTH_LARGEST;
}

void beff_lengths(int64_t length_max, int64_t ret_lengths[BEFF_LENGTHS])
{
    enum { VARIABLE = BEFF_LENGTHS - BEFF_FIXED_LENGTHS };
    assert(length_max > (int64_t)1 << (BEFF_FIXED_LENGTHS - 1) && length_max <= BEFF_LENGTH_LARGEST);
    for (int i = 0; i < BEFF_FIXED_LENGTHS; i++)
        ret_lengths[i] = (int64_t)1 << i;
    const double longest_fixed = (double)ret_lengths[BEFF_FIXED_LENGTHS - 1];
    for (int i = 1; i < VARIABLE; i++)
        ret_lengths[BEFF_FIXED_LENGTHS - 1 + i] = llround(
            longest_fixed * pow((double)length_max / longest_fixed, (double)i / VARIABLE));
    ret_lengths[BEFF_LENGTHS - 1] = length_max;
}

int64_t beff_loop_next(int64_t loop, double seconds, double target_s)
{
    if (seconds <= target_s)
        return loop;
    const int64_t next = (int64_t)((double)loop * target_s / seconds);
    return next > 1 ? next : 1;
}

int beff_repetitions(double elapsed_s, int done, int left, double time_s)
{
    const double pace_s = done ? elapsed_s / done : 0;
    return elapsed_s + pace_s * left <= time_s ? BEFF_REPETITIONS : 1;
}

int64_t beff_walk(int64_t *base, int64_t length, int64_t bytes)
{
    const int64_t step = (length + 7) / 8 * 8;
    assert(step <= bytes && *base >= 0);
    const int64_t at = *base + step <= bytes ? *base : 0;
    *base = at + step;
    return at;
}

int64_t beff_buffer_bytes(int64_t length_max)
{
    enum { MESSAGES = 6, ROOM = 16 }; /* so that six messages of L_max, each rounded up to 8, have room */
    return MESSAGES * (length_max + ROOM);
}

/* The standard size of a ring. */
static int beff_standard_size(int pattern, int n, bool as36)
{
    switch (pattern) {
    case 1:
        return 2;
    case 2:
        return n <= 7 && !as36 ? n : 4; /* the document: up to 7 processes form one ring */
    case 3:
        return 8;
    case 4:
        return n / 4 > 16 ? n / 4 : 16;
    case 5:
        return n / 2 > 32 ? n / 2 : 32;
    default:
        return n;
    }
}

struct beff_rings beff_rings_of(int pattern, int n, bool as36)
{
    assert(pattern >= 1 && pattern <= BEFF_RING_PATTERNS && n >= 2);
    const int64_t wanted = beff_standard_size(pattern, n, as36);
    const int64_t m = wanted < n ? wanted : n;
    int count = (int)((5 * (int64_t)n + 2 * m) / (5 * m)); /* the whole part of n/m + 0.4 */
    count = count < n / 2 ? count : n / 2;
    count = count > 1 ? count : 1;
    return (struct beff_rings){
        .count = count, .size = n / count, .larger = n % count, .larger_first = n / count % 2 == 1};
}

struct beff_ring beff_ring_at(const struct beff_rings *rings, int position)
{
    const int leading = rings->larger_first ? rings->larger : rings->count - rings->larger;
    const int first_size = rings->size + (rings->larger_first ? 1 : 0);
    const int other_size = rings->size + (rings->larger_first ? 0 : 1);
    const int64_t border = (int64_t)leading * first_size;
    if (position < border)
        return (struct beff_ring){position / first_size * first_size, first_size};
    const int beyond = position - (int)border;
    return (struct beff_ring){(int)border + beyond / other_size * other_size, other_size};
}

const char *beff_rings_text(const struct beff_rings *rings, char text[BEFF_RINGS_TEXT_MAX])
{
    const int equal = rings->count - rings->larger;
    if (rings->larger == 0)
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d x %d", equal, rings->size);
    else if (rings->larger_first)
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d x %d + %d x %d", rings->larger, rings->size + 1, equal, rings->size);
    else
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d x %d + %d x %d", equal, rings->size, rings->larger, rings->size + 1);
    return text;
}

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

static int beff_largest_divisor(int n, int limit)
{
    while (n % limit)
        limit--;
    return limit;
}

static int beff_root_below(int n, int power)
{
    int root = 1;
    while (power == 2 ? (int64_t)(root + 1) * (root + 1) <= n : (int64_t)(root + 1) * (root + 1) * (root + 1) <= n)
        root++;
    return root;
}

/* The smallest sum of extents is the smallest surface between processes. */
static void beff_grid3(int n, int ret_extents[BEFF_DIMENSIONS])
{
    int best = n + 2; /* of n x 1 x 1 */
    ret_extents[0] = n;
    ret_extents[1] = ret_extents[2] = 1;
    for (int c = beff_root_below(n, 3); c >= 1; c--) {
        if (n % c)
            continue;
        const int b = beff_largest_divisor(n / c, beff_root_below(n / c, 2));
        if (b < c || n / c / b + b + c >= best)
            continue;
        best = n / c / b + b + c;
        ret_extents[0] = n / c / b;
        ret_extents[1] = b;
        ret_extents[2] = c;
    }
}

static void beff_grid_all(int n, int dimensions, int ret_extents[BEFF_DIMENSIONS])
{
    if (dimensions == 3) {
        beff_grid3(n, ret_extents);
        return;
    }
    const int b = beff_largest_divisor(n, beff_root_below(n, 2));
    ret_extents[0] = n / b;
    ret_extents[1] = b;
    ret_extents[2] = 1;
}

/* From 8 on no extent is 1; fewer processes have a grid that is flat if they must, but are even in number. */
int beff_grid(int n, int dimensions, int ret_extents[BEFF_DIMENSIONS])
{
    enum { SMALL = 8, SMALLEST = 4 };
    assert(n >= 2 && (dimensions == 2 || dimensions == 3));
    for (;; n--) {
        beff_grid_all(n, dimensions, ret_extents);
        if (ret_extents[dimensions - 1] > 1 || (n < SMALL && n % 2 == 0) || n < SMALLEST)
            return n;
    }
}

static void beff_add_link(struct beff_links *links, int to, int from)
{
    assert(links->count < BEFF_LINKS_MAX && (to != BEFF_NOBODY || from != BEFF_NOBODY));
    links->to[links->count] = to;
    links->from[links->count++] = from;
}

/* Ranks count along the last dimension first, as in MPI_Cart_create. */
static struct beff_links beff_grid_links(struct beff_pattern pattern, int n, int rank)
{
    int extents[BEFF_DIMENSIONS];
    struct beff_links links = {0};
    int stride = beff_grid(n, KINDS[pattern.kind].dimensions, extents);
    if (rank >= stride)
        return links; /* left out */
    assert(extents[0] > 0 && extents[1] > 0 && extents[2] > 0);
    for (int d = 0; d < BEFF_DIMENSIONS; d++) {
        stride /= extents[d];
        if (extents[d] == 1 || (pattern.number && pattern.number != d + 1))
            continue;
        const int at = rank / stride % extents[d];
        const int before = rank + ((at + extents[d] - 1) % extents[d] - at) * stride;
        const int behind = rank + ((at + 1) % extents[d] - at) * stride;
        beff_add_link(&links, before, behind);
        beff_add_link(&links, behind, before);
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
static struct beff_links beff_ring_links(int left, int right)
{
    struct beff_links links = {0};
    beff_add_link(&links, left, right);
    beff_add_link(&links, right, left);
    return links;
}

static struct beff_links beff_cycle_links(const int *order, int n, int rank)
{
    int at = 0;
    while (order[at] != rank)
        at++;
    return beff_ring_links(order[(at + n - 1) % n], order[(at + 1) % n]);
}

static int beff_worst_at(int position, int n)
{
    return position % 2 ? n - 1 - position / 2 : position / 2;
}

static struct beff_links beff_worst_links(int n, int rank)
{
    const int at = rank <= (n - 1) / 2 ? 2 * rank : 2 * (n - 1 - rank) + 1;
    return beff_ring_links(beff_worst_at((at + n - 1) % n, n), beff_worst_at((at + 1) % n, n));
}

static struct beff_links beff_partition_links(struct beff_pattern pattern, int n, int rank)
{
    const struct beff_rings rings = beff_rings_of(pattern.number, n, pattern.as36);
    const struct beff_ring ring = beff_ring_at(&rings, rank);
    const int at = rank - ring.first;
    return beff_ring_links(ring.first + (at + ring.size - 1) % ring.size, ring.first + (at + 1) % ring.size);
}

/* ---- pairs ---- */

/* One of the two sends and is then sent to. */
static struct beff_links beff_pair_links(int partner, bool begins, bool paired)
{
    struct beff_links links = {0};
    if (paired) {
        beff_add_link(&links, begins ? partner : BEFF_NOBODY, begins ? BEFF_NOBODY : partner);
        beff_add_link(&links, begins ? BEFF_NOBODY : partner, begins ? partner : BEFF_NOBODY);
    }
    return links;
}

/* ---- any of them ---- */

static struct beff_links beff_document_links(struct beff_pattern pattern, int n, int rank, uint64_t seed, int *order)
{
    const int paired = n - n % 2;
    switch (pattern.kind) {
    case BEFF_RANDOM:
        beff_random_order(n, seed, pattern.number, order);
        return beff_cycle_links(order, n, rank);
    case BEFF_WORST_CYCLE:
        return beff_worst_links(n, rank);
    case BEFF_BISECTION_BEST:
        return beff_pair_links(rank ^ 1, rank % 2 == 0, rank < paired);
    case BEFF_BISECTION_WORST:
        return beff_pair_links(paired - 1 - rank, rank < paired / 2, rank < paired);
    case BEFF_CART2:
    case BEFF_CART3:
        return beff_grid_links(pattern, n, rank);
    case BEFF_PINGPONG:
        return beff_pair_links(1 - rank, rank == 0, rank < 2);
    default:
        return beff_partition_links(pattern, n, rank);
    }
}

struct beff_links beff_pattern_links(struct beff_pattern pattern, int n, int rank, uint64_t seed, int *order)
{
    const struct beff_links links = beff_document_links(pattern, n, rank, seed, order);
    if (!pattern.as36)
        return links;
    struct beff_links fewer = {0};
    for (int k = 0; k < links.count; k++)
        if (beff_link_call(links.to, k) == 0) /* the second message to the same process is not sent */
            beff_add_link(&fewer, links.to[k], links.from[k]);
    return fewer;
}

int beff_link_call(const int *peers, int k)
{
    int earlier = 0;
    for (int i = 0; i < k; i++)
        earlier += peers[i] != BEFF_NOBODY && peers[i] == peers[k];
    assert(earlier <= 1);
    return earlier;
}

/* Whether some process has the same neighbour on both sides. */
static bool beff_has_pairs(struct beff_pattern pattern, int n)
{
    struct beff_rings rings;
    int extents[BEFF_DIMENSIONS];
    switch (pattern.kind) {
    case BEFF_RING:
        rings = beff_rings_of(pattern.number, n, pattern.as36);
        return rings.size == 2;
    case BEFF_RANDOM:
    case BEFF_WORST_CYCLE:
        return n == 2;
    case BEFF_CART2:
    case BEFF_CART3:
        beff_grid(n, KINDS[pattern.kind].dimensions, extents);
        for (int d = 0; d < BEFF_DIMENSIONS; d++)
            if (extents[d] == 2 && (pattern.number == 0 || pattern.number == d + 1))
                return true;
        return false;
    default:
        return false;
    }
}

int beff_pattern_calls(struct beff_pattern pattern, int n)
{
    return beff_has_pairs(pattern, n) && !pattern.as36 ? 2 : 1;
}

bool beff_pattern_differs(struct beff_pattern pattern, int n)
{
    if (beff_has_pairs(pattern, n))
        return true;
    return pattern.kind == BEFF_RING &&
           beff_rings_of(pattern.number, n, true).count != beff_rings_of(pattern.number, n, false).count;
}

int beff_pattern_used(struct beff_pattern pattern, int n)
{
    int extents[BEFF_DIMENSIONS];
    switch (pattern.kind) {
    case BEFF_BISECTION_BEST:
    case BEFF_BISECTION_WORST:
        return n - n % 2;
    case BEFF_PINGPONG:
        return 2;
    case BEFF_CART2:
    case BEFF_CART3:
        return beff_grid(n, KINDS[pattern.kind].dimensions, extents);
    default:
        return n;
    }
}

/* ---- all of them ---- */

int64_t beff_pattern_messages(struct beff_pattern pattern, int n)
{
    const int64_t used = beff_pattern_used(pattern, n);
    switch (pattern.kind) {
    case BEFF_BISECTION_BEST:
    case BEFF_BISECTION_WORST:
    case BEFF_PINGPONG:
        return used;
    case BEFF_RANDOM:
        return used * (pattern.as36 && n == 2 ? 1 : 2);
    default:
        return used * beff_pattern_links(pattern, n, 0, 0, NULL).count;
    }
}

static bool beff_has_messages(struct beff_pattern pattern, int n)
{
    return KINDS[pattern.kind].dimensions == 0 || beff_grid_links(pattern, n, 0).count > 0;
}

bool beff_pattern_next(int n, int random_patterns, int index, struct beff_pattern *ret_pattern)
{
    static const struct beff_pattern FIXED[] = {
        {.kind = BEFF_PINGPONG, .number = 0},       {.kind = BEFF_RING, .number = 1},
        {.kind = BEFF_RING, .number = 2},           {.kind = BEFF_RING, .number = 3},
        {.kind = BEFF_RING, .number = 4},           {.kind = BEFF_RING, .number = 5},
        {.kind = BEFF_RING, .number = 6},           {.kind = BEFF_WORST_CYCLE, .number = 0},
        {.kind = BEFF_BISECTION_BEST, .number = 0}, {.kind = BEFF_BISECTION_WORST, .number = 0},
        {.kind = BEFF_CART2, .number = 1},          {.kind = BEFF_CART2, .number = 2},
        {.kind = BEFF_CART2, .number = 0},          {.kind = BEFF_CART3, .number = 1},
        {.kind = BEFF_CART3, .number = 2},          {.kind = BEFF_CART3, .number = 3},
        {.kind = BEFF_CART3, .number = 0}};
    for (size_t i = 0; i < sizeof FIXED / sizeof FIXED[0]; i++) {
        if (!beff_has_messages(FIXED[i], n))
            continue;
        const int forms = beff_pattern_differs(FIXED[i], n) ? 2 : 1;
        if (index < forms) {
            *ret_pattern = FIXED[i];
            ret_pattern->as36 = index == 1;
            return true;
        }
        index -= forms;
    }
    const int forms = beff_pattern_differs((struct beff_pattern){.kind = BEFF_RANDOM, .number = 1}, n) ? 2 : 1;
    *ret_pattern = (struct beff_pattern){BEFF_RANDOM, index / forms + 1, index % forms == 1};
    return index / forms < random_patterns;
}

int beff_pattern_count(int n, int random_patterns)
{
    int count = 0;
    struct beff_pattern pattern;
    while (beff_pattern_next(n, random_patterns, count, &pattern))
        count++;
    return count;
}

/* ---- names ---- */

static bool beff_shows_number(struct beff_pattern pattern)
{
    return KINDS[pattern.kind].numbered || pattern.number > 0;
}

static const char AS36[] = "-as-3.6";

const char *beff_pattern_name(struct beff_pattern pattern, char name[BEFF_NAME_MAX])
{
    const char *form = pattern.as36 ? AS36 : "";
    if (beff_shows_number(pattern))
        snprintf(name, BEFF_NAME_MAX, "%s-%d%s", KINDS[pattern.kind].name, pattern.number, form);
    else
        snprintf(name, BEFF_NAME_MAX, "%s%s", KINDS[pattern.kind].name, form);
    return name;
}

bool beff_pattern_parse(const char *name, struct beff_pattern *ret_pattern)
{
    enum { RANDOM_MOST = 1000000 };
    static const int MOST[BEFF_KINDS] = {
        [BEFF_RING] = BEFF_RING_PATTERNS, [BEFF_RANDOM] = RANDOM_MOST, [BEFF_CART2] = 2, [BEFF_CART3] = 3};
    char document[BEFF_NAME_MAX];
    const size_t all = strlen(name), form = sizeof AS36 - 1;
    const bool as36 = all > form && strcmp(name + all - form, AS36) == 0;
    if (all >= sizeof document)
        return false;
    snprintf(document, sizeof document, "%.*s", (int)(as36 ? all - form : all), name);
    for (int kind = 0; kind < BEFF_KINDS; kind++) {
        const size_t length = strlen(KINDS[kind].name);
        const char *rest = document + length;
        int64_t number = 0;
        if (strncmp(document, KINDS[kind].name, length) != 0)
            continue;
        if (*rest == '\0' ? KINDS[kind].numbered : *rest != '-' || !units_parse_int(rest + 1, 1, MOST[kind], &number))
            continue;
        *ret_pattern = (struct beff_pattern){(enum beff_kind)kind, (int)number, as36};
        return true;
    }
    return false;
}

const char *beff_pattern_label(struct beff_pattern pattern, char label[BEFF_NAME_MAX])
{
    const char *name = KINDS[pattern.kind].label, *form = pattern.as36 ? ", as 3.6" : "";
    if (KINDS[pattern.kind].dimensions && pattern.number)
        snprintf(label, BEFF_NAME_MAX, "%s, direction %d%s", name, pattern.number, form);
    else if (KINDS[pattern.kind].dimensions)
        snprintf(label, BEFF_NAME_MAX, "%s together%s", name, form);
    else if (beff_shows_number(pattern))
        snprintf(label, BEFF_NAME_MAX, "%s %d%s", name, pattern.number, form);
    else
        snprintf(label, BEFF_NAME_MAX, "%s%s", name, form);
    return label;
}

const char *beff_pattern_shape(struct beff_pattern pattern, int n, char text[BEFF_RINGS_TEXT_MAX])
{
    struct beff_rings rings;
    int grid[BEFF_DIMENSIONS];
    text[0] = '\0';
    switch (pattern.kind) {
    case BEFF_RING:
        rings = beff_rings_of(pattern.number, n, pattern.as36);
        return beff_rings_text(&rings, text);
    case BEFF_RANDOM:
    case BEFF_WORST_CYCLE:
        snprintf(text, BEFF_RINGS_TEXT_MAX, "1 x %d", n);
        break;
    case BEFF_BISECTION_BEST:
    case BEFF_BISECTION_WORST:
        snprintf(text, BEFF_RINGS_TEXT_MAX, "%d pair%s", n / 2, n / 2 == 1 ? "" : "s");
        break;
    case BEFF_CART2:
    case BEFF_CART3:
        beff_grid(n, KINDS[pattern.kind].dimensions, grid);
        snprintf(text, BEFF_RINGS_TEXT_MAX, pattern.kind == BEFF_CART2 ? "%d x %d" : "%d x %d x %d", grid[0], grid[1],
                 grid[2]);
        break;
    default:
        break;
    }
    return text;
}
