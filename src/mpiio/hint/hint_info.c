/* Hints and MPI_Info. */
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/hint/hint_core.h"
#include "mpiio/mem.h"

#include <stdio.h>
#include <string.h>

static const char ORIGIN_PREFIX[] = "origin:";

static pl_status info_fail(struct pl_error *error, const char *what)
{
    return pl_fail(error, PL_E_INFO, "the MPI cannot %s", what);
}

static pl_status take_key(struct hints *hints, MPI_Info info, const char *key, struct pl_error *error)
{
    char value[MPI_MAX_INFO_VAL + 1];
    int length = 0, found = 0;
    if (real.Info_get_valuelen(info, key, &length, &found) != MPI_SUCCESS)
        return info_fail(error, "tell how long a value in the program's hints is");
    if (!found)
        return PL_OK;
    if (length > MPI_MAX_INFO_VAL)
        length = MPI_MAX_INFO_VAL;
    if (real.Info_get(info, key, length, value, &found) != MPI_SUCCESS)
        return info_fail(error, "give a value in the program's hints");
    value[length] = '\0';
    if (found)
        hints_set(hints, key, value, HINT_INFO);
    return PL_OK;
}

static pl_status take_info(struct hints *hints, MPI_Info info, struct pl_error *error)
{
    if (info == MPI_INFO_NULL)
        return PL_OK;
    int count = 0;
    if (real.Info_get_nkeys(info, &count) != MPI_SUCCESS)
        return info_fail(error, "tell how many hints the program gave");
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1] = "";
        if (real.Info_get_nthkey(info, i, key) != MPI_SUCCESS)
            return info_fail(error, "give the name of a hint");
        if (!hints_get(hints, key)) /* also all that begins with "origin:" */
            continue;
        const pl_status status = take_key(hints, info, key, error);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

pl_status hints_new(MPI_Info info, struct hints **ret_hints, struct pl_error *error)
{
    struct hints *hints = NULL;
    pl_status status = hints_new_local(&hints, error);
    if (status != PL_OK)
        return status;
    status = take_info(hints, info, error);
    if (status != PL_OK) {
        hints_free(hints);
        return status;
    }
    *ret_hints = hints;
    return PL_OK;
}

void hints_share_coll(struct hints *hints, MPI_Comm comm)
{
    MPI_Request request;
    if (real.Ibcast(hints, sizeof *hints, MPI_BYTE, 0, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
}

pl_status hints_update(struct hints *hints, MPI_Info info, struct pl_error *error)
{
    struct hints *changed = mem_alloc(sizeof *changed);
    if (!changed)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for hints");
    *changed = *hints;
    hints_begin_update(changed);
    const pl_status status = take_info(changed, info, error);
    if (status == PL_OK)
        *hints = *changed;
    mem_free(changed);
    return status;
}

static bool put_origin(const struct hints *hints, MPI_Info info, const char *name)
{
    char key[MPI_MAX_INFO_KEY + 1], text[HINT_TEXT_MAX];
    if (!hints_origin(hints, name, text))
        return true;
    snprintf(key, sizeof key, "%s%s", ORIGIN_PREFIX, name);
    return real.Info_set(info, key, text) == MPI_SUCCESS;
}

static bool put_all(const struct hints *hints, MPI_Info info)
{
    for (int i = 0; i < HINT_COUNT; i++) {
        const char *name = HINT_ENTRIES[i].row.name, *text = hints->slots[i].text;
        if (*text && real.Info_set(info, name, text) != MPI_SUCCESS)
            return false;
        if (!put_origin(hints, info, name))
            return false;
    }
    return put_origin(hints, info, "ROMIO_HINTS") && put_origin(hints, info, "PIOLET_HINTS");
}

pl_status hints_to_info(const struct hints *hints, MPI_Info *ret_info, struct pl_error *error)
{
    MPI_Info info = MPI_INFO_NULL;
    if (real.Info_create(&info) != MPI_SUCCESS)
        return info_fail(error, "make an MPI_Info");
    if (!put_all(hints, info)) {
        real.Info_free(&info);
        return info_fail(error, "take a hint in force into an MPI_Info");
    }
    *ret_info = info;
    return PL_OK;
}
