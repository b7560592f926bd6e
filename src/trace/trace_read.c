/* Reads DIR/trace.RANK, of either form. */
#include "trace/trace_read.h"

#include "base/checksum.h"
#include "base/output.h"
#include "base/text.h"
#include "trace/trace_build.h"
#include "trace/trace_format.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

const char *trace_read_line(struct trace_read *read, size_t *ret_length)
{
    const char *line = read->bytes + read->at;
    const char *end = read->at < read->length ? memchr(line, '\n', read->length - read->at) : NULL;
    if (!end)
        return NULL;
    *ret_length = (size_t)(end - line);
    read->at += *ret_length + 1;
    return line;
}

bool trace_read_is_whole(const struct trace_read *read, size_t from, size_t to, const char *end_line)
{
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

static pl_status damaged(struct trace_read *read, const char *what)
{
    return pl_fail(read->error, PL_E_FORMAT, "it is damaged: %s", what);
}

/* "key value"; what is not known is passed over. */
static bool note_fact(struct trace_read *read, const char *line, size_t length)
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

static pl_status read_head(struct trace_read *read)
{
    const size_t from = read->at;
    size_t length, to;
    const char *line;
    for (;;) {
        to = read->at;
        line = trace_read_line(read, &length);
        if (!line)
            return damaged(read, "its head has no end");
        if (length > 9 && memcmp(line, "end-head ", 9) == 0)
            break;
        if (!note_fact(read, line, length))
            return damaged(read, "its head");
    }
    return trace_read_is_whole(read, from, to, line) ? PL_OK : damaged(read, "its head is not what it was");
}

static pl_status read_bytes(struct trace_read *read)
{
    size_t length;
    const char *line = trace_read_line(read, &length);
    static const char name[] = "piolet-trace ";
    if (!line || length < sizeof name || memcmp(line, name, sizeof name - 1) != 0)
        return pl_fail(read->error, PL_E_FORMAT, "it is no trace: its first line is not 'piolet-trace VERSION'");
    const char *version = line + sizeof name - 1;
    const bool is_text = version[0] == '3' && version[1] == '\n', is_folded = version[0] == '4' && version[1] == '\n';
    if (!is_text && !is_folded)
        return pl_fail(read->error, PL_E_FORMAT,
                       "it has version %.*s; this piolet reads 3 (full) and 4 (folded): trace anew",
                       (int)(length - (sizeof name - 1)), version);
    const pl_status status = read_head(read);
    if (status != PL_OK)
        return status;
    return is_text ? trace_read_text(read) : trace_read_folded(read);
}

pl_status trace_read_folded(struct trace_read *read)
{
    struct trace_control control;
    const size_t begin = read->records + TRACE_RECORD_PAGE;
    if (read->records == 0 || read->records % TRACE_RECORD_PAGE || read->records > read->length ||
        read->length - read->records < TRACE_RECORD_PAGE)
        return damaged(read, "it ends before its records");
    memcpy(&control, read->bytes + read->records, sizeof control);
    if (control.order != TRACE_RECORD_ORDER)
        return damaged(read, "its records are not of this kind of machine, or were never begun");
    struct trace_records records = {.words = (const uint64_t *)(const void *)(read->bytes + begin),
                                    .count = (read->length - begin) / 8,
                                    .control = &control};
    if (control.complete) {
        if (control.words > records.count)
            return damaged(read, "it is shorter than it was");
        records.count = control.words;
        if (!checksum_agrees(XXH64(records.words, records.count * 8, 0) == control.hash))
            return damaged(read, "its records are not what they were");
    }
    return trace_build(&records, read->tree, read->error);
}

/* Its bytes in memory, and a zero behind them; else 0 < errno. Not mapped: a file that is cut meanwhile is a damaged
 * one, not the end of this process. A FIFO must not make us wait. */
static int read_file(const char *path, void **ret_bytes, size_t *ret_length)
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
    const int why = read_file(path, &ret_tree->bytes, &length);
    if (why)
        return pl_fail_errno(error, why, "cannot read '%s', the trace of rank %d", path, rank);
    struct trace_read read = {.bytes = ret_tree->bytes, .length = length, .tree = ret_tree, .error = error};
    const pl_status status = read_bytes(&read);
    if (status != PL_OK) {
        trace_tree_clear(ret_tree);
        return pl_within(error, "'%s'", path);
    }
    return PL_OK;
}
