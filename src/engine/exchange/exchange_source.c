/* The side of the rank whose data they are. At most one message to each aggregator is under way (of single pieces, a
 * few), and it is sent synchronously: a fast rank never floods an aggregator. Several arrive, and are answered, in
 * their order. */
#include "engine/exchange/exchange_core.h"
#include "mpi/real.h"

#include <assert.h>
#include <string.h>

/* ---- Messages ---------------------------------------------------------------------------------------------------- */

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

static void exchange_message_put(struct builder *builder, uint64_t number)
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

static void exchange_message_put_run(struct builder *builder)
{
    const struct exchange_run *run = &builder->run;
    if (run->count == 0)
        return;
    assert(run->offset >= builder->end && run->length > 0);
    const bool several = run->count > 1;
    exchange_message_put(builder, (uint64_t)(run->offset - builder->end));
    exchange_message_put(builder, (uint64_t)run->length << 1 | several);
    if (several) {
        exchange_message_put(builder, (uint64_t)run->count);
        exchange_message_put(builder, (uint64_t)run->stride);
    }
    builder->end = run_end(run);
}

static bool exchange_message_extends(struct exchange_run *run, int64_t offset, int64_t length)
{
    if (run->count == 0 || length != run->length)
        return false;
    if (run->count == 1)
        run->stride = offset - run->offset;
    return offset - run->offset == run->stride * run->count;
}

static void exchange_message_add(struct builder *builder, int64_t offset, int64_t length)
{
    if (builder->pieces++ == 0)
        exchange_message_head(builder->buffer)->offset = builder->end = offset;
    builder->bytes += length;
    if (exchange_message_extends(&builder->run, offset, length)) {
        builder->run.count++;
        return;
    }
    exchange_message_put_run(builder);
    builder->run = (struct exchange_run){.offset = offset, .length = length, .count = 1};
}

int64_t exchange_message_build(char *buffer, int64_t capacity, const struct exchange_content *content,
                               int64_t *position, int64_t limit)
{
    assert(*position <= limit && capacity > HEAD_BYTES);
    const struct view *view = content->view;
    struct builder builder = {.buffer = buffer};
    while (*position < limit && builder.pieces < content->pieces_max) {
        /* the run before and the new one are still to be written; a request reserves room for its answer as well */
        int64_t most = capacity - HEAD_BYTES - builder.used - builder.bytes - 2 * RUN_BYTES, displacement = *position;
        if (most <= 0)
            break;
        most = most < limit - *position ? most : limit - *position;
        const int64_t length = view->contiguous ? most : typemap_cursor_next(content->file, most, &displacement);
        exchange_message_add(&builder, view->displacement + displacement, length);
        *position += length;
    }
    exchange_message_put_run(&builder);
    assert(builder.bytes > 0 || *position >= limit);
    assert(HEAD_BYTES + builder.used + builder.bytes <= capacity);
    struct exchange_head *head = exchange_message_head(buffer);
    head->runs_bytes = builder.used;
    head->bytes = builder.bytes;
    if (!content->memory)
        return HEAD_BYTES + builder.used;
    access_memory_take(content->memory, buffer + HEAD_BYTES + builder.used, builder.bytes);
    return HEAD_BYTES + builder.used + builder.bytes;
}

/* ---- reading ---- */

static bool exchange_message_get(struct exchange_reader *reader, int64_t *ret_number)
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
    if (!exchange_message_get(reader, &gap) || !exchange_message_get(reader, &length))
        return false;
    if ((length & 1) && (!exchange_message_get(reader, &count) || !exchange_message_get(reader, &stride)))
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

/* ---- The source -------------------------------------------------------------------------------------------------- */

static int rank_of(const struct exchange *exchange, int aggregator)
{
    return move_aggregator_rank(aggregator, exchange->setup.aggregators, exchange->move->file->size);
}

/* The window in which the rank's data go on at `position`. */
static int64_t round_at(const struct exchange *exchange, int64_t position)
{
    if (position >= exchange->source.limit)
        return EXCHANGE_NO_ROUND;
    return move_domain_round(&exchange->domain, view_byte(exchange->move->request.view, position));
}

void exchange_source_start(struct exchange *exchange)
{
    assert(!exchange->source.greeted && !exchange->source.over);
    struct exchange_source *source = &exchange->source;
    struct exchange_targets *targets = &source->targets;
    source->turn = (int)((int64_t)exchange->move->file->rank * targets->count / exchange->move->file->size);
    for (int i = 0; i < targets->count; i++) {
        struct exchange_target *target = &targets->list[i];
        target->round = target->hello_round = round_at(exchange, target->position);
        const int code = real.Issend(&target->hello_round, 1, MPI_INT64_T, rank_of(exchange, target->aggregator),
                                     exchange_tag(exchange, TAG_HELLO), exchange_comm(exchange), &target->hello);
        if (code != MPI_SUCCESS) {
            move_note_mpi(exchange->move, code, "greeting an aggregator");
            target->hello = MPI_REQUEST_NULL;
            target->round = EXCHANGE_NO_ROUND; /* it does not expect anything */
        }
    }
}

bool exchange_source_has_greeted(struct exchange *exchange)
{
    struct exchange_source *source = &exchange->source;
    bool all = true;
    for (int i = 0; i < source->targets.count && !source->greeted; i++) {
        int done = 1;
        real.Test(&source->targets.list[i].hello, &done, MPI_STATUS_IGNORE);
        all = all && done;
    }
    source->greeted = source->greeted || all;
    return source->greeted;
}

