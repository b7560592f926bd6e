/* Who opened a file together. Nobody is asked: a communicator's ranks are known to each of them, and the n-th open of
 * the same ranks is the n-th on all of them. */
#include "mpi/real.h"
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdlib.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct opens {
    uint64_t members; /* a hash of them */
    int64_t count;
} * opens;
static size_t opens_count;

/* How often these ranks have opened a file before; -1: no memory. */
static int64_t count_open(uint64_t members)
{
    int64_t count = -1;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < opens_count && opens[i].members != members)
        i++;
    if (i == opens_count) {
        struct opens *grown = realloc(opens, (i + 1) * sizeof *grown);
        if (grown) {
            opens = grown;
            opens[opens_count++] = (struct opens){members, 0};
        }
    }
    if (i < opens_count)
        count = opens[i].count++;
    pthread_mutex_unlock(&lock);
    return count;
}

/* After a failure, whether it was one of the file: then the communicator was a good one on all ranks. */
static bool comm_was_taken(int code)
{
    int class;
    if (code == MPI_SUCCESS)
        return true;
    if (real.Error_class(code, &class) != MPI_SUCCESS)
        return false;
    return class == MPI_ERR_NO_SUCH_FILE || class == MPI_ERR_FILE_EXISTS || class == MPI_ERR_BAD_FILE ||
           class == MPI_ERR_ACCESS || class == MPI_ERR_NO_SPACE || class == MPI_ERR_QUOTA ||
           class == MPI_ERR_READ_ONLY || class == MPI_ERR_FILE_IN_USE || class == MPI_ERR_IO || class == MPI_ERR_AMODE;
}

/* Its ranks in MPI_COMM_WORLD; NULL: no memory, or not to be found out. The caller frees it. */
static int *members_of(MPI_Comm comm, int *ret_count)
{
    MPI_Group group, world;
    int *own = NULL, *members = NULL;
    if (real.Comm_group(comm, &group) != MPI_SUCCESS)
        return NULL;
    if (real.Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS) {
        if (tracer_real()->Group_size(group, ret_count) == MPI_SUCCESS && *ret_count > 0) {
            own = malloc((size_t)*ret_count * sizeof *own);
            members = malloc((size_t)*ret_count * sizeof *members);
        }
        for (int i = 0; own && i < *ret_count; i++)
            own[i] = i;
        if (!own || !members ||
            tracer_real()->Group_translate_ranks(group, *ret_count, own, world, members) != MPI_SUCCESS) {
            free(members);
            members = NULL;
        }
        tracer_real()->Group_free(&world);
    }
    tracer_real()->Group_free(&group);
    free(own);
    return members;
}

static int stride_of(const int *members, int count)
{
    const int stride = count > 1 ? members[1] - members[0] : 1;
    for (int i = 2; i < count; i++)
        if (members[i] - members[i - 1] != stride)
            return 0;
    return stride;
}

static void note_list(struct tracer_scope *scope, const int *members, int count)
{
    struct text list = {0};
    for (int i = 0; i < count; i++)
        text_format(&list, i ? " %d" : "%d", members[i]);
    tracer_note_text(scope, "members", list.data);
    text_clear(&list);
}

void tracer_note_members(struct tracer_scope *scope, MPI_Comm comm)
{
    int count;
    int *members = comm_was_taken(scope->call.code) ? members_of(comm, &count) : NULL;
    if (!members)
        return;
    const uint64_t hash = XXH64(members, (size_t)count * sizeof *members, 0);
    const uint64_t key[] = {hash, (uint64_t)count_open(hash)};
    if (scope->call.code == MPI_SUCCESS) {
        const int stride = stride_of(members, count);
        tracer_note_int(scope, "first_rank", members[0]);
        tracer_note_int(scope, "world_stride", stride);
        if (stride == 0)
            note_list(scope, members, count);
        tracer_note_int(scope, "world_sequence", (int64_t)(XXH64(key, sizeof key, 0) >> 1));
    }
    free(members);
}
