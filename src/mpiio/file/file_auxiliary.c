/* Auxiliary processes that store what is written collectively: when they take part in a file, and when the ranks wait
 * for them. */
#include "mpiio/aux/aux.h"
#include "mpiio/file/file.h"

#include <stdio.h>

/* In the memory of the node; zeroed before. */
struct invitation {
    atomic_bool claimed, ready; /* some rank introduces the file; it has */
    struct aux_offer offer;
};
_Static_assert(sizeof(struct invitation) <= FILE_AUXILIARY_BYTES, "an invitation fits into its place");

static void refuse(struct file *file, const char *why)
{
    snprintf(file->auxiliary_words, sizeof file->auxiliary_words, "none: %.*s", (int)sizeof file->auxiliary_words - 8,
             why);
}

static const char *obstacle(const struct file *file, const void *place)
{
    if (file->amode & MPI_MODE_RDONLY)
        return "the file is only read";
    if (file->size == 1)
        return "the file has one rank";
    /* Another node's processes would store data of this rank, and nothing here could wait for them. */
    if (file->node.count > 1)
        return "the ranks are on several nodes";
    return place ? aux_why_not() : "the ranks of the node cannot share memory";
}

bool file_offer_auxiliary(struct file *file, void *place)
{
    struct invitation *invitation = place;
    const char *why_not = obstacle(file, place);
    if (why_not) {
        refuse(file, why_not);
        return false;
    }
    struct pl_error error;
    if (atomic_exchange(&invitation->claimed, true))
        return false; /* another rank of the node does it */
    if (aux_open(file->storage, file->readable, file->comm, &file->aux, &invitation->offer, &error) != PL_OK) {
        refuse(file, error.text);
        return false;
    }
    atomic_store(&invitation->ready, true);
    return true;
}

/* All ranks of a node take part, or none: one that does not would not know what it has to wait for. */
void file_join_auxiliary_coll(struct file *file, const void *place)
{
    const struct invitation *invitation = place;
    struct pl_error error = {0}, none = {0};
    if (invitation && atomic_load(&invitation->ready) && !file->aux)
        aux_join(&invitation->offer, &file->aux, &error);
    struct agree agree;
    const int64_t joined = error.status == PL_OK;
    agree_run_coll(&agree, file->comm, file->rank, &none, &joined, 1);
    if (agree_least(&agree, 0) == 0) {
        file_close_auxiliary(file);
        aux_free(file->aux);
        file->aux = NULL;
        refuse(file, joined ? "a rank cannot reach them" : error.text);
    } else if (file->aux) {
        aux_describe(file->aux, file->auxiliary_words, sizeof file->auxiliary_words);
    }
}

void file_close_auxiliary(struct file *file)
{
    if (!file->aux)
        return;
    aux_settle(file->aux, file->comm);
    aux_close(file->aux, file->comm);
    file_hear_auxiliary(file);
}

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

void file_settle(struct file *file, MPI_Comm poke)
{
    if (!file->aux)
        return;
    aux_settle(file->aux, poke);
    file_hear_auxiliary(file);
}
