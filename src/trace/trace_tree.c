/* A tree: its memory, reading it from DIR/trace.RANK of either form, and walking it call by call. */
#include "trace/trace_tree.h"

#include "base/array.h"
#include "base/checked.h"
#include "base/checksum.h"
#include "base/output.h"
#include "base/text.h"
#include "trace/trace_collect.h"
#include "trace/trace_format.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A trace file in memory, behind its head. */
struct trace_read {
    const char *bytes;
    size_t length;
    size_t at;      /* behind the head */
    size_t records; /* of a folded one: where they begin */
    struct trace_tree *tree;
    struct pl_error *error;
};

/* ---- memory of a tree ---- */

enum { BLOCK_BYTES = 64 << 10 };

struct block {
    struct block *next;
    size_t used, room;
    max_align_t data[];
};

void *trace_build_memory(struct trace_tree *tree, size_t count, size_t bytes)
{
    struct block *block = tree->owner;
    size_t needed;
    if (__builtin_mul_overflow(count, bytes, &needed) || needed > SIZE_MAX / 2)
        return NULL;
    needed = (needed + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t);
    if (!block || block->room - block->used < needed) {
        const size_t room = needed > BLOCK_BYTES ? needed : BLOCK_BYTES;
        if (!(block = calloc(1, sizeof *block + room)))
            return NULL;
        block->room = room;
        block->next = tree->owner;
        tree->owner = block;
    }
    assert(block->used <= block->room && needed <= block->room - block->used);
    void *memory = (char *)block->data + block->used;
    block->used += needed;
    return memory;
}

static char *trace_build_text(struct trace_tree *tree, const char *text, size_t length)
{
    char *copy = trace_build_memory(tree, length + 1, 1);
    if (copy)
        memcpy(copy, text, length);
    return copy;
}

void trace_tree_clear(struct trace_tree *tree)
{
    for (struct block *block = tree->owner, *next; block; block = next) {
        next = block->next;
        free(block);
    }
    free(tree->bytes);
    *tree = (struct trace_tree){0};
}

/* The next line from `at` on, without its end; NULL: no whole line is left. */
static const char *trace_read_line(struct trace_read *read, size_t *ret_length)
{
    assert(read->at <= read->length);
    const char *line = read->bytes + read->at;
    const char *end = read->at < read->length ? memchr(line, '\n', read->length - read->at) : NULL;
    if (!end)
        return NULL;
    *ret_length = (size_t)(end - line);
    read->at += *ret_length + 1;
    return line;
}

/* Whether the lines from `from` to before `to` are what an end-… line says of them. */
static bool trace_read_is_whole(const struct trace_read *read, size_t from, size_t to, const char *end_line)
{
    assert(from <= to && to <= read->length);
    int64_t lines, count = 0;
    uint64_t hash;
    char line[64] = ""; /* what is scanned must end */
    memccpy(line, end_line, '\n', sizeof line - 1);
    if (sscanf(line, "end-%*[a-z] %" SCNd64 " %" SCNx64, &lines, &hash) != 2)
        return false;
    for (size_t i = from; i < to; i++)
        count += read->bytes[i] == '\n';
    return checksum_agrees(lines == count && XXH64(read->bytes + from, to - from, 0) == hash);
}

/* ---- the full form ---- */

/* A full trace becomes a tree by the same folding that the tracer does. */

enum { WORD_MAX = 96 };

struct words {
    char function[WORD_MAX], class[WORD_MAX], who[WORD_MAX], how[WORD_MAX], position[WORD_MAX];
};

struct text_reader {
    struct trace_collect collect;
    int64_t time_ns; /* durations and gaps of all lines */
    struct trace_stamp *stamps;
    size_t stamp_count, stamp_room;
};

static const char *trace_text_word(const char *text)
{
    return strcmp(text, "-") == 0 ? NULL : text;
}

