/* The numbers of one series, and the lookups in what the scan kept. */
#include "base/blockfile.h"
#include "base/blockfile_line.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { VALUES_MAX = 4096 };

struct stream {
    int64_t values[VALUES_MAX];
    size_t count;  /* in values */
    int64_t first; /* number of values[0] in the series */
    int64_t want;  /* numbers of the whole series */
    blockfile_take *take;
    void *context;
};

static void flush(struct stream *stream)
{
    if (stream->count)
        stream->take(stream->context, stream->first, stream->values, stream->count);
    stream->first += (int64_t)stream->count;
    stream->count = 0;
}

/* False where the line is not what the scan saw: the file was changed in between. */
static bool take_numbers(struct stream *stream, const struct blockfile_line *line)
{
    const char *cursor = line->bytes;
    const char *const end = cursor + line->length;
    for (;;) {
        if (stream->first + (int64_t)stream->count == stream->want ||
            !blockfile_number(&cursor, end, &stream->values[stream->count]))
            return false;
        if (++stream->count == VALUES_MAX)
            flush(stream);
        if (cursor == end)
            return true;
        if (*cursor++ != ' ')
            return false;
    }
}

pl_status blockfile_stream(struct blockfile *file, const struct blockfile_series *series, blockfile_take *take,
                           void *context, struct pl_error *error)
{
    struct blockfile_lines lines;
    if (!blockfile_lines_init(&lines, fileno(file->stream), series->offset))
        return pl_fail_errno(error, ENOMEM, "reading '%s'", file->path);
    struct stream stream = {.want = series->count, .take = take, .context = context};
    bool good = true;
    while (good && stream.first + (int64_t)stream.count < stream.want) {
        struct blockfile_line line;
        good = blockfile_lines_next(&lines, &line) && !line.overlong && take_numbers(&stream, &line);
    }
    const int failed = lines.failed;
    blockfile_lines_clear(&lines);
    if (failed)
        return pl_fail_errno(error, failed, "reading '%s'", file->path);
    if (!good)
        return pl_fail(error, PL_E_DATA, "'%s' was changed while it was read: series %s of rank %d at byte %" PRId64,
                       file->path, series->key, series->rank, series->offset);
    flush(&stream);
    return PL_OK;
}

static const char *value_of(const struct blockfile_pair *pairs, size_t count, const char *key)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(pairs[i].key, key) == 0)
            return pairs[i].value;
    return NULL;
}

const char *blockfile_input_of(const struct blockfile_block *block, const char *key)
{
    return value_of(block->inputs, block->input_count, key);
}

const char *blockfile_fact_of(const struct blockfile_block *block, const char *key)
{
    return value_of(block->facts, block->fact_count, key);
}

const char *blockfile_param_of(const struct blockfile_set *set, const char *key)
{
    return value_of(set->params, set->param_count, key);
}
