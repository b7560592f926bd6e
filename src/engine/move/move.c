/* The course of a collective access: its states, one after the other, and the agreements between them. */
#include "engine/move/move.h"
#include "engine/error/error.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>

enum { ETYPES, FAILURES, NUMBERS };
enum { TURNS_TO_PROGRESS = 64 }; /* the others are mostly there at once: MPI is looked at only now and then */

/* What all bring to an agreement; those of the transport follow. */
enum { LOW, HIGH, LATE, OWN_VALUES };
_Static_assert(OWN_VALUES + (int)MOVE_VALUES_MAX <= (int)AGREE_VALUES_MAX, "what a rank brings to an agreement");

/* ---- failures ---- */

void move_note(struct move *move, const struct pl_error *error)
{
    assert(error->status != PL_OK);
    if (move->error.status == PL_OK)
        move->error = *error;
}

void move_note_mpi(struct move *move, int code, const char *doing)
{
    if (code != MPI_SUCCESS && move->error.status == PL_OK)
        error_from_mpi(code, doing, &move->error);
}

static void move_enter(struct move *move, enum move_state state)
{
    assert(state > move->state);
    move->state = state;
}

/* ---- order: where the data come in rank order ---- */

static void move_order_start(struct move *move)
{
    struct file *file = move->file;
    struct move_place *place = &move->place;
    const bool failed = move_has_failed(move);
    assert(failed || move->request.view->etype_size > 0);
    place->mine[ETYPES] = failed ? 0 : move->request.bytes / move->request.view->etype_size;
    place->mine[FAILURES] = failed;
    if (file->order->lines) {
        move_enter(move, MOVE_MEET);
        place->turns = 0;
        shared_order_start(file->order, &place->call, place->mine[ETYPES], failed);
        return;
    }
    move_enter(move, MOVE_SCAN);
    move_note_mpi(move,
                  real.Iscan(place->mine, place->upto, NUMBERS, MPI_INT64_T, MPI_SUM, file->comm, &place->request),
                  "finding the order of the ranks");
}

/* The last rank knows the sum: it moves the shared pointer for all, and tells where it was. */
static void move_order_base(struct move *move)
{
    struct file *file = move->file;
    struct move_place *place = &move->place;
    const int last = file->size - 1;
    if (file->rank == last) {
        place->base[FAILURES] = place->upto[FAILURES];
        if (place->base[FAILURES] == 0 &&
            shared_fetch_add(file->shared, place->upto[ETYPES], &place->base[ETYPES], &move->error) != PL_OK)
            place->base[FAILURES] = 1;
    }
    move_enter(move, MOVE_BASE);
    move_note_mpi(move, real.Ibcast(place->base, NUMBERS, MPI_INT64_T, last, file->comm, &place->request),
                  "telling the place of the ranks");
}

static void move_order_find(struct move *move)
{
    struct access_request *request = &move->request;
    const struct move_place *place = &move->place;
    const int64_t etypes = place->base[ETYPES] + place->upto[ETYPES] - place->mine[ETYPES];
    if (__builtin_mul_overflow(etypes, request->view->etype_size, &request->position) ||
        !view_fits(request->view, request->position, request->bytes))
        pl_fail(&move->error, PL_E_ARG, "the shared file pointer has left the largest file");
}

static void move_finish_start(struct move *move);

/* The places are known, or that somebody failed: then nobody moves anything, and all learn why. */
static void move_order_end(struct move *move)
{
    if (move->place.base[FAILURES] > 0) {
        move_finish_start(move);
        return;
    }
    if (!move_has_failed(move))
        move_order_find(move);
    if (!move_has_failed(move) && move->request.write && move->file->track)
        develop_track_write(move->file, &move->request);
    move_enter(move, MOVE_SETTLE);
}

static bool move_order_have_met(struct move *move)
{
    struct file *file = move->file;
    struct move_place *place = &move->place;
    if (shared_order_step(file->order, &place->call, file->shared, &move->error) == STEP_PENDING) {
        /* Whoever steps this may do nothing else: a message of the program's must get on, too. */
        int found;
        if (move->async || ++place->turns % TURNS_TO_PROGRESS == 0)
            real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, file->comm, &found, MPI_STATUS_IGNORE);
        return false;
    }
    place->upto[ETYPES] = place->call.before + place->mine[ETYPES];
    place->base[ETYPES] = place->call.base;
    place->base[FAILURES] = place->call.failures;
    move_order_end(move);
    return true;
}

