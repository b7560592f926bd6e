/* The folded form: records in a file that is mapped. What is in the mapping belongs to the file whatever becomes of the
 * process: there is nothing to write at its end, and nothing to lose by a kill.
 *
 * Folding works on memory of its own; the file gets a copy of what each call changed, and is never read. So whatever
 * others do to the file, folding does not meet it, and the mapping is shielded: SIGBUS (the file was cut, its
 * device fails) is caught, and the store goes into nothing. Where it cannot be caught, since the program has taken the
 * signal for itself, the same changes go by system calls. */
#include "base/bus_guard.h"
#include "trace/trace_collect.h"
#include "tracer/tracer.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_BYTES = 64 << 10, STEP_BYTES = 1 << 20 };

static struct {
    off_t records;                 /* where the control block stands; the arena is behind it */
    size_t bytes;                  /* of the file, behind the control block */
    struct trace_control *control; /* mapped; NULL: there is no mapping. It never moves, as threads use it unlocked */
    uint64_t *words;               /* mapped; NULL: there is no mapping */
    atomic_bool cut;               /* a store met SIGBUS, and went into nothing */
    struct bus_shield control_shield, words_shield;
    int64_t now_ns;
    struct text head;
    const char *wrong; /* why it went no further; NULL: no memory */
    struct trace_arena arena;
    struct trace_collect collect;
} folded;

static const char NO_STORE[] = "it was cut, or its file system fails";

static off_t folded_place_of(trace_ref ref)
{
    return folded.records + TRACE_RECORD_PAGE + (off_t)ref * (off_t)sizeof(uint64_t);
}

/* ---- by stores ---- */

/* NOLINTBEGIN(readability-non-const-parameter): the guard's type */
static void folded_copy_changes(char *unused, void *arena)
{
    (void)unused;
    /* First: nodes may never hold more communication than is counted, whenever the process is killed. */
    trace_control_copy_comm(((struct trace_arena *)arena)->control, folded.control);
    atomic_signal_fence(memory_order_seq_cst);
    trace_arena_copy_records(arena, folded.words);
    trace_arena_copy_control(arena, folded.control);
}

static void folded_copy_comm(char *unused, void *arena)
{
    (void)unused;
    trace_control_copy_comm(((struct trace_arena *)arena)->control, folded.control);
}
/* NOLINTEND(readability-non-const-parameter) */

static inline bool folded_is_cut(void)
{
    return atomic_load_explicit(&folded.cut, memory_order_relaxed);
}

/* The copies touch nothing but the heap and the two mappings. */
static bool folded_store(enum tracer_guard guard, void (*copy)(char *unused, void *arena))
{
    assert(folded.control && guard != TRACER_GUARD_NONE);
    if (guard == TRACER_GUARD_BLOCKED)
        return bus_guard_run(NULL, SIZE_MAX, NULL, copy, &folded.arena);
    copy(NULL, &folded.arena);
    return !folded_is_cut();
}

/* ---- by system calls ---- */

static const char *folded_write_control(void)
{
    return tracer_output_write(folded.arena.control, sizeof *folded.arena.control, folded.records);
}

static const char *folded_write_changes(void)
{
    const struct trace_change *change = folded.arena.changes;
    const char *wrong = NULL;
    for (size_t left = folded.arena.change_count; left > 0 && !wrong; left--, change++)
        wrong = tracer_output_write(trace_arena_at(&folded.arena, change->ref), change->words * sizeof(uint64_t),
                                    folded_place_of(change->ref));
    return wrong ? wrong : folded_write_control();
}

/* ---- the file grows with the arena ---- */

static void folded_unmap_words(void)
{
    bus_guard_shield(&folded.words_shield, NULL, 0);
    if (folded.words)
        munmap(folded.words, folded.bytes);
    folded.words = NULL;
}

/* The space must be there before it is mapped: on a full disk, stores would fail. */
static const char *folded_grow(void)
{
    assert(folded.arena.used * sizeof(uint64_t) > folded.bytes);
    const size_t needed = folded.arena.used * sizeof(uint64_t);
    const size_t step = folded.bytes < STEP_BYTES ? folded.bytes : STEP_BYTES;
    const size_t least = folded.bytes + step > needed ? folded.bytes + step : needed + STEP_BYTES;
    const size_t after = least / FIRST_BYTES * FIRST_BYTES;
    const char *wrong = tracer_output_reserve(folded_place_of(0) + (off_t)folded.bytes, (off_t)(after - folded.bytes));
    if (wrong)
        return wrong;
    if (folded.words) {
        void *moved = mremap(folded.words, folded.bytes, after, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED)
            folded_unmap_words();
        else
            folded.words = moved;
    }
    if (folded.words)
        bus_guard_shield(&folded.words_shield, folded.words, after);
    assert(after >= needed && after % FIRST_BYTES == 0);
    folded.bytes = after;
    return NULL;
}