/* The columns of a line; -1: they are wrong, else where its fields begin. */
static int trace_text_scan(const char *line, struct trace_call *call, struct words *words)
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
    call->kind = (struct trace_kind){trace_text_word(words->class), trace_text_word(words->who),
                                     trace_text_word(words->how), trace_text_word(words->position)};
    return found == 16 && call->kind.class && call->file >= 0 ? end : -1;
}

#define NUMBER_MAX (INT64_C(1) << 53) /* counts */
#define TIME_MAX   (INT64_C(1) << 60) /* ns, all durations together too: sums of times do not overflow */

static bool trace_text_is_time(int64_t begin_ns, int64_t end_ns)
{
    return begin_ns >= -TIME_MAX && end_ns >= begin_ns && end_ns <= TIME_MAX;
}

/* Adds what passed to the sum of all times; false: it cannot be. */
static bool trace_text_add_time(struct text_reader *reader, int64_t begin_ns, int64_t end_ns, int64_t gap_ns)
{
    return trace_text_is_time(begin_ns, end_ns) && gap_ns >= 0 &&
           checked_add(reader->time_ns, end_ns - begin_ns, &reader->time_ns) &&
           checked_add(reader->time_ns, gap_ns, &reader->time_ns) && reader->time_ns <= TIME_MAX;
}

static pl_status trace_text_wrong(struct trace_read *read, const char *line)
{
    return pl_fail(read->error, PL_E_FORMAT, "it is damaged: '%.60s' is no line of a trace", line);
}

static pl_status trace_text_add_line(struct trace_read *read, struct text_reader *reader, const char *line)
{
    struct trace_control *control = reader->collect.arena->control;
    struct trace_call call;
    struct words words;
    bool ok = true;
    if (strncmp(line, "call ", 5) == 0) {
        const int fields = trace_text_scan(line, &call, &words);
        if (fields < 0 || !trace_text_is_time(call.begin_ns, call.end_ns))
            return trace_text_wrong(read, line);
        call.gap_ns = trace_control_gap(control, call.begin_ns);
        if (!trace_text_add_time(reader, call.begin_ns, call.end_ns, call.gap_ns))
            return trace_text_wrong(read, line);
        control->idle_ns = call.end_ns;
        ok = ARRAY_ROOM(reader->stamps, reader->stamp_count, reader->stamp_room, 256) &&
             trace_collect_call(&reader->collect, &call, line + fields);
        if (ok)
            reader->stamps[reader->stamp_count++] = (struct trace_stamp){call.begin_ns, call.end_ns};
    } else if (strncmp(line, "unlink ", 7) == 0) {
        int file;
        if (sscanf(line, "unlink %d", &file) != 1 || file < 1)
            return trace_text_wrong(read, line);
        control->unlinked |= file <= 64 ? UINT64_C(1) << (file - 1) : 0;
    } else if (strncmp(line, "comm ", 5) == 0) {
        struct trace_comm comm;
        if (sscanf(line, "comm %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64, &comm.events,
                   &comm.collectives, &comm.begin_ns, &comm.end_ns, &comm.gap_ns) != 5 ||
            comm.events < 0 || comm.collectives < 0 || comm.events > NUMBER_MAX - control->comm_events ||
            comm.collectives > NUMBER_MAX - control->comm_collectives ||
            !trace_text_add_time(reader, comm.begin_ns, comm.end_ns, comm.gap_ns))
            return trace_text_wrong(read, line);
        control->comm_events += comm.events;
        control->comm_collectives += comm.collectives;
        control->comm_gap_ns += comm.gap_ns;
        control->comm_begin_ns = comm.begin_ns;
        control->idle_ns = comm.end_ns;
    }
    return ok ? PL_OK : pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
}

/* The lines from `from` to before `to`, which are whole. */
static pl_status trace_text_add_piece(struct trace_read *read, struct text_reader *reader, size_t from, size_t to)
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
        status = trace_text_add_line(read, reader, copy);
        free(copy);
    }
    return status;
}

