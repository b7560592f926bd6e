/* The log of a rank: DIR/trace.RANK, its head, and its full form. The folded form is tracer_folded.c. */
#include "tracer/tracer.h"

#include "base/clock.h"
#include "base/text.h"
#include "mpi/launcher.h"
#include "mpi/real.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- the full form ---- */

/* Every call is a line. Lines are gathered in memory and written in one piece when they are many or when
 * the last piece is old, so that a kill costs little and most calls cost no system call. */

enum { GATHER_BYTES = 256 << 10 };
static const int64_t GATHER_NS = 1000000000;

static struct {
    struct text lines;
    off_t written;
    int64_t written_ns, calls;
    int64_t comm_events, comm_collectives, comm_gap_ns; /* that were told */
    struct trace_control control;
} full;

static const char *full_write_lines(void)
{
    full.written_ns = tracer_log_now_ns();
    const char *wrong = full.lines.failed ? "not enough memory"
                                          : tracer_output_write(text_get(&full.lines), full.lines.length, full.written);
    full.written += (off_t)full.lines.length;
    full.lines.length = 0;
    return wrong;
}

static const char *full_flush(void)
{
    if (full.lines.length == 0 && !full.lines.failed)
        return NULL;
    trace_add_end(&full.lines, 0, "calls");
    return full_write_lines();
}

static const char *full_start(struct text *head, struct trace_control **ret_control)
{
    text_add(&full.lines, TRACE_FIRST_LINE);
    text_append(&full.lines, text_get(head), head->length);
    trace_add_fact(&full.lines, "columns", TRACE_COLUMNS);
    trace_add_end(&full.lines, sizeof TRACE_FIRST_LINE - 1, "head");
    *ret_control = &full.control;
    return full_write_lines();
}

static void full_tell_comm(void)
{
    const int64_t collectives = atomic_load(&full.control.comm_collectives);
    const int64_t events = atomic_load(&full.control.comm_events), gap_ns = atomic_load(&full.control.comm_gap_ns);
    if (events == full.comm_events)
        return;
    assert(events > full.comm_events);
    const struct trace_comm comm = {.events = events - full.comm_events,
                                    .collectives = collectives - full.comm_collectives,
                                    .begin_ns = full.control.comm_begin_ns,
                                    .end_ns = full.control.idle_ns,
                                    .gap_ns = gap_ns - full.comm_gap_ns};
    trace_add_comm(&full.lines, &comm);
    full.comm_events = events;
    full.comm_collectives = collectives;
    full.comm_gap_ns = gap_ns;
}

static const char *full_add_call(struct tracer_kept *kept, const struct trace_call *call, const char *fields,
                                 const char *constant)
{
    (void)kept;
    struct trace_call numbered = *call;
    numbered.sequence = full.calls++;
    full_tell_comm();
    struct text all = {0};
    text_add(&all, fields ? fields : constant ? constant : "");
    if (call->fresh > 0)
        trace_add_field_int(&all, "fresh", call->fresh);
    trace_add_call(&full.lines, &numbered, text_get(&all));
    full.lines.failed |= all.failed;
    text_clear(&all);
    if (full.lines.length < GATHER_BYTES && !full.lines.failed && tracer_log_now_ns() - full.written_ns <= GATHER_NS)
        return NULL;
    return full_flush();
}

static const char *full_end(void)
{
    full_tell_comm();
    const char *wrong = full_flush();
    if (!wrong) {
        text_format(&full.lines, "end-trace %" PRId64 "\n", full.calls);
        wrong = full_write_lines();
    }
    if (!wrong)
        wrong = tracer_output_finish(full.written);
    text_clear(&full.lines);
    return wrong;
}

const struct tracer_form tracer_form_full = {
    .start = full_start, .call = full_add_call, .flush = full_flush, .end = full_end};

/* ---- the log: the head of DIR/trace.RANK, and who may write to it ---- */

static struct {
    const struct tracer_form *form;
    int64_t zero_ns;
    pid_t process;
    atomic_bool locked;
} journal;

