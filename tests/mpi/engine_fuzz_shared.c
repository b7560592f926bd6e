/* write_shared and read_shared: who comes first is not known, so records of one size are counted, not placed. */
#include "engine_fuzz_op.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct records {
    int64_t etypes;         /* of each */
    int64_t bytes;          /* of data of each: at least 8, so that no two are alike */
    int counts[256], total; /* for each rank */
    uint64_t id;
};

static struct op record_op(const struct group *group, const struct records *records, int rank, int index, bool is_write)
{
    return (struct op){.is_write = is_write,
                       .where = SHARED,
                       .seek = -1,
                       .count = records->etypes,
                       .position = group->shared,
                       .memory = group->views[rank].etype,
                       .id = mix(records->id, (uint64_t)rank * 1000 + (uint64_t)index)};
}

/* Draws records that fit behind the shared pointer; false where there is no room. */
static bool draw_records(struct group *group, struct records *records, bool is_write)
{
    const struct view *view = &group->views[0];
    const int64_t etype = view->etype->size;
    records->etypes = (7 + etype) / etype + random_size(&group->random, 300);
    records->bytes = records->etypes * etype;
    records->id = random_next(&group->random);
    for (int rank = 0; rank < group->procs; rank++)
        records->total += records->counts[rank] = (int)random_between(&group->random, 0, 3);
    if (view->file->size == 0)
        return false;
    int64_t room = view->base + op_room(group, 0, is_write);
    if (!is_write) { /* whole records only */
        const int64_t end = view_room(view,
                                      group->model.size < group->model.limit ? group->model.size : group->model.limit);
        room = group->model.size > group->model.origin ? view->base + end : 0;
    }
    return records->total > 0 && group->shared + records->total * records->etypes <= room;
}

/* The shared pointer at the begin of what the model holds. */
static void rewind_shared(struct group *group)
{
    MPI_Barrier(group->comm);
    group->shared = group->views[0].base;
    doing("seek_shared to %lld", (long long)group->shared);
    group_check(group, MPI_File_seek_shared(group->file, group->shared, MPI_SEEK_SET), "MPI_File_seek_shared");
    MPI_Barrier(group->comm);
}

static void read_slot(int fd, const struct view *view, int64_t position, uint8_t *data, int64_t bytes)
{
    const int64_t first = view_at(view, position), last = view_at(view, position + bytes - 1);
    uint8_t *raw = allocate((size_t)(last - first + 1));
    if (pread(fd, raw, (size_t)(last - first + 1), first) < 0)
        complain("the file cannot be read");
    for (int64_t i = 0; i < bytes; i++)
        data[i] = raw[view_at(view, position + i) - first];
    free(raw);
}

static bool is_record(const struct group *group, const struct records *records, int rank, int index,
                      const uint8_t *data)
{
    const struct op op = record_op(group, records, rank, index, true);
    for (int64_t i = 0; i < records->bytes; i++) {
        if (data[i] != op_value(&op, i))
            return false;
    }
    return true;
}

/* Each slot holds the next record of some rank; the model learns which. */
static void learn_records(struct group *group, const struct records *records)
{
    const struct view *view = &group->views[0];
    uint8_t *data = allocate((size_t)records->bytes);
    int next[256] = {0};
    const int fd = open(group->path, O_RDONLY);
    for (int slot = 0; slot < records->total; slot++) {
        const int64_t position = (group->shared + slot * records->etypes) * view->etype->size;
        int rank = 0;
        read_slot(fd, view, position, data, records->bytes);
        while (rank < group->procs &&
               !(next[rank] < records->counts[rank] && is_record(group, records, rank, next[rank], data)))
            rank++;
        if (rank == group->procs && !group->is_tainted)
            complain("record %d of %d behind etype %lld is nobody's next one", slot, records->total,
                     (long long)group->shared);
        else if (rank < group->procs)
            next[rank]++;
        for (int64_t i = 0; i < records->bytes; i++)
            model_put(&group->model, view_at(view, position + i), data[i]);
    }
    close(fd);
    free(data);
}

