/* A window in an agent's memory, and the file. */
#include "mpiio/cover/cover.h"
#include "mpiio/cover/cover_store.h"
#include "mpiio/exchange/exchange_core.h"

#include <string.h>

enum { READ_CHUNK = 65536 }; /* a window is read in parts of this size, as they are asked for */

void exchange_window_open(struct exchange *exchange, struct exchange_window *window, int64_t round)
{
    const int agent = exchange->agent.number;
    window->round = round;
    window->begin = exchange_window_begin(&exchange->domain, agent, round);
    window->end = exchange_window_end(&exchange->domain, agent, round);
    window->file_end = INT64_MAX;
    memset(window->cover, 0, cover_bytes(window->end - window->begin));
}

static void note(struct exchange_agent *agent, const struct pl_error *error)
{
    if (agent->io_error.status == PL_OK)
        agent->io_error = *error;
}

/* ---- writing ---- */

void exchange_window_fill(struct exchange_window *window, const char *message)
{
    struct exchange_reader reader;
    struct exchange_run run;
    exchange_reader_init(&reader, message);
    for (const char *data = reader.data; exchange_reader_next(&reader, &run);) {
        int64_t place = run.offset - window->begin;
        for (int64_t i = 0; i < run.count; i++, place += run.stride, data += run.length) {
            memcpy(window->bytes + place, data, (size_t)run.length);
            cover_add(window->cover, place, run.length);
        }
    }
}

void exchange_window_write(struct exchange *exchange, struct exchange_window *window)
{
    const struct exchange_setup *setup = &exchange->setup;
    const struct cover_manner manner = {.storage = setup->storage,
                                        .sieve = setup->readable,
                                        .lock = setup->lock_writes,
                                        .aux = setup->aux,
                                        .poke = exchange->agent.in_thread ? MPI_COMM_NULL : setup->comm};
    struct pl_error error = {0};
    if (cover_store(&manner, window->begin, window->bytes, window->end - window->begin, window->cover, &error) != PL_OK)
        note(&exchange->agent, &error);
}

/* ---- reading ---- */

/* Reads what the window lacks between two of its bytes, in whole chunks; the cover marks what is there. */
static void load(struct exchange *exchange, struct exchange_window *window, int64_t begin, int64_t end)
{
    const int64_t bytes = window->end - window->begin;
    int64_t place = begin / READ_CHUNK * READ_CHUNK;
    int64_t behind = (end + READ_CHUNK - 1) / READ_CHUNK * READ_CHUNK;
    behind = behind < bytes ? behind : bytes;
    while (place < behind) {
        int64_t there = place, there_end = place;
        const bool some = cover_next(window->cover, behind, &there, &there_end);
        const int64_t stop = some ? there : behind;
        if (stop > place) {
            int64_t done = 0;
            struct pl_error error;
            const long sleeps = pool_sleeps();
            if (storage_read(exchange->setup.storage, window->begin + place, window->bytes + place, stop - place, &done,
                             &error))
                note(&exchange->agent, &error);
            else if (done < stop - place && window->begin + place + done < window->file_end)
                window->file_end = window->begin + place + done;
            exchange->agent.read_slept = pool_sleeps() > sleeps;
            cover_add(window->cover, place, stop - place);
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
                load(exchange, window, begin, end);
                begin = -1;
            }
            begin = begin < 0 ? place : begin;
            end = place + run.length > end ? place + run.length : end;
        }
    if (begin >= 0)
        load(exchange, window, begin, end);
}

/* Copies what is asked for and there; stops at the end of the file. */
static int64_t copy_runs(const struct exchange_window *window, const char *message, char *to)
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
    return cover_next(window->cover, end, &begin, &there_end) && begin == from && there_end >= end;
}

void exchange_window_copy(const struct exchange_window *window, struct exchange_desk *desk)
{
    struct exchange_answer *answer = (struct exchange_answer *)desk->reply;
    *answer = (struct exchange_answer){.bytes = copy_runs(window, desk->message, desk->reply + sizeof *answer)};
    desk->reply_bytes = (int64_t)sizeof *answer + answer->bytes;
}

void exchange_window_answer(struct exchange *exchange, struct exchange_window *window, struct exchange_desk *desk)
{
    load_runs(exchange, window, desk->message);
    if (exchange->agent.io_error.status == PL_OK) {
        exchange_window_copy(window, desk);
        return;
    }
    *(struct exchange_answer *)desk->reply = (struct exchange_answer){.failed = 1};
    desk->reply_bytes = sizeof(struct exchange_answer);
}
