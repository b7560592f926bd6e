/* The full form: every call as a line. Lines are gathered in memory and written in one piece when they are many or when
 * the last piece is old, so that a kill costs little and most calls cost no system call. */
#include "tracer/tracer.h"

#include <inttypes.h>

enum { GATHER_BYTES = 256 << 10 };
static const int64_t GATHER_NS = 1000000000;

static struct {
    struct text lines;
    off_t written;
    int64_t written_ns, calls;
    int64_t comm_events, comm_collectives, comm_gap_ns; /* that were told */
    struct trace_control control;
} full;

static const char *write_lines(void)
{
    full.written_ns = tracer_log_now_ns();
    const char *wrong = full.lines.failed ? "not enough memory"
                                          : tracer_output_write(text_get(&full.lines), full.lines.length, full.written);
    full.written += (off_t)full.lines.length;
    full.lines.length = 0;
    return wrong;
}

static const char *flush(void)
{
    if (full.lines.length == 0 && !full.lines.failed)
        return NULL;
    trace_add_end(&full.lines, 0, "calls");
    return write_lines();
}

static const char *start(struct text *head, struct trace_control **ret_control)
{
    text_add(&full.lines, TRACE_FIRST_LINE);
    text_append(&full.lines, text_get(head), head->length);
    trace_add_fact(&full.lines, "columns", TRACE_COLUMNS);
    trace_add_end(&full.lines, sizeof TRACE_FIRST_LINE - 1, "head");
    *ret_control = &full.control;
    return write_lines();
}

static void tell_comm(void)
{
    const int64_t collectives = atomic_load(&full.control.comm_collectives);
    const int64_t events = atomic_load(&full.control.comm_events), gap_ns = atomic_load(&full.control.comm_gap_ns);
    if (events == full.comm_events)
        return;
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

static const char *add_call(struct tracer_kept *kept, const struct trace_call *call, const char *fields,
                            const char *constant)
{
    (void)kept;
    struct trace_call numbered = *call;
    numbered.sequence = full.calls++;
    tell_comm();
    trace_add_call(&full.lines, &numbered, fields ? fields : constant ? constant : "");
    if (full.lines.length < GATHER_BYTES && !full.lines.failed && tracer_log_now_ns() - full.written_ns <= GATHER_NS)
        return NULL;
    return flush();
}

static const char *end(void)
{
    tell_comm();
    const char *wrong = flush();
    if (!wrong) {
        text_format(&full.lines, "end-trace %" PRId64 "\n", full.calls);
        wrong = write_lines();
    }
    if (!wrong)
        wrong = tracer_output_finish(full.written);
    text_clear(&full.lines);
    return wrong;
}

const struct tracer_form tracer_form_full = {.start = start, .call = add_call, .flush = flush, .end = end};
