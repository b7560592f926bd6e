/* Errors of the engine: engine_errors CASE FILE [ARGUMENT...]. Called by engine_errors.sh, which sets faults and
 * limits. A program of several ranks: none may hang, whatever fails. */
#include "../mpi/engine_check.c"

static const char *path;
static const int AMODE = MPI_MODE_CREATE | MPI_MODE_RDWR;

enum { BYTES = 100000 };
static char buffer[BYTES];

static int try_open(const char *name, int amode)
{
    MPI_File file = MPI_FILE_NULL;
    const int code = MPI_File_open(MPI_COMM_WORLD, name, amode, MPI_INFO_NULL, &file);
    if (code == MPI_SUCCESS)
        fine("close", MPI_File_close(&file));
    else
        expect("handle after a failed open is MPI_FILE_NULL", file == MPI_FILE_NULL, 1);
    return code;
}

/* ---- arguments ---- */

static void check_open(void)
{
    char name[1100];
    snprintf(name, sizeof name, "%s.missing", path);
    int code = try_open(name, MPI_MODE_RDONLY);
    fails_as("a file that is not there", code, MPI_ERR_NO_SUCH_FILE);
    has_words(code, "MPI_File_open");
    has_words(code, name);
    has_words(code, "No such file or directory");
    fails_as("a file that is not there", try_open(name, MPI_MODE_RDWR), MPI_ERR_NO_SUCH_FILE);
    snprintf(name, sizeof name, "%s.missing/file", path);
    fails_as("a directory that is not there", try_open(name, AMODE), MPI_ERR_NO_SUCH_FILE);
    code = try_open(path, AMODE | MPI_MODE_EXCL);
    fails_as("a file that is there already", code, MPI_ERR_FILE_EXISTS);
    snprintf(name, sizeof name, "%.*s", (int)(strrchr(path, '/') - path), path);
    fails_as("a directory", try_open(name, MPI_MODE_RDONLY), MPI_ERR_BAD_FILE);
    fails_as("a directory", try_open(name, MPI_MODE_RDWR), MPI_ERR_BAD_FILE);
    fails_as("an empty name", try_open("", AMODE), MPI_ERR_BAD_FILE);
    char *huge = malloc(10001);
    memset(huge, 'x', 10000);
    huge[10000] = '\0';
    fails_as("a name that is too long", try_open(huge, AMODE), MPI_ERR_BAD_FILE);
    memcpy(huge, "/tmp/", 5);
    huge[300] = '\0';
    fails_as("a part of a name that is too long", try_open(huge, AMODE), MPI_ERR_BAD_FILE);
    free(huge);
    fails_as("deleting what is not there", MPI_File_delete("/tmp/no/such/file", MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
}

static void check_amode(void)
{
    static const int wrong[] = {0,
                                MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_WRONLY,
                                MPI_MODE_RDWR | MPI_MODE_RDONLY,
                                MPI_MODE_RDONLY | MPI_MODE_CREATE,
                                MPI_MODE_RDONLY | MPI_MODE_EXCL,
                                MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL,
                                MPI_MODE_RDWR | (1 << 20)};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        fails_as("a wrong access mode", try_open(path, wrong[i]), MPI_ERR_AMODE);
    if (ranks > 1) {
        const int code = try_open(path, rank == ranks - 1 ? MPI_MODE_RDONLY : MPI_MODE_RDWR);
        fails_as("different access modes", code, MPI_ERR_NOT_SAME);
        fails_as("one wrong access mode", try_open(path, rank == 1 ? 0 : MPI_MODE_RDWR), MPI_ERR_AMODE);
        const int other = try_open(rank == 1 ? "" : path, MPI_MODE_RDWR);
        fails_as("one empty name", other, MPI_ERR_BAD_FILE);
        if (rank != 1)
            has_words(other, "another task failed: rank 1");
    }
}

static void check_modes(void)
{
    int value = 5;
    MPI_File file = open_file(path, MPI_MODE_RDONLY, MPI_INFO_NULL);
    fails_as("write to a file opened for reading", MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_READ_ONLY);
    fails_as("write_all", MPI_File_write_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    fails_as("write_ordered", MPI_File_write_ordered(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    fails_as("write_shared", MPI_File_write_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_READ_ONLY);
    fails_as("set_size", MPI_File_set_size(file, 0), MPI_ERR_READ_ONLY);
    fails_as("preallocate", MPI_File_preallocate(file, 10), MPI_ERR_READ_ONLY);
    fine("read_at", MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
    file = open_file(path, MPI_MODE_WRONLY, MPI_INFO_NULL);
    fails_as("read of a file opened for writing", MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_ACCESS);
    fails_as("read_all", MPI_File_read_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ACCESS);
    MPI_File_close(&file);
    file = open_file(path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL);
    fails_as("read_at in a stream", MPI_File_read_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_UNSUPPORTED_OPERATION);
    fails_as("read_all in a stream", MPI_File_read_all(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_UNSUPPORTED_OPERATION);
    fails_as("a view of a stream from 0", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
             MPI_ERR_ARG);
    fine("read_shared in a stream", MPI_File_read_shared(file, &value, 1, MPI_INT, MPI_STATUS_IGNORE));
    MPI_File_close(&file);
}

static void check_arguments(void)
{
    MPI_File file = open_file(path, AMODE, MPI_INFO_NULL), null = MPI_FILE_NULL;
    MPI_Offset offset;
    MPI_Datatype backwards, empty;
    int value = 1, code;
    code = MPI_File_write_at(file, 0, &value, -1, MPI_INT, MPI_STATUS_IGNORE);
    fails_as("count below 0", code, MPI_ERR_COUNT);
    has_words(code, "MPI_File_write_at");
    has_words(code, path);
    has_words(code, "the count is -1");
    char who[32];
    snprintf(who, sizeof who, "rank %d", rank);
    has_words(code, who);
    fails_as("offset below 0", MPI_File_write_at(file, -4, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_ARG);
    fails_as("no datatype", MPI_File_write_at(file, 0, &value, 1, MPI_DATATYPE_NULL, MPI_STATUS_IGNORE), MPI_ERR_TYPE);
    fails_as("no buffer", MPI_File_write_at(file, 0, NULL, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_BUFFER);
    fails_as("a huge offset", MPI_File_write_at(file, INT64_MAX - 2, &value, 1, MPI_INT, MPI_STATUS_IGNORE),
             MPI_ERR_ARG);
    fails_as("MPI_FILE_NULL", MPI_File_write_at(MPI_FILE_NULL, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    fails_as("close of MPI_FILE_NULL", MPI_File_close(&null), MPI_ERR_FILE);
    fails_as("seek to where", MPI_File_seek(file, 0, 12345), MPI_ERR_ARG);
    fails_as("seek before the beginning", MPI_File_seek(file, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    fails_as("no place for an offset", MPI_File_get_position(file, NULL), MPI_ERR_ARG);
    fails_as("set_size below 0", MPI_File_set_size(file, -1), MPI_ERR_ARG);
    fails_as("byte offset below 0", MPI_File_get_byte_offset(file, -1, &offset), MPI_ERR_ARG);
    fails_as("a view from -1", MPI_File_set_view(file, -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    fails_as("a view of nothing", MPI_File_set_view(file, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL),
             MPI_ERR_TYPE);
    fails_as("a filetype of half etypes", MPI_File_set_view(file, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL),
             MPI_ERR_TYPE);
    fails_as("a data representation", MPI_File_set_view(file, 0, MPI_INT, MPI_INT, "martian", MPI_INFO_NULL),
             MPI_ERR_UNSUPPORTED_DATAREP);
    MPI_Type_create_hvector(2, 1, -8, MPI_INT, &backwards);
    MPI_Type_commit(&backwards);
    expect("a filetype that goes back is taken",
           MPI_File_set_view(file, 100, MPI_INT, backwards, "native", MPI_INFO_NULL) == MPI_SUCCESS, 0);
    MPI_Type_free(&backwards);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    fails_as("an etype without data", MPI_File_set_view(file, 0, empty, empty, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    MPI_Type_free(&empty);
    fine("set_view", MPI_File_set_view(file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL));
    expect("a half etype is written", MPI_File_write_at(file, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE) == MPI_SUCCESS,
           0);
    if (ranks > 1)
        fails_as("different etypes",
                 MPI_File_set_view(file, 0, rank ? MPI_INT : MPI_DOUBLE, rank ? MPI_INT : MPI_DOUBLE, "native",
                                   MPI_INFO_NULL),
                 MPI_ERR_NOT_SAME);
    MPI_File closed = file;
    fine("close", MPI_File_close(&file));
    fails_as("a closed file", MPI_File_write_at(closed, 0, &value, 1, MPI_INT, MPI_STATUS_IGNORE), MPI_ERR_FILE);
    fails_as("closing it again", MPI_File_close(&closed), MPI_ERR_FILE);
    MPI_File nothing;
    fails_as("no communicator", MPI_File_open(MPI_COMM_NULL, path, AMODE, MPI_INFO_NULL, &nothing), MPI_ERR_COMM);
}

/* ---- one rank fails in a collective call ---- */

static void fill_file(MPI_File file)
{
    memset(buffer, 'o', BYTES);
    fine("write_at_all",
         MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Are the bytes of all ranks but `except` as they were? */
static void expect_undamaged(int except)
{
    static char found[BYTES];
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != except && raw_read(path, found, BYTES, (int64_t)rank * BYTES) != BYTES)
        complain("bytes of this rank are missing");
    for (int i = 0; rank != except && i < BYTES; i++)
        if (found[i] != 'o') {
            complain("byte %d of this rank was changed to %d", i, found[i]);
            break;
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* An exchange: all get an error, nobody hangs, nothing is written. */
static void check_bad_rank_exchange(void)
{
    MPI_File file = open_with(path, AMODE, "piolet_strategy=twophase");
    fill_file(file);
    for (int bad = 0; bad < ranks; bad++) {
        memset(buffer, 'n', BYTES);
        const MPI_Offset place = (MPI_Offset)rank * BYTES;
        int code = MPI_File_write_at_all(file, place, buffer, rank == bad ? -5 : BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        fails_as("a bad count on one rank", code, MPI_ERR_COUNT);
        char words[64];
        snprintf(words, sizeof words, rank == bad ? "the count is -5" : "another task failed: rank %d: ", bad);
        has_words(code, words);
        code = MPI_File_write_at_all(file, rank == bad ? -1 : place, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        fails_as("a bad offset on one rank", code, MPI_ERR_ARG);
        code = MPI_File_write_ordered(file, buffer, BYTES, rank == bad ? MPI_DATATYPE_NULL : MPI_BYTE,
                                      MPI_STATUS_IGNORE);
        fails_as("a bad type on one rank, ordered", code, MPI_ERR_TYPE);
        code = MPI_File_read_at_all(file, 0, rank == bad ? NULL : buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
        fails_as("no buffer on one rank", code, MPI_ERR_BUFFER);
        expect_undamaged(-1);
    }
    memset(buffer, 'o', BYTES); /* and the file goes on working */
    fine("write_at_all",
         MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("close", MPI_File_close(&file));
}

/* No exchange: the bad rank gets its error at once, the others when they next meet. `meeting` is that call. */
enum meeting { SYNC, CLOSE, SET_VIEW, SET_SIZE, PREALLOCATE, SET_INFO, ATOMICITY, SEEK_SHARED, VIEW_INFO, MEETINGS };

static int meet(MPI_File *file, enum meeting meeting)
{
    MPI_Info info = MPI_INFO_NULL;
    int code;
    switch (meeting) {
    case SYNC:
        return MPI_File_sync(*file);
    case CLOSE:
        return MPI_File_close(file);
    case SET_VIEW:
        return MPI_File_set_view(*file, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL);
    case SET_SIZE:
        return MPI_File_set_size(*file, (MPI_Offset)ranks * BYTES + 40);
    case PREALLOCATE:
        return MPI_File_preallocate(*file, (MPI_Offset)ranks * BYTES + 40);
    case ATOMICITY:
        return MPI_File_set_atomicity(*file, 1);
    case SEEK_SHARED:
        return MPI_File_seek_shared(*file, 10, MPI_SEEK_SET);
    default:
        info = info_of("cb_buffer_size=128k");
        code = meeting == SET_INFO ? MPI_File_set_info(*file, info)
                                   : MPI_File_set_view(*file, 0, MPI_INT, MPI_INT, "native", info);
        MPI_Info_free(&info);
        return code;
    }
}

static void check_bad_rank_direct(enum meeting meeting)
{
    const int bad = meeting % ranks;
    char words[64];
    MPI_File file = open_with(path, AMODE, "piolet_strategy=independent");
    fill_file(file);
    int code = MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, rank == bad ? -5 : BYTES, MPI_BYTE,
                                     MPI_STATUS_IGNORE);
    if (rank == bad)
        fails_as("a bad count on this rank", code, MPI_ERR_COUNT);
    else
        fine("write_at_all while another rank fails", code);
    code = meet(&file, meeting);
    if (rank != bad) {
        fails_as("the next meeting of the ranks", code, MPI_ERR_COUNT);
        snprintf(words, sizeof words, "another task failed: rank %d: ", bad);
        has_words(code, words);
        has_words(code, "the count is -5");
    }
    expect_undamaged(-1);
    if (meeting == CLOSE) {
        expect("the handle of a close that told of a failure", file == MPI_FILE_NULL, 1);
        return;
    }
    /* It is told once; then the file works, and the ranks agree about everything. */
    fine("the second meeting", meet(&file, meeting));
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    MPI_Info info = info_of("piolet_strategy=twophase"); /* agents compare what ranks believe about the file */
    fine("set_info", MPI_File_set_info(file, info));
    MPI_Info_free(&info);
    memset(buffer, 'o', BYTES);
    fine("write_at_all",
         MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    expect_undamaged(-1);
    fine("close", MPI_File_close(&file));
}

/* ---- error handlers ---- */

static int calls, last_code;
static MPI_File last_file;

static void note(MPI_File *file, int *code, ...)
{
    calls++;
    last_code = *code;
    last_file = *file;
}

static void check_handlers(void)
{
    MPI_Errhandler handler, got, second;
    MPI_File file;
    fine("get_errhandler", MPI_File_get_errhandler(MPI_FILE_NULL, &got));
    expect("the default returns errors", got == MPI_ERRORS_RETURN, 1);
    fine("create_errhandler", MPI_File_create_errhandler(note, &handler));
    fine("set_errhandler", MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    int code = try_open("/no/such/file", MPI_MODE_RDONLY);
    expect("calls for a failed open", calls, 1);
    expect("file of a failed open", last_file == MPI_FILE_NULL, 1);
    expect("code of a failed open", last_code, code);
    file = open_with(path, AMODE, "piolet_strategy=twophase"); /* inherits it */
    fine("get_errhandler", MPI_File_get_errhandler(file, &got));
    expect("a new file has the default's handler", got == handler, 1);
    fine("free what get_errhandler gave", MPI_Errhandler_free(&got));
    fine("set_errhandler", MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    fine("free", MPI_Errhandler_free(&handler));
    expect("a freed handler", handler == MPI_ERRHANDLER_NULL, 1);
    code = MPI_File_seek(file, -3, MPI_SEEK_SET); /* the file still has it */
    expect("calls", calls, 2);
    expect("file", last_file == file, 1);
    expect("code", last_code, code);
    fails_as("seek", code, MPI_ERR_ARG);
    code = MPI_File_write_at_all(file, 0, buffer, -1, MPI_BYTE, MPI_STATUS_IGNORE);
    expect("calls in a collective call", calls, 3);
    fine("call_errhandler", MPI_File_call_errhandler(file, code));
    expect("calls by call_errhandler", calls, 4);
    expect("code by call_errhandler", last_code, code);
    fine("create_errhandler", MPI_File_create_errhandler(note, &second));
    fine("set_errhandler", MPI_File_set_errhandler(file, second));
    fine("get_errhandler", MPI_File_get_errhandler(file, &got));
    expect("the second handler", got == second, 1);
    MPI_Errhandler_free(&got);
    MPI_Errhandler_free(&second);
    fine("set_errhandler", MPI_File_set_errhandler(file, MPI_ERRORS_RETURN));
    MPI_File_seek(file, -3, MPI_SEEK_SET);
    expect("calls after it was taken away", calls, 4);
    fine("call_errhandler", MPI_File_call_errhandler(file, code)); /* returns */
    fails_as("no handler", MPI_File_set_errhandler(file, MPI_ERRHANDLER_NULL), MPI_ERR_ARG);
    fine("close", MPI_File_close(&file));
}

/* Ends the job. */
static void check_fatal(void)
{
    MPI_File file = open_file(path, AMODE, MPI_INFO_NULL);
    fine("set_errhandler", MPI_File_set_errhandler(file, MPI_ERRORS_ARE_FATAL));
    if (rank == ranks - 1)
        MPI_File_seek(file, -3, MPI_SEEK_SET);
    MPI_Barrier(MPI_COMM_WORLD);
    printf("still alive\n");
    fflush(stdout);
}

/* ---- faults of the plan in PIOLET_FAULTS, which hits rank 1 ---- */

/* The fault is in the call CALL. Who hears of it there: `agreed`: all ranks, and rank 1 (or 0) is the one with it;
 * `anybody`: all ranks, and any of them may be the one; `late`: that one only, the others in the next meeting. */
static void check_fault(const char *call, const char *hints, const char *who)
{
    const bool anybody = strcmp(who, "anybody") == 0, agreed = anybody || strcmp(who, "agreed") == 0;
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info = info_of(hints);
    int code = MPI_File_open(MPI_COMM_WORLD, path, AMODE, info, &file);
    MPI_Info_free(&info);
    if (strcmp(call, "open") == 0) {
        fails_as("open", code, MPI_ERR_IO);
        has_words(code, rank == 1 ? "Input/output error" : "another task failed: rank 1: ");
        expect("handle", file == MPI_FILE_NULL, 1);
        return;
    }
    fine("open", code);
    memset(buffer, 'o', BYTES);
    if (strcmp(call, "write_all") == 0)
        code = MPI_File_write_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (strcmp(call, "read_all") == 0)
        code = MPI_File_read_at_all(file, (MPI_Offset)rank * BYTES, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    else if (strcmp(call, "sync") == 0)
        code = MPI_File_sync(file);
    else if (strcmp(call, "close") == 0)
        code = MPI_File_close(&file);
    else if (strcmp(call, "set_size") == 0)
        code = MPI_File_set_size(file, (MPI_Offset)ranks * BYTES);
    else if (strcmp(call, "preallocate") == 0)
        code = MPI_File_preallocate(file, (MPI_Offset)ranks * BYTES);
    const int guilty = strcmp(call, "set_size") == 0 || strcmp(call, "preallocate") == 0 ? 0 : 1;
    if (agreed || rank == guilty)
        fails_as(call, code, MPI_ERR_IO);
    else
        fine(call, code);
    if (rank == guilty || anybody) {
        has_words(code, "Input/output error");
    } else if (agreed) {
        char words[64];
        snprintf(words, sizeof words, "another task failed: rank %d: ", guilty);
        has_words(code, words);
    }
    if (file != MPI_FILE_NULL) {
        code = MPI_File_sync(file);
        if (agreed || rank == guilty)
            fine("sync after the failure was told", code);
        else
            fails_as("sync after a failure elsewhere", code, MPI_ERR_IO);
        fine("close", MPI_File_close(&file));
    }
    expect_undamaged(1);
}

/* ---- every call of rank 1 fails once ---- */

/* Do all ranks say the same of a call? Returns whether it succeeded everywhere. */
static bool same(const char *what, int code)
{
    int mine[2] = {code == MPI_SUCCESS, -(code == MPI_SUCCESS)}, least[2];
    MPI_Allreduce(mine, least, 2, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != -least[1])
        complain("%s: ranks differ about its success; here: %s", what, words_of(code));
    return least[0] == 1;
}

/* All kinds of calls. What fails where is the plan's affair; that nobody hangs, and that ranks which exchange agree, is
 * ours. */
static void use_under_faults(const char *hints, bool exchanges)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Info info = info_of(hints);
    MPI_Datatype filetype;
    static char back[BYTES];
    const int pieces = 200, piece = 50;
    int code = MPI_File_open(MPI_COMM_WORLD, path, AMODE, info, &file);
    MPI_Info_free(&info);
    if (!same("open", code)) {
        if (file != MPI_FILE_NULL) /* some have it open, and could not close it alone */
            MPI_Abort(MPI_COMM_WORLD, 4);
        return;
    }
    MPI_Type_vector(pieces, piece, piece * (ranks + 1), MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    same("set_view", MPI_File_set_view(file, rank * piece, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    int codes[4];
    codes[0] = MPI_File_write_all(file, buffer, pieces * piece, MPI_BYTE, MPI_STATUS_IGNORE);
    codes[1] = MPI_File_read_at_all(file, 0, back, pieces * piece, MPI_BYTE, MPI_STATUS_IGNORE);
    codes[2] = MPI_File_write_ordered(file, buffer, piece, MPI_BYTE, MPI_STATUS_IGNORE);
    codes[3] = MPI_File_read_ordered(file, back, piece, MPI_BYTE, MPI_STATUS_IGNORE);
    for (int i = 0; i < 4 && exchanges; i++)
        same("a collective access", codes[i]);
    MPI_File_write_shared(file, buffer, piece, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_write(file, buffer, piece, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_read_at(file, 0, back, 10 * piece, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_atomicity(file, 1);
    MPI_File_write_at_all(file, 0, buffer, piece, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_set_atomicity(file, 0);
    MPI_File_seek_shared(file, 100, MPI_SEEK_SET);
    MPI_File_set_info(file, MPI_INFO_NULL);
    MPI_File_preallocate(file, 100000);
    MPI_File_set_size(file, 50000);
    MPI_File_sync(file);
    MPI_File_close(&file);
    expect("the handle is gone in any case", file == MPI_FILE_NULL, 1);
    MPI_Type_free(&filetype);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_sweep(const char *call, int calls_most)
{
    static const char *const hints[] = {"piolet_strategy=twophase;cb_nodes=2", "piolet_strategy=independent",
                                        "piolet_strategy=twophase;romio_ds_write=enable;cb_buffer_size=5000",
                                        "romio_cb_write=disable;romio_ds_write=enable;ind_wr_buffer_size=3000"};
    char plan[64];
    for (int which = 0; which < 4; which++)
        for (int n = 1; n <= calls_most; n++) {
            snprintf(plan, sizeof plan, "%s:%d=%s@1", call, n, strcmp(call, "malloc") == 0 ? "ENOMEM" : "EIO");
            setenv("PIOLET_FAULTS", plan, 1);
            if (rank == 0) { /* seen where the job hangs */
                printf("PIOLET_FAULTS=%s, %s\n", plan, hints[which]);
                fflush(stdout);
            }
            use_under_faults(hints[which], which % 2 == 0);
        }
    unsetenv("PIOLET_FAULTS");
    MPI_File file = open_file(path, AMODE, MPI_INFO_NULL); /* nothing is left of it */
    fill_file(file);
    fine("close", MPI_File_close(&file));
    expect_undamaged(-1);
}

/* ---- a full file system ---- */

/* Writes until it is full. Every rank must hear of it in an exchange; alone, at least those who wrote. */
static void check_space(const char *hints, bool agreed)
{
    MPI_File file = open_with(path, AMODE, hints);
    int code = MPI_SUCCESS, total = 0;
    for (int turn = 0; turn < 2000 && total == 0; turn++) {
        code = MPI_File_write_at_all(file, ((MPI_Offset)turn * ranks + rank) * BYTES, buffer, BYTES, MPI_BYTE,
                                     MPI_STATUS_IGNORE);
        const int failed = code != MPI_SUCCESS;
        MPI_Allreduce(&failed, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    }
    if (agreed)
        expect("ranks that heard of the full file system", total, ranks);
    else
        expect("somebody heard of the full file system", total > 0, 1);
    if (code != MPI_SUCCESS) {
        fails_as("a full file system", code, MPI_ERR_NO_SPACE);
        has_words(code, "No space left on device");
    }
    const int again = MPI_File_write_at(file, INT64_C(1) << 30, buffer, BYTES, MPI_BYTE, MPI_STATUS_IGNORE);
    fails_as("one more write", again, MPI_ERR_NO_SPACE);
    const int met = MPI_File_sync(file);
    if (!agreed && code == MPI_SUCCESS)
        fails_as("the sync behind it", met, MPI_ERR_NO_SPACE);
    fails_as("preallocate", MPI_File_preallocate(file, INT64_C(1) << 30), MPI_ERR_NO_SPACE);
    MPI_File_close(&file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* As a user who may not. */
static void check_permission(void)
{
    int code = try_open(path, MPI_MODE_RDWR);
    fails_as("a file that this user may not write", code, MPI_ERR_ACCESS);
    has_words(code, "Permission denied");
    fails_as("writing only", try_open(path, MPI_MODE_WRONLY), MPI_ERR_ACCESS);
    fine("reading", try_open(path, MPI_MODE_RDONLY));
    char name[1100];
    snprintf(name, sizeof name, "%s.new", path);
    fails_as("a directory that this user may not write", try_open(name, AMODE), MPI_ERR_ACCESS);
    fails_as("deleting", MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_ACCESS);
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    if (argc < 3)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const char *which = argv[1];
    path = argv[2];
    if (strcmp(which, "arguments") == 0) {
        check_open();
        check_amode();
        check_modes();
        check_arguments();
    } else if (strcmp(which, "exchange") == 0) {
        check_bad_rank_exchange();
    } else if (strcmp(which, "direct") == 0) {
        check_bad_rank_direct(atoi(argv[3]) % MEETINGS);
    } else if (strcmp(which, "handlers") == 0) {
        check_handlers();
    } else if (strcmp(which, "fatal") == 0) {
        check_fatal();
    } else if (strcmp(which, "fault") == 0) {
        check_fault(argv[3], argv[4], argv[5]);
    } else if (strcmp(which, "sweep") == 0) {
        check_sweep(argv[3], atoi(argv[4]));
    } else if (strcmp(which, "space") == 0) {
        check_space(argv[3], strcmp(argv[4], "agreed") == 0);
    } else if (strcmp(which, "permission") == 0) {
        check_permission();
    }
    return check_end(which);
}
