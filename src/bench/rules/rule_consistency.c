/* Who sees whose data, and when. */
#include "bench/rules/rule.h"

#include <stdlib.h>
#include <string.h>

enum { BYTES = 1 << 16, TURNS = 20 };

static void own_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int turn = 0; turn < 20; turn++) {
        const int data = 1000 * turn + test->rank;
        int found = -1;
        const MPI_Offset mine = 4 * ((MPI_Offset)test->rank + (MPI_Offset)turn % 3 * test->nprocs);
        DO(MPI_File_write_at(file, mine, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
        DO(MPI_File_read_at(file, mine, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_same(test, "what the same rank wrote before", found, data);
    }
    rule_close_coll(test, &file);
}

static void sync_coll(struct rule_context *test)
{
    MPI_File file;
    const int other = (test->rank + 1) % test->nprocs;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int turn = 0; turn < 10; turn++) {
        const int data = 1000 * turn + test->rank;
        int found = -1;
        DO(MPI_File_write_at(file, 4 * (MPI_Offset)test->rank, &data, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_settle_coll(test, file);
        DO(MPI_File_read_at(file, 4 * (MPI_Offset)other, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_same(test, "what another rank wrote before sync, barrier, sync", found, 1000 * turn + other);
        MPI_Barrier(test->comm);
    }
    rule_close_coll(test, &file);
}

static void close_coll(struct rule_context *test)
{
    MPI_File file;
    const int other = (test->rank + 1) % test->nprocs;
    int found = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_write_at(file, 4 * (MPI_Offset)test->rank, &test->rank, 1, MPI_INT, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    DO(MPI_File_read_at(file, 4 * (MPI_Offset)other, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
    rule_same(test, "what another rank wrote before closing", found, other);
    rule_close_coll(test, &file);
}

static void handles_coll(struct rule_context *test)
{
    MPI_File first, second;
    const int other = (test->rank + 1) % test->nprocs;
    int found = -1;
    if (!rule_open_coll(test, RULE_NEW, &first))
        return;
    if (rule_open_coll(test, MPI_MODE_RDWR, &second)) {
        DO(MPI_File_write_at_all(first, 4 * (MPI_Offset)test->rank, &test->rank, 1, MPI_INT, MPI_STATUS_IGNORE));
        DO(MPI_File_sync(first));
        MPI_Barrier(test->comm);
        DO(MPI_File_sync(second));
        DO(MPI_File_read_at_all(second, 4 * (MPI_Offset)other, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_same(test, "what was written by another handle", found, other);
        rule_close_coll(test, &second);
    }
    rule_close_coll(test, &first);
}

static void sync_rdonly_coll(struct rule_context *test)
{
    MPI_File file;
    rule_put_coll(test, NULL, 4);
    if (!rule_open_coll(test, MPI_MODE_RDONLY, &file))
        return;
    DO(MPI_File_sync(file));
    rule_close_coll(test, &file);
}

/* Each rank writes every nprocs-th piece of 7 bytes, by itself. */
static void disjoint_coll(struct rule_context *test)
{
    enum { PIECES = 500, PIECE = 7 };
    static char content[PIECES * PIECE * RULE_RANKS_MAX], data[PIECES * PIECE];
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_vector(PIECES, PIECE, PIECE * test->nprocs, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    memset(data, rule_letter(test->rank, 0), sizeof data);
    for (int i = 0; i < PIECES * test->nprocs; i++)
        memset(content + PIECE * i, rule_letter(i % test->nprocs, 0), PIECE);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        rule_view_coll(test, file, PIECE * test->rank, MPI_BYTE, filetype);
        MPI_Barrier(test->comm);
        DO(MPI_File_write(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_close_coll(test, &file);
        rule_file_coll(test, content, (size_t)PIECES * PIECE * test->nprocs);
    }
    MPI_Type_free(&filetype);
}

/* ---- atomic mode ---- */

static void atomicity_coll(struct rule_context *test)
{
    MPI_File file;
    int flag = -1;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_get_atomicity(file, &flag));
    rule_same(test, "the atomicity of a new file", flag != 0, 0);
    DO(MPI_File_set_atomicity(file, 1));
    DO(MPI_File_get_atomicity(file, &flag));
    rule_same(test, "the atomicity when it is switched on", flag != 0, 1);
    DO(MPI_File_set_atomicity(file, 0));
    DO(MPI_File_get_atomicity(file, &flag));
    rule_same(test, "the atomicity when it is switched off", flag != 0, 0);
    rule_close_coll(test, &file);
}

static void atomic_visible_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    DO(MPI_File_set_atomicity(file, 1));
    for (int turn = 1; turn <= 20; turn++) {
        const int writer = turn % test->nprocs;
        int found = -1;
        if (test->rank == writer)
            DO(MPI_File_write_at(file, 0, &turn, 1, MPI_INT, MPI_STATUS_IGNORE));
        MPI_Barrier(test->comm);
        DO(MPI_File_read_at(file, 0, &found, 1, MPI_INT, MPI_STATUS_IGNORE));
        rule_same(test, "what another rank wrote before the barrier", found, turn);
        MPI_Barrier(test->comm);
    }
    rule_close_coll(test, &file);
}

static void expect_uniform(struct rule_context *test, const char *data)
{
    for (int i = 1; i < BYTES; i++)
        if (data[i] != data[0]) {
            rule_break(test, "all of one write or nothing of it\n%d bytes of one write, then bytes of another", i);
            return;
        }
}

/* Every rank writes the same place with its own letter, `turn` by turn, and looks at what is there. */
static void overlap_coll(struct rule_context *test, MPI_Datatype filetype, bool together)
{
    MPI_File file;
    char *data = malloc(BYTES);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        rule_view_coll(test, file, 0, MPI_BYTE, filetype);
        DO(MPI_File_set_atomicity(file, 1));
        for (int turn = 0; turn < TURNS && data; turn++) {
            memset(data, rule_letter(test->rank, turn), BYTES);
            MPI_Barrier(test->comm);
            DO(together ? MPI_File_write_at_all(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE)
                        : MPI_File_write_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
            if (!together) {
                DO(MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
                expect_uniform(test, data);
            }
            MPI_Barrier(test->comm);
            DO(MPI_File_read_at(file, 0, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
            expect_uniform(test, data);
        }
        rule_close_coll(test, &file);
    }
    free(data);
}

static void atomic_write_coll(struct rule_context *test)
{
    overlap_coll(test, MPI_BYTE, false);
}

static void atomic_gaps_coll(struct rule_context *test)
{
    MPI_Datatype filetype;
    MPI_Type_vector(BYTES / 64, 64, 100, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    overlap_coll(test, filetype, false);
    MPI_Type_free(&filetype);
}

static void atomic_collective_coll(struct rule_context *test)
{
    MPI_Datatype filetype;
    MPI_Type_vector(BYTES / 64, 64, 100, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    overlap_coll(test, filetype, true);
    MPI_Type_free(&filetype);
}

extern const struct rule rule_area_consistency[];
const struct rule rule_area_consistency[] = {
    {"see-own", "14.6.1", "A rank sees what it wrote itself.", 1, own_coll},
    {"see-synced", "14.6.1", "After sync, barrier, sync a rank sees what others wrote.", 1, sync_coll},
    {"see-closed", "14.6.1", "What was written before closing is seen after opening.", 1, close_coll},
    {"see-other-handle", "14.6.1", "Data go from one handle to another through MPI_File_sync.", 1, handles_coll},
    {"sync-rdonly", "14.6.1", "A file that is only read can be synced: readers need it, too.", 1, sync_rdonly_coll},
    {"disjoint-writes", "14.6.1", "Writes of different bytes at the same time do not disturb each other.", 2,
     disjoint_coll},
    {"atomic-flag", "14.6.1", "Atomic mode is off at first, and can be switched on and off.", 1, atomicity_coll},
    {"atomic-visible", "14.6.1", "In atomic mode a write is seen by others when it returned.", 2, atomic_visible_coll},
    {"atomic-write", "14.6.1", "In atomic mode of two writes to one place one wins as a whole.", 2, atomic_write_coll},
    {"atomic-gaps", "14.6.1", "In atomic mode writes with gaps to the same places are not mixed.", 2, atomic_gaps_coll},
    {"atomic-collective", "14.6.1", "In atomic mode collective writes to the same places are not mixed.", 2,
     atomic_collective_coll},
    {0},
};
