/* The records of a folded trace, as they lie in the file and in memory (docs/trace-format.md tells the whole file).
 *
 * What a rank did is a chain of nodes, each with the place of the one before it; `tail` of the control block is the
 * last. A node is never changed so that a chain reachable from `tail` changes its meaning, but for counters that are
 * written with one store: new nodes are made aside, and one store to `tail` makes them valid. So whoever finds the file
 * of a process that was killed at any instruction finds all that had been added. */
#ifndef PIOLET_TRACE_RECORD_H
#define PIOLET_TRACE_RECORD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint32_t trace_ref; /* a place in the arena, in words of 8 bytes; 0: none */

#define TRACE_RECORD_ORDER UINT64_C(0x0102030405060708) /* the bytes of a word, as this machine has them */

enum { TRACE_RECORD_LEVELS = 8, TRACE_RECORD_PAGE = 4096, TRACE_RECORD_FRESH = 64 };

struct trace_control {
    uint64_t order;
    uint64_t words; /* of the arena, when the trace was completed */
    uint64_t hash;  /* XXH64 of these */
    uint32_t complete;
    trace_ref tail;
    trace_ref files, details;                      /* the last one of each */
    _Atomic int64_t comm_events, comm_collectives; /* in all; what the nodes do not hold has come behind them */
    _Atomic int64_t comm_begin_ns;                 /* of the first one behind them */
    _Atomic int64_t comm_gap_ns;                   /* computing before communication, in all */
    _Atomic int64_t idle_ns;                       /* when the last call or communication ended */
    /* Bytes of the program's buffers that it had never touched before it read a file into them, and before it wrote
     * them; of each file, the last one for all that follow. 0 in traces by piolet 0.1.0. */
    int64_t fresh_read_bytes[TRACE_RECORD_FRESH], fresh_written_bytes[TRACE_RECORD_FRESH];
    int32_t fresh_at; /* the file for which they were changed last */
    /* Files, a bit for each of the first 64, that this rank removed by POSIX right behind its close, without meeting
     * others: whoever closes last then frees the file, inside of its close. */
    uint64_t unlinked;
};
_Static_assert(sizeof(struct trace_control) <= TRACE_RECORD_PAGE, "it has a page of the file");

/* A leaf whose bytes follow no rule: its key has TRACE_RECORD_ANY in their place, and its only stride is the place of a
 * second list, the sizes of all its calls. */
enum { TRACE_RECORD_LISTED = 1, TRACE_RECORD_SIZED = 2, TRACE_RECORD_MIXED = 3 };
#define TRACE_RECORD_ANY INT64_MIN

enum trace_record_kind { TRACE_RECORD_LEAF = 1, TRACE_RECORD_LOOP = 2 };

/* What every node begins with. */
struct trace_record_node {
    trace_ref prev;
    uint8_t kind;
    uint8_t levels; /* leaf: strides that it has; loop: loops inside of each other, itself included */
    uint8_t listed; /* leaf: `list` holds its values; loop: its leaves are so. TRACE_RECORD_SIZED: sizes too;
                     * TRACE_RECORD_MIXED: a loop of these in any order */
    uint8_t reserved;
};

/* One call, or all calls of one place in the body of loops. */
struct trace_record_leaf {
    struct trace_record_node node;
    trace_ref key, list;
    int64_t value; /* the first one */
    int64_t count, sum_ns, min_ns, max_ns, first_ns, last_ns;
    int64_t first_took_ns, last_took_ns; /* durations of the first and of the last one; -1: not known */
    int64_t gap_ns;                      /* computing before these calls, in all */
    int64_t stride[];                    /* of the loops around it, the innermost first */
};

struct trace_record_loop {
    struct trace_record_node node;
    trace_ref body; /* its last node */
    uint32_t body_count;
    int64_t matched; /* events in all: whole turns, and the first ones of a turn that was begun */
    int64_t per_turn;
};

/* A loop that is mixed has leaves alone, with lists of their own, of which each event is one: which, tells a list of
 * bytes, the first of them in the lowest byte of a word. `per_turn` is its place. */