static const char *folded_carry_over(void)
{
    const char *wrong = folded.arena.used * sizeof(uint64_t) > folded.bytes ? folded_grow() : NULL;
    if (wrong)
        return wrong;
    const enum tracer_guard guard = folded.words ? tracer_guard_look(folded.now_ns) : TRACER_GUARD_NONE;
    if (guard == TRACER_GUARD_NONE)
        return folded_write_changes();
    return folded_store(guard, folded_copy_changes) ? NULL : NO_STORE;
}

static bool folded_publish(struct trace_arena *arena)
{
    assert(arena == &folded.arena);
    folded.wrong = folded_carry_over();
    arena->change_count = 0;
    return !folded.wrong;
}

/* Without a mapping it goes on by system calls. */
static void folded_map_file(void)
{
    const int protection = PROT_READ | PROT_WRITE, fd = tracer_output_fd();
    void *control = mmap(NULL, TRACE_RECORD_PAGE, protection, MAP_SHARED, fd, folded.records);
    if (control == MAP_FAILED)
        return;
    void *words = mmap(NULL, folded.bytes, protection, MAP_SHARED, fd, folded_place_of(0));
    if (words == MAP_FAILED) {
        munmap(control, TRACE_RECORD_PAGE);
        return;
    }
    folded.control = control;
    folded.words = words;
    bus_guard_add_shield(&folded.control_shield, &folded.cut);
    bus_guard_add_shield(&folded.words_shield, &folded.cut);
    bus_guard_shield(&folded.control_shield, control, TRACE_RECORD_PAGE);
    bus_guard_shield(&folded.words_shield, words, folded.bytes);
    tracer_guard_look(0); /* now: the engine's handler, if it comes, must find ours */
}

static const char *folded_write_head(void)
{
    return folded.head.failed ? "not enough memory"
                              : tracer_output_write(text_get(&folded.head), folded.head.length, 0);
}

static void folded_make_head(const struct text *facts)
{
    struct text *head = &folded.head;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)folded.records);
    text_add(head, TRACE_FIRST_LINE_FOLDED);
    text_append(head, text_get(facts), facts->length);
    trace_add_fact(head, "records", number);
    trace_add_end(head, sizeof TRACE_FIRST_LINE_FOLDED - 1, "head");
}

static const char *folded_start(struct text *facts, struct trace_control **ret_control)
{
    const long page = sysconf(_SC_PAGESIZE) > TRACE_RECORD_PAGE ? sysconf(_SC_PAGESIZE) : TRACE_RECORD_PAGE;
    const char *wrong;
    folded.records = ((off_t)facts->length + 256) / page * page + page;
    folded.bytes = FIRST_BYTES;
    if (page != TRACE_RECORD_PAGE)
        return "this machine's pages are not of 4096 bytes: only --full traces are possible";
    if (!trace_arena_init(&folded.arena) || !trace_collect_init(&folded.collect, &folded.arena))
        return "not enough memory";
    folded.arena.control->order = TRACE_RECORD_ORDER;
    folded.arena.publish = folded_publish;
    folded_make_head(facts);
    assert(folded.head.failed || (off_t)folded.head.length <= folded.records);
    if ((wrong = folded_write_head()) || (wrong = tracer_output_reserve(0, folded_place_of(0) + FIRST_BYTES)) ||
        (wrong = folded_write_control()))
        return wrong;
    folded_map_file();
    *ret_control = folded.arena.control;
    return NULL;
}

/* Details that are one of few texts, found by their places. */
enum { DETAIL_PLACES = 256 };
static struct folded_detail {
    const char *text;
    int32_t number;
} details[DETAIL_PLACES];

static inline struct folded_detail *folded_detail_of(const char *constant)
{
    return &details[((uint64_t)(uintptr_t)constant * UINT64_C(0x9e3779b97f4a7c15)) >> 56];
}

