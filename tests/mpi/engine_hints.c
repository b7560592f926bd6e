/* Hints and their fate: engine_hints FILE CASE. Called by engine_hints.sh, which says what the environment holds.
 *   plain        defaults, hints of the program, changes, refusals
 *   environment  PIOLET_HINTS and the file of ROMIO_HINTS, against the program's
 *   ranks        every rank gives other hints */
#include "engine_check.c"

static const char *path;
static const int AMODE = MPI_MODE_CREATE | MPI_MODE_RDWR;

static void change(MPI_File file, const char *hints)
{
    MPI_Info info = info_of(hints);
    fine("set_info", MPI_File_set_info(file, info));
    MPI_Info_free(&info);
}

static void check_defaults(void)
{
    static const char *const in_force[][2] = {
        {"piolet_impl", "piolet"},        {"piolet_strategy", "auto"},     {"cb_nodes", "0"},
        {"cb_buffer_size", "4194304"},    {"romio_cb_read", "automatic"},  {"romio_cb_write", "automatic"},
        {"romio_ds_read", "automatic"},   {"romio_ds_write", "automatic"}, {"ind_rd_buffer_size", "4194304"},
        {"ind_wr_buffer_size", "524288"}, {"striping_unit", "0"},          {"striping_factor", "0"},
        {"IBM_largeblock_io", "false"},
    };
    MPI_File file = open_file(path, AMODE, MPI_INFO_NULL);
    for (size_t i = 0; i < sizeof in_force / sizeof in_force[0]; i++) {
        char key[MPI_MAX_INFO_KEY];
        snprintf(key, sizeof key, "origin:%s", in_force[i][0]);
        expect_hint(file, in_force[i][0], in_force[i][1]);
        expect_hint(file, key, "default");
    }
    expect_hint(file, "file_perm", ""); /* has no value unless given */
    expect_hint(file, "origin:file_perm", "default");
    expect_hint(file, "access_style", "");
    expect_hint(file, "origin:access_style", "");
    expect_hint(file, "origin:PIOLET_HINTS", "");
    if (!*hint_of(file, "piolet_version"))
        complain("no key piolet_version");
    if (!*hint_of(file, "piolet_strategy_read") || !*hint_of(file, "piolet_strategy_write"))
        complain("the strategies are not told");
    fine("close", MPI_File_close(&file));
}

/* Names of ROMIO and of the standard, capital letters, unknown names, values that are not allowed. */
static void check_info(void)
{
    MPI_File file = open_with(path, AMODE,
                              "cb_nodes=2;cb_buffer_size=64k;romio_cb_write=ENABLE;romio_ds_read=disable;"
                              "access_style=read_once,write_mostly;no_such_hint=5;romio_lustre_co_ratio=1;"
                              "ind_rd_buffer_size=-3;romio_cb_read=perhaps;striping_unit=1m;cb_config_list=*:1");
    expect_hint(file, "cb_nodes", "2");
    expect_hint(file, "origin:cb_nodes", "info");
    expect_hint(file, "cb_buffer_size", "65536");
    expect_hint(file, "romio_cb_write", "enable");
    expect_hint(file, "origin:romio_cb_write", "info");
    expect_hint(file, "romio_ds_read", "disable");
    expect_hint(file, "access_style", "read_once,write_mostly");
    expect_hint(file, "origin:access_style", "info");
    expect_hint(file, "cb_config_list", "*:1");
    expect_hint(file, "striping_unit", "1048576");
    expect_hint(file, "no_such_hint", "");
    expect_hint(file, "origin:no_such_hint", "");
    expect_hint(file, "romio_lustre_co_ratio", "");
    expect_hint(file, "ind_rd_buffer_size", "4194304");
    expect_hint_part(file, "origin:ind_rd_buffer_size", "rejected '-3': allowed: ");
    expect_hint_part(file, "origin:ind_rd_buffer_size", "(kept: default)");
    expect_hint(file, "romio_cb_read", "automatic");
    expect_hint_part(file, "origin:romio_cb_read", "rejected 'perhaps': allowed: enable, disable, automatic");
    fine("close", MPI_File_close(&file));

    file = open_with(path, AMODE, "collective_buffering=true");
    expect_hint(file, "romio_cb_write", "enable");
    expect_hint(file, "romio_cb_read", "enable");
    expect_hint(file, "piolet_strategy_write", ranks > 1 ? "ring" : "independent");
    expect_hint(file, "piolet_why_write", ranks > 1 ? "romio_cb_write is enable" : "there is one rank");
    fine("close", MPI_File_close(&file));
}

