/* The side of the rank that owns a part of the file. Windows are completed in ascending order: a window is complete
 * when every partner's next data lie behind it. */
#include "mpi/real.h"
#include "mpiio/exchange/exchange_core.h"

void exchange_agent_start(struct exchange *exchange)
{
    struct exchange_agent *agent = &exchange->agent;
    if (agent->number < 0)
        return;
    agent->expected = exchange->touched[agent->number];
    agent->known = 0;
    agent->round = -1;
    agent->receiving = -1;
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
        int code = real.Improbe(agent->rank[i], exchange_tag(exchange, TAG_DATA), exchange->setup.comm, &found,
                                &message, MPI_STATUS_IGNORE);
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

static void answer(struct exchange *exchange, int reply)
{
    struct exchange_agent *agent = &exchange->agent;
    int64_t bytes = 0;
    exchange_window_answer(exchange, agent->message, agent->reply[reply], &bytes);
    const int code = real.Isend(agent->reply[reply], (int)bytes, MPI_BYTE, agent->rank[agent->receiving],
                                exchange_tag(exchange, TAG_REPLY), exchange->setup.comm, &agent->reply_send[reply]);
    if (code != MPI_SUCCESS)
        exchange_note_mpi(exchange, code, "answering a partner");
}

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
    if (exchange->request->write) {
        if (belongs(exchange, head))
            exchange_window_fill(exchange, agent->message);
    } else {
        const int reply = free_reply(exchange);
        if (reply < 0)
            return false;
        belongs(exchange, head);
        answer(exchange, reply);
    }
    agent->next[agent->receiving] = head->next;
    agent->receiving = -1;
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
        if (agent->receiving >= 0 && !finish_message(exchange))
            return STEP_PENDING;
        const int64_t round = least_round(agent);
        if (round != agent->round) {
            if (agent->round >= 0 && exchange->request->write)
                exchange_window_write(exchange);
            agent->round = round == EXCHANGE_NO_ROUND ? -1 : round;
            if (round == EXCHANGE_NO_ROUND)
                break;
            exchange_window_open(exchange, round);
        }
        look_for_message(exchange);
        if (agent->receiving < 0)
            return STEP_PENDING;
    }
    return exchange_all_sent(agent->reply_send, EXCHANGE_REPLIES) ? STEP_DONE : STEP_PENDING;
}