/* The next part of what belongs to a target, as a message in the slot's buffer. */
static int64_t exchange_source_build(struct exchange *exchange, struct exchange_send_slot *slot, int index)
{
    struct exchange_source *source = &exchange->source;
    const struct access_request *request = &exchange->move->request;
    struct exchange_target *target = &source->targets.list[index];
    int64_t position = target->position;
    assert(target->round != EXCHANGE_NO_ROUND && position < source->limit);
    int64_t limit = view_position(request->view, move_window_end(&exchange->domain, target->aggregator, target->round));
    limit = limit < source->limit ? limit : source->limit;
    if (!request->view->contiguous && source->file.position != position)
        typemap_cursor_seek(&source->file, position);
    const struct exchange_content content = {.view = request->view,
                                             .file = &source->file,
                                             .memory = request->write ? &source->memory : NULL,
                                             .pieces_max = exchange->setup.each_piece ? 1 : INT64_MAX};
    if (request->write && source->memory.cursor.position != position - request->position)
        access_memory_seek(&source->memory, position - request->position);
    slot->position = position;
    const int64_t size = exchange_message_build(slot->buffer, exchange->message_bytes, &content, &position, limit);
    slot->bytes = position - slot->position;
    assert(slot->bytes > 0 && position <= limit && size <= exchange->message_bytes);
    target->position = move_domain_next(&exchange->domain, request->view, target->aggregator, position, source->limit);
    target->round = round_at(exchange, target->position);
    slot->target = index;
    struct exchange_head *head = exchange_message_head(slot->buffer);
    head->sequence = exchange->move->file->sequence;
    head->generation = request->view->generation;
    head->next = target->round;
    return size;
}

static void exchange_source_post(struct exchange *exchange, struct exchange_send_slot *slot, int64_t size)
{
    assert(!slot->busy && slot->target < exchange->source.targets.count);
    const MPI_Comm comm = exchange_comm(exchange);
    struct exchange_source *source = &exchange->source;
    struct exchange_target *target = &source->targets.list[slot->target];
    const int partner = rank_of(exchange, target->aggregator);
    slot->receive = MPI_REQUEST_NULL;
    int code = MPI_SUCCESS;
    if (!exchange_writes(exchange))
        code = real.Irecv(slot->answer, (int)exchange->message_bytes, MPI_BYTE, partner,
                          exchange_tag(exchange, TAG_REPLY), comm, &slot->receive);
    if (code == MPI_SUCCESS)
        code = real.Issend(slot->buffer, (int)size, MPI_BYTE, partner, exchange_tag(exchange, TAG_DATA), comm,
                           &slot->send);
    if (code != MPI_SUCCESS) {
        move_note_mpi(exchange->move, code, "sending to an aggregator");
        return;
    }
    slot->busy = true;
    target->underway = !exchange->setup.each_piece;
    source->turn = (slot->target + 1) % source->targets.count;
}

/* The target of the earliest window comes first; -1: there is none. An aggregator has few windows in memory, always
 * with the earliest that anybody has left, and a rank has few slots: ranks that filled them with later windows, each
 * for other aggregators, would wait for each other for ever. As it is, the earliest window is always on its way. */
static int next_target(const struct exchange_source *source)
{
    const struct exchange_targets *targets = &source->targets;
    int64_t earliest = EXCHANGE_NO_ROUND;
    int found = -1;
    for (int i = 0; i < targets->count; i++) {
        const int index = (source->turn + i) % targets->count;
        const struct exchange_target *target = &targets->list[index];
        if (!target->underway && target->round < earliest) {
            earliest = target->round;
            found = index;
        }
    }
    return found;
}

/* The data of an answer go to memory; where the file ended before, so does the request. */
static void exchange_source_take_answer(struct exchange *exchange, const struct exchange_send_slot *slot)
{
    struct exchange_source *source = &exchange->source;
    const struct exchange_answer *answer = (const struct exchange_answer *)slot->answer;
    assert(answer->bytes >= 0 && answer->bytes <= slot->bytes);
    access_memory_seek(&source->memory, slot->position - exchange->move->request.position);
    access_memory_give(&source->memory, slot->answer + sizeof *answer, answer->bytes);
    if (answer->bytes < slot->bytes && slot->position + answer->bytes < source->end)
        source->end = slot->position + answer->bytes;
}

static void exchange_source_progress(struct exchange *exchange, struct exchange_send_slot *slot)
{
    int sent = 0, received = 0;
    int code = real.Test(&slot->send, &sent, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS)
        code = real.Test(&slot->receive, &received, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) {
        move_note_mpi(exchange->move, code, "exchanging data with an aggregator");
        sent = received = 1;
    }
    if (!sent || !received)
        return;
    if (!exchange_writes(exchange) && code == MPI_SUCCESS)
        exchange_source_take_answer(exchange, slot);
    slot->busy = false;
    exchange->source.targets.list[slot->target].underway = false;
}

enum step exchange_source_step(struct exchange *exchange)
{
    struct exchange_source *source = &exchange->source;
    bool pending = false;
    for (int i = 0; i < source->slots; i++) {
        struct exchange_send_slot *slot = &source->slot[i];
        if (slot->busy)
            exchange_source_progress(exchange, slot);
        const int target = slot->busy ? -1 : next_target(source);
        if (target >= 0)
            exchange_source_post(exchange, slot, exchange_source_build(exchange, slot, target));
        pending = pending || slot->busy;
    }
    source->over = !pending;
    return pending ? STEP_PENDING : STEP_DONE;
}
