/* The side of the rank that owns a part of the file. Windows are completed in ascending order: a window is complete
 * when every partner's next data lie behind it. A few of them are in memory, always with the earliest that anybody has
 * something for: the place of an earlier one is given to it. While one is stored, others are filled. */
#include "engine/coverage/coverage.h"
#include "engine/exchange/exchange_core.h"
#include "mpi/real.h"

#include <assert.h>
#include <string.h>

/* ---- Windows ----------------------------------------------------------------------------------------------------- */

/* A window in an aggregator's memory, and the file. */

enum { READ_CHUNK = 65536 }; /* a window is read in parts of this size, as they are asked for */

void exchange_window_open(struct exchange *exchange, struct exchange_window *window, int64_t round)
{
    assert(window->round < 0 && round >= 0);
    const int aggregator = exchange->aggregator.number;
    window->round = round;
    window->begin = move_window_begin(&exchange->domain, aggregator, round);
    window->end = move_window_end(&exchange->domain, aggregator, round);
    assert(window->begin < window->end && window->end - window->begin <= exchange->setup.window_bytes);
    window->file_end = INT64_MAX;
    memset(window->coverage, 0, coverage_bytes(window->end - window->begin));
}

/* ---- writing ---- */

void exchange_window_fill(struct exchange_window *window, const char *message)
{
    struct exchange_reader reader;
    struct exchange_run run;
    exchange_reader_init(&reader, message);
    const char *data = reader.data;
    while (exchange_reader_next(&reader, &run)) {
        int64_t place = run.offset - window->begin;
        for (int64_t i = 0; i < run.count; i++, place += run.stride, data += run.length) {
            memcpy(window->bytes + place, data, (size_t)run.length);
            coverage_add(window->coverage, place, run.length);
        }
    }
    assert(data - reader.data == ((const struct exchange_head *)message)->bytes);
}

void exchange_window_write(struct exchange *exchange, struct exchange_window *window)
{
    assert(window->round >= 0 && window->waiting == 0);
    move_store(exchange->move, window->begin, window->bytes, window->end - window->begin, window->coverage);
}

/* ---- reading ---- */

/* Reads what the window lacks between two of its bytes, in whole chunks; the coverage map marks what is there. */
static void exchange_window_load(struct exchange *exchange, struct exchange_window *window, int64_t begin, int64_t end)
{
    const int64_t bytes = window->end - window->begin;
    assert(begin >= 0 && begin < end && end <= bytes);
    int64_t place = begin / READ_CHUNK * READ_CHUNK;
    int64_t behind = (end + READ_CHUNK - 1) / READ_CHUNK * READ_CHUNK;
    behind = behind < bytes ? behind : bytes;
    while (place < behind) {
        int64_t there = place, there_end = place;
        const bool some = coverage_next(window->coverage, behind, &there, &there_end);
        const int64_t stop = some ? there : behind;
        if (stop > place) {
            int64_t done;
            if (move_load(exchange->move, window->begin + place, window->bytes + place, stop - place, &done) == PL_OK &&
                done < stop - place && window->begin + place + done < window->file_end)
                window->file_end = window->begin + place + done;
            coverage_add(window->coverage, place, stop - place);
        }
        place = some ? there_end : behind;
    }
}

/* Pieces that are closer than a chunk are loaded together. */
static void load_runs(struct exchange *exchange, struct exchange_window *window, const char *message)
{
    struct exchange_reader reader;
    struct exchange_run run;
    int64_t begin = -1, end = -1;
    exchange_reader_init(&reader, message);
    while (exchange_reader_next(&reader, &run))
        for (int64_t i = 0; i < run.count; i++) {
            const int64_t place = run.offset + i * run.stride - window->begin;
            if (begin >= 0 && place > end + READ_CHUNK) {
                exchange_window_load(exchange, window, begin, end);
                begin = -1;
            }
            begin = begin < 0 ? place : begin;
            end = place + run.length > end ? place + run.length : end;
        }
    if (begin >= 0)
        exchange_window_load(exchange, window, begin, end);
}

/* Copies what is asked for and there; stops at the end of the file. */
static int64_t exchange_window_copy_runs(const struct exchange_window *window, const char *message, char *to)
{
    struct exchange_reader reader;
    struct exchange_run run;
    int64_t bytes = 0;
    exchange_reader_init(&reader, message);
    while (exchange_reader_next(&reader, &run))
        for (int64_t i = 0; i < run.count; i++) {
            const int64_t offset = run.offset + i * run.stride;
            int64_t length = window->file_end - offset < run.length ? window->file_end - offset : run.length;
            length = length > 0 ? length : 0;
            memcpy(to + bytes, window->bytes + (offset - window->begin), (size_t)length);
            bytes += length;
            if (length < run.length)
                return bytes;
        }
    return bytes;
}

