#include "engine/develop/develop.h"
#include "base/text.h"
#include "engine/develop/develop_board.h"
#include "engine/error/error.h"
#include "engine/mem.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TAG = 32000 }; /* above those of the exchange */

bool develop_is_wanted(void)
{
    const char *text = getenv("PIOLET_DEVELOP");
    return text && strcmp(text, "1") == 0;
}

static int develop_left_of(const struct file *file)
{
    return (file->rank + file->size - 1) % file->size;
}

static void develop_note_mpi(struct develop_check *check, int code)
{
    if (code != MPI_SUCCESS && check->own.status == PL_OK)
        error_from_mpi(code, "comparing calls in a ring", &check->own);
}

void develop_check_start(struct develop_check *check, struct file *file, const char *function,
                         const struct pl_error *own)
{
    *check = (struct develop_check){.file = file, .state = DEVELOP_RING, .mine.sequence = file->sequence, .own = *own};
    check->requests[0] = check->requests[1] = MPI_REQUEST_NULL;
    snprintf(check->mine.function, sizeof check->mine.function, "%s", function);
    develop_note_mpi(check, real.Irecv(&check->left, sizeof check->left, MPI_BYTE, develop_left_of(file), TAG,
                                       file->comm, &check->requests[0]));
    develop_note_mpi(check, real.Isend(&check->mine, sizeof check->mine, MPI_BYTE, (file->rank + 1) % file->size, TAG,
                                       file->comm, &check->requests[1]));
}

static void develop_compare(struct develop_check *check)
{
    assert(check->state == DEVELOP_RING);
    const struct file *file = check->file;
    const struct develop_announcement *mine = &check->mine, *left = &check->left;
    if (check->own.status != PL_OK)
        return;
    if (strcmp(mine->function, left->function) != 0)
        pl_fail(&check->own, PL_E_NOT_SAME, "rank %d is in %s, rank %d in %s", develop_left_of(file), left->function,
                file->rank, mine->function);
    else if (mine->sequence != left->sequence)
        pl_fail(&check->own, PL_E_NOT_SAME,
                "ranks %d and %d have made different numbers of collective calls on this file", develop_left_of(file),
                file->rank);
}

enum step develop_check_step(struct develop_check *check)
{
    if (check->state == DEVELOP_RING) {
        for (int i = 0; i < 2; i++) {
            int done = 1;
            develop_note_mpi(check, real.Test(&check->requests[i], &done, MPI_STATUS_IGNORE));
            if (!done)
                return STEP_PENDING;
        }
        develop_compare(check);
        agree_start(&check->agree, check->file->comm, check->file->rank, &check->own, NULL, 0);
        check->state = DEVELOP_AGREE;
    }
    if (check->state == DEVELOP_AGREE) {
        if (agree_step(&check->agree) == STEP_PENDING)
            return STEP_PENDING;
        check->state = DEVELOP_FINISHED;
    }
    return STEP_DONE;
}

pl_status develop_check_result(const struct develop_check *check, struct pl_error *error)
{
    assert(check->state == DEVELOP_FINISHED);
    return agree_result(&check->agree, error);
}

pl_status develop_check_run_coll(struct file *file, const char *function, const struct pl_error *own,
                                 struct pl_error *error)
{
    struct develop_check check;
    struct wait_pace pace = {0};
    develop_check_start(&check, file, function, own);
    while (develop_check_step(&check) == STEP_PENDING)
        wait_turn(&pace);
    return develop_check_result(&check, error);
}

bool develop_is_awaited(const struct file *file)
{
    int found = 0;
    return real.Iprobe(develop_left_of(file), TAG, file->comm, &found, MPI_STATUS_IGNORE) == MPI_SUCCESS && found;
}

/* ---- Reads and writes -------------------------------------------------------------------------------------------- */

struct develop_track {
    struct node node; /* its segment is the board */
};

static struct develop_board *board_of(const struct file *file)
{
    return file->track ? file->track->node.segment : NULL;
}

void develop_track_open_coll(struct file *file)
{
    struct node node;
    const size_t bytes = develop_board_bytes(file->size);
    node_open_coll(file->comm, file->rank, file->size, &bytes, 1, &node);
    if (!node.segment)
        return;
    file->track = mem_zalloc(1, sizeof *file->track);
    if (!file->track) { /* the others see no writes of this rank, and it warns of none: no harm */
        node_close(&node);
        return;
    }
    file->track->node = node;
    develop_board_enter(board_of(file), node.rank, node.size, file->rank);
}

void develop_track_close(struct file *file)
{
    if (!file->track)
        return;
    node_close(&file->track->node);
    mem_free(file->track);
    file->track = NULL;
}

/* ---- pieces of a request ---- */

typedef void pieces_taker(struct file *file, const struct develop_pieces *pieces, void *arg);

