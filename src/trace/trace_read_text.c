/* A full trace becomes a tree by the same folding that the tracer does. */
#include "base/checked.h"
#include "trace/trace_build.h"
#include "trace/trace_collect.h"
#include "trace/trace_read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 96 };

struct words {
    char function[WORD_MAX], class[WORD_MAX], who[WORD_MAX], how[WORD_MAX], position[WORD_MAX];
};

struct text_reader {
    struct trace_collect collect;
    int64_t time_ns; /* durations and gaps of all lines */
};

static const char *word(const char *text)
{
    return strcmp(text, "-") == 0 ? NULL : text;
}

/* The columns of a line; -1: they are wrong, else where its fields begin. */
static int scan(const char *line, struct trace_call *call, struct words *words)
{
    int end = -1;
    *call = (struct trace_call){0};
    const int found = sscanf(line,
                             "call %" SCNd64 " %95s %d %95s %95s %95s %95s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                             " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %d%n",
                             &call->sequence, words->function, &call->file, words->class, words->who, words->how,
                             words->position, &call->offset, &call->byte, &call->count, &call->type_bytes, &call->asked,
                             &call->done, &call->begin_ns, &call->end_ns, &call->code, &end);
    call->function = words->function;
    call->kind = (struct trace_kind){word(words->class), word(words->who), word(words->how), word(words->position)};
    return found == 16 && call->kind.class && call->file >= 0 ? end : -1;
}

#define NUMBER_MAX (INT64_C(1) << 53) /* counts */
#define TIME_MAX   (INT64_C(1) << 60) /* ns, all durations together too: sums of times do not overflow */

static bool is_time(int64_t begin_ns, int64_t end_ns)
{
    return begin_ns >= -TIME_MAX && end_ns >= begin_ns && end_ns <= TIME_MAX;
}

/* Adds what passed to the sum of all times; false: it cannot be. */
static bool add_time(struct text_reader *reader, int64_t begin_ns, int64_t end_ns, int64_t gap_ns)
{
    return is_time(begin_ns, end_ns) && gap_ns >= 0 &&
           checked_add(reader->time_ns, end_ns - begin_ns, &reader->time_ns) &&
           checked_add(reader->time_ns, gap_ns, &reader->time_ns) && reader->time_ns <= TIME_MAX;
}

static pl_status wrong(struct trace_read *read, const char *line)
{
    return pl_fail(read->error, PL_E_FORMAT, "it is damaged: '%.60s' is no line of a trace", line);
}

static pl_status add_line(struct trace_read *read, struct text_reader *reader, const char *line)
{
    struct trace_control *control = reader->collect.arena->control;
    struct trace_call call;
    struct words words;
    bool ok = true;
    if (strncmp(line, "call ", 5) == 0) {
        const int fields = scan(line, &call, &words);
        if (fields < 0 || !is_time(call.begin_ns, call.end_ns))
            return wrong(read, line);
        call.gap_ns = trace_control_gap(control, call.begin_ns);
        if (!add_time(reader, call.begin_ns, call.end_ns, call.gap_ns))
            return wrong(read, line);
        control->idle_ns = call.end_ns;
        ok = trace_collect_call(&reader->collect, &call, line + fields);
    } else if (strncmp(line, "comm ", 5) == 0) {
        struct trace_comm comm;
        if (sscanf(line, "comm %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &comm.events,
                   &comm.collectives, &comm.begin_ns, &comm.end_ns, &comm.gap_ns) != 5 ||
            comm.events < 0 || comm.collectives < 0 || comm.events > NUMBER_MAX - control->comm_events ||
            comm.collectives > NUMBER_MAX - control->comm_collectives ||
            !add_time(reader, comm.begin_ns, comm.end_ns, comm.gap_ns))
            return wrong(read, line);
        control->comm_events += comm.events;
        control->comm_collectives += comm.collectives;
        control->comm_gap_ns += comm.gap_ns;
        control->comm_begin_ns = comm.begin_ns;
        control->idle_ns = comm.end_ns;
    }
    return ok ? PL_OK : pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
}

/* The lines from `from` to before `to`, which are whole. */
static pl_status add_piece(struct trace_read *read, struct text_reader *reader, size_t from, size_t to)
{
    struct trace_read piece = *read;
    size_t length;
    const char *line;
    pl_status status = PL_OK;
    piece.at = from;
    piece.length = to;
    while (status == PL_OK && (line = trace_read_line(&piece, &length))) {
        char *copy = strndup(line, length);
        if (!copy)
            return pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
        status = add_line(read, reader, copy);
        free(copy);
    }
    return status;
}

/* Lines behind the last end-calls were lost with the process. */
static pl_status read_pieces(struct trace_read *read, struct text_reader *reader)
{
    size_t from = read->at, length;
    for (;;) {
        const size_t to = read->at;
        const char *line = trace_read_line(read, &length);
        if (!line)
            return PL_OK;
        if (strncmp(line, "end-trace ", 10) == 0)
            reader->collect.arena->control->complete = 1;
        if (strncmp(line, "end-calls ", 10) != 0)
            continue;
        if (!trace_read_is_whole(read, from, to, line))
            return pl_fail(read->error, PL_E_FORMAT, "it is damaged: lines are not what they were");
        const pl_status status = add_piece(read, reader, from, to);
        if (status != PL_OK)
            return status;
        from = read->at;
    }
}

pl_status trace_read_text(struct trace_read *read)
{
    struct trace_arena arena;
    struct text_reader reader = {.time_ns = 0};
    if (!trace_arena_init(&arena))
        return pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
    pl_status status = trace_collect_init(&reader.collect, &arena)
                           ? read_pieces(read, &reader)
                           : pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
    if (status == PL_OK) {
        const struct trace_records records = {arena.words, arena.used, arena.control};
        status = trace_build(&records, read->tree, read->error);
        free(read->tree->bytes); /* the lines: what the tree needs of them is in the arena */
        read->tree->bytes = arena.words;
        arena.words = NULL;
    }
    trace_collect_clear(&reader.collect);
    trace_arena_clear(&arena);
    return status;
}
