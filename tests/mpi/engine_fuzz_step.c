/* Steps of a case that move no data: sizes, pointers, questions, views, closing and opening again. */
#include "engine_fuzz_group.h"

#include <stdio.h>
#include <string.h>

static void expect_equal(const char *what, int64_t found, int64_t wanted)
{
    if (found != wanted)
        complain("%s gives %lld in the place of %lld", what, (long long)found, (long long)wanted);
}

static void step_size(struct group *group)
{
    struct model *model = &group->model;
    const int64_t length = model->limit - model->origin;
    const int64_t size = model->origin + random_size(&group->random, length);
    const int kind = (int)random_between(&group->random, 0, 2);
    MPI_Offset found = -1;
    group_sync_coll(group);
    if (kind == 1 && can_write(group)) {
        doing("set_size to %lld from %lld", (long long)size, (long long)model->size);
        group_check_coll(group, MPI_File_set_size(group->file, size), "MPI_File_set_size");
        model_set_size(model, size);
        group_sync_coll(group);
    } else if (kind == 2 && can_write(group) && model->origin == 0) { /* no terabytes are reserved */
        doing("preallocate %lld of %lld", (long long)size, (long long)model->size);
        group_check_coll(group, MPI_File_preallocate(group->file, size), "MPI_File_preallocate");
        if (size > model->size)
            model_set_size(model, size);
        group_sync_coll(group);
    }
    doing("get_size");
    if (group_check(group, MPI_File_get_size(group->file, &found), "MPI_File_get_size") && !group->is_tainted)
        expect_equal("MPI_File_get_size", found, model->size);
    MPI_Barrier(group->comm); /* nobody may write before all have asked */
}

static void step_seek_shared(struct group *group)
{
    const struct view *view = &group->views[0];
    const int64_t room = view_room(view, group->model.limit);
    const int64_t target = view->base + random_size(&group->random, room);
    const int whence = (int)random_between(&group->random, 0, 2);
    MPI_Offset offset = target, found = -1;
    if (!group->same_view || !has(FEATURE_seek) || !has(FEATURE_shared) || fuzz.faults)
        return;
    if (whence == 2 && has(FEATURE_seekend)) {
        group_sync_coll(group);
        offset -= view_end(view, group->model.size);
    } else if (whence == 1) {
        offset -= group->shared;
    }
    MPI_Barrier(group->comm);
    doing("seek_shared by %lld, whence %d, to %lld", (long long)offset, whence, (long long)target);
    group_check(group,
                MPI_File_seek_shared(group->file, offset,
                                     whence == 2 && has(FEATURE_seekend) ? MPI_SEEK_END
                                     : whence == 1                       ? MPI_SEEK_CUR
                                                                         : MPI_SEEK_SET),
                "MPI_File_seek_shared");
    group->shared = target;
    MPI_Barrier(group->comm);
    if (group_check(group, MPI_File_get_position_shared(group->file, &found), "MPI_File_get_position_shared"))
        expect_equal("MPI_File_get_position_shared", found, target);
    MPI_Barrier(group->comm);
}

static void check_view(struct group *group)
{
    const struct view *view = &group->views[group->rank];
    char datarep[MPI_MAX_DATAREP_STRING] = "";
    MPI_Offset displacement = -1;
    MPI_Datatype types[2];
    const struct type *const wanted[2] = {view->etype, view->file};
    doing("get_view");
    if (!group_check(group, MPI_File_get_view(group->file, &displacement, &types[0], &types[1], datarep),
                     "MPI_File_get_view"))
        return;
    expect_equal("the displacement of MPI_File_get_view", displacement, view->displacement);
    if (strcmp(datarep, view->is_external ? "external32" : "native") != 0)
        complain("MPI_File_get_view gives the data representation '%s'", datarep);
    for (int i = 0; i < 2; i++) {
        MPI_Aint lb, extent;
        MPI_Count size;
        int integers, addresses, parts, combiner;
        MPI_Type_size_x(types[i], &size);
        MPI_Type_get_extent(types[i], &lb, &extent);
        expect_equal(i ? "the filetype's size" : "the etype's size", size, wanted[i]->size);
        if (size > 0)
            expect_equal(i ? "the filetype's extent" : "the etype's extent", extent, wanted[i]->extent);
        MPI_Type_get_envelope(types[i], &integers, &addresses, &parts, &combiner);
        if (combiner != MPI_COMBINER_NAMED)
            MPI_Type_free(&types[i]);
    }
}

static void check_handle(struct group *group)
{
    int amode = -1, atomic = -1, procs = -1;
    MPI_Group members;
    MPI_Info info;
    doing("get_amode, get_atomicity, get_group, get_info");
    group_check(group, MPI_File_get_amode(group->file, &amode), "MPI_File_get_amode");
    expect_equal("MPI_File_get_amode", amode, group->amode);
    if (group_check(group, MPI_File_get_atomicity(group->file, &atomic), "MPI_File_get_atomicity"))
        expect_equal("MPI_File_get_atomicity", atomic != 0, group->is_atomic);
    if (group_check(group, MPI_File_get_group(group->file, &members), "MPI_File_get_group")) {
        MPI_Group_size(members, &procs);
        expect_equal("the size of MPI_File_get_group", procs, group->procs);
        MPI_Group_free(&members);
    }
    if (group_check(group, MPI_File_get_info(group->file, &info), "MPI_File_get_info") && info != MPI_INFO_NULL)
        MPI_Info_free(&info);
}

