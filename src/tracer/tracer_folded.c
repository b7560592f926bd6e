/* The folded form: records in a file that is mapped. What is in the mapping belongs to the file whatever becomes of the
 * process: there is nothing to write at its end, and nothing to lose by a kill.
 *
 * Folding works on memory of its own; the file gets a copy of what each call changed, and is never read. So whatever
 * others do to the file, folding does not meet it, and all stores to the mapping stand in two small functions, where
 * SIGBUS (the file was cut, its device fails) is caught. Where it cannot be caught, since the program has taken the
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
    int64_t now_ns;
    struct text head;
    const char *wrong; /* why it went no further; NULL: no memory */
    struct trace_arena arena;
    struct trace_collect collect;
} folded;

static const char NO_STORE[] = "it was cut, or its file system fails";

static off_t place_of(trace_ref ref)
{
    return folded.records + TRACE_RECORD_PAGE + (off_t)ref * (off_t)sizeof(uint64_t);
}

/* ---- by stores ---- */

/* NOLINTBEGIN(readability-non-const-parameter): the guard's type */
static void copy_changes(char *unused, void *arena)
{
    (void)unused;
    trace_arena_copy_records(arena, folded.words);
    trace_arena_copy_control(arena, folded.control);
}

static void copy_comm(char *unused, void *arena)
{
    (void)unused;
    trace_control_copy_comm(((struct trace_arena *)arena)->control, folded.control);
}
/* NOLINTEND(readability-non-const-parameter) */

/* The copies touch nothing but the heap and the two mappings: guarding every address costs less than each mapping by
 * itself. */
static bool store(enum tracer_guard guard, void (*copy)(char *unused, void *arena))
{
    return guard == TRACER_GUARD_OPEN ? bus_guard_run_quick(NULL, SIZE_MAX, NULL, copy, &folded.arena)
                                      : bus_guard_run(NULL, SIZE_MAX, NULL, copy, &folded.arena);
}

/* ---- by system calls ---- */

static const char *write_control(void)
{
    return tracer_output_write(folded.arena.control, sizeof *folded.arena.control, folded.records);
}

static const char *write_changes(void)
{
    const struct trace_change *change = folded.arena.changes;
    const char *wrong = NULL;
    for (size_t left = folded.arena.change_count; left > 0 && !wrong; left--, change++)
        wrong = tracer_output_write(trace_arena_at(&folded.arena, change->ref), change->words * sizeof(uint64_t),
                                    place_of(change->ref));
    return wrong ? wrong : write_control();
}

/* ---- the file grows with the arena ---- */

static void unmap_words(void)
{
    if (folded.words)
        munmap(folded.words, folded.bytes);
    folded.words = NULL;
}

/* The space must be there before it is mapped: on a full disk, stores would fail. */
static const char *grow(void)
{
    const size_t needed = folded.arena.used * sizeof(uint64_t);
    const size_t step = folded.bytes < STEP_BYTES ? folded.bytes : STEP_BYTES;
    const size_t least = folded.bytes + step > needed ? folded.bytes + step : needed + STEP_BYTES;
    const size_t after = least / FIRST_BYTES * FIRST_BYTES;
    const char *wrong = tracer_output_reserve(place_of(0) + (off_t)folded.bytes, (off_t)(after - folded.bytes));
    if (wrong)
        return wrong;
    if (folded.words) {
        void *moved = mremap(folded.words, folded.bytes, after, MREMAP_MAYMOVE);
        if (moved == MAP_FAILED)
            unmap_words();
        else
            folded.words = moved;
    }
    folded.bytes = after;
    return NULL;
}

static const char *carry_over(void)
{
    const char *wrong = folded.arena.used * sizeof(uint64_t) > folded.bytes ? grow() : NULL;
    if (wrong)
        return wrong;
    const enum tracer_guard guard = folded.words ? tracer_guard_look(folded.now_ns) : TRACER_GUARD_NONE;
    if (guard == TRACER_GUARD_NONE)
        return write_changes();
    return store(guard, copy_changes) ? NULL : NO_STORE;
}

static bool publish(struct trace_arena *arena)
{
    folded.wrong = carry_over();
    arena->change_count = 0;
    return !folded.wrong;
}

/* Without a mapping it goes on by system calls. */
static void map_file(void)
{
    const int protection = PROT_READ | PROT_WRITE, fd = tracer_output_fd();
    void *control = mmap(NULL, TRACE_RECORD_PAGE, protection, MAP_SHARED, fd, folded.records);
    if (control == MAP_FAILED)
        return;
    void *words = mmap(NULL, folded.bytes, protection, MAP_SHARED, fd, place_of(0));
    if (words == MAP_FAILED) {
        munmap(control, TRACE_RECORD_PAGE);
        return;
    }
    folded.control = control;
    folded.words = words;
    tracer_guard_look(0); /* now: the engine's handler, if it comes, must find ours */
}