/* A lock that costs one atomic operation where nobody else has it: threads that call MPI-IO at once are rare. */
static bool log_try_lock(void)
{
    return !atomic_exchange_explicit(&journal.locked, true, memory_order_acquire);
}

static void log_nap(void)
{
    const struct timespec nap = {.tv_nsec = 20000};
    nanosleep(&nap, NULL);
}

static void log_lock(void)
{
    enum { YIELDS = 100 };
    for (int i = 0; !log_try_lock(); i++)
        if (i < YIELDS)
            sched_yield();
        else
            log_nap(); /* whoever holds it may need this processor, whatever the priorities */
}

static void log_unlock(void)
{
    atomic_store_explicit(&journal.locked, false, memory_order_release);
}

static atomic_bool is_on, is_full, complained;
static _Atomic(struct trace_control *) counters; /* of communication; NULL: off */
static atomic_bool comm_began;                   /* since the last call */

static const char *const WAIT_NAMES[TRACER_WAITS] = {
#define WAIT(name) "MPI_" #name,
#include "tracer/tracer_wait.def"
#undef WAIT
};

/* clock_gettime() costs 20 ns, twice a call, and more behind a call that did something, since it waits for all that
 * came before. Where the system's own clock is the processor's counter, that is read instead, and the clock every
 * 100 µs: an error of the factor between both comes to some nanoseconds in that time. */

static const int64_t TICK_LEARN_NS = 1000000, TICK_TRUST_NS = 100000;
static const double TICK_UNIT = 4294967296.0; /* of a factor: nanoseconds of a tick, times 2^32 */

static struct {
    bool usable;
    uint64_t first; /* when the trace began */
} ticks;

/* What the clock told last. */
static _Thread_local struct {
    uint64_t ticks, most; /* so many ticks behind it, the clock is asked again; 0: always */
    int64_t ns;
    uint64_t factor;
} told;

static inline uint64_t log_ticks(void)
{
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
}

static void log_find_ticks(void)
{
    FILE *source = fopen("/sys/devices/system/clocksource/clocksource0/current_clocksource", "re");
    char name[16] = "";
    ticks.usable = source && fgets(name, sizeof name, source) && strcmp(name, "tsc\n") == 0 && log_ticks() > 0;
    if (source)
        fclose(source);
}

static __attribute__((noinline)) int64_t log_ask_clock(void)
{
    enum { AT_ONCE = 1000 }; /* ticks: nothing came between the two clocks */
    const uint64_t before = log_ticks(), passed = before - told.ticks;
    int64_t ns = clock_read_ns(CLOCK_MONOTONIC) - journal.zero_ns;
    const bool at_once = log_ticks() - before <= AT_ONCE;
    if (passed < 4 * told.most && ns < told.ns + (int64_t)(passed * told.factor >> 32))
        ns = told.ns + (int64_t)(passed * told.factor >> 32); /* time never goes back */
    if (!ticks.usable || !at_once || ns < TICK_LEARN_NS || before <= ticks.first)
        return ns;
    const double tick_ns = (double)ns / (double)(before - ticks.first);
    told.ticks = before;
    told.ns = ns;
    told.factor = (uint64_t)(tick_ns * TICK_UNIT);
    told.most = (uint64_t)((double)TICK_TRUST_NS / tick_ns);
    return ns;
}

int64_t tracer_log_now_ns(void)
{
    const uint64_t passed = log_ticks() - told.ticks;
    return passed < told.most ? told.ns + (int64_t)(passed * told.factor >> 32) : log_ask_clock();
}

/* ---- computing ---- */

/* Between two calls a rank may have to wait for a processor, where ranks or jobs are more than there are of them. That
 * is no computing: a replay has to wait in its turn. Time that passed without use of a processor, and without a sleep
 * of the program's own, is taken off. The kernel is asked at most twice for each LONG_NS. Threads that call at once
 * make this less exact, not wrong: no more is taken off than passed. */
