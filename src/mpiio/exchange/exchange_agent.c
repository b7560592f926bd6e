/* The side of the rank that owns a part of the file. Windows are completed in ascending order: a window is complete
 * when every partner's next data lie behind it. A few of them are in memory, always with the earliest that anybody has
 * something for: the place of an earlier one is given to it. While one is stored, others are filled. */
#include "mpi/real.h"
#include "mpiio/exchange/exchange_core.h"

#include <stddef.h>

/* Less than this is read or written at once: a thread would take longer to begin. */
static const int64_t THREAD_BYTES = 256 << 10;

void exchange_agent_start(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        agent->window[i].round = -1;
    for (int i = 0; i < EXCHANGE_DESKS; i++)
        agent->desk[i].state = DESK_FREE;
}

/* Who has something for this agent, and where each begins. */
void exchange_agent_greet(struct exchange *exchange)
{
    if (exchange->agent.number < 0)
        return;
    for (;;) {
        int found = 0;
        int64_t next = EXCHANGE_NO_ROUND;
        MPI_Message message;
        MPI_Status status;
        MPI_Request request;
        int code = real.Improbe(MPI_ANY_SOURCE, exchange_tag(exchange, TAG_HELLO), exchange->setup.comm, &found,
                                &message, &status);
        if (code == MPI_SUCCESS && !found)
            return;
        if (code == MPI_SUCCESS)
            code = real.Imrecv(&next, 1, MPI_INT64_T, &message, &request);
        if (code == MPI_SUCCESS)
            code = real.Wait(&request, MPI_STATUS_IGNORE); /* it is here already */
        if (code != MPI_SUCCESS) {
            exchange_note_mpi(exchange, code, "hearing of a partner");
            return;
        }
        if (!exchange_partners_add(&exchange->agent.partners, status.MPI_SOURCE, next)) {
            struct pl_error error;
            pl_fail(&error, PL_E_NOMEM, "no memory for the partners of a collective access");
            exchange_note(exchange, &error);
        }
    }
}

/* ---- windows ---- */

struct exchange_window *exchange_window_of(struct exchange_agent *agent, int64_t round)
{
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        if (agent->window[i].round == round)
            return &agent->window[i];
    return NULL;
}

/* May a window be opened beside those that are in memory? What is read from a cache of the system's is there at once:
 * then a second window would only drive the first out of the processor's caches. But one that is earlier must be. */
static bool may_open(const struct exchange *exchange, int64_t round)
{
    if (exchange->request->write || exchange->memory->reads_sleep)
        return true;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        if (exchange->agent.window[i].round >= 0 && exchange->agent.window[i].round < round)
            return false;
    return true;
}

/* The earliest window that is wanted and not in memory, if there is a place for it. */
static bool open_window(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    struct exchange_window *place = exchange_window_of(agent, -1);
    if (!place || agent->partners.upcoming == 0 || exchange_has_failed(exchange))
        return false;
    int waiting;
    int64_t round = exchange_partners_least(&agent->partners, -1, &waiting);
    while (exchange_window_of(agent, round))
        round = exchange_partners_least(&agent->partners, round, &waiting);
    if (!may_open(exchange, round))
        return false;
    exchange_window_open(exchange, place, round);
    place->waiting = waiting;
    agent->partners.upcoming -= waiting;
    agent->partners.look_again = true;
    return true;
}

static struct exchange_window *complete_window(struct exchange_agent *agent)
{
    int count;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++) {
        struct exchange_window *window = &agent->window[i];
        if (window->round >= 0 && window->waiting == 0 &&
            exchange_partners_least(&agent->partners, -1, &count) > window->round)
            return window;
    }
    return NULL;
}

/* ---- system calls, in this thread or in another ---- */

static void do_io(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (agent->asked)
        exchange_window_answer(exchange, agent->working, agent->asked);
    else
        exchange_window_write(exchange, agent->working);
}

static void do_io_in_thread(struct pool_work *work)
{
    do_io((struct exchange *)((char *)work - offsetof(struct exchange, agent.work)));
}

