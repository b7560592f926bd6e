/* Opening, viewing, synchronising and closing a file of engine_fuzz, and what its ranks know of errors. */
#include "engine_fuzz_group.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool group_check(struct group *group, int code, const char *call)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return true;
    MPI_Error_string(code, text, &length);
    if (!fuzz.faults)
        complain("%s failed: %s", call, text);
    else if (fuzz.verbose)
        doing("%s failed: %s", call, text);
    if (length == 0)
        complain("%s failed with code %d, which has no text", call, code);
    group->saw_error = group->has_reported = true;
    return false;
}

/* With faults each step ends with all knowing whether any rank saw an error. */
void group_learn_coll(struct group *group)
{
    int seen = group->saw_error, anyone = 0;
    if (!fuzz.faults)
        return;
    MPI_Allreduce(&seen, &anyone, 1, MPI_INT, MPI_MAX, group->comm);
    group->is_tainted = group->is_tainted || anyone;
    group->saw_error = false;
}

bool group_check_coll(struct group *group, int code, const char *call)
{
    const bool has_reported = group->has_reported, is_well = group_check(group, code, call);
    int failed = !is_well, anyone = 0;
    if (!fuzz.faults)
        return is_well;
    MPI_Allreduce(&failed, &anyone, 1, MPI_INT, MPI_MAX, group->comm);
    if (anyone && is_well && !has_reported && has(FEATURE_agree))
        complain("%s succeeded here, but failed on another rank, and nothing was told of it before", call);
    group_learn_coll(group);
    if (!anyone)
        group->has_reported = false;
    return !anyone;
}

/* ---- opening ---- */

static const char STRATEGY[] = "piolet_strategy";

static const struct hint {
    const char *key, *values[6];
} HINTS[] = {
    {"romio_cb_write", {"enable", "disable", "automatic"}},
    {"romio_cb_read", {"enable", "disable", "automatic"}},
    {"romio_ds_write", {"enable", "disable", "automatic"}},
    {"romio_ds_read", {"enable", "disable", "automatic"}},
    {"cb_buffer_size", {"4096", "65536", "1000", "1048576"}},
    {"ind_wr_buffer_size", {"4096", "777", "65536"}},
    {"ind_rd_buffer_size", {"4096", "777", "65536"}},
    {"cb_nodes", {"1", "2", "3", "16"}},
    {"striping_unit", {"4096", "65536", "512"}},
    {STRATEGY, {"independent", "twophase", "cb_fl", "cbx", "sliding_window", "auto"}},
    {"IBM_largeblock_io", {"true", "false"}},
    /* These are drawn apart, so that a seed gives the same calls with them and without. */
    {"cb_block_size", {"4096", "65536", "500"}},
    {"striping_factor", {"1", "2", "3", "7"}},
    {"piolet_group_size", {"1", "2", "5"}},
    {"piolet_window_size", {"4096", "65536", "700", "1m"}},
};
enum { HINTS_APART = 4 };

static MPI_Info draw_hints(struct group *group)
{
    MPI_Info info;
    size_t used = 0;
    group->hints[0] = '\0';
    if (!has(FEATURE_hints) || random_chance(&group->random, 20))
        return MPI_INFO_NULL;
    MPI_Info_create(&info);
    struct random apart = group->random;
    const size_t count = sizeof HINTS / sizeof *HINTS;
    for (size_t i = 0; i < count; i++) {
        struct random *random = i < count - HINTS_APART ? &group->random : &apart;
        int values = 0;
        while (values < 6 && HINTS[i].values[values])
            values++;
        const char *value = HINTS[i].values[random_between(random, 0, values - 1)];
        if (!random_chance(random, HINTS[i].key == STRATEGY ? 70 : 25) || (fuzz.strategy && HINTS[i].key == STRATEGY))
            continue;
        MPI_Info_set(info, HINTS[i].key, value);
        used += (size_t)snprintf(group->hints + used, sizeof group->hints - used, " %s=%s", HINTS[i].key, value);
        used = used < sizeof group->hints ? used : sizeof group->hints - 1;
    }
    return info;
}

/* Before any set_view the file is a row of bytes. */
static void default_views(struct group *group)
{
    for (int rank = 0; rank < group->procs; rank++) {
        struct view *view = &group->views[rank];
        view_clear(view);
        *view = (struct view){.base = group->model.origin, .limit = group->model.limit};
        view->etype = type_etype(0, rank == group->rank);
        view->file = type_etype(0, rank == group->rank);
    }
    group->same_view = true;
}

/* A test of a strategy that is not in force proves nothing. */
static void check_strategy(MPI_File file)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "";
    int found = 0;
    if (!fuzz.strategy || MPI_File_get_info(file, &info) != MPI_SUCCESS)
        return;
    MPI_Info_get(info, STRATEGY, MPI_MAX_INFO_VAL, value, &found);
    if (strcmp(value, fuzz.strategy) != 0)
        complain("the strategy is '%s', not '%s'", value, fuzz.strategy);
    MPI_Info_free(&info);
}

