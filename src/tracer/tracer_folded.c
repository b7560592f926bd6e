/* The folded form: records in a mapped file. What is in the mapping belongs to the file whatever becomes of the
 * process: there is nothing to write at its end, and nothing to lose by a kill. */
#include "trace/trace_collect.h"
#include "tracer/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_BYTES = 64 << 10, STEP_BYTES = 1 << 20 };

static struct {
    int fd;
    off_t records; /* where the control block stands; the arena is behind it */
    struct trace_arena arena;
    struct trace_collect collect;
} folded = {.fd = -1};

/* The space must be there before it is mapped: a store to a mapping on a full disk would end the program. */
static bool reserve(off_t offset, off_t bytes)
{
    int code;
    do
        code = posix_fallocate(folded.fd, offset, bytes);
    while (code == EINTR);
    errno = code;
    return code == 0;
}

static bool grow(struct trace_arena *arena, size_t words)
{
    const size_t before = arena->room * sizeof *arena->words;
    const size_t step = before < STEP_BYTES ? before : STEP_BYTES;
    const size_t needed = words * sizeof *arena->words;
    const size_t after = (needed > before + step ? needed + STEP_BYTES : before + step) / FIRST_BYTES * FIRST_BYTES;
    if (!reserve(folded.records + TRACE_RECORD_PAGE + (off_t)before, (off_t)(after - before)))
        return false;
    void *moved = mremap(arena->words, before, after, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED)
        return false;
    arena->words = moved;
    arena->room = after / sizeof *arena->words;
    return true;
}

static bool map_file(void)
{
    const int protection = PROT_READ | PROT_WRITE;
    if (!reserve(0, folded.records + TRACE_RECORD_PAGE + FIRST_BYTES))
        return false;
    void *control = mmap(NULL, TRACE_RECORD_PAGE, protection, MAP_SHARED, folded.fd, folded.records);
    void *words = mmap(NULL, FIRST_BYTES, protection, MAP_SHARED, folded.fd, folded.records + (off_t)TRACE_RECORD_PAGE);
    if (control == MAP_FAILED || words == MAP_FAILED)
        return false;
    folded.arena = (struct trace_arena){
        .words = words, .used = 1, .room = FIRST_BYTES / sizeof(uint64_t), .control = control, .grow = grow};
    folded.arena.control->order = TRACE_RECORD_ORDER;
    return true;
}

static const char *start(int fd, struct text *facts, struct trace_control **ret_control)
{
    struct text head = {0};
    const long page = sysconf(_SC_PAGESIZE) > TRACE_RECORD_PAGE ? sysconf(_SC_PAGESIZE) : TRACE_RECORD_PAGE;
    char number[32];
    folded.fd = fd;
    folded.records = ((off_t)facts->length + 256) / page * page + page;
    if (page != TRACE_RECORD_PAGE)
        return "this machine's pages are not of 4096 bytes: only --full traces are possible";
    snprintf(number, sizeof number, "%lld", (long long)folded.records);
    text_add(&head, TRACE_FIRST_LINE_FOLDED);
    text_append(&head, text_get(facts), facts->length);
    trace_add_fact(&head, "records", number);
    trace_add_end(&head, sizeof TRACE_FIRST_LINE_FOLDED - 1, "head");
    const bool written = !head.failed && write(fd, text_get(&head), head.length) == (ssize_t)head.length;
    const bool failed = head.failed;
    text_clear(&head);
    if (failed)
        return "not enough memory";
    if (!written || !map_file())
        return strerror(errno);
    *ret_control = folded.arena.control;
    return trace_collect_init(&folded.collect, &folded.arena) ? NULL : "not enough memory";
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
    const bool ok = fields ? trace_collect_call(&folded.collect, call, fields) : add_plain(kept, call, constant);
    return ok ? NULL : "no more space or memory for the trace";
}

static const char *flush(void)
{
    return NULL;
}

static const char *end(void)
{
    struct trace_control *control = folded.arena.control;
    const size_t bytes = folded.arena.used * sizeof(uint64_t);
    control->words = folded.arena.used;
    XXH64_state_t hash;
    XXH64_reset(&hash, 0);
    XXH64_update(&hash, folded.arena.words, bytes);
    control->hash = XXH64_digest(&hash);
    control->complete = 1;
    trace_collect_clear(&folded.collect);
    munmap(folded.arena.words, folded.arena.room * sizeof(uint64_t));
    const int code = ftruncate(folded.fd, folded.records + TRACE_RECORD_PAGE + (off_t)bytes);
    const int why = errno;
    close(folded.fd);
    return code == 0 ? NULL : strerror(why);
}

const struct tracer_form tracer_form_folded = {.start = start, .call = add_call, .flush = flush, .end = end};