enum { LONG_NS = 50000 };

static struct {
    _Atomic int64_t wall_ns, used_ns, sleeps; /* when the kernel was asked last, and what it said */
    _Atomic int64_t lost_ns;                  /* since the last call or communication */
} computing;

static void computing_look(int64_t now_ns, int64_t idle_ns)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0)
        return;
    const int64_t used_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * INT64_C(1000000000) +
                            (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * INT64_C(1000);
    const int64_t before_ns = atomic_exchange_explicit(&computing.wall_ns, now_ns, memory_order_relaxed);
    const int64_t more_ns = used_ns - atomic_exchange_explicit(&computing.used_ns, used_ns, memory_order_relaxed);
    const bool slept = atomic_exchange_explicit(&computing.sleeps, usage.ru_nvcsw, memory_order_relaxed) !=
                       usage.ru_nvcsw;
    const int64_t passed_ns = now_ns - (before_ns > idle_ns ? before_ns : idle_ns);
    if (before_ns > 0 && !slept && passed_ns > more_ns)
        atomic_fetch_add_explicit(&computing.lost_ns, passed_ns - more_ns, memory_order_relaxed);
}

int64_t tracer_log_begin_ns(void)
{
    const int64_t now_ns = tracer_log_now_ns();
    const struct trace_control *control = atomic_load_explicit(&counters, memory_order_relaxed);
    const int64_t idle_ns = control ? atomic_load_explicit(&control->idle_ns, memory_order_relaxed) : now_ns;
    if (now_ns - idle_ns >= LONG_NS)
        computing_look(now_ns, idle_ns);
    return now_ns;
}

static int64_t computing_gap(const struct trace_control *control, int64_t begin_ns)
{
    const int64_t lost_ns = atomic_exchange_explicit(&computing.lost_ns, 0, memory_order_relaxed);
    const int64_t gap_ns = trace_control_gap(control, begin_ns);
    return gap_ns > lost_ns ? gap_ns - lost_ns : 0;
}

/* From now on the program computes. */
static void computing_begin(struct trace_control *control, int64_t now_ns)
{
    if (now_ns - atomic_load_explicit(&computing.wall_ns, memory_order_relaxed) >= LONG_NS)
        computing_look(now_ns, now_ns);
    atomic_store_explicit(&control->idle_ns, now_ns, memory_order_relaxed);
}

/* ---- calls ---- */

bool tracer_log_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

bool tracer_log_is_full(void)
{
    return atomic_load_explicit(&is_full, memory_order_relaxed);
}

static void log_switch_off(const char *what)
{
    atomic_store(&is_on, false);
    atomic_store(&counters, NULL);
    if (!atomic_exchange(&complained, true))
        tracer_output_complain(what);
}

/* A child has a copy of all this, and its parent's file: it leaves both alone. */
static void log_forget_in_child(void)
{
    atomic_store(&is_on, false);
    atomic_store(&counters, NULL);
}

/* The last call of this thread, where it was a close. */
static _Thread_local struct {
    char name[PATH_MAX];
    int file; /* 0: it was none */
} closed;

void tracer_log_closing(const char *name)
{
    snprintf(closed.name, sizeof closed.name, "%s", name ? name : "");
}

/* A file that goes while others have it open is freed by the one that closes last. */
static void log_note_unlink(const char *path)
{
    const int errno_before = errno;
    const int file = closed.file;
    if (file == 0 || !tracer_log_is_on() || atomic_load_explicit(&comm_began, memory_order_relaxed) ||
        strcmp(path, closed.name) != 0)
        return;
    log_lock();
    struct trace_control *control = atomic_load_explicit(&counters, memory_order_relaxed);
    if (tracer_log_is_on() && control && file <= 64) {
        control->unlinked |= UINT64_C(1) << (file - 1);
        if (tracer_log_is_full())
            text_format(&full.lines, "unlink %d\n", file);
    }
    log_unlock();
    errno = errno_before;
}