/* Questions that one rank may ask alone. */
static void step_query(struct group *group)
{
    const struct view *view = &group->views[group->rank];
    struct random random = random_of(random_next(&group->random), (uint64_t)group->rank);
    MPI_Offset found = -1;
    doing("get_position");
    if (group_check(group, MPI_File_get_position(group->file, &found), "MPI_File_get_position") && !fuzz.faults)
        expect_equal("MPI_File_get_position", found, group->own[group->rank]);
    if (view->file->size && view->etype->at[0] == 0 && has(FEATURE_byteoffset)) {
        const int64_t offset = view->base + random_size(&random, 1000000);
        doing("get_byte_offset %lld", (long long)offset);
        if (group_check(group, MPI_File_get_byte_offset(group->file, offset, &found), "MPI_File_get_byte_offset"))
            expect_equal("MPI_File_get_byte_offset", found, view_at(view, offset * view->etype->size));
    }
    if (random_chance(&random, 50))
        check_view(group);
    if (random_chance(&random, 50))
        check_handle(group);
    group_learn_coll(group);
}

static void step_view(struct group *group)
{
    /* what is unsynchronised stays so: set_view makes nothing known to others */
    group_draw_views(group);
    group_set_view_coll(group);
}

static void step_atomic(struct group *group)
{
    const bool is_atomic = random_chance(&group->random, 50);
    group_sync_coll(group);
    doing("set_atomicity %d", is_atomic);
    const bool is_well = group_check_coll(group, MPI_File_set_atomicity(group->file, is_atomic),
                                          "MPI_File_set_atomicity");
    group->is_atomic = is_well ? is_atomic : group->is_atomic;
}

/* A file that is only read must not be written. */
static void check_read_only(struct group *group)
{
    char byte = 'x';
    int error_class = MPI_SUCCESS;
    MPI_Status status;
    if (!has(FEATURE_refuse) || fuzz.faults)
        return;
    doing("write_at to a file that is open for reading only");
    const int code = MPI_File_write_at(group->file, 0, &byte, 1, MPI_BYTE, &status);
    MPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_READ_ONLY && error_class != MPI_ERR_ACCESS)
        complain("writing to a file that is open for reading only gives class %d", error_class);
}

/* Opens that must fail, and must do so everywhere. */
static void check_refused(struct group *group)
{
    MPI_File file = MPI_FILE_NULL;
    char absent[1100];
    int error_class = MPI_SUCCESS;
    if (!has(FEATURE_refuse) || fuzz.faults)
        return;
    doing("open of an existing file with MPI_MODE_EXCL");
    int code = MPI_File_open(group->comm, group->path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL,
                             &file);
    MPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_FILE_EXISTS)
        complain("opening an existing file with MPI_MODE_EXCL gives class %d", error_class);
    if (code == MPI_SUCCESS)
        MPI_File_close(&file);
    snprintf(absent, sizeof absent, "%s.absent", group->path);
    doing("open of a file that is not there");
    code = MPI_File_open(group->comm, absent, MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_Error_class(code, &error_class);
    if (error_class != MPI_ERR_NO_SUCH_FILE)
        complain("opening a file that is not there gives class %d", error_class);
    if (code == MPI_SUCCESS)
        MPI_File_close(&file);
}

static void step_reopen(struct group *group)
{
    static const int MODES[] = {MPI_MODE_RDWR,   MPI_MODE_RDWR | MPI_MODE_CREATE, MPI_MODE_RDONLY,
                                MPI_MODE_WRONLY, MPI_MODE_RDWR | MPI_MODE_APPEND, MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN};
    int amode = MODES[random_between(&group->random, 0, 5)];
    const bool is_refusing = random_chance(&group->random, 20);
    if ((amode & MPI_MODE_WRONLY && !has(FEATURE_wronly)) || (amode & MPI_MODE_APPEND && !has(FEATURE_append)) ||
        (amode & MPI_MODE_RDONLY && !has(FEATURE_read)))
        amode = MPI_MODE_RDWR;
    group_close_coll(group);
    if (group->rank == 0 && !group->is_tainted)
        group_compare(group, false);
    MPI_Barrier(group->comm);
    if (is_refusing)
        check_refused(group);
    if (!group_open_coll(group, amode))
        return;
    if (amode & MPI_MODE_RDONLY)
        check_read_only(group);
    if (random_chance(&group->random, 60))
        step_view(group);
}

static void step_hints(struct group *group)
{
    MPI_Info info;
    group_sync_coll(group);
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_buffer_size", random_chance(&group->random, 50) ? "8192" : "100000");
    MPI_Info_set(info, "romio_cb_write", random_chance(&group->random, 50) ? "enable" : "disable");
    doing("set_info");
    group_check_coll(group, MPI_File_set_info(group->file, info), "MPI_File_set_info");
    MPI_Info_free(&info);
}

void step_coll(struct group *group)
{
    static const struct {
        enum feature needs;
        int weight;
        void (*run_coll)(struct group *);
    } STEPS[] = {
        {FEATURE_size, 6, step_size},     {FEATURE_shared, 3, step_seek_shared}, {FEATURE_query, 10, step_query},
        {FEATURE_view, 10, step_view},    {FEATURE_reopen, 6, step_reopen},      {FEATURE_atomic, 3, step_atomic},
        {FEATURE_setinfo, 2, step_hints}, {FEATURE_shared, 8, step_shared_coll},
    };
    int64_t chance = random_between(&group->random, 0, 99);
    for (size_t i = 0; i < sizeof STEPS / sizeof *STEPS; i++) {
        chance -= STEPS[i].weight;
        if (chance >= 0)
            continue;
        (has(STEPS[i].needs) ? STEPS[i].run_coll : step_accesses_coll)(group);
        return;
    }
    step_accesses_coll(group);
}