bool group_open_coll(struct group *group, int amode)
{
    MPI_Info info = draw_hints(group);
    if (fuzz.unique)
        amode |= MPI_MODE_UNIQUE_OPEN;
    doing("open with mode %d, hints%s", amode, group->hints);
    group->amode = amode;
    group->file = MPI_FILE_NULL;
    const bool is_well = group_check_coll(group, MPI_File_open(group->comm, group->path, amode, info, &group->file),
                                          "MPI_File_open");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (!is_well) {
        group->is_lost = true;
        return false;
    }
    check_strategy(group->file);
    default_views(group);
    const int64_t start = amode & MPI_MODE_APPEND ? group->model.size : 0;
    for (int rank = 0; rank < group->procs; rank++)
        group->own[rank] = start;
    group->shared = start;
    group->is_atomic = false;
    model_synchronised(&group->model);
    return true;
}

void group_set_view_coll(struct group *group)
{
    const struct view *view = &group->views[group->rank];
    doing("set_view displacement %lld, etype %s, filetype %s%s", (long long)view->displacement, view->etype->text,
          view->file->text, view->is_external ? ", external32" : "");
    const int code = MPI_File_set_view(group->file, view->displacement, view->etype->mpi, view->file->mpi,
                                       view->is_external ? "external32" : "native", MPI_INFO_NULL);
    if (!group_check_coll(group, code, "MPI_File_set_view"))
        group->is_lost = true;
    for (int rank = 0; rank < group->procs; rank++)
        group->own[rank] = 0;
    group->shared = 0;
}

void group_sync_coll(struct group *group)
{
    if (!(group->amode & MPI_MODE_RDONLY)) { /* else there is nothing to make known */
        doing("sync");
        group_check_coll(group, MPI_File_sync(group->file), "MPI_File_sync");
        MPI_Barrier(group->comm);
        doing("second sync");
        group_check_coll(group, MPI_File_sync(group->file), "MPI_File_sync");
    }
    MPI_Barrier(group->comm);
    model_synchronised(&group->model);
}

void group_close_coll(struct group *group)
{
    doing("close");
    group_check_coll(group, MPI_File_close(&group->file), "MPI_File_close");
    if (group->file != MPI_FILE_NULL && !group->is_tainted)
        complain("the handle is not MPI_FILE_NULL after MPI_File_close");
    MPI_Barrier(group->comm);
    model_synchronised(&group->model);
}

/* ---- looking at the file from outside ---- */

static int64_t count_wrong(const struct group *group, const uint8_t *bytes, int64_t *ret_first)
{
    const struct model *model = &group->model;
    int64_t wrong = 0;
    for (int64_t i = model->limit - model->origin - 1; i >= 0; i--) {
        const uint8_t byte = bytes[i];
        const bool is_right = group->is_tainted ? model->allowed[i][byte / 8] >> byte % 8 & 1
                                                : byte == model->bytes[i] || !model_knows(model, model->origin + i);
        if (is_right)
            continue;
        wrong++;
        *ret_first = i;
    }
    return wrong;
}

void group_compare(struct group *group, bool is_gone)
{
    const struct model *model = &group->model;
    const int64_t length = model->limit - model->origin;
    int64_t first = 0;
    struct stat status;
    doing("looking at '%s' with plain reads", group->path);
    const int fd = open(group->path, O_RDONLY);
    if (fd < 0 || is_gone || fstat(fd, &status)) {
        if ((fd >= 0) == is_gone && !group->is_tainted)
            complain("%s", is_gone ? "the file is still there after MPI_MODE_DELETE_ON_CLOSE" : strerror(errno));
        if (fd >= 0)
            close(fd);
        return;
    }
    if (status.st_size != model->size && !group->is_tainted)
        complain("the file has %lld bytes in the place of %lld", (long long)status.st_size, (long long)model->size);
    uint8_t *bytes = allocate((size_t)length);
    for (int64_t done = 0; done < length;) {
        const ssize_t got = pread(fd, bytes + done, (size_t)(length - done), model->origin + done);
        if (got <= 0)
            break;
        done += got;
    }
    close(fd);
    const int64_t wrong = group->is_tainted && group->is_unchecked ? 0 : count_wrong(group, bytes, &first);
    if (wrong)
        complain("%lld bytes of the file are wrong%s, the first is byte %lld: %d in the place of %d (at first %d)",
                 (long long)wrong, group->is_tainted ? " though nobody wrote them so" : "",
                 (long long)(model->origin + first), bytes[first], model->bytes[first], model->preset[first]);
    free(bytes);
}