/* A thread pays where there is something to do meanwhile. A partner waits for what is read: that is done at once,
 * unless the storage is slow. */
static bool pays_in_thread(const struct exchange *exchange, int64_t bytes)
{
    const struct exchange_partners *partners = &exchange->agent.partners;
    if (bytes < THREAD_BYTES)
        return false;
    if (exchange->request->write)
        return partners->finished < partners->heard || !exchange->source.over;
    return exchange->memory->reads_sleep && partners->finished + 1 < partners->heard;
}

static void start_io(struct exchange *exchange, struct exchange_window *window, struct exchange_desk *asked,
                     int64_t bytes)
{
    struct exchange_agent *agent = &exchange->agent;
    agent->working = window;
    agent->asked = asked;
    agent->in_thread = exchange->setup.async || pays_in_thread(exchange, bytes);
    if (agent->in_thread) {
        pool_submit(&agent->work, do_io_in_thread);
    } else {
        do_io(exchange);
        atomic_store(&agent->work.done, true);
    }
}

static bool finish_io(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (!agent->working || !pool_is_done(&agent->work))
        return false;
    if (agent->io_error.status != PL_OK)
        exchange_note(exchange, &agent->io_error);
    if (agent->asked) {
        exchange->memory->reads_sleep = agent->read_slept;
        exchange_desk_reply(exchange, agent->asked);
    } else {
        agent->working->round = -1;
    }
    agent->working = NULL;
    agent->asked = NULL;
    return true;
}

/* Answers what is in memory already, while a thread reads another window. */
static bool answer_from_memory(struct exchange *exchange, struct exchange_desk *desk)
{
    if (desk->window == exchange->agent.working || !exchange_window_has(desk->window, desk->message))
        return false;
    exchange_window_copy(desk->window, desk);
    exchange_desk_reply(exchange, desk);
    return true;
}

/* What is asked for: the earliest first. */
static bool start_reading(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    struct exchange_desk *earliest = NULL;
    for (int i = 0; i < EXCHANGE_DESKS; i++) {
        struct exchange_desk *desk = &agent->desk[i];
        if (desk->state != DESK_ASKED || desk == agent->asked)
            continue;
        if (answer_from_memory(exchange, desk))
            return true;
        if (!earliest || desk->window->round < earliest->window->round)
            earliest = desk;
    }
    if (!earliest || agent->working)
        return false;
    start_io(exchange, earliest->window, earliest, exchange_message_head(earliest->message)->bytes);
    return true;
}

/* A window that is complete goes into the file; one of a read has done its service. */
static bool turn_window(struct exchange *exchange)
{
    struct exchange_window *window = complete_window(&exchange->agent);
    if (!window)
        return false;
    if (exchange->request->write)
        start_io(exchange, window, NULL, window->end - window->begin);
    else
        window->round = -1;
    return true;
}

static bool start_work(struct exchange *exchange)
{
    if (start_reading(exchange))
        return true;
    return !exchange->agent.working && !exchange_has_failed(exchange) && turn_window(exchange);
}

/* ---- the steps ---- */

/* After a failure windows stay as they are, and it is over when everybody has said all. */
static bool is_over(const struct exchange *exchange)
{
    const struct exchange_agent *agent = &exchange->agent;
    if (agent->partners.finished < agent->partners.heard || agent->working)
        return false;
    for (int i = 0; i < EXCHANGE_DESKS; i++)
        if (agent->desk[i].state != DESK_FREE)
            return false;
    for (int i = 0; i < EXCHANGE_WINDOWS; i++)
        if (agent->window[i].round >= 0 && !exchange_has_failed(exchange))
            return false;
    return true;
}

enum step exchange_agent_step(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (agent->number < 0)
        return STEP_DONE;
    bool moved;
    do {
        moved = finish_io(exchange);
        moved = open_window(exchange) || moved;
        for (int i = 0; i < EXCHANGE_DESKS; i++)
            moved = exchange_desk_step(exchange, &agent->desk[i]) || moved;
        moved = start_work(exchange) || moved;
    } while (moved);
    return is_over(exchange) ? STEP_DONE : STEP_PENDING;
}