static void each_run(struct file *file, const struct access_request *request, pieces_taker *take, void *arg)
{
    struct typemap_cursor cursor;
    struct pl_error ignored;
    if (typemap_cursor_init(&cursor, request->view->filetype, &ignored))
        return;
    typemap_cursor_seek(&cursor, request->position);
    for (int64_t left = request->bytes; left > 0;) {
        struct typemap_run run;
        const int64_t bytes = typemap_cursor_run(&cursor, left, &run);
        if (bytes <= 0)
            break;
        left -= bytes;
        take(
            file,
            &(struct develop_pieces){request->view->displacement + run.displacement, run.length, run.stride, run.count},
            arg);
    }
    typemap_cursor_clear(&cursor);
}

static void each_pieces(struct file *file, const struct access_request *request, pieces_taker *take, void *arg)
{
    if (request->view->contiguous)
        take(file,
             &(struct develop_pieces){
                 .begin = request->view->displacement + request->position, .length = request->bytes, .count = 1},
             arg);
    else
        each_run(file, request, take, arg);
}

/* ---- writing ---- */

static void note_pieces(struct file *file, const struct develop_pieces *pieces, void *arg)
{
    const int64_t *size = arg;
    develop_board_write(board_of(file), file->track->node.rank, pieces, *size);
}

void develop_track_write(struct file *file, const struct access_request *request)
{
    struct stat now;
    if (!file->track || file->atomic || request->bytes == 0)
        return;
    int64_t size = stat(file->name, &now) == 0 ? (int64_t)now.st_size : INT64_MAX; /* unknown: nothing is said of it */
    each_pieces(file, request, note_pieces, &size);
}

/* ---- reading ---- */

/* A program may open its file in a loop. What does not fit any more is not said. */
static bool said_before(const char *name, enum develop_lack lack)
{
    enum { NAMES = 64 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static uint64_t said[NAMES];
    static int count;
    uint64_t hash = 14695981039346656037U + lack; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 1099511628211U;
    bool found = false;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count && !found; i++)
        found = said[i] == hash;
    if (count == NAMES)
        found = true;
    else if (!found)
        said[count++] = hash;
    pthread_mutex_unlock(&lock);
    return found;
}

static void develop_track_warn(struct file *file, const char *function, const char *does,
                               const struct develop_finding *finding)
{
    if (finding->lack == DEVELOP_LACKS_NOTHING || !develop_board_first(board_of(file), finding->lack) ||
        said_before(file->name, finding->lack))
        return;
    struct text name = {0};
    text_add_visible(&name, file->name);
    const bool none = finding->lack == DEVELOP_LACKS_SYNC;
    fprintf(stderr,
            "piolet: %s: %s, rank %d, '%s': %s %s. Needed between the two: MPI_File_sync, a barrier, "
            "MPI_File_sync; or atomic mode, or closing the file. Said once for a file.\n",
            none ? "warning" : "note", function, file->rank, text_get(&name), does,
            none ? "since the last MPI_File_sync"
                 : "with one MPI_File_sync in between, which works here but need not wait for the others elsewhere");
    text_clear(&name);
}

struct look {
    struct develop_finding finding;
    int64_t end;
};

static void look_at_pieces(struct file *file, const struct develop_pieces *pieces, void *arg)
{
    struct look *look = arg;
    const int64_t end = pieces->begin + (pieces->count - 1) * pieces->stride + pieces->length;
    if (end > look->end)
        look->end = end;
    develop_board_read(board_of(file), file->track->node.rank, pieces, &look->finding);
}

void develop_track_read(struct file *file, const char *function, const struct access_request *request)
{
    char does[160];
    struct look look = {0};
    if (!file->track || file->atomic || request->bytes == 0)
        return;
    each_pieces(file, request, look_at_pieces, &look);
    struct develop_finding *finding = &look.finding;
    if (finding->lack != DEVELOP_LACKS_NOTHING) {
        snprintf(does, sizeof does, "reads bytes %" PRId64 " to %" PRId64 ", which rank %d wrote", finding->begin,
                 finding->end - 1, finding->writer);
    } else {
        develop_board_reach(board_of(file), file->track->node.rank, look.end, finding);
        snprintf(does, sizeof does,
                 "reads up to byte %" PRId64 ", and whether the file reaches so far depends on what rank %d wrote",
                 look.end - 1, finding->writer);
    }
    develop_track_warn(file, function, does, finding);
}

void develop_track_size(struct file *file, const char *function, int64_t size)
{
    char does[160];
    struct develop_finding finding = {0};
    if (!file->track || file->atomic)
        return;
    develop_board_size(board_of(file), file->track->node.rank, size, &finding);
    snprintf(does, sizeof does, "asks for the size of the file, which rank %d changed by writing up to byte %" PRId64,
             finding.writer, finding.end - 1);
    develop_track_warn(file, function, does, &finding);
}

/* ---- sync ---- */

void develop_track_sync_begins(struct file *file)
{
    if (file->track)
        develop_board_sync_begins(board_of(file), file->track->node.rank);
}

void develop_track_sync_ends(struct file *file)
{
    if (file->track)
        develop_board_sync_ends(board_of(file), file->track->node.rank);
}

void develop_track_resized(struct file *file)
{
    if (file->track)
        develop_board_resized(board_of(file));
}