static const char *write_head(void)
{
    return folded.head.failed ? "not enough memory"
                              : tracer_output_write(text_get(&folded.head), folded.head.length, 0);
}

static void make_head(const struct text *facts)
{
    struct text *head = &folded.head;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)folded.records);
    text_add(head, TRACE_FIRST_LINE_FOLDED);
    text_append(head, text_get(facts), facts->length);
    trace_add_fact(head, "records", number);
    trace_add_end(head, sizeof TRACE_FIRST_LINE_FOLDED - 1, "head");
}

static const char *start(struct text *facts, struct trace_control **ret_control)
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
    folded.arena.publish = publish;
    make_head(facts);
    if ((wrong = write_head()) || (wrong = tracer_output_reserve(0, place_of(0) + FIRST_BYTES)) ||
        (wrong = write_control()))
        return wrong;
    map_file();
    *ret_control = folded.arena.control;
    return NULL;
}

/* The number of a detail that is one of few texts, found by its place. */
static int32_t constant_detail(const char *constant)
{
    enum { PLACES = 256 };
    static struct {
        const char *text;
        int32_t number;
    } known[PLACES];
    const uint64_t place = ((uint64_t)(uintptr_t)constant * UINT64_C(0x9e3779b97f4a7c15)) >> 56;
    if (known[place].text == constant)
        return known[place].number;
    const int32_t number = trace_intern_detail(&folded.collect.fold.intern, constant + strspn(constant, " "));
    if (number >= 0) {
        known[place].text = constant;
        known[place].number = number;
    }
    return number;
}

static bool add_plain(struct tracer_kept *kept, const struct trace_call *call, const char *constant)
{
    if (!kept->call)
        kept->call = trace_intern_call(&folded.collect.fold.intern, call->function, &call->kind);
    const struct trace_fold_event event = {.key = {.call = kept->call,
                                                   .file = call->file - 1,
                                                   .detail = constant ? constant_detail(constant) : -1,
                                                   .code = call->code,
                                                   .bytes = call->asked},
                                           .value = call->offset,
                                           .begin_ns = call->begin_ns,
                                           .duration_ns = call->end_ns - call->begin_ns,
                                           .gap_ns = call->gap_ns};
    return kept->call && (!constant || event.key.detail >= 0) && trace_collect_comm(&folded.collect) &&
           trace_fold_add(&folded.collect.fold, &event);
}

static const char *add_call(struct tracer_kept *kept, const struct trace_call *call, const char *fields,
                            const char *constant)
{
    folded.now_ns = call->end_ns;
    atomic_store_explicit(&folded.arena.control->idle_ns, call->end_ns, memory_order_relaxed);
    if (fields ? trace_collect_call(&folded.collect, call, fields) : add_plain(kept, call, constant))
        return NULL;
    return folded.wrong ? folded.wrong : "not enough memory";
}

/* Any thread, without the lock. By system calls it would be dear: then the file gets it with the next call. */
static const char *comm(int64_t now_ns)
{
    const enum tracer_guard guard = folded.control ? tracer_guard_look(now_ns) : TRACER_GUARD_NONE;
    const bool stored = guard == TRACER_GUARD_NONE || store(guard, copy_comm);
    return stored ? NULL : NO_STORE;
}

static const char *flush(void)
{
    return NULL;
}

/* All of it once more: free records, of which nobody reads, differ until now; and others may have written to the file,
 * or cut it and made it longer again. */
static const char *end(void)
{
    struct trace_control *control = folded.arena.control;
    const size_t bytes = folded.arena.used * sizeof(uint64_t);
    const char *wrong;
    assert(folded.arena.words && control);
    unmap_words();
    control->words = folded.arena.used;
    control->hash = XXH64(folded.arena.words, bytes, 0);
    if (!(wrong = write_head()) && !(wrong = tracer_output_write(folded.arena.words, bytes, place_of(0)))) {
        control->complete = 1;
        wrong = write_control();
    }
    if (!wrong)
        wrong = tracer_output_finish(place_of(0) + (off_t)bytes);
    trace_collect_clear(&folded.collect);
    text_clear(&folded.head);
    return wrong;
}

const struct tracer_form tracer_form_folded = {
    .start = start, .call = add_call, .comm = comm, .flush = flush, .end = end};
