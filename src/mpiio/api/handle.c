#include "mpiio/api/handle.h"

#include "mpiio/mem.h"

#include <string.h>

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static struct file **table; /* entry i has number i + 1: 0 is MPI_FILE_NULL in Fortran */
static int used, room;

/* Under the lock. */
static struct file *recycle(void)
{
    for (int i = 0; i < used; i++)
        if (table[i]->number == 0) {
            memset(table[i], 0, sizeof *table[i]);
            table[i]->number = i + 1;
            return table[i];
        }
    return NULL;
}

static struct file *extend(void)
{
    if (used == room) {
        const int more = room ? 2 * room : 16;
        struct file **larger = mem_resize(table, (size_t)more * sizeof(struct file *));
        if (!larger)
            return NULL;
        table = larger;
        room = more;
    }
    struct file *file = mem_zalloc(1, sizeof *file);
    if (file) {
        table[used++] = file;
        file->number = used;
    }
    return file;
}

struct file *handle_new(void)
{
    pthread_mutex_lock(&table_lock);
    struct file *file = recycle();
    if (!file)
        file = extend();
    pthread_mutex_unlock(&table_lock);
    return file;
}

void handle_open(struct file *file)
{
    file->magic = FILE_MAGIC;
}

void handle_free(struct file *file)
{
    pthread_mutex_lock(&table_lock);
    file->magic = 0;
    file->number = 0;
    pthread_mutex_unlock(&table_lock);
}

bool handle_is_system(MPI_File handle)
{
    bool found = false;
    pthread_mutex_lock(&table_lock);
    for (int i = 0; i < used && !found; i++)
        found = table[i]->number != 0 && table[i]->is_system && table[i]->system == handle;
    pthread_mutex_unlock(&table_lock);
    return found;
}

MPI_Fint handle_count(void)
{
    pthread_mutex_lock(&table_lock);
    const MPI_Fint count = used;
    pthread_mutex_unlock(&table_lock);
    return count;
}

struct file *handle_at(MPI_Fint number)
{
    pthread_mutex_lock(&table_lock);
    struct file *file = number >= 1 && number <= used && table[number - 1]->number == number ? table[number - 1] : NULL;
    pthread_mutex_unlock(&table_lock);
    return file && file->magic == FILE_MAGIC ? file : NULL;
}