bool exchange_window_has(const struct exchange_window *window, const char *message)
{
    struct exchange_reader reader;
    struct exchange_run run;
    exchange_reader_init(&reader, message);
    int64_t begin = reader.offset - window->begin, there_end = begin;
    while (exchange_reader_next(&reader, &run))
        ;
    const int64_t from = begin, end = reader.offset - window->begin;
    return coverage_next(window->coverage, end, &begin, &there_end) && begin == from && there_end >= end;
}

void exchange_window_copy(const struct exchange_window *window, struct exchange_receive_slot *slot)
{
    struct exchange_answer *answer = (struct exchange_answer *)slot->reply;
    *answer = (struct exchange_answer){
        .bytes = exchange_window_copy_runs(window, slot->message, slot->reply + sizeof *answer)};
    assert(answer->bytes >= 0 && answer->bytes <= exchange_message_head(slot->message)->bytes);
    slot->reply_bytes = (int64_t)sizeof *answer + answer->bytes;
}

void exchange_window_answer(struct exchange *exchange, struct exchange_window *window,
                            struct exchange_receive_slot *slot)
{
    if (!exchange->aggregator.refuses)
        load_runs(exchange, window, slot->message);
    if (!exchange->aggregator.refuses && exchange->move->job_error.status == PL_OK) {
        exchange_window_copy(window, slot);
        return;
    }
    *(struct exchange_answer *)slot->reply = (struct exchange_answer){.failed = 1};
    slot->reply_bytes = sizeof(struct exchange_answer);
}

/* ---- The aggregator ---------------------------------------------------------------------------------------------- */

void exchange_aggregator_start(struct exchange *exchange)
{
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        aggregator->window[i].round = -1;
    for (int i = 0; i < EXCHANGE_RECEIVE_SLOTS; i++)
        aggregator->slot[i].state = RECEIVE_FREE;
}

/* Who has something for this aggregator, and where each begins. */
void exchange_aggregator_greet(struct exchange *exchange)
{
    if (exchange->aggregator.number < 0)
        return;
    for (;;) {
        int found = 0;
        int64_t next = EXCHANGE_NO_ROUND;
        MPI_Message message;
        MPI_Status status;
        MPI_Request request;
        int code = real.Improbe(MPI_ANY_SOURCE, exchange_tag(exchange, TAG_HELLO), exchange_comm(exchange), &found,
                                &message, &status);
        if (code == MPI_SUCCESS && !found)
            return;
        if (code == MPI_SUCCESS)
            code = real.Imrecv(&next, 1, MPI_INT64_T, &message, &request);
        if (code == MPI_SUCCESS)
            code = real.Wait(&request, MPI_STATUS_IGNORE); /* it is here already */
        if (code != MPI_SUCCESS) {
            move_note_mpi(exchange->move, code, "hearing of a partner");
            return;
        }
        assert(next >= 0 && next != EXCHANGE_NO_ROUND);
        if (!exchange_partners_add(&exchange->aggregator.partners, status.MPI_SOURCE, next)) {
            struct pl_error error;
            pl_fail(&error, PL_E_NOMEM, "no memory for the partners of a collective access");
            move_note(exchange->move, &error);
        }
    }
}

/* ---- windows ---- */

struct exchange_window *exchange_window_of(struct exchange_aggregator *aggregator, int64_t round)
{
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        if (aggregator->window[i].round == round)
            return &aggregator->window[i];
    return NULL;
}

/* May a window be opened beside those that are in memory? What is read from a cache of the system's is there at once:
 * then a second window would only drive the first out of the processor's caches. But one that is earlier must be. */
static bool may_open(const struct exchange *exchange, int64_t round)
{
    if (exchange_writes(exchange) || exchange->move->file->memory.reads_sleep)
        return true;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        if (exchange->aggregator.window[i].round >= 0 && exchange->aggregator.window[i].round < round)
            return false;
    return true;
}

/* The earliest window that is wanted and not in memory, if there is a place for it. */
static bool open_window(struct exchange *exchange)
{
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    struct exchange_window *place = exchange_window_of(aggregator, -1);
    if (!place || aggregator->partners.upcoming == 0 || move_has_failed(exchange->move))
        return false;
    int waiting;
    int64_t round = exchange_partners_least(&aggregator->partners, -1, &waiting);
    while (exchange_window_of(aggregator, round))
        round = exchange_partners_least(&aggregator->partners, round, &waiting);
    if (!may_open(exchange, round))
        return false;
    assert(waiting > 0 && waiting <= aggregator->partners.upcoming);
    exchange_window_open(exchange, place, round);
    place->waiting = waiting;
    aggregator->partners.upcoming -= waiting;
    aggregator->partners.look_again = true;
    return true;
}

static struct exchange_window *complete_window(struct exchange_aggregator *aggregator)
{
    int count;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++) {
        struct exchange_window *window = &aggregator->window[i];
        if (window->round >= 0 && window->waiting == 0 &&
            exchange_partners_least(&aggregator->partners, -1, &count) > window->round)
            return window;
    }
    return NULL;
}