static int32_t folded_constant_detail(const char *constant)
{
    struct folded_detail *known = folded_detail_of(constant);
    if (known->text == constant)
        return known->number;
    const int32_t number = trace_intern_detail(&folded.collect.fold.intern, constant + strspn(constant, " "));
    if (number >= 0)
        *known = (struct folded_detail){constant, number};
    return number;
}

static inline struct trace_fold_event folded_event_of(trace_ref kept, const struct trace_call *call, int32_t detail)
{
    return (struct trace_fold_event){
        .key = {.call = kept, .file = call->file - 1, .detail = detail, .code = call->code, .bytes = call->asked},
        .value = call->offset,
        .begin_ns = call->begin_ns,
        .duration_ns = call->end_ns - call->begin_ns,
        .gap_ns = call->gap_ns};
}

/* The stores are shielded. Where one fails, the next way finds out. */
bool tracer_folded_call_quick(const struct tracer_kept *kept, const struct trace_call *call, const char *constant)
{
    const struct folded_detail none = {NULL, -1}, *detail = constant ? folded_detail_of(constant) : &none;
    if (!kept->call || !folded.words || detail->text != constant ||
        atomic_load_explicit(&folded.arena.control->comm_events, memory_order_relaxed) != folded.collect.comm_events ||
        tracer_guard_look(call->end_ns) != TRACER_GUARD_OPEN)
        return false;
    const struct trace_fold_event event = folded_event_of(kept->call, call, detail->number);
    if (!trace_fold_add_quick(&folded.collect.fold, &event, folded.words))
        return false;
    atomic_store_explicit(&folded.control->idle_ns, call->end_ns, memory_order_relaxed);
    return !folded_is_cut();
}

static bool folded_add_plain(struct tracer_kept *kept, const struct trace_call *call, const char *constant)
{
    if (!kept->call)
        kept->call = trace_intern_call(&folded.collect.fold.intern, call->function, &call->kind);
    const int32_t detail = constant ? folded_constant_detail(constant) : -1;
    if (!kept->call || (constant && detail < 0))
        return false;
    const struct trace_fold_event event = folded_event_of(kept->call, call, detail);
    return trace_collect_comm(&folded.collect) && trace_fold_add(&folded.collect.fold, &event);
}

static const char *folded_add_call(struct tracer_kept *kept, const struct trace_call *call, const char *fields,
                                   const char *constant)
{
    if (folded_is_cut())
        return NO_STORE;
    folded.now_ns = call->end_ns;
    atomic_store_explicit(&folded.arena.control->idle_ns, call->end_ns, memory_order_relaxed);
    if (fields ? trace_collect_call(&folded.collect, call, fields) : folded_add_plain(kept, call, constant))
        return NULL;
    return folded.wrong ? folded.wrong : "not enough memory";
}

/* Any thread, without the lock. By system calls it would be dear: then the file gets it with the next call. */
static const char *folded_comm(int64_t now_ns)
{
    const enum tracer_guard guard = folded.control ? tracer_guard_look(now_ns) : TRACER_GUARD_NONE;
    const bool stored = guard == TRACER_GUARD_NONE || folded_store(guard, folded_copy_comm);
    return stored ? NULL : NO_STORE;
}

static const char *folded_flush(void)
{
    return NULL;
}

/* All of it once more: free records, of which nobody reads, differ until now; and others may have written to the file,
 * or cut it and made it longer again. */
static const char *folded_end(void)
{
    struct trace_control *control = folded.arena.control;
    const size_t bytes = folded.arena.used * sizeof(uint64_t);
    const char *wrong;
    assert(folded.arena.words && control);
    folded_unmap_words();
    control->words = folded.arena.used;
    control->hash = XXH64(folded.arena.words, bytes, 0);
    if (!(wrong = folded_write_head()) &&
        !(wrong = tracer_output_write(folded.arena.words, bytes, folded_place_of(0)))) {
        control->complete = 1;
        wrong = folded_write_control();
    }
    if (!wrong)
        wrong = tracer_output_finish(folded_place_of(0) + (off_t)bytes);
    trace_collect_clear(&folded.collect);
    text_clear(&folded.head);
    return wrong;
}

const struct tracer_form tracer_form_folded = {
    .start = folded_start, .call = folded_add_call, .comm = folded_comm, .flush = folded_flush, .end = folded_end};
