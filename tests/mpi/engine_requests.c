/* Requests of the engine by the standard: engine_requests FILE. Called by engine_requests.sh.
 * With the argument `faults` behind FILE every write fails, by a plan in the environment. */
#include "engine_check.c"

#include <stddef.h>

static const char *path;
static const int AMODE = MPI_MODE_CREATE | MPI_MODE_RDWR;
static MPI_File file;

enum { BYTES = 1000 };

static const char *const HINTS[] = {"romio_cb_write=enable;romio_cb_read=enable;cb_nodes=2",
                                    "romio_cb_write=disable;romio_cb_read=disable"};

static void begin(const char *hints)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(path);
    MPI_Barrier(MPI_COMM_WORLD);
    file = open_with(path, AMODE, hints);
}

static void end(void)
{
    fine("close", MPI_File_close(&file));
}

static char letter(int64_t i)
{
    return (char)(i * 13 + rank * 57 + 3);
}

static void fill(char *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        data[i] = letter(i);
}

static void expect_bytes(const char *what, const char *data, int64_t bytes)
{
    for (int64_t i = 0; i < bytes; i++)
        if (data[i] != letter(i)) {
            complain("%s: byte %" PRId64 " is %d in the place of %d", what, i, data[i], letter(i));
            return;
        }
}

static void expect_status(const char *what, const MPI_Status *status, MPI_Datatype type, int wanted)
{
    int count = -1, elements = -1, cancelled = -1;
    MPI_Count elements_x = -1;
    MPI_Get_count(status, type, &count);
    MPI_Get_elements(status, type, &elements);
    MPI_Get_elements_x(status, type, &elements_x);
    MPI_Test_cancelled(status, &cancelled);
    if (count != wanted || elements != wanted || elements_x != wanted || cancelled != 0)
        complain("%s: count %d, elements %d and %lld in the place of %d; cancelled: %d", what, count, elements,
                 (long long)elements_x, wanted, cancelled);
}

/* ---- statuses ---- */

