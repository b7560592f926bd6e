/* The window in an agent's memory, and the file. */
#include "mpiio/access/access_lock.h"
#include "mpiio/aux/aux.h"
#include "mpiio/exchange/exchange_core.h"
#include "mpiio/exchange/exchange_cover.h"

#include <string.h>

enum {
    READ_CHUNK = 65536,    /* a window is read in parts of this size, as they are asked for */
    GAP_WRITE_BYTES = 8192 /* gaps up to this size (in the mean) are cheaper to read and write back than to leave out */
};

void exchange_window_open(struct exchange *exchange, int64_t round)
{
    struct exchange_agent *agent = &exchange->agent;
    agent->begin = exchange_window_begin(&exchange->domain, agent->number, round);
    agent->end = exchange_window_end(&exchange->domain, agent->number, round);
    memset(agent->cover, 0, exchange_cover_bytes(agent->end - agent->begin));
}

static void note(struct exchange_agent *agent, const struct pl_error *error)
{
    if (agent->io_error.status == PL_OK)
        agent->io_error = *error;
}

/* ---- writing ---- */

void exchange_window_fill(struct exchange *exchange, const char *message)
{
    struct exchange_agent *agent = &exchange->agent;
    const struct exchange_head *head = (const struct exchange_head *)message;
    const struct exchange_run *run = exchange_message_runs(message, true);
    const char *data = exchange_message_data(message);
    for (int64_t r = 0; r < head->runs; r++, run++) {
        int64_t place = run->offset - agent->begin;
        for (int64_t i = 0; i < run->count; i++, place += run->stride, data += run->length) {
            memcpy(agent->window + place, data, (size_t)run->length);
            exchange_cover_add(agent->cover, place, run->length);
        }
    }
}

/* What is filled: from where to where, in how many runs, with how many bytes. */
struct filling {
    int64_t begin, end, runs, bytes;
};

static struct filling measure(const struct exchange_agent *agent)
{
    struct filling filling = {.begin = -1};
    const int64_t window = agent->end - agent->begin;
    for (int64_t begin = 0, end; exchange_cover_next(agent->cover, window, &begin, &end); begin = end) {
        filling.begin = filling.begin < 0 ? begin : filling.begin;
        filling.end = end;
        filling.runs++;
        filling.bytes += end - begin;
    }
    return filling;
}

static void write_range(struct exchange *exchange, int64_t begin, int64_t end)
{
    struct exchange_agent *agent = &exchange->agent;
    struct pl_error error;
    int64_t done;
    if (storage_write(exchange->setup.storage, agent->begin + begin, agent->window + begin, end - begin, &done, &error))
        note(agent, &error);
}

static void write_runs(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    const int64_t window = agent->end - agent->begin;
    for (int64_t begin = 0, end; exchange_cover_next(agent->cover, window, &begin, &end); begin = end)
        write_range(exchange, begin, end);
}

/* Completes the gaps with what the file has, so that the whole can be written at once. */
static bool fill_gaps(struct exchange *exchange, const struct filling *filling)
{
    struct exchange_agent *agent = &exchange->agent;
    struct pl_error error;
    const int64_t span = filling->end - filling->begin;
    int64_t there = 0;
    if (storage_read(exchange->setup.storage, agent->begin + filling->begin, agent->back, span, &there, &error))
        return false; /* then each run is written by itself */
    memset(agent->back + there, 0, (size_t)(span - there));
    int64_t gap = filling->begin;
    for (int64_t begin = gap, end; exchange_cover_next(agent->cover, filling->end, &begin, &end); begin = gap = end)
        memcpy(agent->window + gap, agent->back + (gap - filling->begin), (size_t)(begin - gap));
    return true;
}

/* As one piece with what the file has in the gaps, or run by run. */
static void write_filled(struct exchange *exchange, const struct filling *filling, bool whole)
{
    if (whole && (filling->runs == 1 || fill_gaps(exchange, filling)))
        write_range(exchange, filling->begin, filling->end);
    else
        write_runs(exchange);
}

/* Where there are no locks, nobody sieves: runs are written by themselves. */
static void write_locked(struct exchange *exchange, const struct filling *filling, bool whole)
{
    struct exchange_agent *agent = &exchange->agent;
    struct storage *storage = exchange->setup.storage;
    const int64_t offset = agent->begin + filling->begin, span = filling->end - filling->begin;
    const MPI_Comm poke = exchange->setup.async ? MPI_COMM_NULL : exchange->setup.comm;
    struct pl_error error = {0};
    if (access_lock(storage, STORAGE_EXCLUSIVE, offset, span, poke, &error) != PL_OK) {
        write_runs(exchange);
        return;
    }
    write_filled(exchange, filling, whole);
    access_unlock(storage, offset, span, &error);
    if (error.status != PL_OK)
        note(agent, &error);
}

