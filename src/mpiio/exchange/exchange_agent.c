/* The side of the rank that owns a part of the file. Windows are completed in ascending order: a window is complete
 * when every partner's next data lie behind it. */
#include "mpi/real.h"
#include "mpiio/exchange/exchange_core.h"

#include <stddef.h>

void exchange_agent_start(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (agent->number < 0)
        return;
    agent->expected = exchange->touched[agent->number];
    agent->known = 0;
    agent->round = -1;
    agent->receiving = agent->replying = -1;
    agent->receive = MPI_REQUEST_NULL;
    agent->file_end = INT64_MAX;
    for (int i = 0; i < EXCHANGE_REPLIES; i++)
        agent->reply_send[i] = MPI_REQUEST_NULL;
}

/* Who has something for this agent, and where each begins. */
static enum step greet(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    while (agent->known < agent->expected) {
        int found = 0;
        MPI_Message message;
        MPI_Status status;
        int code = real.Improbe(MPI_ANY_SOURCE, exchange_tag(exchange, TAG_HELLO), exchange->setup.comm, &found,
                                &message, &status);
        if (code == MPI_SUCCESS && !found)
            return STEP_PENDING;
        MPI_Request request;
        if (code == MPI_SUCCESS)
            code = real.Imrecv(&agent->next[agent->known], 1, MPI_INT64_T, &message, &request);
        if (code == MPI_SUCCESS)
            code = real.Wait(&request, MPI_STATUS_IGNORE); /* it is here already */
        if (code != MPI_SUCCESS) {
            exchange_note_mpi(exchange, code, "hearing of a partner");
            agent->next[agent->known] = EXCHANGE_NO_ROUND;
        }
        agent->rank[agent->known++] = status.MPI_SOURCE;
    }
    return STEP_DONE;
}

static int64_t least_round(const struct exchange_agent *agent)
{
    int64_t least = EXCHANGE_NO_ROUND;
    for (int i = 0; i < agent->known; i++)
        least = agent->next[i] < least ? agent->next[i] : least;
    return least;
}

/* Begins to receive from a partner that has something for the window in memory. */
static void look_for_message(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    for (int i = 0; i < agent->known && agent->receiving < 0; i++) {
        if (agent->next[i] != agent->round)
            continue;
        int found = 0;
        MPI_Message message;
        MPI_Status status;
        int code = real.Improbe(agent->rank[i], exchange_tag(exchange, TAG_DATA), exchange->setup.comm, &found,
                                &message, &status);
        if (code == MPI_SUCCESS && found)
            code = real.Get_count(&status, MPI_BYTE, &agent->received);
        if (code == MPI_SUCCESS && found)
            code = real.Imrecv(agent->message, (int)exchange->message_bytes, MPI_BYTE, &message, &agent->receive);
        if (code != MPI_SUCCESS) {
            exchange_note_mpi(exchange, code, "receiving from a partner");
            agent->next[i] = EXCHANGE_NO_ROUND;
        } else if (found) {
            agent->receiving = i;
        }
    }
}

static int free_reply(struct exchange *exchange)
{
    for (int i = 0; i < EXCHANGE_REPLIES; i++) {
        int done = 0;
        if (real.Test(&exchange->agent.reply_send[i], &done, MPI_STATUS_IGNORE) != MPI_SUCCESS || done)
            return i;
    }
    return -1;
}

/* ---- system calls, in this thread or in another ---- */

static void window_io(struct exchange *exchange)
{
    if (exchange->request->write)
        exchange_window_write(exchange);
    else
        exchange_window_answer(exchange);
}

static void window_io_in_thread(struct pool_work *work)
{
    window_io((struct exchange *)((char *)work - offsetof(struct exchange, agent.work)));
}

static void start_io(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    agent->working = true;
    if (exchange->setup.async) {
        pool_submit(&agent->work, window_io_in_thread);
    } else {
        window_io(exchange);
        atomic_store(&agent->work.done, true);
    }
}