static int log_remove(int (**behind)(const char *), const char *function, const char *path)
{
    if (!*behind)
        *(void **)behind = dlsym(RTLD_NEXT, function);
    const bool own = guard_enter(); /* and not that of MPI_File_delete */
    const int code = (*behind)(path);
    if (code == 0 && own)
        log_note_unlink(path);
    guard_leave();
    return code;
}

TRACER_EXPORT int unlink(const char *path)
{
    static int (*behind)(const char *);
    return log_remove(&behind, "unlink", path);
}

TRACER_EXPORT int remove(const char *path)
{
    static int (*behind)(const char *);
    return log_remove(&behind, "remove", path);
}

static void log_call(struct tracer_kept *kept, struct trace_call *call, const char *fields, const char *constant)
{
    const int errno_before = errno;
    log_lock();
    /* Another thread may switch it off at any moment. */
    struct trace_control *control = atomic_load_explicit(&counters, memory_order_relaxed);
    if (tracer_log_is_on() && control) {
        assert(journal.form);
        call->gap_ns = computing_gap(control, call->begin_ns);
        if (call->fresh > 0)
            trace_control_add_fresh(control, call->file - 1, strcmp(call->kind.class, "write") == 0, call->fresh);
        const char *wrong = journal.form->call(kept, call, fields, constant);
        computing_begin(control, call->end_ns);
        atomic_store_explicit(&comm_began, false, memory_order_relaxed);
        closed.file = strcmp(call->kind.class, "close") == 0 ? call->file : 0;
        if (wrong)
            log_switch_off(wrong);
    }
    log_unlock();
    errno = errno_before;
}

/* Most calls: nothing but stores to memory, so that errno stays. */
static inline bool log_call_quick(const struct tracer_kept *kept, struct trace_call *call, const char *constant)
{
    if (tracer_log_is_full() || call->fresh > 0 || !log_try_lock())
        return false;
    struct trace_control *control = atomic_load_explicit(&counters, memory_order_relaxed);
    bool added = false;
    if (tracer_log_is_on() && control) {
        call->gap_ns = trace_control_gap(control, call->begin_ns);
        added = tracer_folded_call_quick(kept, call, constant);
    }
    if (added) {
        atomic_store_explicit(&control->idle_ns, call->end_ns, memory_order_relaxed);
        atomic_store_explicit(&comm_began, false, memory_order_relaxed);
    }
    log_unlock();
    return added;
}

void tracer_log_call(struct tracer_site *site, struct trace_call *call, const char *fields, const char *constant)
{
    if (!fields && log_call_quick(&site->call, call, constant))
        return;
    call->function = site->function;
    call->kind = site->kind;
    log_call(&site->call, call, fields, constant);
}

void tracer_log_completion(struct tracer_site *site, enum tracer_wait wait, struct trace_call *call)
{
    assert(wait < TRACER_WAITS);
    if (log_call_quick(&site->completion[wait], call, NULL))
        return;
    call->function = WAIT_NAMES[wait];
    call->kind = site->kind;
    call->kind.how = "end";
    log_call(&site->completion[wait], call, NULL, NULL);
}

void tracer_log_comm(int64_t begin_ns, bool is_of_world)
{
    struct trace_control *control = atomic_load_explicit(&counters, memory_order_relaxed);
    if (!control)
        return;
    if (!atomic_load_explicit(&comm_began, memory_order_relaxed)) {
        atomic_store_explicit(&control->comm_begin_ns, begin_ns, memory_order_relaxed);
        atomic_store_explicit(&comm_began, true, memory_order_relaxed);
    }
    atomic_fetch_add_explicit(&control->comm_gap_ns, computing_gap(control, begin_ns), memory_order_relaxed);
    const int64_t now_ns = tracer_log_now_ns();
    computing_begin(control, now_ns);
    atomic_fetch_add_explicit(&control->comm_events, 1, memory_order_relaxed);
    if (is_of_world)
        atomic_fetch_add_explicit(&control->comm_collectives, 1, memory_order_relaxed);
    const char *wrong = journal.form->comm ? journal.form->comm(now_ns) : NULL;
    if (wrong)
        log_switch_off(wrong);
}

