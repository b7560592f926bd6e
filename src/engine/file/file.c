#include "engine/file/file.h"
#include "engine/aux/aux.h"

#include <assert.h>

/* ---- late failures ---- */

void file_note_late(struct file *file, const struct pl_error *error, bool heard)
{
    assert(error->status != PL_OK);
    pthread_mutex_lock(&file->lock);
    if (file->late.error.status == PL_OK || (file->late.heard && !heard))
        file->late = (struct error_late){.error = *error, .heard = heard, .number = ++file->lates};
    pthread_mutex_unlock(&file->lock);
}

struct error_late file_late(struct file *file)
{
    pthread_mutex_lock(&file->lock);
    const struct error_late late = file->late;
    pthread_mutex_unlock(&file->lock);
    return late;
}

bool file_has_late(struct file *file)
{
    pthread_mutex_lock(&file->lock);
    const bool has = file->late.error.status != PL_OK;
    pthread_mutex_unlock(&file->lock);
    return has;
}

void file_forget_late(struct file *file, uint64_t number)
{
    pthread_mutex_lock(&file->lock);
    assert(number <= file->lates);
    if (number > 0 && file->late.number == number)
        file->late = (struct error_late){0};
    pthread_mutex_unlock(&file->lock);
}

struct view *file_view(struct file *file)
{
    pthread_mutex_lock(&file->lock);
    assert(file->view);
    struct view *view = view_ref(file->view);
    pthread_mutex_unlock(&file->lock);
    return view;
}

/* ---- how ---- */

/* Sieving writes back what was read in the gaps. Without being asked for, we do so only where nobody else has the file
 * open. */
bool file_may_sieve_writes(const struct file *file)
{
    if (file->values.ds_write == HINT_AUTOMATIC)
        return (file->amode & MPI_MODE_UNIQUE_OPEN) != 0;
    return file->values.ds_write == HINT_ENABLE;
}

struct access_options file_options(const struct file *file, MPI_Comm progress)
{
    return (struct access_options){
        .atomic = file->atomic,
        .sieve_reads = file->values.ds_read != HINT_DISABLE,
        .sieve_writes = file_may_sieve_writes(file) && file->readable,
        .lock_writes = file->lock_writes,
        .read_buffer_bytes = file->values.ind_rd_buffer_size,
        .write_buffer_bytes = file->values.ind_wr_buffer_size,
        .progress = progress,
    };
}

/* ---- what auxiliary processes store later ---- */

void file_hear_auxiliary(struct file *file)
{
    struct pl_error error;
    while (file->aux && aux_failure(file->aux, &error))
        file_note_late(file, &error, false);
}

bool file_is_settled(struct file *file)
{
    if (!file->aux)
        return true;
    if (!aux_is_settled(file->aux))
        return false;
    file_hear_auxiliary(file);
    return true;
}

void file_settle(struct file *file, MPI_Comm progress)
{
    if (!file->aux)
        return;
    aux_settle(file->aux, progress);
    file_hear_auxiliary(file);
}