static enum step move_order_step(struct move *move)
{
    if (move->state == MOVE_MEET)
        return move_order_have_met(move) ? STEP_DONE : STEP_PENDING;
    int done = 0;
    move_note_mpi(move, real.Test(&move->place.request, &done, MPI_STATUS_IGNORE), "finding the order of the ranks");
    if (!done)
        return STEP_PENDING;
    if (move->state == MOVE_SCAN)
        move_order_base(move);
    else
        move_order_end(move);
    return STEP_DONE;
}

/* ---- check and settle ---- */

static void move_begin(struct move *move)
{
    if (move->ordered)
        move_order_start(move);
    else
        move_enter(move, MOVE_SETTLE);
}

void move_start(struct move *move)
{
    assert(move->state == MOVE_CHECK && move->file && move->strategy && !move->call);
    move->file->sequence++;
    if (move->file->develop)
        develop_check_start(&move->check, move->file, move->function, &move->error);
    else
        move_begin(move);
}

/* Where the ranks are in different calls, or the arguments of one are wrong, none of them goes on: all know. */
static enum step move_check_step(struct move *move)
{
    if (develop_check_step(&move->check) == STEP_PENDING)
        return STEP_PENDING;
    struct pl_error error;
    if (develop_check_result(&move->check, &error) == PL_OK) {
        move_begin(move);
        return STEP_DONE;
    }
    move_note(move, &error);
    move_enter(move, MOVE_DONE);
    return STEP_DONE;
}

/* What auxiliary processes have not stored yet comes before whatever looks at the file or writes to it beside them. */
static enum step move_settle_step(struct move *move)
{
    struct file *file = move->file;
    if (file->aux && move->strategy->defers && move->request.write) {
        file_hear_auxiliary(file);
    } else if (file->aux && !file_is_settled(file)) {
        wait_progress(move->async ? MPI_COMM_NULL : file->comm);
        return STEP_PENDING;
    }
    move_enter(move, MOVE_PREPARE);
    return STEP_DONE;
}

/* ---- prepare and agree ---- */

static void move_transfer_start(struct move *move)
{
    move_enter(move, MOVE_TRANSFER);
    move->strategy->transport->begin(move);
}

static void move_agree_start(struct move *move)
{
    const struct file *file = move->file;
    const struct access_request *request = &move->request;
    int64_t values[OWN_VALUES + MOVE_VALUES_MAX] = {[LOW] = INT64_MAX, [HIGH] = INT64_MAX, [LATE] = INT64_MAX};
    if (!move_has_failed(move) && request->bytes > 0) {
        values[LOW] = view_byte(request->view, request->position);
        values[HIGH] = -(view_byte(request->view, request->position + request->bytes - 1) + 1);
    }
    if (file_has_late(move->file))
        values[LATE] = file->rank;
    int count = OWN_VALUES;
    if (move->strategy->transport->bring)
        count += move->strategy->transport->bring(move, values + OWN_VALUES);
    agree_start(&move->agree, file->comm, file->rank, &move->error, values, count);
}

int64_t move_agreed(const struct move *move, int index)
{
    return agree_least(&move->agree, OWN_VALUES + index);
}

static void move_prepare(struct move *move)
{
    const struct strategy *strategy = move->strategy;
    if (move_has_failed(move))
        move->request.bytes = 0;
    strategy->transport->prepare(move);
    if (move_has_failed(move))
        move->request.bytes = 0;
    if (strategy->agreement != AGREE_BOTH) {
        move_transfer_start(move);
        return;
    }
    move_enter(move, MOVE_AGREE);
    if (!strategy->transport->meet)
        move_agree_start(move);
}

void move_again(struct move *move)
{
    const struct strategy *strategy = move->strategy;
    assert(strategy->otherwise && move->state == MOVE_TRANSFER);
    if (strategy->transport->clear)
        strategy->transport->clear(move);
    assert(!move->call);
    move->strategy = strategy->otherwise;
    move->state = MOVE_PREPARE;
}

static void move_late_start(struct move *move);

/* Whoever cannot take part says so here, and nobody has touched the file. */
static enum step move_agree_step(struct move *move)
{
    const struct move_transport *transport = move->strategy->transport;
    if (transport->meet) {
        if (transport->meet(move) == STEP_PENDING)
            return STEP_PENDING;
        if (move->verdict == MOVE_VERDICT_FAILED)
            move_finish_start(move);
        else
            move_transfer_start(move);
        return STEP_DONE;
    }
    if (agree_step(&move->agree) == STEP_PENDING)
        return STEP_PENDING;
    if (move->agree.status != PL_OK) {
        agree_result(&move->agree, &move->error);
        move_enter(move, MOVE_DONE);
        return STEP_DONE;
    }
    move->low = agree_least(&move->agree, LOW);
    move->high = -agree_least(&move->agree, HIGH);
    move->somebody_late = agree_least(&move->agree, LATE) != INT64_MAX;
    if (move->low < move->high)
        move_transfer_start(move);
    else if (move->somebody_late)
        move_late_start(move);
    else
        move_enter(move, MOVE_DONE);
    return STEP_DONE;
}