static void send_reply(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    const int code = real.Isend(agent->reply[agent->replying], (int)agent->reply_bytes, MPI_BYTE,
                                agent->rank[agent->receiving], exchange_tag(exchange, TAG_REPLY), exchange->setup.comm,
                                &agent->reply_send[agent->replying]);
    if (code != MPI_SUCCESS)
        exchange_note_mpi(exchange, code, "answering a partner");
    agent->next[agent->receiving] = exchange_message_head(agent->message)->next;
    agent->receiving = agent->replying = -1;
}

/* False: the system calls are not through yet. */
static bool finish_io(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (!pool_is_done(&agent->work))
        return false;
    agent->working = false;
    if (agent->io_error.status != PL_OK)
        exchange_note(exchange, &agent->io_error);
    if (exchange->request->write)
        agent->written = true;
    else
        send_reply(exchange);
    return true;
}

/* ---- messages ---- */

/* A message of another call or of another view would put bytes in wrong places. */
static bool belongs(struct exchange *exchange, const struct exchange_head *head)
{
    if (head->sequence == exchange->setup.sequence && head->generation == exchange->request->view->generation)
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_NOT_SAME, "rank %d is in another collective call on this file, or has another view",
            exchange->agent.rank[exchange->agent.receiving]);
    exchange_note(exchange, &error);
    return false;
}

/* Nothing that a message says may lead out of the window, out of the message, or out of the answer. */
static bool is_sound(struct exchange *exchange, const struct exchange_head *head)
{
    const struct exchange_agent *agent = &exchange->agent;
    const bool write = exchange->request->write;
    if (exchange_message_is_sound(agent->message, agent->received, write, agent->begin, agent->end) &&
        head->bytes <= exchange->message_bytes - (int64_t)sizeof(struct exchange_answer))
        return true;
    struct pl_error error;
    pl_fail(&error, PL_E_MPI, "a message of rank %d does not hold what it should", agent->rank[agent->receiving]);
    exchange_note(exchange, &error);
    return false;
}

/* Finishes the message that is being received; false: it (or a free reply) is not there yet. */
static bool finish_message(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    int done = 0;
    const int code = real.Test(&agent->receive, &done, MPI_STATUS_IGNORE);
    if (code == MPI_SUCCESS && !done)
        return false;
    if (code != MPI_SUCCESS) {
        exchange_note_mpi(exchange, code, "receiving from a partner");
        agent->next[agent->receiving] = EXCHANGE_NO_ROUND;
        agent->receiving = -1;
        return true;
    }
    const struct exchange_head *head = exchange_message_head(agent->message);
    const bool fits = belongs(exchange, head) && is_sound(exchange, head);
    if (!exchange->request->write) {
        agent->replying = free_reply(exchange);
        if (agent->replying < 0)
            return false;
        if (!fits)
            agent->io_error = exchange->own; /* the answer is that it failed; the window is not touched */
        start_io(exchange);
        return true;
    }
    if (fits)
        exchange_window_fill(exchange, agent->message);
    agent->next[agent->receiving] = head->next;
    agent->receiving = -1;
    return true;
}

/* The window in memory is complete: into the file with it, and on to the next. False: there is no next. */
static bool turn_window(struct exchange *exchange, int64_t round)
{
    struct exchange_agent *agent = &exchange->agent;
    if (agent->round >= 0 && exchange->request->write && !agent->written && exchange->own.status == PL_OK) {
        start_io(exchange);
        return true;
    }
    agent->round = round == EXCHANGE_NO_ROUND ? -1 : round;
    agent->written = false;
    if (round == EXCHANGE_NO_ROUND)
        return false;
    exchange_window_open(exchange, round);
    return true;
}

enum step exchange_agent_step(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (agent->number < 0)
        return STEP_DONE;
    if (greet(exchange) == STEP_PENDING)
        return STEP_PENDING;
    for (;;) {
        if (agent->working && !finish_io(exchange))
            return STEP_PENDING;
        if (agent->receiving >= 0) {
            if (!finish_message(exchange))
                return STEP_PENDING;
            continue;
        }
        const int64_t round = least_round(agent);
        if (round != agent->round) {
            if (!turn_window(exchange, round))
                break;
            continue;
        }
        look_for_message(exchange);
        if (agent->receiving < 0)
            return STEP_PENDING;
    }
    return exchange_all_sent(agent->reply_send, EXCHANGE_REPLIES) ? STEP_DONE : STEP_PENDING;
}
