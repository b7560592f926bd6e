/* The requests that this rank has not completed yet, and the ways to complete them. */
#include "engine_mix.h"

#include <stdlib.h>
#include <string.h>

enum { REQUESTS_MAX = 512 };

static struct entry {
    MPI_Request request;
    struct subject subject;
} entries[REQUESTS_MAX];
static int used;

void request_add(MPI_Request request, struct subject subject)
{
    if (used == REQUESTS_MAX)
        MPI_Abort(MPI_COMM_WORLD, 2);
    entries[used++] = (struct entry){request, subject};
}

static void end_subject(const struct subject *subject, int code, const MPI_Status *status)
{
    if (subject->access) {
        access_end(subject->access, code, status);
        return;
    }
    if (code != MPI_SUCCESS)
        complain("a request that is none of a file has error %d", code);
    if (subject->from >= 0)
        message_check(subject->words, subject->count, subject->from, subject->tag);
    else
        free(subject->words);
}

/* ---- the requests of one call ---- */

static struct {
    int count;
    MPI_Request requests[REQUESTS_MAX * 2];
    int entry[REQUESTS_MAX * 2]; /* -1: MPI_REQUEST_NULL from the start */
    MPI_Status statuses[REQUESTS_MAX * 2];
    int indices[REQUESTS_MAX * 2];
    bool ended[REQUESTS_MAX]; /* by entry */
} set;

static void choose(int wanted)
{
    int order[REQUESTS_MAX];
    for (int i = 0; i < used; i++)
        order[i] = i;
    for (int i = used - 1; i > 0; i--) {
        const int k = (int)draw(&mix.own, 0, i), swap = order[i];
        order[i] = order[k];
        order[k] = swap;
    }
    set.count = 0;
    memset(set.ended, 0, sizeof set.ended);
    for (int i = 0; i < wanted; i++) {
        if (draw(&mix.own, 0, 5) == 0) {
            set.entry[set.count] = -1;
            set.requests[set.count++] = MPI_REQUEST_NULL;
        }
        set.entry[set.count] = order[i];
        set.requests[set.count++] = entries[order[i]].request;
    }
}

static void drop_ended(void)
{
    int kept = 0;
    for (int i = 0; i < set.count; i++)
        if (set.entry[i] >= 0 && !set.ended[set.entry[i]])
            entries[set.entry[i]].request = set.requests[i];
    for (int i = 0; i < used; i++)
        if (!set.ended[i])
            entries[kept++] = entries[i];
    used = kept;
}

/* Request i of the set was completed. Returns whether it failed. */
static bool ended(int i, int code, const MPI_Status *status)
{
    if (set.entry[i] < 0) {
        if (code != MPI_SUCCESS)
            complain("MPI_REQUEST_NULL has error %d", code);
        return false;
    }
    if (set.requests[i] != MPI_REQUEST_NULL)
        complain("the handle of a completed request is not MPI_REQUEST_NULL");
    set.ended[set.entry[i]] = true;
    end_subject(&entries[set.entry[i]].subject, code, status);
    return code != MPI_SUCCESS;
}

/* Every failed request calls the handler of its file. */
static void check_handler(int before, int failed)
{
    if (mix.handler_calls - before != failed)
        complain("%d requests failed and the error handler was called %d times", failed, mix.handler_calls - before);
}

static void one_ended(int i, int code, const MPI_Status *status, int handler_before)
{
    check_handler(handler_before, ended(i, code, status));
}

/* Statuses of several requests, at set.indices where there are some. */
static void several_ended(int count, bool by_index, int code, bool with_statuses, int handler_before)
{
    int failed = 0;
    if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
        complain("a call that completes several requests returns %d", code);
    for (int k = 0; k < count; k++) {
        const int i = by_index ? set.indices[k] : k;
        if (code != MPI_SUCCESS && !with_statuses)
            ended(i, set.entry[i] >= 0 && entries[set.entry[i]].subject.access ? code : MPI_SUCCESS, NULL);
        else
            failed += ended(i, code == MPI_SUCCESS ? MPI_SUCCESS : set.statuses[k].MPI_ERROR,
                            with_statuses ? &set.statuses[k] : NULL);
    }
    if (code != MPI_SUCCESS && with_statuses && failed == 0)
        complain("MPI_ERR_IN_STATUS, and no status has an error");
    if (with_statuses || code == MPI_SUCCESS)
        check_handler(handler_before, failed);
}

