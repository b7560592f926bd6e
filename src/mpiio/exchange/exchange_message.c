#include "mpiio/exchange/exchange_message.h"

#include <assert.h>
#include <string.h>

/* Runs are collected from the end of the buffer downwards and moved behind the data at last. */
struct builder {
    char *buffer;
    struct exchange_run *last; /* the newest run, NULL: none yet */
    int64_t runs, bytes, room; /* room: bytes still free */
};

static bool extends(struct exchange_run *run, int64_t offset, int64_t length)
{
    if (length != run->length || offset < run->offset)
        return false;
    if (run->count == 1)
        run->stride = offset - run->offset;
    return offset - run->offset == run->stride * run->count;
}

/* Room for one more piece, wherever it is? */
static bool has_room(const struct builder *builder)
{
    return builder->room > (int64_t)sizeof(struct exchange_run);
}

static void add(struct builder *builder, char *end, int64_t offset, int64_t length)
{
    if (builder->last && extends(builder->last, offset, length)) {
        builder->last->count++;
        return;
    }
    builder->runs++;
    builder->room -= (int64_t)sizeof(struct exchange_run);
    builder->last = (struct exchange_run *)end - builder->runs;
    *builder->last = (struct exchange_run){offset, length, 0, 1};
}

/* The runs stand in descending order at the end of the buffer: put them in ascending order at `place`. */
static void place_runs(const struct builder *builder, char *end, char *place)
{
    struct exchange_run *top = (struct exchange_run *)end - 1, *bottom = (struct exchange_run *)end - builder->runs;
    for (; bottom < top; bottom++, top--) {
        const struct exchange_run run = *bottom;
        *bottom = *top;
        *top = run;
    }
    memmove(place, (struct exchange_run *)end - builder->runs, (size_t)builder->runs * sizeof(struct exchange_run));
}

static int64_t padded(int64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

int64_t exchange_message_build(char *buffer, int64_t capacity, const struct view *view, struct typemap_cursor *file,
                               int64_t *position, int64_t limit, struct access_memory *memory)
{
    const int64_t head = (int64_t)sizeof(struct exchange_head);
    char *end = buffer + capacity / 32 * 32; /* runs stay aligned */
    struct builder builder = {.buffer = buffer, .room = end - buffer - head - 8};
    while (*position < limit && has_room(&builder)) {
        int64_t most = builder.room - (int64_t)sizeof(struct exchange_run), displacement = *position;
        most = most < limit - *position ? most : limit - *position;
        const int64_t length = view->contiguous ? most : typemap_cursor_next(file, most, &displacement);
        add(&builder, end, view->displacement + displacement, length);
        if (memory)
            access_memory_take(memory, buffer + head + builder.bytes, length);
        builder.bytes += length;
        builder.room -= length; /* a request reserves the same: its answer must fit as well */
        *position += length;
    }
    assert(builder.runs > 0 || *position >= limit);
    const int64_t runs_at = head + (memory ? padded(builder.bytes) : 0);
    place_runs(&builder, end, buffer + runs_at);
    struct exchange_head *ret_head = exchange_message_head(buffer);
    ret_head->runs = builder.runs;
    ret_head->bytes = builder.bytes;
    return runs_at + builder.runs * (int64_t)sizeof(struct exchange_run);
}

const struct exchange_run *exchange_message_runs(const char *buffer, bool with_data)
{
    const struct exchange_head *head = (const struct exchange_head *)buffer;
    const int64_t data = with_data ? padded(head->bytes) : 0;
    return (const struct exchange_run *)(buffer + sizeof *head + data);
}