/* Lines behind the last end-calls were lost with the process. */
static pl_status trace_text_read_pieces(struct trace_read *read, struct text_reader *reader)
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
        const pl_status status = trace_text_add_piece(read, reader, from, to);
        if (status != PL_OK)
            return status;
        from = read->at;
    }
}

static pl_status trace_read_text(struct trace_read *read)
{
    struct trace_arena arena;
    struct text_reader reader = {.time_ns = 0};
    if (!trace_arena_init(&arena))
        return pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
    pl_status status = trace_collect_init(&reader.collect, &arena)
                           ? trace_text_read_pieces(read, &reader)
                           : pl_fail(read->error, PL_E_NOMEM, "not enough memory for the trace");
    if (status == PL_OK) {
        const struct trace_records records = {arena.words, arena.used, arena.control};
        status = trace_build(&records, read->tree, read->error);
        struct trace_stamp *stamps = status == PL_OK
                                         ? trace_build_memory(read->tree, reader.stamp_count + 1, sizeof *stamps)
                                         : NULL;
        if (stamps && reader.stamp_count) /* without memory for them, times are interpolated */
            memcpy(stamps, reader.stamps, reader.stamp_count * sizeof *stamps);
        assert(status != PL_OK || read->tree->calls == (int64_t)reader.stamp_count);
        read->tree->stamps = stamps;
        free(read->tree->bytes); /* the lines: what the tree needs of them is in the arena */
        read->tree->bytes = arena.words;
        arena.words = NULL;
    }
    free(reader.stamps);
    trace_collect_clear(&reader.collect);
    trace_arena_clear(&arena);
    return status;
}

/* ---- either form ---- */

/* Reads DIR/trace.RANK, of either form. */

static pl_status trace_read_damaged(struct trace_read *read, const char *what)
{
    return pl_fail(read->error, PL_E_FORMAT, "it is damaged: %s", what);
}

/* "key value"; what is not known is passed over. */
static bool trace_read_note_fact(struct trace_read *read, const char *line, size_t length)
{
    const char *blank = memchr(line, ' ', length);
    const size_t key = blank ? (size_t)(blank - line) : length;
    char *value = trace_build_text(read->tree, blank ? blank + 1 : "", blank ? length - key - 1 : 0);
    if (!value || !text_unescape(value))
        return false;
    const struct {
        const char *key, **text;
        int *number;
    } facts[] = {
        {"rank", NULL, &read->tree->rank}, {"size", NULL, &read->tree->size},   {"host", &read->tree->host, NULL},
        {"mpi", &read->tree->mpi, NULL},   {"mpiio", &read->tree->mpiio, NULL}, {"program", &read->tree->program, NULL},
    };
    for (size_t i = 0; i < sizeof facts / sizeof facts[0]; i++) {
        if (strlen(facts[i].key) != key || memcmp(facts[i].key, line, key) != 0)
            continue;
        if (facts[i].text)
            *facts[i].text = value;
        else
            *facts[i].number = (int)strtol(value, NULL, 10);
    }
    if (key == strlen("records") && memcmp(line, "records", key) == 0)
        read->records = strtoull(value, NULL, 10);
    return true;
}

static pl_status trace_read_head(struct trace_read *read)
{
    const size_t from = read->at;
    size_t length, to;
    const char *line;
    for (;;) {
        to = read->at;
        line = trace_read_line(read, &length);
        if (!line)
            return trace_read_damaged(read, "its head has no end");
        if (length > 9 && memcmp(line, "end-head ", 9) == 0)
            break;
        if (!trace_read_note_fact(read, line, length))
            return trace_read_damaged(read, "its head");
    }
    return trace_read_is_whole(read, from, to, line) ? PL_OK : trace_read_damaged(read, "its head is not what it was");
}

