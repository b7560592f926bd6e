/* A collective access from its start to its end. */
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/develop/develop_track.h"
#include "mpiio/error/error.h"
#include "mpiio/strategy/strategy.h"

enum { CHECK, MEET, SCAN, BASE, REFUSE, SETTLE, MOVE, FINISHED };
enum { ETYPES, FAILURES, NUMBERS };
enum { TURNS_TO_POKE = 64 }; /* the others are mostly there at once: MPI is looked at only now and then */

static void note_mpi(struct collective *collective, int code, const char *doing)
{
    if (code != MPI_SUCCESS && collective->error.status == PL_OK)
        error_from_mpi(code, doing, &collective->error);
}

static void start_moving(struct collective *collective)
{
    collective->state = SETTLE;
}

/* What auxiliary processes have not stored yet comes before whatever looks at the file or writes to it beside them. */
static bool is_settled(struct collective *collective)
{
    struct file *file = collective->file;
    if (collective->strategy->defers && collective->request.write)
        file_hear_auxiliary(file);
    else if (!file_is_settled(file)) {
        wait_poke(collective->async ? MPI_COMM_NULL : file->comm);
        return false;
    }
    return true;
}

static void move(struct collective *collective)
{
    collective->state = MOVE;
    if (collective->error.status != PL_OK)
        collective->request.bytes = 0;
    collective->strategy->start(collective);
}

static void start_order(struct collective *collective)
{
    struct collective_order *order = &collective->order;
    const bool failed = collective->error.status != PL_OK;
    order->mine[ETYPES] = failed ? 0 : collective->request.bytes / collective->request.view->etype_size;
    order->mine[FAILURES] = failed;
    if (collective->file->order.lines) {
        collective->state = MEET;
        order->turns = 0;
        shared_order_start(&collective->file->order, &order->call, order->mine[ETYPES], failed);
        return;
    }
    collective->state = SCAN;
    note_mpi(
        collective,
        real.Iscan(order->mine, order->upto, NUMBERS, MPI_INT64_T, MPI_SUM, collective->file->comm, &order->request),
        "finding the order of the ranks");
}

static void start_access(struct collective *collective)
{
    if (collective->ordered)
        start_order(collective);
    else
        start_moving(collective);
}

void collective_start(struct collective *collective)
{
    collective->file->sequence++;
    if (collective->file->develop) {
        collective->state = CHECK;
        develop_check_start(&collective->check, collective->file, collective->function, &collective->error);
    } else {
        start_access(collective);
    }
}

/* Where the ranks are in different calls, or the arguments of one are wrong, none of them goes on: all know. */
static void after_check(struct collective *collective)
{
    struct pl_error error;
    if (develop_check_result(&collective->check, &error) == PL_OK) {
        start_access(collective);
        return;
    }
    if (collective->error.status == PL_OK)
        collective->error = error;
    collective->state = FINISHED;
}

/* The last rank knows the sum: it moves the shared pointer for all, and tells where it was. */
static void start_base(struct collective *collective)
{
    struct file *file = collective->file;
    struct collective_order *order = &collective->order;
    const int last = file->size - 1;
    if (file->rank == last) {
        order->base[FAILURES] = order->upto[FAILURES];
        if (order->base[FAILURES] == 0 &&
            shared_fetch_add(&file->shared, order->upto[ETYPES], &order->base[ETYPES], &collective->error) != PL_OK)
            order->base[FAILURES] = 1;
    }
    collective->state = BASE;
    note_mpi(collective, real.Ibcast(order->base, NUMBERS, MPI_INT64_T, last, file->comm, &order->request),
             "telling the place of the ranks");
}

static void place(struct collective *collective)
{
    struct access_request *request = &collective->request;
    const struct collective_order *order = &collective->order;
    const int64_t etypes = order->base[ETYPES] + order->upto[ETYPES] - order->mine[ETYPES];
    if (__builtin_mul_overflow(etypes, request->view->etype_size, &request->position) ||
        !view_fits(request->view, request->position, request->bytes))
        pl_fail(&collective->error, PL_E_ARG, "the shared file pointer has left the largest file");
}

/* The places are known, or that somebody failed: then nobody moves anything, and all learn why. */
static void after_order(struct collective *collective)
{
    struct collective_order *order = &collective->order;
    if (order->base[FAILURES] > 0) {
        agree_start(&order->agree, collective->file->comm, collective->file->rank, &collective->error, NULL, 0);
        collective->state = REFUSE;
        return;
    }
    if (collective->error.status == PL_OK)
        place(collective);
    if (collective->error.status == PL_OK && collective->request.write)
        develop_track_write(collective->file, &collective->request);
    start_moving(collective);
}

static bool have_met(struct collective *collective)
{
    struct file *file = collective->file;
    struct collective_order *order = &collective->order;
    if (shared_order_step(&file->order, &order->call, &file->shared, &collective->error) == STEP_PENDING) {
        /* Whoever steps this may do nothing else: a message of the program's must get on, too. */
        int found;
        if (collective->async || ++order->turns % TURNS_TO_POKE == 0)
            real.Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, file->comm, &found, MPI_STATUS_IGNORE);
        return false;
    }
    order->upto[ETYPES] = order->call.before + order->mine[ETYPES];
    order->base[ETYPES] = order->call.base;
    order->base[FAILURES] = order->call.failures;
    after_order(collective);
    return true;
}

static bool order_is_known(struct collective *collective)
{
    struct collective_order *order = &collective->order;
    if (collective->state == MEET)
        return have_met(collective);
    int done = 0;
    note_mpi(collective, real.Test(&order->request, &done, MPI_STATUS_IGNORE), "finding the order of the ranks");
    if (!done)
        return false;
    if (collective->state == SCAN)
        start_base(collective);
    else
        after_order(collective);
    return true;
}

enum step collective_step(struct collective *collective)
{
    if (collective->state == CHECK) {
        if (develop_check_step(&collective->check) == STEP_PENDING)
            return STEP_PENDING;
        after_check(collective);
    }
    while (collective->state == MEET || collective->state == SCAN || collective->state == BASE)
        if (!order_is_known(collective))
            return STEP_PENDING;
    if (collective->state == REFUSE) {
        if (agree_step(&collective->order.agree) == STEP_PENDING)
            return STEP_PENDING;
        agree_result(&collective->order.agree, &collective->error);
        collective->state = FINISHED;
    }
    if (collective->state == SETTLE) {
        if (!is_settled(collective))
            return STEP_PENDING;
        move(collective);
    }
    if (collective->state == MOVE) {
        if (collective->strategy->step(collective) == STEP_PENDING)
            return STEP_PENDING;
        collective->state = FINISHED;
    }
    return STEP_DONE;
}

void collective_run_coll(struct collective *collective)
{
    collective_start(collective);
    struct wait_pace pace = {0};
    while (collective_step(collective) == STEP_PENDING) {
        if (collective->state == MOVE && collective->strategy->wait)
            collective->strategy->wait(collective);
        else
            wait_turn(&pace);
    }
}

void collective_clear(struct collective *collective)
{
    if (collective->strategy && collective->strategy->clear)
        collective->strategy->clear(collective);
    exchange_free(collective->exchange);
    collective->exchange = NULL;
    access_request_clear(&collective->request);
}