/* Leaves the window to auxiliary processes; false: there are none. */
static bool give_away(const struct exchange *exchange)
{
    const struct exchange_agent *agent = &exchange->agent;
    const struct exchange_setup *setup = &exchange->setup;
    const struct aux_piece piece = {agent->begin, agent->end - agent->begin, agent->window,
                                    agent->cover, setup->readable,           setup->lock_writes};
    return setup->aux && aux_take(setup->aux, &piece, setup->async ? MPI_COMM_NULL : setup->comm);
}

void exchange_window_write(struct exchange *exchange)
{
    if (give_away(exchange))
        return;
    const struct filling filling = measure(&exchange->agent);
    const int64_t gaps = filling.end - filling.begin - filling.bytes;
    if (filling.runs == 0)
        return;
    const bool sieve = filling.runs > 1 && exchange->setup.readable && gaps / (filling.runs - 1) <= GAP_WRITE_BYTES;
    if (sieve || exchange->setup.lock_writes)
        write_locked(exchange, &filling, sieve);
    else
        write_filled(exchange, &filling, filling.runs == 1);
}

/* ---- reading ---- */

/* Reads what the window lacks between two of its bytes, in whole chunks; the cover marks what is there. */
static void load(struct exchange *exchange, int64_t begin, int64_t end)
{
    struct exchange_agent *agent = &exchange->agent;
    const int64_t window = agent->end - agent->begin;
    int64_t place = begin / READ_CHUNK * READ_CHUNK;
    int64_t behind = (end + READ_CHUNK - 1) / READ_CHUNK * READ_CHUNK;
    behind = behind < window ? behind : window;
    while (place < behind) {
        int64_t there = place, there_end = place;
        const bool some = exchange_cover_next(agent->cover, behind, &there, &there_end);
        const int64_t stop = some ? there : behind;
        if (stop > place) {
            int64_t done = 0;
            struct pl_error error;
            if (storage_read(exchange->setup.storage, agent->begin + place, agent->window + place, stop - place, &done,
                             &error))
                note(agent, &error);
            else if (done < stop - place && agent->begin + place + done < agent->file_end)
                agent->file_end = agent->begin + place + done;
            exchange_cover_add(agent->cover, place, stop - place);
        }
        place = some ? there_end : behind;
    }
}

/* Pieces that are closer than a chunk are loaded together. */
static void load_runs(struct exchange *exchange, const struct exchange_run *run, int64_t runs)
{
    struct exchange_agent *agent = &exchange->agent;
    int64_t begin = -1, end = -1;
    for (int64_t r = 0; r < runs; r++, run++)
        for (int64_t i = 0; i < run->count; i++) {
            const int64_t place = run->offset + i * run->stride - agent->begin;
            if (begin >= 0 && place > end + READ_CHUNK) {
                load(exchange, begin, end);
                begin = -1;
            }
            begin = begin < 0 ? place : begin;
            end = place + run->length > end ? place + run->length : end;
        }
    if (begin >= 0)
        load(exchange, begin, end);
}

/* Copies what is asked for and there; stops at the end of the file. */
static int64_t copy_runs(const struct exchange_agent *agent, const struct exchange_run *run, int64_t runs, char *to)
{
    int64_t bytes = 0;
    for (int64_t r = 0; r < runs; r++, run++)
        for (int64_t i = 0; i < run->count; i++) {
            const int64_t offset = run->offset + i * run->stride;
            int64_t length = agent->file_end - offset < run->length ? agent->file_end - offset : run->length;
            length = length > 0 ? length : 0;
            memcpy(to + bytes, agent->window + (offset - agent->begin), (size_t)length);
            bytes += length;
            if (length < run->length)
                return bytes;
        }
    return bytes;
}

void exchange_window_answer(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    const struct exchange_head *head = exchange_message_head(agent->message);
    const struct exchange_run *run = exchange_message_runs(agent->message, false);
    char *reply = agent->reply[agent->replying];
    struct exchange_answer *answer = (struct exchange_answer *)reply;
    *answer = (struct exchange_answer){0};
    if (agent->io_error.status == PL_OK)
        load_runs(exchange, run, head->runs);
    if (agent->io_error.status == PL_OK)
        answer->bytes = copy_runs(agent, run, head->runs, reply + sizeof *answer);
    else
        answer->failed = 1;
    agent->reply_bytes = (int64_t)sizeof *answer + answer->bytes;
}