static void write_records(struct group *group, const struct records *records)
{
    group_sync_coll(group);
    for (int i = 0; i < records->counts[group->rank]; i++) {
        struct flight flight;
        struct op op = record_op(group, records, group->rank, i, true);
        op.how = has(FEATURE_nonblocking) && (op.id & 3) == 0 ? NONBLOCKING : BLOCKING;
        op_start(group, &op, &flight);
        op_wait(group, &flight);
    }
    group->is_unchecked = true;
    group_learn_coll(group);
    group_sync_coll(group);
    doing("looking at %d records of %lld etypes behind etype %lld", records->total, (long long)records->etypes,
          (long long)group->shared);
    learn_records(group, records);
    group->shared += records->total * records->etypes;
    model_synchronised(&group->model);
    MPI_Barrier(group->comm);
}

static uint64_t digest(const uint8_t *data, int64_t bytes)
{
    uint64_t sum = 1;
    for (int64_t i = 0; i < bytes; i++)
        sum = mix(sum, data[i]);
    return sum;
}

static int compare_digests(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* What this rank got, as digests. */
static void read_mine(struct group *group, const struct records *records, uint64_t *digests)
{
    const struct type *etype = group->views[group->rank].etype;
    uint8_t *memory = allocate((size_t)(records->etypes * etype->extent)), *data = allocate((size_t)records->bytes);
    for (int i = 0; i < records->counts[group->rank]; i++) {
        MPI_Status status;
        doing("read_shared %lld etypes, hints %s", (long long)records->etypes, group->hints);
        group_check(group, MPI_File_read_shared(group->file, memory, (int)records->etypes, etype->mpi, &status),
                    "MPI_File_read_shared");
        for (int64_t j = 0; j < records->bytes; j++)
            data[j] = memory[j / etype->size * etype->extent + etype->at[j % etype->size]];
        digests[i] = digest(data, records->bytes);
    }
    free(memory);
    free(data);
}

static void expected_digests(struct group *group, const struct records *records, uint64_t *digests)
{
    const struct view *view = &group->views[0];
    uint8_t *data = allocate((size_t)records->bytes);
    for (int slot = 0; slot < records->total; slot++) {
        const int64_t position = (group->shared + slot * records->etypes) * view->etype->size;
        for (int64_t i = 0; i < records->bytes; i++)
            data[i] = model_get(&group->model, view_at(view, position + i));
        digests[slot] = digest(data, records->bytes);
    }
    free(data);
}

static void read_records(struct group *group, const struct records *records)
{
    uint64_t mine[4] = {0}, *all = allocate((size_t)records->total * sizeof *all),
             *wanted = allocate((size_t)records->total * sizeof *wanted);
    int places[256], place = 0;
    group_sync_coll(group);
    read_mine(group, records, mine);
    for (int rank = 0; rank < group->procs; rank++) {
        places[rank] = place;
        place += records->counts[rank];
    }
    MPI_Allgatherv(mine, records->counts[group->rank], MPI_UINT64_T, all, records->counts, places, MPI_UINT64_T,
                   group->comm);
    expected_digests(group, records, wanted);
    qsort(all, (size_t)records->total, sizeof *all, compare_digests);
    qsort(wanted, (size_t)records->total, sizeof *wanted, compare_digests);
    group_learn_coll(group);
    if (!group->is_tainted && has(FEATURE_gaps) && memcmp(all, wanted, (size_t)records->total * sizeof *all) != 0)
        complain("the %d records of read_shared behind etype %lld are not those of the file", records->total,
                 (long long)group->shared);
    group->shared += records->total * records->etypes;
    free(all);
    free(wanted);
}

void step_shared_coll(struct group *group)
{
    struct records records = {0};
    const bool is_write = can_write(group) && (!can_read(group) || random_chance(&group->random, 60));
    if (!group->same_view || group->views[0].is_external || (!is_write && !can_read(group)))
        return;
    if (group->shared < group->views[0].base || random_chance(&group->random, 40))
        rewind_shared(group);
    if (!draw_records(group, &records, is_write))
        return;
    if (is_write)
        write_records(group, &records);
    else
        read_records(group, &records);
}
