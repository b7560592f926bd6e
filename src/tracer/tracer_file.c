/* The open files. A program has few at a time: a list that is searched from its end, where the youngest stand (a handle
 * may come back for a new file while another thread's close of the old one has not been noted yet). */
#include "tracer/tracer.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tracer_file *files;
static size_t file_count, file_room;
static int last_id;

static bool make_room(void)
{
    if (file_count < file_room)
        return true;
    const size_t room = file_room ? 2 * file_room : 16;
    struct tracer_file *grown = realloc(files, room * sizeof *files);
    if (!grown)
        return false;
    files = grown;
    file_room = room;
    return true;
}

int tracer_file_add(MPI_File handle, bool sequential)
{
    pthread_mutex_lock(&lock);
    int id = 0;
    if (make_room()) {
        id = ++last_id;
        files[file_count++] = (struct tracer_file){.handle = handle, .id = id, .sequential = sequential};
    }
    pthread_mutex_unlock(&lock);
    return id;
}

struct tracer_file tracer_file_find(MPI_File handle)
{
    struct tracer_file found = {.handle = handle};
    pthread_mutex_lock(&lock);
    for (size_t i = file_count; i > 0 && !found.id; i--)
        if (files[i - 1].handle == handle)
            found = files[i - 1];
    pthread_mutex_unlock(&lock);
    return found;
}

void tracer_file_set_view(int id, bool empty_view)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < file_count; i++)
        if (files[i].id == id)
            files[i].empty_view = empty_view;
    pthread_mutex_unlock(&lock);
}

void tracer_file_remove(int id)
{
    pthread_mutex_lock(&lock);
    size_t kept = 0;
    for (size_t i = 0; i < file_count; i++)
        if (files[i].id != id)
            files[kept++] = files[i];
    file_count = kept;
    pthread_mutex_unlock(&lock);
}
