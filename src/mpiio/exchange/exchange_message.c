#include "mpiio/exchange/exchange_message.h"

#include <assert.h>
#include <string.h>

enum {
    HEAD_BYTES = sizeof(struct exchange_head),
    NUMBER_BYTES = 10,           /* of the longest number */
    RUN_BYTES = 4 * NUMBER_BYTES /* gap, length, count, stride */
};

/* ---- writing ---- */

struct builder {
    char *buffer;
    int64_t used;            /* bytes of runs that are written */
    int64_t bytes, pieces;   /* described so far */
    int64_t end;             /* in the file, of what was written: where the next gap begins */
    struct exchange_run run; /* the newest one, not yet written; count 0: none */
};

static void put(struct builder *builder, uint64_t number)
{
    unsigned char *to = (unsigned char *)builder->buffer + HEAD_BYTES + builder->used;
    for (; number >= 128; number >>= 7, builder->used++)
        *to++ = (unsigned char)(number | 128);
    *to = (unsigned char)number;
    builder->used++;
}

static int64_t run_end(const struct exchange_run *run)
{
    return run->offset + (run->count - 1) * run->stride + run->length;
}

static void put_run(struct builder *builder)
{
    const struct exchange_run *run = &builder->run;
    if (run->count == 0)
        return;
    const bool several = run->count > 1;
    put(builder, (uint64_t)(run->offset - builder->end));
    put(builder, (uint64_t)run->length << 1 | several);
    if (several) {
        put(builder, (uint64_t)run->count);
        put(builder, (uint64_t)run->stride);
    }
    builder->end = run_end(run);
}

static bool extends(struct exchange_run *run, int64_t offset, int64_t length)
{
    if (run->count == 0 || length != run->length)
        return false;
    if (run->count == 1)
        run->stride = offset - run->offset;
    return offset - run->offset == run->stride * run->count;
}

static void add(struct builder *builder, int64_t offset, int64_t length)
{
    if (builder->pieces++ == 0)
        exchange_message_head(builder->buffer)->offset = builder->end = offset;
    builder->bytes += length;
    if (extends(&builder->run, offset, length)) {
        builder->run.count++;
        return;
    }
    put_run(builder);
    builder->run = (struct exchange_run){.offset = offset, .length = length, .count = 1};
}

int64_t exchange_message_build(char *buffer, int64_t capacity, const struct exchange_content *content,
                               int64_t *position, int64_t limit)
{
    const struct view *view = content->view;
    struct builder builder = {.buffer = buffer};
    while (*position < limit && builder.pieces < content->pieces_max) {
        /* the run before and the new one are still to be written; a request reserves room for its answer as well */
        int64_t most = capacity - HEAD_BYTES - builder.used - builder.bytes - 2 * RUN_BYTES, displacement = *position;
        if (most <= 0)
            break;
        most = most < limit - *position ? most : limit - *position;
        const int64_t length = view->contiguous ? most : typemap_cursor_next(content->file, most, &displacement);
        add(&builder, view->displacement + displacement, length);
        *position += length;
    }
    put_run(&builder);
    assert(builder.bytes > 0 || *position >= limit);
    struct exchange_head *head = exchange_message_head(buffer);
    head->runs_bytes = builder.used;
    head->bytes = builder.bytes;
    if (!content->memory)
        return HEAD_BYTES + builder.used;
    access_memory_take(content->memory, buffer + HEAD_BYTES + builder.used, builder.bytes);
    return HEAD_BYTES + builder.used + builder.bytes;
}

/* ---- reading ---- */

static bool get(struct exchange_reader *reader, int64_t *ret_number)
{
    uint64_t number = 0;
    for (int shift = 0; shift < 63 && reader->at < reader->end; shift += 7) {
        const unsigned char byte = *reader->at++;
        number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *ret_number = (int64_t)number;
            return true;
        }
    }
    return false;
}

void exchange_reader_init(struct exchange_reader *reader, const char *buffer)
{
    const struct exchange_head *head = (const struct exchange_head *)buffer;
    const char *runs = buffer + HEAD_BYTES;
    *reader = (struct exchange_reader){.at = (const unsigned char *)runs,
                                       .end = (const unsigned char *)runs + head->runs_bytes,
                                       .offset = head->offset,
                                       .data = runs + head->runs_bytes};
}

bool exchange_reader_next(struct exchange_reader *reader, struct exchange_run *ret_run)
{
    int64_t gap, length, count = 1, stride = 0;
    if (!get(reader, &gap) || !get(reader, &length))
        return false;
    if ((length & 1) && (!get(reader, &count) || !get(reader, &stride)))
        return false;
    int64_t offset;
    if (__builtin_add_overflow(reader->offset, gap, &offset))
        return false;
    *ret_run = (struct exchange_run){.offset = offset, .length = length >> 1, .stride = stride, .count = count};
    int64_t reach;
    if (count < 1 || __builtin_mul_overflow(count - 1, stride, &reach) ||
        __builtin_add_overflow(offset, reach, &offset) ||
        __builtin_add_overflow(offset, ret_run->length, &reader->offset))
        return false;
    return true;
}

bool exchange_message_is_sound(const char *buffer, int64_t size, bool with_data, int64_t begin, int64_t end)
{
    const struct exchange_head *head = (const struct exchange_head *)buffer;
    if (size < HEAD_BYTES || head->runs_bytes < 0 || head->bytes < 0 || head->runs_bytes > size - HEAD_BYTES ||
        head->offset < begin)
        return false;
    if (with_data ? head->bytes != size - HEAD_BYTES - head->runs_bytes : head->runs_bytes != size - HEAD_BYTES)
        return false;
    struct exchange_reader reader;
    struct exchange_run run;
    int64_t left = head->bytes;
    exchange_reader_init(&reader, buffer);
    while (exchange_reader_next(&reader, &run)) {
        if (run.length < 1 || run.length > left || run.count > left / run.length || reader.offset > end)
            return false;
        left -= run.length * run.count;
    }
    return left == 0 && reader.at == reader.end;
}