void tracer_log_flush(void)
{
    log_lock();
    if (tracer_log_is_on()) {
        const char *wrong = journal.form->flush();
        if (wrong)
            log_switch_off(wrong);
    }
    log_unlock();
}

/* A handler of a signal may call exit() in the middle of a call that holds the lock: it must not wait for ever. What
 * was traced is there all the same, only without its last line or mark. */
static bool log_lock_for_end(void)
{
    const int64_t until_ns = clock_read_ns(CLOCK_MONOTONIC) + 200000000;
    while (!log_try_lock()) {
        if (clock_read_ns(CLOCK_MONOTONIC) > until_ns)
            return false;
        log_nap();
    }
    return true;
}

/* Children that were made without the C library's fork() believe that they trace, and run atexit() too. */
void tracer_log_end(void)
{
    if (getpid() != journal.process || !log_lock_for_end())
        return;
    if (tracer_log_is_on()) {
        atomic_store(&counters, NULL);
        const char *wrong = journal.form->end();
        if (wrong)
            log_switch_off(wrong);
        atomic_store(&is_on, false);
    }
    log_unlock();
}

static void log_add_fact_int(struct text *head, const char *key, int64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, value);
    trace_add_fact(head, key, number);
}

static void log_add_mpi(struct text *head)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING] = "", value[MPI_MAX_LIBRARY_VERSION_STRING + 16];
    int length;
    tracer_real()->Get_library_version(library, &length);
    library[strcspn(library, "\n")] = '\0';
    for (char *c = library; *c; c++) /* MPICH has tabs in it */
        if (*c == '\t')
            *c = ' ';
    snprintf(value, sizeof value, "%s %s", PIOLET_MPI_NAME, library);
    trace_add_fact(head, "mpi", value);
    const char *engine = dlsym(RTLD_DEFAULT, "piolet_mpiio_version");
    snprintf(value, sizeof value, engine ? "piolet %.200s" : "system", engine);
    trace_add_fact(head, "mpiio", value);
}

static void log_add_facts(struct text *head, int rank)
{
    char host[HOST_NAME_MAX + 1] = "unknown", program[PATH_MAX] = "unknown";
    gethostname(host, sizeof host - 1);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0)
        program[length] = '\0';
    int size;
    real.Comm_size(MPI_COMM_WORLD, &size);
    log_add_fact_int(head, "rank", rank);
    log_add_fact_int(head, "size", size);
    trace_add_fact(head, "host", host);
    log_add_mpi(head);
    trace_add_fact(head, "program", program);
    log_add_fact_int(head, "pid", getpid());
    log_find_ticks();
    journal.zero_ns = clock_read_ns(CLOCK_MONOTONIC);
    ticks.first = log_ticks();
    log_add_fact_int(head, "start_ns", clock_read_ns(CLOCK_REALTIME));
}

void tracer_log_start(void)
{
    const char *directory = getenv("PIOLET_TRACE_DIR"), *every = getenv("PIOLET_TRACE_FULL");
    struct trace_control *control;
    struct text head = {0};
    int rank;
    if (!directory || !*directory || journal.form)
        return;
    atomic_store(&is_full, every && strcmp(every, "1") == 0);
    journal.form = tracer_log_is_full() ? &tracer_form_full : &tracer_form_folded;
    journal.process = getpid();
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        job_variables_tell();
    const char *wrong = tracer_output_open(directory, rank);
    if (wrong) {
        log_switch_off(wrong);
        return;
    }
    log_add_facts(&head, rank);
    wrong = journal.form->start(&head, &control);
    text_clear(&head);
    if (wrong) {
        log_switch_off(wrong);
        tracer_output_discard();
        return;
    }
    atomic_store(&counters, control);
    atomic_store(&is_on, true);
    pthread_atfork(NULL, NULL, log_forget_in_child);
    atexit(tracer_log_end);
}