/* Values one by one: each word is a step from the value before, and how often it was made (16 bits from the top). */
struct trace_record_chunk {
    trace_ref next;
    uint32_t used, room, reserved;
    uint64_t words[];
};
#define TRACE_RECORD_STEP_BITS 48 /* where these do not hold the step, the word is 0 and the next one is the step */

/* What is equal in all calls of a leaf. Communication has call 0. */
struct trace_record_key {
    trace_ref call;
    int32_t file, detail, code; /* -1: none */
    int64_t bytes;              /* or events of communication */
    int64_t collectives;
};

struct trace_record_call {
    trace_ref function, class, who, how, position; /* texts; 0: none */
    uint32_t reserved;
};

struct trace_record_file {
    trace_ref prev, name, members;
    int32_t number; /* from 0, as keys have it */
    int32_t amode, ranks, first_rank, world_stride;
    int64_t world_sequence;
};

struct trace_record_detail {
    trace_ref prev, text;
};

/* Texts end in 0; members are int32_t. */

/* How long the rank computed before what begins now. Of threads that call at once, none did. */
static inline int64_t trace_control_gap(const struct trace_control *control, int64_t begin_ns)
{
    const int64_t gap = begin_ns - atomic_load_explicit(&control->idle_ns, memory_order_relaxed);
    return gap > 0 ? gap : 0;
}

/* `file`: from 0. */
static inline void trace_control_add_fresh(struct trace_control *control, int file, bool writes, int64_t bytes)
{
    if (file < 0 || bytes <= 0)
        return;
    control->fresh_at = file < TRACE_RECORD_FRESH ? file : TRACE_RECORD_FRESH - 1;
    (writes ? control->fresh_written_bytes : control->fresh_read_bytes)[control->fresh_at] += bytes;
}

/* What changes between two calls. */
static inline void trace_control_copy_comm(const struct trace_control *from, struct trace_control *to)
{
#define COPY(field)                                                                                                    \
    atomic_store_explicit(&to->field, atomic_load_explicit(&from->field, memory_order_relaxed), memory_order_relaxed)
    COPY(comm_events);
    COPY(comm_collectives);
    COPY(comm_begin_ns);
    COPY(comm_gap_ns);
    COPY(idle_ns);
#undef COPY
}

/* Memory for the records of a trace: it only grows. Its owner may keep a copy elsewhere, such as in a file: then every
 * change is noted, and `publish` carries the noted ones over. Nothing is ever read back from the copy. */

struct trace_change {
    trace_ref ref;
    uint32_t words;
};

struct trace_arena {
    uint64_t *words;               /* may move when it grows; word 0 is not used */
    size_t used, room;             /* in words */
    struct trace_control *control; /* never moves */

    /* The copy; NULL: there is none. Changes are carried over in the order in which they were noted, then the control
     * block, its tail last. False: it cannot be kept any more. */
    bool (*publish)(struct trace_arena *arena);
    struct trace_change *changes; /* since it was called last */
    size_t change_count, change_room;
    bool failed; /* no memory for a change */
};

bool trace_arena_init(struct trace_arena *arena);
void trace_arena_clear(struct trace_arena *arena);

/* New, zeroed; 0: it could not grow. Pointers into the arena are void after it. */
trace_ref trace_arena_take(struct trace_arena *arena, size_t bytes);

/* That a record was, or is about to be, changed. */
bool trace_arena_more_changes(struct trace_arena *arena); /* makes room; false: no memory */
static inline void trace_arena_note(struct trace_arena *arena, trace_ref ref, size_t bytes)
{
    if (arena->publish && (arena->change_count < arena->change_room || trace_arena_more_changes(arena)))
        arena->changes[arena->change_count++] = (struct trace_change){ref, (uint32_t)((bytes + 7) / 8)};
}

/* Carry them over by single stores, in order, so that a process killed at any instruction leaves a whole copy. First
 * trace_control_copy_comm(), since nodes may never hold more communication than is counted; then the records, of which
 * `to` has room for as many as the arena has; then the control block, which makes them valid. */
void trace_arena_copy_records(const struct trace_arena *arena, uint64_t *to);
void trace_arena_copy_control(const struct trace_arena *arena, struct trace_control *to);

static inline void *trace_arena_at(const struct trace_arena *arena, trace_ref ref)
{
    return arena->words + ref;
}

#endif