static void check_changes(void)
{
    MPI_File file = open_with(path, AMODE, "romio_cb_write=enable");
    change(file, "romio_cb_write=disable;cb_buffer_size=1m;striping_unit=4096;piolet_impl=system");
    expect_hint(file, "romio_cb_write", "disable");
    expect_hint(file, "origin:romio_cb_write", "info");
    expect_hint(file, "piolet_strategy_write", "independent");
    expect_hint(file, "cb_buffer_size", "1048576");
    expect_hint(file, "striping_unit", "0");
    expect_hint_part(file, "origin:striping_unit", "rejected '4096': allowed: only when the file is opened");
    expect_hint(file, "piolet_impl", "piolet");
    expect_hint_part(file, "origin:piolet_impl", "rejected 'system'");
    change(file, "romio_cb_write=sometimes");
    expect_hint(file, "romio_cb_write", "disable");
    expect_hint_part(file, "origin:romio_cb_write", "rejected 'sometimes'");
    MPI_Info info = info_of("piolet_strategy=twophase");
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", info)); /* set_view takes hints, too */
    MPI_Info_free(&info);
    expect_hint(file, "piolet_strategy", "twophase");
    expect_hint(file, "piolet_strategy_write", "twophase");
    fine("set_info of nothing", MPI_File_set_info(file, MPI_INFO_NULL));
    expect_hint(file, "piolet_strategy_write", "twophase");
    fine("close", MPI_File_close(&file));
}

static void check_strategy_names(void)
{
    static const char *const names[] = {"twophase", "independent"};
    for (int i = 0; i < 2; i++) {
        char hint[64];
        snprintf(hint, sizeof hint, "piolet_strategy=%s", names[i]);
        MPI_File file = open_with(path, AMODE, hint);
        expect_hint(file, "piolet_strategy_write", names[i]);
        expect_hint(file, "piolet_strategy_read", names[i]);
        fine("close", MPI_File_close(&file));
    }
    MPI_File file = open_with(path, AMODE, "piolet_strategy=nonsense");
    expect_hint(file, "piolet_strategy", "auto");
    expect_hint_part(file, "origin:piolet_strategy", "rejected 'nonsense'");
    change(file, "piolet_strategy=more_nonsense");
    expect_hint(file, "piolet_strategy", "auto");
    expect_hint_part(file, "origin:piolet_strategy", "rejected 'more_nonsense'");
    fine("close", MPI_File_close(&file));
}

/* What get_info gave is a valid argument of the next open. */
static void check_round_trip(void)
{
    MPI_File first = open_with(path, AMODE, "cb_nodes=3;romio_ds_write=disable;cb_buffer_size=oops");
    MPI_Info info;
    fine("get_info", MPI_File_get_info(first, &info));
    MPI_File second = open_file(path, AMODE, info);
    MPI_Info_free(&info);
    expect_hint(second, "cb_nodes", "3");
    expect_hint(second, "romio_ds_write", "disable");
    expect_hint(second, "cb_buffer_size", "4194304");
    expect_hint(second, "origin:cb_buffer_size", "info"); /* the program has now really given it */
    fine("get_info", MPI_File_get_info(second, &info));
    fine("set_info with it", MPI_File_set_info(first, info));
    MPI_Info_free(&info);
    expect_hint(first, "cb_nodes", "3");
    fine("close", MPI_File_close(&first));
    fine("close", MPI_File_close(&second));
}

static void check_permissions(void)
{
    struct stat facts;
    char name[1024];
    snprintf(name, sizeof name, "%s.perm", path);
    MPI_File file = open_with(name, AMODE, "file_perm=0640");
    expect_hint(file, "file_perm", "0640");
    fine("close", MPI_File_close(&file));
    if (rank == 0 && stat(name, &facts) == 0)
        expect("permissions", facts.st_mode & 0777, 0640);
}

/* The script has set: ROMIO_HINTS (cb_nodes 5, cb_buffer_size 1m, romio_ds_read enable, junk) and
 * PIOLET_HINTS (cb_buffer_size=2m romio_cb_write=disable no_such=1). */
