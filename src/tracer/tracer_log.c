/* The file DIR/trace.RANK: its head, and who may write to it. The two forms of what follows are tracer_full.c and
 * tracer_folded.c. */
#include "base/text.h"
#include "mpi/job_variables.h"
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
    pthread_mutex_t lock;
    const struct tracer_form *form;
    int64_t zero_ns;
    pid_t process;
} journal = {.lock = PTHREAD_MUTEX_INITIALIZER};

static atomic_bool is_on, is_full, complained;
static _Atomic(struct trace_control *) counters; /* of communication; NULL: off */
static atomic_bool comm_began;                   /* since the last call */

static const char *const WAIT_NAMES[TRACER_WAITS] = {
#define WAIT(name) "MPI_" #name,
#include "tracer/tracer_wait.def"
#undef WAIT
};

static int64_t clock_ns(clockid_t id)
{
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t tracer_log_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC) - journal.zero_ns;
}

bool tracer_log_is_on(void)
{
    return atomic_load_explicit(&is_on, memory_order_relaxed);
}

bool tracer_log_is_full(void)
{
    return atomic_load_explicit(&is_full, memory_order_relaxed);
}

static void switch_off(const char *what)
{
    atomic_store(&is_on, false);
    atomic_store(&counters, NULL);
    if (!atomic_exchange(&complained, true))
        tracer_output_complain(what);
}

/* A child has a copy of all this, and its parent's file: it leaves both alone. */
static void forget_in_child(void)
{
    atomic_store(&is_on, false);
    atomic_store(&counters, NULL);
}

static void log_call(struct tracer_kept *kept, struct trace_call *call, const char *fields, const char *constant)
{
    const int errno_before = errno;
    pthread_mutex_lock(&journal.lock);
    if (tracer_log_is_on()) {
        struct trace_control *control = atomic_load_explicit(&counters, memory_order_relaxed);
        call->gap_ns = trace_control_gap(control, call->begin_ns);
        const char *wrong = journal.form->call(kept, call, fields, constant);
        atomic_store_explicit(&control->idle_ns, call->end_ns, memory_order_relaxed);
        atomic_store_explicit(&comm_began, false, memory_order_relaxed);
        if (wrong)
            switch_off(wrong);
    }
    pthread_mutex_unlock(&journal.lock);
    errno = errno_before;
}

void tracer_log_call(struct tracer_site *site, struct trace_call *call, const char *fields, const char *constant)
{
    call->function = site->function;
    call->kind = site->kind;
    log_call(&site->call, call, fields, constant);
}

void tracer_log_completion(struct tracer_site *site, enum tracer_wait wait, struct trace_call *call)
{
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
    atomic_fetch_add_explicit(&control->comm_gap_ns, trace_control_gap(control, begin_ns), memory_order_relaxed);
    const int64_t now_ns = tracer_log_now_ns();
    atomic_store_explicit(&control->idle_ns, now_ns, memory_order_relaxed);
    atomic_fetch_add_explicit(&control->comm_events, 1, memory_order_relaxed);
    if (is_of_world)
        atomic_fetch_add_explicit(&control->comm_collectives, 1, memory_order_relaxed);
    const char *wrong = journal.form->comm ? journal.form->comm(now_ns) : NULL;
    if (wrong)
        switch_off(wrong);
}

void tracer_log_flush(void)
{
    pthread_mutex_lock(&journal.lock);
    if (tracer_log_is_on()) {
        const char *wrong = journal.form->flush();
        if (wrong)
            switch_off(wrong);
    }
    pthread_mutex_unlock(&journal.lock);
}

/* A handler of a signal may call exit() in the middle of a call that holds the lock: it must not wait for ever. What
 * was traced is there all the same, only without its last line or mark. */
static bool lock_for_end(void)
{
    enum { PATIENCE_NS = 200000000, SECOND_NS = 1000000000 };
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += PATIENCE_NS;
    until.tv_sec += until.tv_nsec / SECOND_NS;
    until.tv_nsec %= SECOND_NS;
    return pthread_mutex_timedlock(&journal.lock, &until) == 0;
}

/* Children that were made without the C library's fork() believe that they trace, and run atexit() too. */
void tracer_log_end(void)
{
    if (getpid() != journal.process || !lock_for_end())
        return;
    if (tracer_log_is_on()) {
        atomic_store(&counters, NULL);
        const char *wrong = journal.form->end();
        if (wrong)
            switch_off(wrong);
        atomic_store(&is_on, false);
    }
    pthread_mutex_unlock(&journal.lock);
}

static void add_fact_int(struct text *head, const char *key, int64_t value)
{
    char number[32];
    snprintf(number, sizeof number, "%" PRId64, value);
    trace_add_fact(head, key, number);
}

static void add_mpi(struct text *head)
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

static void add_facts(struct text *head, int rank)
{
    char host[HOST_NAME_MAX + 1] = "unknown", program[PATH_MAX] = "unknown";
    gethostname(host, sizeof host - 1);
    const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    if (length > 0)
        program[length] = '\0';
    int size;
    real.Comm_size(MPI_COMM_WORLD, &size);
    add_fact_int(head, "rank", rank);
    add_fact_int(head, "size", size);
    trace_add_fact(head, "host", host);
    add_mpi(head);
    trace_add_fact(head, "program", program);
    add_fact_int(head, "pid", getpid());
    journal.zero_ns = clock_ns(CLOCK_MONOTONIC);
    add_fact_int(head, "start_ns", clock_ns(CLOCK_REALTIME));
}

void tracer_log_start(void)
{
    const char *directory = getenv("PIOLET_TRACE_DIR"), *full = getenv("PIOLET_TRACE_FULL");
    struct trace_control *control;
    struct text head = {0};
    int rank;
    if (!directory || !*directory || journal.form)
        return;
    atomic_store(&is_full, full && strcmp(full, "1") == 0);
    journal.form = tracer_log_is_full() ? &tracer_form_full : &tracer_form_folded;
    journal.process = getpid();
    real.Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0)
        job_variables_tell();
    const char *wrong = tracer_output_open(directory, rank);
    if (wrong) {
        switch_off(wrong);
        return;
    }
    add_facts(&head, rank);
    wrong = journal.form->start(&head, &control);
    text_clear(&head);
    if (wrong) {
        switch_off(wrong);
        tracer_output_discard();
        return;
    }
    atomic_store(&counters, control);
    atomic_store(&is_on, true);
    pthread_atfork(NULL, NULL, forget_in_child);
    atexit(tracer_log_end);
}