/* ---- transfer, and the end ---- */

static enum step move_transfer_step(struct move *move)
{
    const struct strategy *strategy = move->strategy;
    if (strategy->transport->step(move) == STEP_PENDING)
        return STEP_PENDING;
    assert(!move->job.busy);
    assert(move->done >= 0 && move->done <= move->request.bytes);
    if (strategy->agreement == AGREE_LATER) {
        if (move_has_failed(move))
            file_note_late(move->file, &move->error, true);
        move_enter(move, MOVE_DONE);
    } else if (!strategy->transport->meet || move->verdict == MOVE_VERDICT_FAILED) {
        move_finish_start(move);
    } else if (move->verdict == MOVE_VERDICT_AGAIN) {
        move->state = MOVE_AGREE;
    } else if (move->somebody_late) {
        move_late_start(move);
    } else {
        move_enter(move, MOVE_DONE);
    }
    return STEP_DONE;
}

static void move_finish_start(struct move *move)
{
    struct file *file = move->file;
    const int64_t late_rank = file_has_late(file) ? file->rank : INT64_MAX;
    move_enter(move, MOVE_FINISH);
    agree_start(&move->agree, file->comm, file->rank, &move->error, &late_rank, 1);
}

static enum step move_finish_step(struct move *move)
{
    if (agree_step(&move->agree) == STEP_PENDING)
        return STEP_PENDING;
    if (move->agree.status != PL_OK) {
        agree_result(&move->agree, &move->error);
        move->done = 0;
        move_enter(move, MOVE_DONE);
    } else if (agree_least(&move->agree, 0) != INT64_MAX) {
        move_late_start(move);
    } else {
        move_enter(move, MOVE_DONE);
    }
    return STEP_DONE;
}

/* What this call had to do is done. */
static void move_late_start(struct move *move)
{
    const struct file *file = move->file;
    move_enter(move, MOVE_LATE);
    move->late = file_late(move->file);
    agree_start(&move->agree, file->comm, file->rank, &move->late.error, NULL, 0);
}

static enum step move_late_step(struct move *move)
{
    if (agree_step(&move->agree) == STEP_PENDING)
        return STEP_PENDING;
    file_forget_late(move->file, move->late.number);
    if (move->late.error.status == PL_OK || !move->late.heard)
        agree_result(&move->agree, &move->error);
    move_enter(move, MOVE_DONE);
    return STEP_DONE;
}

/* ---- the whole ---- */

enum step move_step(struct move *move)
{
    enum step step = STEP_DONE;
    while (move->state != MOVE_DONE && step == STEP_DONE)
        switch (move->state) {
        case MOVE_CHECK:
            step = move_check_step(move);
            break;
        case MOVE_MEET:
        case MOVE_SCAN:
        case MOVE_BASE:
            step = move_order_step(move);
            break;
        case MOVE_SETTLE:
            step = move_settle_step(move);
            break;
        case MOVE_PREPARE:
            move_prepare(move);
            break;
        case MOVE_AGREE:
            step = move_agree_step(move);
            break;
        case MOVE_TRANSFER:
            step = move_transfer_step(move);
            break;
        case MOVE_FINISH:
            step = move_finish_step(move);
            break;
        case MOVE_LATE:
            step = move_late_step(move);
            break;
        case MOVE_DONE:
            break;
        }
    if (move->state == MOVE_DONE && move->call) /* at once: the program may keep what is done for long */
        move->strategy->transport->clear(move);
    return step;
}

void move_run_coll(struct move *move)
{
    move_start(move);
    struct wait_pace pace = {0};
    while (move_step(move) == STEP_PENDING) {
        const struct move_transport *transport = move->strategy->transport;
        if (transport->wait && (move->state == MOVE_AGREE || move->state == MOVE_TRANSFER))
            transport->wait(move);
        else
            wait_turn(&pace);
    }
}

void move_clear(struct move *move)
{
    if (move->call)
        move->strategy->transport->clear(move);
    assert(!move->call);
    access_request_clear(&move->request);
}
