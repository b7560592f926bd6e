/* Files of the MPI itself beside files of the engine: engine_system FILE hint|environment. Called by engine_system.sh.
 * With `environment` the script has set PIOLET_HINTS="piolet_impl=system"; the program then asks for the engine. */
#include "engine_check.c"

enum { ROUNDS = 5, INTS = 1000 };

static MPI_File handler_file;
static int handler_code, handler_calls;

static void note_error(MPI_File *file, int *code, ...)
{
    handler_file = *file;
    handler_code = *code;
    handler_calls++;
}

static bool is_ours(MPI_File file)
{
    return *hint_of(file, "piolet_version") != '\0';
}

/* Keys that only the engine sets. */
static void expect_no_keys_of_ours(MPI_File file)
{
    MPI_Info info = MPI_INFO_NULL;
    int count = 0;
    fine("get_info of a system's file", MPI_File_get_info(file, &info));
    MPI_Info_get_nkeys(info, &count);
    for (int i = 0; i < count; i++) {
        char key[MPI_MAX_INFO_KEY + 1];
        MPI_Info_get_nthkey(info, i, key);
        if (strncmp(key, "origin:", 7) == 0 || strcmp(key, "piolet_version") == 0 ||
            strcmp(key, "piolet_strategy_write") == 0)
            complain("the system's file has the key %s", key);
    }
    MPI_Info_free(&info);
}

/* Every kind of call once, interleaved by rank; the file is compared by rank 0 with plain reads. */
static void use(MPI_File file, const char *path, int salt)
{
    int numbers[INTS], back[INTS], flag;
    MPI_Datatype filetype;
    MPI_Status status;
    MPI_Offset place;
    MPI_Type_vector(INTS / 10, 10, 10 * ranks, MPI_INT, &filetype);
    MPI_Type_commit(&filetype);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < INTS; i++)
            numbers[i] = salt + 10000000 * round + 10000 * rank + i;
        const MPI_Offset begin = (MPI_Offset)round * ranks * INTS * 4 + rank * 40;
        fine("set_view", MPI_File_set_view(file, begin, MPI_INT, filetype, "native", MPI_INFO_NULL));
        fine("write", round % 2 ? MPI_File_write_all(file, numbers, INTS, MPI_INT, &status)
                                : MPI_File_write(file, numbers, INTS, MPI_INT, &status));
        MPI_Get_count(&status, MPI_INT, &flag);
        expect("count of a write", flag, INTS);
        fine("get_position", MPI_File_get_position(file, &place));
        expect("position", place, INTS);
        fine("sync", MPI_File_sync(file));
        MPI_Barrier(MPI_COMM_WORLD);
        fine("read_at_all", MPI_File_read_at_all(file, 0, back, INTS, MPI_INT, &status));
        expect("read back", memcmp(back, numbers, sizeof back), 0);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int64_t i = 0; rank == 0 && i < (int64_t)ROUNDS * ranks * INTS; i++) {
        int found = -1;
        const int64_t in_round = i % (ranks * INTS), owner = in_round / 10 % ranks;
        const int64_t local = in_round / 10 / ranks * 10 + in_round % 10;
        raw_read(path, &found, sizeof found, i * 4);
        if (found != salt + 10000000 * (i / (ranks * INTS)) + 10000 * owner + local) {
            complain("number %" PRId64 " of %s is %d", i, path, found);
            break;
        }
    }
    MPI_Type_free(&filetype);
}

/* The handler that the program gave gets the handle that the program has. */
static void use_handler(MPI_File file)
{
    MPI_Errhandler handler, got;
    const int before = handler_calls;
    fine("create_errhandler", MPI_File_create_errhandler(note_error, &handler));
    fine("set_errhandler", MPI_File_set_errhandler(file, handler));
    fine("get_errhandler", MPI_File_get_errhandler(file, &got));
    expect("the handler is the one that was set", got == handler, 1);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&handler);
    const int code = MPI_File_seek(file, -5, MPI_SEEK_SET);
    expect("a seek before the beginning succeeds", code == MPI_SUCCESS, 0);
    expect("calls of the error handler", handler_calls, before + 1);
    expect("the handler got the program's handle", handler_file == file, 1);
    expect("the handler got the code", handler_code, code);
    fine("set_errhandler", MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    expect("a seek before the beginning succeeds", MPI_File_seek(file, -5, MPI_SEEK_SET) == MPI_SUCCESS, 0);
    expect("calls of a handler that was taken away", handler_calls, before + 1);
}

static void use_wrong_handler(MPI_File file)
{
    MPI_Errhandler none;
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &none);
    const int code = MPI_File_set_errhandler(file, MPI_ERRHANDLER_NULL);
    expect("MPI_ERRHANDLER_NULL is taken", code == MPI_SUCCESS, 0);
    expect("words of a refused handler", *words_of(code) != '\0', 1);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (argc != 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const bool by_environment = strcmp(argv[2], "environment") == 0;
    const int amode = MPI_MODE_CREATE | MPI_MODE_RDWR;
    char ours[1024], theirs[1024];
    snprintf(ours, sizeof ours, "%s.ours", argv[1]);
    snprintf(theirs, sizeof theirs, "%s.theirs", argv[1]);
    MPI_File a = open_with(ours, amode, by_environment ? "piolet_impl=piolet" : "cb_nodes=1");
    MPI_File b = by_environment ? open_file(theirs, amode, MPI_INFO_NULL)
                                : open_with(theirs, amode, "piolet_impl=system;cb_nodes=1");
    expect("the first file is the engine's", is_ours(a), 1);
    expect("the second file is the engine's", is_ours(b), 0);
    expect_no_keys_of_ours(b);
    use(a, ours, 7);
    use(b, theirs, 1000);
    use_handler(a);
    use_handler(b);
    use_wrong_handler(a);
    use_wrong_handler(b);
    int amode_a = 0, amode_b = 0;
    MPI_File_get_amode(a, &amode_a);
    MPI_File_get_amode(b, &amode_b);
    expect("access mode of the system's file", amode_b, amode_a);
    fine("close", MPI_File_close(&b));
    fine("close", MPI_File_close(&a));
    expect("handle of a closed file", a == MPI_FILE_NULL && b == MPI_FILE_NULL, 1);
    MPI_File missing;
    MPI_Info info = info_of("piolet_impl=system");
    snprintf(theirs, sizeof theirs, "%s.missing", argv[1]);
    fails_as("a system's file that is not there",
             MPI_File_open(MPI_COMM_WORLD, theirs, MPI_MODE_RDONLY, info, &missing), MPI_ERR_NO_SUCH_FILE);
    MPI_Info_free(&info);
    return check_end("engine_system");
}