/* ---- system calls, in this thread or in another ---- */

static void exchange_aggregator_io(struct move *move)
{
    struct exchange *exchange = move->call;
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    if (aggregator->asked)
        exchange_window_answer(exchange, aggregator->working, aggregator->asked);
    else
        exchange_window_write(exchange, aggregator->working);
}

/* A thread pays where there is something to do meanwhile: another partner, or this rank's own data. */
static bool exchange_aggregator_is_wanted(const struct exchange *exchange)
{
    const struct exchange_partners *partners = &exchange->aggregator.partners;
    if (exchange_writes(exchange))
        return partners->finished < partners->heard || !exchange->source.over;
    return partners->finished + 1 < partners->heard;
}

static void start_io(struct exchange *exchange, struct exchange_window *window, struct exchange_receive_slot *asked,
                     int64_t bytes)
{
    assert(!exchange->aggregator.working && window->round >= 0);
    exchange->aggregator.working = window;
    exchange->aggregator.asked = asked;
    exchange->aggregator.refuses = move_has_failed(exchange->move);
    move_job_start(exchange->move, exchange_aggregator_is_wanted(exchange) && move_job_pays(exchange->move, bytes),
                   exchange_aggregator_io);
}

static bool finish_io(struct exchange *exchange)
{
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    if (!aggregator->working || !move_job_is_over(exchange->move))
        return false;
    assert(!aggregator->asked || aggregator->asked->state == RECEIVE_ASKED);
    if (aggregator->asked)
        exchange_receive_reply(exchange, aggregator->asked);
    else
        aggregator->working->round = -1;
    aggregator->working = NULL;
    aggregator->asked = NULL;
    return true;
}

/* Answers what is in memory already, while a thread reads another window. */
static bool answer_from_memory(struct exchange *exchange, struct exchange_receive_slot *slot)
{
    if (slot->window == exchange->aggregator.working || !exchange_window_has(slot->window, slot->message))
        return false;
    exchange_window_copy(slot->window, slot);
    exchange_receive_reply(exchange, slot);
    return true;
}

/* What is asked for: the earliest first. */
static bool start_reading(struct exchange *exchange)
{
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    struct exchange_receive_slot *earliest = NULL;
    for (int i = 0; i < EXCHANGE_RECEIVE_SLOTS; i++) {
        struct exchange_receive_slot *slot = &aggregator->slot[i];
        if (slot->state != RECEIVE_ASKED || slot == aggregator->asked)
            continue;
        if (answer_from_memory(exchange, slot))
            return true;
        if (!earliest || slot->window->round < earliest->window->round)
            earliest = slot;
    }
    if (!earliest || aggregator->working)
        return false;
    start_io(exchange, earliest->window, earliest, exchange_message_head(earliest->message)->bytes);
    return true;
}

/* A window that is complete goes into the file; one of a read has done its service. */
static bool turn_window(struct exchange *exchange)
{
    struct exchange_window *window = complete_window(&exchange->aggregator);
    if (!window)
        return false;
    if (exchange_writes(exchange))
        start_io(exchange, window, NULL, window->end - window->begin);
    else
        window->round = -1;
    return true;
}

static bool start_work(struct exchange *exchange)
{
    if (start_reading(exchange))
        return true;
    return !exchange->aggregator.working && !move_has_failed(exchange->move) && turn_window(exchange);
}

/* ---- the steps ---- */

/* After a failure windows stay as they are, and it is over when everybody has said all. */
static bool exchange_aggregator_is_over(const struct exchange *exchange)
{
    const struct exchange_aggregator *aggregator = &exchange->aggregator;
    if (aggregator->partners.finished < aggregator->partners.heard || aggregator->working)
        return false;
    for (int i = 0; i < EXCHANGE_RECEIVE_SLOTS; i++)
        if (aggregator->slot[i].state != RECEIVE_FREE)
            return false;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        if (aggregator->window[i].round >= 0 && !move_has_failed(exchange->move))
            return false;
    return true;
}

enum step exchange_aggregator_step(struct exchange *exchange)
{
    struct exchange_aggregator *aggregator = &exchange->aggregator;
    if (aggregator->number < 0)
        return STEP_DONE;
    bool moved;
    do {
        moved = finish_io(exchange);
        moved = open_window(exchange) || moved;
        for (int i = 0; i < EXCHANGE_RECEIVE_SLOTS; i++)
            moved = exchange_receive_step(exchange, &aggregator->slot[i]) || moved;
        moved = start_work(exchange) || moved;
    } while (moved);
    if (!exchange_aggregator_is_over(exchange))
        return STEP_PENDING;
    /* Everybody has said all: nothing is left over. */
    assert(move_has_failed(exchange->move) ||
           (aggregator->partners.upcoming == 0 && aggregator->partners.waiting_count == 0));
    return STEP_DONE;
}