static void check_statuses(void)
{
    char data[BYTES], back[BYTES];
    const MPI_Offset mine = (MPI_Offset)rank * BYTES;
    MPI_Status status;
    MPI_Request request = MPI_REQUEST_NULL;
    int done = 0;
    fill(data, BYTES);
    fine("iwrite_at", MPI_File_iwrite_at(file, mine, data, BYTES, MPI_BYTE, &request));
    while (!done)
        fine("Request_get_status", MPI_Request_get_status(request, &done, &status));
    expect_status("Request_get_status", &status, MPI_BYTE, BYTES);
    expect("the request is still there", request != MPI_REQUEST_NULL, 1);
    memset(&status, 0x77, sizeof status);
    fine("Wait", MPI_Wait(&request, &status));
    expect("the request is gone", request == MPI_REQUEST_NULL, 1);
    expect_status("iwrite_at", &status, MPI_BYTE, BYTES);
    expect_status("iwrite_at, in ints", &status, MPI_INT, BYTES / 4);

    fine("sync", MPI_File_sync(file));
    MPI_Barrier(MPI_COMM_WORLD);
    fine("sync", MPI_File_sync(file));
    fine("iread_at_all", MPI_File_iread_at_all(file, mine, back, BYTES / 8, MPI_DOUBLE, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("iread_at_all", &status, MPI_DOUBLE, BYTES / 8);
    expect_bytes("iread_at_all", back, BYTES);

    /* The end of the file: less than was asked for, and nothing. */
    fine("iread_at", MPI_File_iread_at(file, (MPI_Offset)ranks * BYTES - 10, back, 100, MPI_BYTE, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("iread_at over the end", &status, MPI_BYTE, 10);
    fine("iread_at_all", MPI_File_iread_at_all(file, (MPI_Offset)ranks * BYTES + rank, back, 100, MPI_BYTE, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("iread_at_all behind the end", &status, MPI_BYTE, 0);
    fine("iread_at", MPI_File_iread_at(file, 0, back, 0, MPI_BYTE, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("iread_at of nothing", &status, MPI_BYTE, 0);

    /* Half a struct: no whole number of them, but elements. */
    MPI_Datatype pair;
    int count = 0, elements = 0;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    fine("iread_at", MPI_File_iread_at(file, (MPI_Offset)ranks * BYTES - 12, back, 5, pair, &request));
    fine("Wait", MPI_Wait(&request, &status));
    MPI_Get_count(&status, pair, &count);
    MPI_Get_elements(&status, pair, &elements);
    expect("count of a pair and a half", count, MPI_UNDEFINED);
    expect("elements of a pair and a half", elements, 3);
    MPI_Type_free(&pair);
}

/* ---- cancel and free ---- */

static void check_cancel(void)
{
    char data[BYTES], back[BYTES];
    MPI_Request request;
    MPI_Status status;
    fill(data, BYTES);
    fine("iwrite_at", MPI_File_iwrite_at(file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, &request));
    fine("Cancel", MPI_Cancel(&request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("a write that could not be cancelled", &status, MPI_BYTE, BYTES);
    fine("iwrite_at_all", MPI_File_iwrite_at_all(file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, &request));
    fine("Cancel", MPI_Cancel(&request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_status("a collective write that could not be cancelled", &status, MPI_BYTE, BYTES);
    fine("read_at", MPI_File_read_at(file, (MPI_Offset)rank * BYTES, back, BYTES, MPI_BYTE, &status));
    expect_bytes("after Cancel", back, BYTES);
}

/* A request that is freed before it is complete goes on; other requests come and go meanwhile. */
static void check_free(void)
{
    enum { FREED = 200 };
    static char data[FREED][BYTES], back[BYTES];
    MPI_Request request, message;
    for (int i = 0; i < FREED; i++) {
        fill(data[i], BYTES);
        const MPI_Offset place = ((MPI_Offset)i * ranks + rank) * BYTES;
        if (i % 2)
            fine("iwrite_at", MPI_File_iwrite_at(file, place, data[i], BYTES, MPI_BYTE, &request));
        else
            fine("iwrite_at_all", MPI_File_iwrite_at_all(file, place, data[i], BYTES, MPI_BYTE, &request));
        fine("Request_free", MPI_Request_free(&request));
        expect("a freed request", request == MPI_REQUEST_NULL, 1);
        int from = -1;
        MPI_Irecv(&from, 1, MPI_INT, (rank + 1) % ranks, 5, MPI_COMM_WORLD, &message);
        MPI_Send(&rank, 1, MPI_INT, (rank + ranks - 1) % ranks, 5, MPI_COMM_WORLD);
        MPI_Wait(&message, MPI_STATUS_IGNORE);
        expect("a message beside freed requests", from, (rank + 1) % ranks);
    }
    fine("close", MPI_File_close(&file)); /* after all of them */
    file = open_file(path, AMODE, MPI_INFO_NULL);
    for (int i = 0; i < FREED; i++) {
        fine("read_at",
             MPI_File_read_at(file, ((MPI_Offset)i * ranks + rank) * BYTES, back, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        expect_bytes("a write whose request was freed", back, BYTES);
    }
}

/* ---- several at once ---- */

static void check_several(void)
{
    enum { COUNT = 8 };
    char data[BYTES], back[3][BYTES];
    MPI_Request requests[COUNT], persistent, idle;
    MPI_Status statuses[COUNT];
    int got = 0, out = rank + 100, in = -1, done = 0;
    fill(data, BYTES);
    const MPI_Offset mine = (MPI_Offset)rank * BYTES;
    fine("write_at_all", MPI_File_write_at_all(file, mine, data, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    MPI_Send_init(&out, 1, MPI_INT, (rank + 1) % ranks, 9, MPI_COMM_WORLD, &persistent);
    MPI_Recv_init(&got, 1, MPI_INT, (rank + 1) % ranks, 10, MPI_COMM_WORLD, &idle); /* never started */
    for (int turn = 0; turn < 4; turn++) {
        for (int i = 0; i < COUNT; i++)
            requests[i] = MPI_REQUEST_NULL;
        memset(back, 0, sizeof back);
        memset(statuses, 0x55, sizeof statuses);
        fine("iread_at", MPI_File_iread_at(file, mine, back[0], BYTES, MPI_BYTE, &requests[0]));
        requests[2] = persistent;
        MPI_Start(&requests[2]);
        requests[3] = idle;
        fine("iread_at_all", MPI_File_iread_at_all(file, mine, back[1], BYTES, MPI_BYTE, &requests[4]));
        MPI_Irecv(&in, 1, MPI_INT, (rank + ranks - 1) % ranks, 9, MPI_COMM_WORLD, &requests[6]);
        fine("iread_at", MPI_File_iread_at(file, mine, back[2], 0, MPI_BYTE, &requests[7]));
        MPI_Status *const all = turn % 2 ? MPI_STATUSES_IGNORE : statuses;
        if (turn < 2)
            fine("Waitall", MPI_Waitall(COUNT, requests, all));
        for (done = turn < 2; !done;)
            fine("Testall", MPI_Testall(COUNT, requests, &done, all));
        expect("a message among the requests", in, (rank + ranks - 1) % ranks + 100);
        expect_bytes("iread_at", back[0], BYTES);
        expect_bytes("iread_at_all", back[1], BYTES);
        for (int i = 0; i < COUNT; i++)
            if (i != 2 && i != 3)
                expect("a completed request", requests[i] == MPI_REQUEST_NULL, 1);
        expect("a persistent request stays", requests[2] == persistent && requests[3] == idle, 1);
        if (all == statuses) {
            expect_status("iread_at", &statuses[0], MPI_BYTE, BYTES);
            expect_status("MPI_REQUEST_NULL", &statuses[1], MPI_BYTE, 0);
            expect_status("an inactive request", &statuses[3], MPI_BYTE, 0);
            expect_status("iread_at_all", &statuses[4], MPI_BYTE, BYTES);
            expect_status("iread_at of nothing", &statuses[7], MPI_BYTE, 0);
            expect("source of the message", statuses[6].MPI_SOURCE, (rank + ranks - 1) % ranks);
        }
        /* Nothing is left that is active. */
        int index = 0;
        fine("Waitany", MPI_Waitany(COUNT, requests, &index, MPI_STATUS_IGNORE));
        expect("Waitany without an active request", index, MPI_UNDEFINED);
        fine("Waitsome", MPI_Waitsome(COUNT, requests, &done, (int[COUNT]){0}, MPI_STATUSES_IGNORE));
        expect("Waitsome without an active request", done, MPI_UNDEFINED);
    }
    MPI_Request_free(&persistent);
    MPI_Request_free(&idle);
}

/* The program may free its types as soon as the call returns. */
static void check_types(void)
{
    enum { BLOCKS = 100 };
    char data[2 * BYTES], back[2 * BYTES];
    fill(data, sizeof data);
    for (int turn = 0; turn < 4; turn++) {
        MPI_Datatype vector, filetype;
        MPI_Request request;
        MPI_Status status;
        const int gap = turn < 2 ? 20 : 10; /* with gaps in memory, and without */
        MPI_Type_vector(BLOCKS, 10, gap, MPI_BYTE, &vector);
        MPI_Type_commit(&vector);
        MPI_Type_create_resized(MPI_INT, 0, 4 * (MPI_Aint)ranks, &filetype);
        MPI_Type_commit(&filetype);
        fine("set_view", MPI_File_set_view(file, 4 * (MPI_Offset)rank, MPI_INT, filetype,
                                           turn % 2 ? "external32" : "native", MPI_INFO_NULL));
        fine("iwrite_at_all", MPI_File_iwrite_at_all(file, 0, data, 1, vector, &request));
        MPI_Type_free(&vector);
        MPI_Type_free(&filetype);
        fine("Wait", MPI_Wait(&request, &status));
        expect_status("a write by a type that is gone", &status, MPI_BYTE, BYTES);
        memset(back, 0, sizeof back);
        MPI_Type_vector(BLOCKS, 10, gap, MPI_BYTE, &vector);
        MPI_Type_commit(&vector);
        fine("iread_at", MPI_File_iread_at(file, 0, back, 1, vector, &request));
        MPI_Type_free(&vector);
        fine("Wait", MPI_Wait(&request, &status));
        expect_status("a read by a type that is gone", &status, MPI_BYTE, BYTES);
        for (int i = 0; i < BLOCKS * gap - (gap - 10); i++)
            if (back[i] != (i % gap < 10 ? letter(i) : 0)) {
                complain("byte %d read by a type that is gone is %d", i, back[i]);
                break;
            }
    }
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
}

/* ---- very many ---- */

static int64_t peak_kib(void)
{
    char line[256];
    long long kib = -1;
    FILE *text = fopen("/proc/self/status", "r");
    while (text && fgets(line, sizeof line, text))
        if (sscanf(line, "VmHWM: %lld", &kib) == 1)
            break;
    if (text)
        fclose(text);
    return kib;
}

static void check_many(void)
{
#ifdef __SANITIZE_ADDRESS__
    enum { GROWTH_KIB = 400 * 1024 }; /* its zones and what it keeps back */
#else
    enum { GROWTH_KIB = 100 * 1024 };
#endif
    enum { COUNT = 20000, PIECE = 16 };
    MPI_Request *requests = malloc(COUNT * sizeof *requests);
    MPI_Status *statuses = malloc(COUNT * sizeof *statuses);
    char *data = malloc((size_t)COUNT * PIECE), *back = malloc((size_t)COUNT * PIECE);
    fill(data, (int64_t)COUNT * PIECE);
    memset(back, 0, (size_t)COUNT * PIECE);
    memset(requests, 0, COUNT * sizeof *requests);
    memset(statuses, 0, COUNT * sizeof *statuses);
    const int64_t before = peak_kib();
    const MPI_Offset mine = (MPI_Offset)rank * COUNT * PIECE;
    for (int turn = 0; turn < 2; turn++) {
        for (int i = 0; i < COUNT; i++) {
            const MPI_Offset place = mine + (MPI_Offset)i * PIECE;
            char *here = (turn == 0 ? data : back) + (ptrdiff_t)i * PIECE;
            fine("start", turn == 0 ? MPI_File_iwrite_at(file, place, here, PIECE, MPI_BYTE, &requests[i])
                                    : MPI_File_iread_at(file, place, here, PIECE, MPI_BYTE, &requests[i]));
        }
        fine("Waitall", MPI_Waitall(COUNT, requests, statuses));
        for (int i = 0; i < COUNT; i += 997)
            expect_status("one of many", &statuses[i], MPI_BYTE, PIECE);
    }
    expect_bytes("very many requests", back, (int64_t)COUNT * PIECE);
    const int64_t growth = peak_kib() - before;
    if (growth > GROWTH_KIB)
        complain("%d requests take %" PRId64 " KiB", COUNT, growth);
    free(requests);
    free(statuses);
    free(data);
    free(back);
}

/* Collective ones stand in a queue. */
static void check_many_together(void)
{
    enum { COUNT = 2000, PIECE = 16 };
    static MPI_Request requests[COUNT];
    static char data[COUNT * PIECE], back[COUNT * PIECE];
    fill(data, sizeof data);
    for (int i = 0; i < COUNT; i++)
        fine("iwrite_at_all", MPI_File_iwrite_at_all(file, ((MPI_Offset)i * ranks + rank) * PIECE,
                                                     data + (ptrdiff_t)i * PIECE, PIECE, MPI_BYTE, &requests[i]));
    for (int i = 0; i < COUNT; i++) /* every rank in another order */
        fine("Wait", MPI_Wait(&requests[rank % 2 ? i : COUNT - 1 - i], MPI_STATUS_IGNORE));
    fine("sync", MPI_File_sync(file));
    for (int i = 0; i < COUNT; i++)
        fine("read_at", MPI_File_read_at(file, ((MPI_Offset)i * ranks + rank) * PIECE, back + (ptrdiff_t)i * PIECE,
                                         PIECE, MPI_BYTE, MPI_STATUS_IGNORE));
    expect_bytes("many collective requests", back, sizeof back);
}

/* ---- split collectives ---- */

static void check_split(void)
{
    char data[BYTES], back[BYTES], other[BYTES];
    MPI_Status status;
    MPI_Offset position = -1;
    fill(data, BYTES);
    fails_as("end without begin", MPI_File_write_all_end(file, data, &status), MPI_ERR_IO);
    fails_as("end without begin", MPI_File_read_at_all_end(file, data, &status), MPI_ERR_IO);
    fine("seek", MPI_File_seek(file, (MPI_Offset)rank * BYTES, MPI_SEEK_SET));
    fine("write_all_begin", MPI_File_write_all_begin(file, data, BYTES, MPI_BYTE));
    fails_as("a second begin", MPI_File_write_all_begin(file, data, BYTES, MPI_BYTE), MPI_ERR_IO);
    fails_as("a second begin", MPI_File_read_ordered_begin(file, other, BYTES, MPI_BYTE), MPI_ERR_IO);
    fails_as("the end of another kind", MPI_File_read_all_end(file, other, &status), MPI_ERR_IO);
    fails_as("the end of another kind", MPI_File_write_ordered_end(file, data, &status), MPI_ERR_IO);
    /* Calls of one rank alone may come between. */
    fine("write_at", MPI_File_write_at(file, (MPI_Offset)(ranks + rank) * BYTES, data, BYTES, MPI_BYTE, &status));
    fine("read_at", MPI_File_read_at(file, (MPI_Offset)(ranks + rank) * BYTES, back, BYTES, MPI_BYTE, &status));
    expect_bytes("between begin and end", back, BYTES);
    MPI_Request request;
    fine("iread_at", MPI_File_iread_at(file, (MPI_Offset)(ranks + rank) * BYTES, other, BYTES, MPI_BYTE, &request));
    fine("write_all_end", MPI_File_write_all_end(file, data, &status));
    expect_status("write_all_end", &status, MPI_BYTE, BYTES);
    fine("Wait", MPI_Wait(&request, &status));
    expect_bytes("a request over the end of a split access", other, BYTES);
    fine("get_position", MPI_File_get_position(file, &position));
    expect("the pointer after a split access", position, (MPI_Offset)(rank + 1) * BYTES);
    fails_as("a second end", MPI_File_write_all_end(file, data, &status), MPI_ERR_IO);

    fine("read_at_all_begin", MPI_File_read_at_all_begin(file, (MPI_Offset)rank * BYTES, back, BYTES, MPI_BYTE));
    fine("read_at_all_end", MPI_File_read_at_all_end(file, back, &status));
    expect_status("read_at_all_end", &status, MPI_BYTE, BYTES);
    expect_bytes("read_at_all_end", back, BYTES);
    fine("seek_shared", MPI_File_seek_shared(file, 0, MPI_SEEK_SET));
    memset(back, 0, sizeof back);
    fine("read_ordered_begin", MPI_File_read_ordered_begin(file, back, BYTES, MPI_BYTE));
    fine("read_ordered_end", MPI_File_read_ordered_end(file, back, &status));
    expect_bytes("read_ordered_end", back, BYTES);
    /* A wrong begin begins nothing. */
    fails_as("begin with a wrong count", MPI_File_write_at_all_begin(file, 0, data, -1, MPI_BYTE), MPI_ERR_COUNT);
    fails_as("its end", MPI_File_write_at_all_end(file, data, &status), MPI_ERR_IO);
}

/* ---- large counts ---- */

static void check_large_counts(void)
{
#if MPI_VERSION >= 4
    char data[BYTES], back[BYTES];
    MPI_Datatype vector, contiguous, filetype;
    MPI_Request request;
    MPI_Status status;
    MPI_Count count = -1;
    fill(data, BYTES);
    MPI_Type_vector_c(BYTES / 10, 10, 10, MPI_BYTE, &vector);
    MPI_Type_contiguous_c(1, vector, &contiguous);
    MPI_Type_commit(&contiguous);
    const MPI_Count sizes[1] = {(MPI_Count)ranks * 20}, parts[1] = {20}, starts[1] = {(MPI_Count)rank * 20};
    MPI_Type_create_subarray_c(1, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &filetype);
    MPI_Type_commit(&filetype);
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, filetype, "native", MPI_INFO_NULL));
    fine("iwrite_at_all_c", MPI_File_iwrite_at_all_c(file, 0, data, 1, contiguous, &request));
    MPI_Type_free(&vector);
    MPI_Type_free(&contiguous);
    MPI_Type_free(&filetype);
    fine("Wait", MPI_Wait(&request, &status));
    MPI_Get_count_c(&status, MPI_BYTE, &count);
    expect("count of iwrite_at_all_c", count, BYTES);
    fine("iread_at_c", MPI_File_iread_at_c(file, 0, back, BYTES, MPI_BYTE, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_bytes("iread_at_c", back, BYTES);
    memset(back, 0, sizeof back);
    fine("read_at_all_begin_c", MPI_File_read_at_all_begin_c(file, 0, back, BYTES, MPI_BYTE));
    fine("read_at_all_end", MPI_File_read_at_all_end(file, back, &status));
    expect_bytes("read_at_all_begin_c", back, BYTES);
    memset(back, 0, sizeof back);
    fine("seek", MPI_File_seek(file, 0, MPI_SEEK_SET));
    fine("iread_all_c", MPI_File_iread_all_c(file, back, BYTES, MPI_BYTE, &request));
    fine("Wait", MPI_Wait(&request, &status));
    expect_bytes("iread_all_c", back, BYTES);
    memset(back, 0, sizeof back);
    fine("read_at_all_c", MPI_File_read_at_all_c(file, 0, back, BYTES, MPI_BYTE, &status));
    expect_bytes("read_at_all_c", back, BYTES);
    fine("set_view", MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
#endif
}

/* ---- failures: every write fails ---- */

static int handler_calls;

static void on_error(MPI_File *failed, int *code, ...)
{
    handler_calls++;
    if (*failed != file && *failed != MPI_FILE_NULL)
        complain("the handler is called with another file");
    if (class_of(*code) != MPI_ERR_NO_SPACE && class_of(*code) != MPI_ERR_IO)
        complain("the handler is called with %s", words_of(*code));
}

static void expect_handler(const char *what, int wanted)
{
    char text[256];
    snprintf(text, sizeof text, "calls of the error handler after %s", what);
    expect(text, handler_calls, wanted);
    handler_calls = 0;
}

static void check_failures(const char *hints)
{
    char data[BYTES] = {0};
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Errhandler handler;
    int number = 7, code, done = 0, indices[4], index = -1;
    begin(hints);
    MPI_File_create_errhandler(on_error, &handler);
    fine("set_errhandler", MPI_File_set_errhandler(file, handler));
    const MPI_Offset mine = (MPI_Offset)rank * BYTES;

    fine("iwrite_at", MPI_File_iwrite_at(file, mine, data, BYTES, MPI_BYTE, &requests[0]));
    fails_as("Wait", MPI_Wait(&requests[0], &statuses[0]), MPI_ERR_NO_SPACE);
    expect_handler("Wait", 1);
    fine("iwrite_at_all", MPI_File_iwrite_at_all(file, mine, data, BYTES, MPI_BYTE, &requests[0]));
    for (code = MPI_SUCCESS, done = 0; !done && code == MPI_SUCCESS;)
        code = MPI_Test(&requests[0], &done, &statuses[0]);
    fails_as("Test", code, MPI_ERR_NO_SPACE);
    expect_handler("Test", 1);
    fine("write_at_all_begin", MPI_File_write_at_all_begin(file, mine, data, BYTES, MPI_BYTE));
    fails_as("write_at_all_end", MPI_File_write_at_all_end(file, data, &statuses[0]), MPI_ERR_NO_SPACE);
    expect_handler("write_at_all_end", 1);

    for (int turn = 0; turn < 4; turn++) {
        fine("iwrite_at", MPI_File_iwrite_at(file, mine, data, BYTES, MPI_BYTE, &requests[0]));
        MPI_Isend(&rank, 1, MPI_INT, rank, turn, MPI_COMM_WORLD, &requests[1]);
        MPI_Irecv(&number, 1, MPI_INT, rank, turn, MPI_COMM_WORLD, &requests[2]);
        fine("iwrite_at", MPI_File_iwrite_at(file, mine, data, BYTES, MPI_BYTE, &requests[3]));
        memset(statuses, 0x11, sizeof statuses);
        if (turn == 0) {
            fails_as("Waitall", MPI_Waitall(4, requests, statuses), MPI_ERR_IN_STATUS);
        } else if (turn == 1) {
            fails_as("Waitall", MPI_Waitall(4, requests, MPI_STATUSES_IGNORE), MPI_ERR_IN_STATUS);
        } else if (turn == 2) {
            for (int left = 4, failed = 0; left > 0; left -= done) {
                code = MPI_Waitsome(4, requests, &done, indices, statuses);
                for (int k = 0; k < done && code != MPI_SUCCESS; k++) {
                    const bool ours = indices[k] == 0 || indices[k] == 3;
                    expect("class of a status of Waitsome", class_of(statuses[k].MPI_ERROR),
                           ours ? MPI_ERR_NO_SPACE : MPI_SUCCESS);
                    failed += ours;
                }
                if (left == done)
                    expect("failed requests of Waitsome", failed, 2);
            }
        } else {
            for (int left = 4; left > 0; left--) {
                code = MPI_Waitany(4, requests, &index, &statuses[0]);
                expect("class of Waitany", class_of(code), index == 0 || index == 3 ? MPI_ERR_NO_SPACE : MPI_SUCCESS);
            }
        }
        expect_handler("several requests", 2);
        for (int i = 0; i < 4; i++)
            expect("a request after failures", requests[i] == MPI_REQUEST_NULL, 1);
        for (int i = 0; i < 4 && turn == 0; i++)
            expect("class of a status", class_of(statuses[i].MPI_ERROR), i % 3 ? MPI_SUCCESS : MPI_ERR_NO_SPACE);
    }
    MPI_Errhandler_free(&handler);
    MPI_File_close(&file);
}

/* Nobody asks for a freed request: whoever started it hears of its failure when the ranks next meet, all others too. */
static void check_freed_failure(const char *hints, bool together, bool late, bool at_sync)
{
    char data[BYTES] = {0}, what[200];
    MPI_Request request = MPI_REQUEST_NULL;
    begin(hints);
    if (together)
        fine("iwrite_at_all", MPI_File_iwrite_at_all(file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, &request));
    else if (rank == 0)
        fine("iwrite_at", MPI_File_iwrite_at(file, 0, data, BYTES, MPI_BYTE, &request));
    for (int done = !late || request == MPI_REQUEST_NULL; !done;)
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    if (request != MPI_REQUEST_NULL)
        fine("Request_free", MPI_Request_free(&request));
    snprintf(what, sizeof what, "%s after a freed request (%s, %s, freed %s)", at_sync ? "sync" : "close",
             together ? "collective" : "of rank 0", hints, late ? "when complete" : "at once");
    if (at_sync) {
        fails_as(what, MPI_File_sync(file), MPI_ERR_NO_SPACE);
        MPI_File_close(&file);
    } else {
        fails_as(what, MPI_File_close(&file), MPI_ERR_NO_SPACE);
    }
}

int main(int argc, char **argv)
{
    check_begin(&argc, &argv);
    path = argv[1];
    for (int i = 0; i < 2 && argc == 2; i++) {
        static void (*const CHECKS[])(void) = {check_statuses,      check_cancel, check_free,
                                               check_several,       check_types,  check_many,
                                               check_many_together, check_split,  check_large_counts};
        for (size_t k = 0; k < sizeof CHECKS / sizeof CHECKS[0]; k++) {
            begin(HINTS[i]);
            CHECKS[k]();
            end();
        }
    }
    for (int i = 0; i < 2 && argc > 2; i++) {
        check_failures(HINTS[i]);
        for (int way = 0; way < 8; way++)
            if (way != 4 && way != 5) /* MPI_File_sync wants all requests complete */
                check_freed_failure(HINTS[i], way & 1, way & 2, way & 4);
    }
    return check_end("engine_requests");
}