static pl_status trace_read_folded(struct trace_read *read)
{
    struct trace_control control;
    const size_t begin = read->records + TRACE_RECORD_PAGE;
    if (read->records == 0 || read->records % TRACE_RECORD_PAGE || read->records > read->length ||
        read->length - read->records < TRACE_RECORD_PAGE)
        return trace_read_damaged(read, "it ends before its records");
    memcpy(&control, read->bytes + read->records, sizeof control);
    if (control.order != TRACE_RECORD_ORDER)
        return trace_read_damaged(read, "its records are not of this kind of machine, or were never begun");
    struct trace_records records = {.words = (const uint64_t *)(const void *)(read->bytes + begin),
                                    .count = (read->length - begin) / 8,
                                    .control = &control};
    if (control.complete) {
        if (control.words > records.count)
            return trace_read_damaged(read, "it is shorter than it was");
        records.count = control.words;
        if (!checksum_agrees(XXH64(records.words, records.count * 8, 0) == control.hash))
            return trace_read_damaged(read, "its records are not what they were");
    }
    return trace_build(&records, read->tree, read->error);
}

static pl_status trace_read_bytes(struct trace_read *read)
{
    size_t length;
    const char *line = trace_read_line(read, &length);
    static const char name[] = "piolet-trace ";
    if (!line || length < sizeof name || memcmp(line, name, sizeof name - 1) != 0)
        return pl_fail(read->error, PL_E_FORMAT, "it is no trace: its first line is not 'piolet-trace VERSION'");
    const char *version = line + sizeof name - 1;
    const bool is_text = version[0] == '3' && version[1] == '\n',
               is_folded = (version[0] == '4' || version[0] == '5') && version[1] == '\n';
    if (!is_text && !is_folded)
        return pl_fail(read->error, PL_E_FORMAT,
                       "it has version %.*s; this piolet reads 3 (full), 4 and 5 (folded): trace anew",
                       (int)(length - (sizeof name - 1)), version);
    const pl_status status = trace_read_head(read);
    if (status != PL_OK)
        return status;
    return is_text ? trace_read_text(read) : trace_read_folded(read);
}

/* Its bytes in memory, and a zero behind them; else 0 < errno. Not mapped: a file that is cut meanwhile is a damaged
 * one, not the end of this process. A FIFO must not make us wait. */
static int trace_read_file(const char *path, void **ret_bytes, size_t *ret_length)
{
    struct stat state = {0};
    size_t length = 0;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int why = fd < 0 || fstat(fd, &state) != 0 ? errno : 0;
    if (!why && !S_ISREG(state.st_mode))
        why = S_ISDIR(state.st_mode) ? EISDIR : EINVAL;
    char *bytes = why ? NULL : malloc((size_t)state.st_size + 1);
    if (!why && !bytes)
        why = ENOMEM;
    while (!why && length < (size_t)state.st_size) {
        const ssize_t got = read(fd, bytes + length, (size_t)state.st_size - length);
        if (got == 0)
            break;
        if (got > 0)
            length += (size_t)got;
        else if (errno != EINTR)
            why = errno;
    }
    if (fd >= 0)
        close(fd);
    if (why) {
        free(bytes);
        return why;
    }
    bytes[length] = '\0';
    *ret_bytes = bytes;
    *ret_length = length;
    return 0;
}

pl_status trace_tree_read(const char *directory, int rank, struct trace_tree *ret_tree, struct pl_error *error)
{
    char path[PATH_MAX];
    *ret_tree = (struct trace_tree){0};
    if (snprintf(path, sizeof path, "%s/trace.%d", directory, rank) >= (int)sizeof path)
        return pl_fail_errno(error, ENAMETOOLONG, "'%s'", directory);
    size_t length = 0;
    output_reads(path);
    const int why = trace_read_file(path, &ret_tree->bytes, &length);
    if (why)
        return pl_fail_errno(error, why, "cannot read '%s', the trace of rank %d", path, rank);
    struct trace_read read = {.bytes = ret_tree->bytes, .length = length, .tree = ret_tree, .error = error};
    const pl_status status = trace_read_bytes(&read);
    if (status != PL_OK) {
        trace_tree_clear(ret_tree);
        return pl_within(error, "'%s'", path);
    }
    return PL_OK;
}