static void check_environment(void)
{
    static const char *const in_force[][2] = {{"cb_nodes", "5"},
                                              {"origin:cb_nodes", "file"},
                                              {"romio_ds_read", "enable"},
                                              {"origin:romio_ds_read", "file"},
                                              {"cb_buffer_size", "2097152"},
                                              {"origin:cb_buffer_size", "environment"},
                                              {"romio_cb_write", "enable"},
                                              {"origin:romio_cb_write", "info"},
                                              {"origin:romio_ds_write", "default"}};
    MPI_File file = open_with(path, AMODE, "romio_cb_write=enable");
    for (size_t i = 0; i < sizeof in_force / sizeof *in_force; i++)
        expect_hint(file, in_force[i][0], in_force[i][1]);
    expect_hint_part(file, "origin:PIOLET_HINTS", "no_such");
    expect_hint_part(file, "origin:ROMIO_HINTS", "read '");
    fine("close", MPI_File_close(&file));
}

/* ---- hints that differ by rank ---- */

static void use(MPI_File file, int salt)
{
    enum { PIECES = 300 };
    int numbers[PIECES], back[PIECES];
    MPI_Datatype filetype;
    MPI_Type_vector(PIECES, 1, ranks, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    fine("set_view", MPI_File_set_view(file, 4 * rank, MPI_INT, filetype, "native", MPI_INFO_NULL));
    for (int i = 0; i < PIECES; i++)
        numbers[i] = salt + i * ranks + rank;
    fine("write_all", MPI_File_write_all(file, numbers, PIECES, MPI_INT, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    fine("read_at_all", MPI_File_read_at_all(file, 0, back, PIECES, MPI_INT, MPI_STATUS_IGNORE));
    expect("read back", memcmp(numbers, back, sizeof back), 0);
    for (int i = 0; rank == 0 && i < PIECES * ranks; i++) {
        int found = -1;
        raw_read(path, &found, sizeof found, 4 * (int64_t)i);
        if (found != salt + i) {
            complain("number %d of the file is %d", i, found);
            break;
        }
    }
    MPI_Type_free(&filetype);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* What makes ranks work together is that of rank 0 everywhere, and every rank says so. */
static void expect_same(MPI_File file, const char *key)
{
    char mine[MPI_MAX_INFO_VAL + 1] = "", first[MPI_MAX_INFO_VAL + 1] = "";
    snprintf(mine, sizeof mine, "%s", hint_of(file, key));
    memcpy(first, mine, sizeof first);
    MPI_Bcast(first, sizeof first, MPI_CHAR, 0, MPI_COMM_WORLD);
    if (strcmp(mine, first) != 0)
        complain("hint %s in force is told to be '%s', on rank 0 '%s'", key, mine, first);
}

static void check_ranks(void)
{
    static const char *const different[] = {
        "piolet_strategy=twophase;cb_buffer_size=4096;cb_nodes=1;striping_unit=4096",
        "piolet_strategy=independent;romio_ds_write=enable",
        "romio_cb_write=disable;cb_buffer_size=77;cb_nodes=1000",
        "cb_nodes=2;striping_unit=123;romio_cb_write=enable",
    };
    static const char *const shared[] = {"piolet_strategy_write", "piolet_strategy_read", "piolet_strategy", "cb_nodes",
                                         "cb_buffer_size",        "romio_cb_write",       "striping_unit"};
    for (int turn = 0; turn < 4; turn++) {
        MPI_File file = open_with(path, AMODE, different[(rank + turn) % 4]);
        use(file, 1000 * turn);
        for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
            expect_same(file, shared[i]);
        change(file, different[(rank + turn + 1) % 4]);
        use(file, 1000 * turn + 500000);
        for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++)
            expect_same(file, shared[i]);
        fine("close", MPI_File_close(&file));
    }
    MPI_File file = rank % 2 ? open_file(path, AMODE, MPI_INFO_NULL) : open_with(path, AMODE, "cb_buffer_size=128k");
    use(file, 3);
    /* A view with hints on some ranks only. */
    MPI_Info info = info_of("piolet_strategy=independent;cb_buffer_size=256k");
    fine("set_view", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", rank % 2 ? info : MPI_INFO_NULL));
    expect_same(file, "cb_buffer_size");
    fine("set_info", MPI_File_set_info(file, rank % 2 ? MPI_INFO_NULL : info));
    expect_hint(file, "cb_buffer_size", "262144");
    MPI_Info_free(&info);
    use(file, 4);
    fine("close", MPI_File_close(&file));
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    path = argv[1];
    if (strcmp(argv[2], "environment") == 0) {
        check_environment();
    } else if (strcmp(argv[2], "ranks") == 0) {
        check_ranks();
    } else {
        check_defaults();
        check_info();
        check_changes();
        check_strategy_names();
        check_round_trip();
        check_permissions();
    }
    return check_end(argv[2]);
}
