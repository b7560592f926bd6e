/* Rounds: who has something for a round accesses it; then all say in which round they have something next, and the
 * least of these is the next round. A rank that fails has nothing more, but goes on saying so until all are through;
 * all learn of it at the end. */
#include "mpiio/strategy/scheduling.h"

#include "mpi/real.h"
#include "mpiio/error/error.h"
#include "mpiio/exchange/exchange_finish.h"
#include "mpiio/mem.h"

#include <stddef.h>

enum { AGREE, ACCESS, MEET, FINISH };

struct scheduling {
    int state;
    struct schedule schedule;
    struct pl_error own; /* this rank's outcome */
    int64_t next, round; /* this rank's next round, and the one that all are in */
    int64_t end;         /* where the data end: those of the request, or of the file */
    struct agree agree;
    MPI_Request request;
    struct exchange_finish finish;
};

static void start_agree(struct agree *agree, struct collective *collective, const struct pl_error *own, int64_t next)
{
    agree_start(agree, collective->file->comm, collective->file->rank, own, &next, 1);
}

void scheduling_start(struct collective *collective, const struct schedule *schedule)
{
    struct scheduling *own = mem_zalloc(1, sizeof *own);
    collective->private = own;
    if (!own) { /* it takes part in the first agreement, which ends the call for all */
        if (collective->error.status == PL_OK)
            pl_fail(&collective->error, PL_E_NOMEM, "no memory for a collective access");
        start_agree(&collective->refusal.agree, collective, &collective->error, SCHEDULE_NO_ROUND);
        return;
    }
    own->schedule = *schedule;
    own->own = collective->error;
    own->next = own->own.status == PL_OK ? schedule_next_round(schedule, 0) : SCHEDULE_NO_ROUND;
    own->end = collective->request.position + collective->request.bytes;
    own->finish.late = file_late(collective->file, &own->finish.late_heard);
    start_agree(&own->agree, collective, &own->own, own->next);
}

/* ---- access ---- */

static void access_part(struct collective *collective, const struct access_manner *manner, int64_t position,
                        int64_t bytes)
{
    struct scheduling *own = collective->private;
    struct access_request part = collective->request;
    int64_t done;
    part.position = position;
    part.bytes = bytes;
    part.skip = position - collective->request.position;
    access_run(collective->file->storage, &part, manner, &done, &own->own);
    if (done < bytes && position + done < own->end)
        own->end = position + done;
}

static void access_round(struct collective *collective, MPI_Comm poke)
{
    struct scheduling *own = collective->private;
    const struct access_manner manner = file_manner(collective->file, poke);
    int64_t position, bytes;
    schedule_enter(&own->schedule, own->round);
    while (own->own.status == PL_OK && schedule_next_part(&own->schedule, &position, &bytes))
        if (position < own->end) /* else the file has ended before */
            access_part(collective, &manner, position, bytes);
}

static void access_round_in_thread(struct pool_work *work)
{
    access_round((struct collective *)((char *)work - offsetof(struct collective, work)), MPI_COMM_NULL);
}

static void start_round(struct collective *collective, int64_t round)
{
    struct scheduling *own = collective->private;
    own->round = round;
    own->state = ACCESS;
    if (own->next != round || !collective->async)
        return;
    collective->working = true;
    pool_submit(&collective->work, access_round_in_thread);
}

static enum step access_step(struct collective *collective)
{
    struct scheduling *own = collective->private;
    if (collective->working && !pool_is_done(&collective->work))
        return STEP_PENDING;
    if (own->next == own->round && !collective->working)
        access_round(collective, collective->file->comm);
    collective->working = false;
    return STEP_DONE;
}

/* ---- meeting the others ---- */

static void start_finish(struct collective *collective)
{
    struct scheduling *own = collective->private;
    exchange_finish_start(&own->finish, collective->file->comm, collective->file->rank, &own->own);
    own->state = FINISH;
}

/* The MPI itself fails: on to the end, where the others hear of it if they can. */
static void give_up(struct collective *collective, int code)
{
    struct scheduling *own = collective->private;
    if (own->own.status == PL_OK)
        error_from_mpi(code, "meeting the other ranks between two rounds", &own->own);
    start_finish(collective);
}

static void start_meeting(struct collective *collective)
{
    struct scheduling *own = collective->private;
    if (own->own.status != PL_OK)
        own->next = SCHEDULE_NO_ROUND;
    else if (own->next == own->round)
        own->next = schedule_next_round(&own->schedule, own->round + 1);
    own->state = MEET;
    const int code = real.Iallreduce(&own->next, &own->round, 1, MPI_INT64_T, MPI_MIN, collective->file->comm,
                                     &own->request);
    if (code != MPI_SUCCESS)
        give_up(collective, code);
}

static enum step meet_step(struct collective *collective)
{
    struct scheduling *own = collective->private;
    int met = 0;
    const int code = real.Test(&own->request, &met, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS)
        give_up(collective, code);
    else if (!met)
        return STEP_PENDING;
    else if (own->round == SCHEDULE_NO_ROUND)
        start_finish(collective);
    else
        start_round(collective, own->round);
    return STEP_DONE;
}

static void finish(struct collective *collective)
{
    struct scheduling *own = collective->private;
    exchange_finish_result(&own->finish, &collective->error);
    if (exchange_finish_went_well(&own->finish) && collective->request.bytes > 0)
        collective->done = own->end - collective->request.position;
    const struct pl_error told = exchange_finish_told(&own->finish);
    file_forget_late(collective->file, &told);
}

/* Somebody could not even begin: nobody accesses anything. */
static enum step end_at_once(const struct agree *agree, struct collective *collective)
{
    agree_result(agree, &collective->error);
    return STEP_DONE;
}

enum step scheduling_step(struct collective *collective)
{
    struct scheduling *own = collective->private;
    struct agree *agree = own ? &own->agree : &collective->refusal.agree;
    if ((!own || own->state == AGREE) && agree_step(agree) == STEP_PENDING)
        return STEP_PENDING;
    if (!own || agree->status != PL_OK)
        return end_at_once(agree, collective);
    if (own->state == AGREE && agree_least(agree, 0) == SCHEDULE_NO_ROUND)
        start_finish(collective);
    else if (own->state == AGREE)
        start_round(collective, agree_least(agree, 0));
    while (own->state != FINISH) {
        if (own->state == ACCESS) {
            if (access_step(collective) == STEP_PENDING)
                return STEP_PENDING;
            start_meeting(collective);
        } else if (meet_step(collective) == STEP_PENDING) {
            return STEP_PENDING;
        }
    }
    if (exchange_finish_step(&own->finish) == STEP_PENDING)
        return STEP_PENDING;
    finish(collective);
    return STEP_DONE;
}

void scheduling_clear(struct collective *collective)
{
    mem_free(collective->private);
    collective->private = NULL;
}
