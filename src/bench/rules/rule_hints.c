/* Hints: they may change how fast something is done, and nothing else. */
#include "bench/rules/rule.h"

#include <string.h>

enum { BLOCKS = 30, BLOCK = 5 };

static void unknown_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_doctor_no_such_hint", "some value");
    if (rule_open_with_coll(test, RULE_NEW, info, &file)) {
        DO(MPI_File_set_info(file, info));
        DO(MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info));
        rule_close_coll(test, &file);
    }
    if (test->rank == 0)
        DO(MPI_File_delete(test->path, info));
    MPI_Info_free(&info);
}

static void reserved_coll(struct rule_context *test)
{
    static const char *const hints[][2] = {{"access_style", "write_once,random"},
                                           {"collective_buffering", "true"},
                                           {"cb_block_size", "65536"},
                                           {"cb_buffer_size", "1048576"},
                                           {"cb_nodes", "1"},
                                           {"file_perm", "0644"},
                                           {"nb_proc", "4"},
                                           {"num_io_nodes", "1"},
                                           {"striping_factor", "2"},
                                           {"striping_unit", "65536"}};
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++)
        MPI_Info_set(info, hints[i][0], hints[i][1]);
    if (rule_open_with_coll(test, RULE_NEW, info, &file)) {
        const char data = rule_letter(test->rank, 0);
        DO(MPI_File_write_at_all(file, test->rank, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_close_coll(test, &file);
        rule_same(test, "the size of the file in bytes", rule_size_coll(test), test->nprocs);
    }
    MPI_Info_free(&info);
}

/* What get_info gives is a new object: changing and freeing it does nothing to the file. */
static void get_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Info info = MPI_INFO_NULL;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    for (int i = 0; i < 2; i++) {
        int keys = -1;
        DO(MPI_File_get_info(file, &info));
        rule_true(test, info != MPI_INFO_NULL, "MPI_File_get_info gives an info object");
        if (info == MPI_INFO_NULL)
            continue;
        DO(MPI_Info_get_nkeys(info, &keys));
        rule_true(test, keys >= 0, "the info object can be asked for its keys");
        DO(MPI_Info_free(&info));
    }
    rule_close_coll(test, &file);
}

static void freed_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "cb_nodes", "1");
    const bool is_open = rule_open_with_coll(test, RULE_NEW, info, &file);
    MPI_Info_set(info, "cb_nodes", "999");
    MPI_Info_free(&info);
    if (!is_open)
        return;
    const char data = rule_letter(test->rank, 0);
    DO(MPI_File_write_at_all(file, test->rank, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    rule_same(test, "the size of the file in bytes", rule_size_coll(test), test->nprocs);
}

/* ---- the same data, whatever is hinted ---- */

static const char *const VARIANTS[][2] = {
    {"collective_buffering", "true"}, {"collective_buffering", "false"}, {"cb_buffer_size", "64"},
    {"romio_cb_write", "enable"},     {"romio_cb_write", "disable"},     {"romio_cb_read", "disable"},
    {"romio_ds_write", "disable"},    {"romio_ds_write", "enable"},      {"romio_no_indep_rw", "true"},
};
enum { VARIANT_COUNT = sizeof VARIANTS / sizeof VARIANTS[0] };

static bool open_variant_coll(struct rule_context *test, int variant, MPI_File *ret_file)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, VARIANTS[variant][0], VARIANTS[variant][1]);
    const bool is_open = rule_open_with_coll(test, RULE_NEW, info, ret_file);
    MPI_Info_free(&info);
    return is_open;
}

static void hints_collective_coll(struct rule_context *test)
{
    static char content[BLOCKS * BLOCK * RULE_RANKS_MAX];
    char data[BLOCKS * BLOCK], found[BLOCKS * BLOCK];
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_vector(BLOCKS, BLOCK, BLOCK * test->nprocs, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    for (int variant = 0; variant < VARIANT_COUNT && open_variant_coll(test, variant, &file); variant++) {
        rule_letters(data, test->rank + variant, sizeof data);
        for (int i = 0; i < BLOCKS * BLOCK * test->nprocs; i++)
            content[i] = rule_letter(i / BLOCK % test->nprocs + variant, i / BLOCK / test->nprocs * BLOCK + i % BLOCK);
        rule_view_coll(test, file, BLOCK * test->rank, MPI_BYTE, filetype);
        DO(MPI_File_write_all(file, data, sizeof data, MPI_BYTE, MPI_STATUS_IGNORE));
        memset(found, 0, sizeof found);
        DO(MPI_File_read_at_all(file, 0, found, sizeof found, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, VARIANTS[variant][0], found, data, sizeof data);
        rule_close_coll(test, &file);
        rule_file_coll(test, content, sizeof data * (size_t)test->nprocs);
    }
    MPI_Type_free(&filetype);
}

/* Every rank has as many bytes as its number, through a view with gaps. */
static void ordered_coll(struct rule_context *test)
{
    char data[RULE_RANKS_MAX + 1], found[RULE_RANKS_MAX + 1];
    const int mine = test->rank + 1;
    MPI_File file;
    MPI_Datatype filetype;
    MPI_Type_create_resized(MPI_BYTE, 0, 2, &filetype);
    MPI_Type_commit(&filetype);
    for (int variant = 0; variant < VARIANT_COUNT && open_variant_coll(test, variant, &file); variant++) {
        rule_letters(data, test->rank + variant, mine);
        memset(found, 0, sizeof found);
        rule_view_coll(test, file, 0, MPI_BYTE, filetype);
        DO(MPI_File_write_ordered(file, data, mine, MPI_BYTE, MPI_STATUS_IGNORE));
        DO(MPI_File_sync(file));
        DO(MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
        DO(MPI_File_read_ordered(file, found, mine, MPI_BYTE, MPI_STATUS_IGNORE));
        rule_bytes(test, VARIANTS[variant][0], found, data, (size_t)mine);
        rule_close_coll(test, &file);
    }
    MPI_Type_free(&filetype);
}

extern const struct rule rule_area_hints[];
const struct rule rule_area_hints[] = {
    {"hints-unknown", "14.2.8", "Hints that are not known are passed over.", 1, unknown_coll},
    {"hints-reserved", "14.2.8", "The reserved hints are accepted, followed or not.", 1, reserved_coll},
    {"hints-get", "14.2.8", "MPI_File_get_info gives a new info object.", 1, get_coll},
    {"hints-freed", "14.2.8", "An info object may be changed and freed when the call returned.", 1, freed_coll},
    {"hints-collective", "14.2.8", "Hints do not change what collective access reads and writes.", 1,
     hints_collective_coll},
    {"hints-ordered", "14.2.8", "Hints do not change what ordered access reads and writes.", 1, ordered_coll},
    {0},
};