/* ---- ways ---- */

static void wait_one(bool test)
{
    MPI_Status status;
    const int before = mix.handler_calls;
    int code = MPI_SUCCESS;
    choose(1);
    set.requests[0] = set.requests[set.count - 1]; /* without an empty one before it */
    set.entry[0] = set.entry[set.count - 1];
    set.count = 1;
    doing("%s", test ? "Test" : "Wait");
    if (!test)
        code = MPI_Wait(&set.requests[0], &status);
    for (int done = !test; !done && code == MPI_SUCCESS;)
        code = MPI_Test(&set.requests[0], &done, &status);
    one_ended(0, code, &status, before);
}

static void look_then_wait(void)
{
    MPI_Status status;
    int done = 0, before = mix.handler_calls;
    choose(1);
    set.requests[0] = set.requests[set.count - 1];
    set.entry[0] = set.entry[set.count - 1];
    set.count = 1;
    doing("Request_get_status");
    while (!done)
        if (MPI_Request_get_status(set.requests[0], &done, &status) != MPI_SUCCESS)
            break;
    check_handler(before, 0);
    const int code = MPI_Wait(&set.requests[0], &status);
    one_ended(0, code, &status, before);
}

static void wait_all(int wanted, bool test)
{
    const bool with = draw(&mix.own, 0, 2) > 0;
    const int before = mix.handler_calls;
    int done = 1, code;
    choose(wanted);
    doing("%s of %d requests", test ? "Testall" : "Waitall", set.count);
    if (test)
        code = MPI_Testall(set.count, set.requests, &done, with ? set.statuses : MPI_STATUSES_IGNORE);
    else
        code = MPI_Waitall(set.count, set.requests, with ? set.statuses : MPI_STATUSES_IGNORE);
    if (done)
        several_ended(set.count, false, code, with, before);
}

static void wait_any(int wanted, bool test)
{
    MPI_Status status;
    const int before = mix.handler_calls;
    int index = MPI_UNDEFINED, done = 1, code;
    choose(wanted);
    doing("%s of %d requests", test ? "Testany" : "Waitany", set.count);
    if (test)
        code = MPI_Testany(set.count, set.requests, &index, &done, &status);
    else
        code = MPI_Waitany(set.count, set.requests, &index, &status);
    if (done && index == MPI_UNDEFINED)
        complain("one of %d requests was completed, and its index is undefined", set.count);
    else if (done)
        one_ended(index, code, &status, before);
}

static void wait_some(int wanted, bool test)
{
    const bool with = draw(&mix.own, 0, 2) > 0;
    const int before = mix.handler_calls;
    int done = -1, code;
    MPI_Status *statuses = with ? set.statuses : MPI_STATUSES_IGNORE;
    choose(wanted);
    doing("%s of %d requests", test ? "Testsome" : "Waitsome", set.count);
    if (test)
        code = MPI_Testsome(set.count, set.requests, &done, set.indices, statuses);
    else
        code = MPI_Waitsome(set.count, set.requests, &done, set.indices, statuses);
    if (done == MPI_UNDEFINED || done > set.count || (done == 0 && !test))
        complain("%d of %d requests were completed", done, set.count);
    else
        several_ended(done, true, code, with, before);
}

static void complete(int wanted)
{
    switch (draw(&mix.own, 0, 9)) {
    case 0:
    case 1:
        wait_one(false);
        break;
    case 2:
        wait_one(true);
        break;
    case 3:
        look_then_wait();
        break;
    case 4:
    case 5:
        wait_all(wanted, false);
        break;
    case 6:
        wait_all(wanted, true);
        break;
    case 7:
        wait_any(wanted, draw(&mix.own, 0, 1));
        break;
    default:
        wait_some(wanted, draw(&mix.own, 0, 1));
    }
    drop_ended();
}

void requests_complete_some(void)
{
    if (used > 0 && draw(&mix.own, 0, 2) == 0)
        complete((int)draw(&mix.own, 1, used));
}

void requests_complete_all(void)
{
    while (used > 0)
        complete((int)draw(&mix.own, 1, used));
}