/* ---- every call of a tree ---- */

void trace_expand_init(struct trace_expand *expand, const struct trace_tree *tree)
{
    expand->depth = 0;
    expand->levels[0] = (struct trace_expand_level){.nodes = tree->nodes, .count = tree->node_count, .turns = 1};
}

/* Which of the calls of a node this is. */
static int64_t expand_index_of(const struct trace_expand *expand)
{
    int64_t index = 0;
    for (int i = 1; i <= expand->depth; i++)
        index = index * expand->levels[i].turns + expand->levels[i].turn;
    return index;
}

static int64_t expand_offset_of(const struct trace_expand *expand, const struct trace_node *node)
{
    int64_t offset = node->offset;
    if (node->offsets) {
        assert(expand_index_of(expand) < node->times.count);
        return node->offsets[expand_index_of(expand)];
    }
    for (int i = 0; i < expand->depth; i++)
        offset = (int64_t)((uint64_t)offset +
                           (uint64_t)node->stride[i] * (uint64_t)expand->levels[expand->depth - i].turn);
    return offset;
}

static double expand_duration_of(const struct trace_expand *expand, const struct trace_node *node)
{
    const struct trace_times *times = &node->times;
    const int64_t index = expand_index_of(expand);
    int64_t sum_ns = times->sum_ns, others = times->count;
    if (times->first_took_ns >= 0) {
        if (index == 0)
            return (double)times->first_took_ns;
        sum_ns -= times->first_took_ns;
        others--;
    }
    if (times->last_took_ns >= 0 && times->count > 1) {
        if (index == times->count - 1)
            return (double)times->last_took_ns;
        sum_ns -= times->last_took_ns;
        others--;
    }
    return others > 0 && sum_ns > 0 ? (double)sum_ns / (double)others : 0;
}

static void expand_tell(const struct trace_expand *expand, const struct trace_node *node,
                        struct trace_expanded *ret_call)
{
    const int64_t bytes = node->sizes ? node->sizes[expand_index_of(expand)] : node->bytes;
    *ret_call = (struct trace_expanded){node, expand_offset_of(expand, node), bytes, expand_duration_of(expand, node)};
}

bool trace_expand_next(struct trace_expand *expand, struct trace_expanded *ret_call)
{
    for (;;) {
        struct trace_expand_level *level = &expand->levels[expand->depth];
        if (level->mixed && level->event == level->mixed->turns) {
            expand->depth--;
            continue;
        }
        if (level->mixed) {
            const uint8_t which = level->mixed->order[level->event++];
            const struct trace_node *node = &level->mixed->body[which];
            level->turns = node->times.count;
            level->turn = expand->passed[which]++;
            expand_tell(expand, node, ret_call);
            return true;
        }
        if (level->at == level->count && ++level->turn < level->turns) {
            level->at = 0;
        } else if (level->at == level->count) {
            if (expand->depth-- == 0) {
                expand->depth = 0;
                level->turn = level->turns;
                return false;
            }
        } else {
            const struct trace_node *node = &level->nodes[level->at++];
            if (node->kind == TRACE_NODE_LOOP) {
                assert(expand->depth < TRACE_LEVELS_MAX && node->turns > 0);
                expand->levels[++expand->depth] = (struct trace_expand_level){
                    .nodes = node->body, .count = node->body_count, .turns = node->turns};
                if (node->order) {
                    expand->levels[expand->depth].mixed = node;
                    memset(expand->passed, 0, sizeof expand->passed);
                }
                continue;
            }
            expand_tell(expand, node, ret_call);
            return true;
        }
    }
}
