/* Threads of every rank use files at once: engine_threads FILE. Called by engine_threads.sh. Prints that it was not
 * checked where the MPI does not give MPI_THREAD_MULTIPLE. */
#include "engine_check.c"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>

enum { THREADS = 3, TURNS = 60, BYTES = 3000, FILES = 3 };

static const char *path;
static pthread_mutex_t failure_lock = PTHREAD_MUTEX_INITIALIZER;
static const char *volatile scene = "nothing";

static void on_alarm(int signal)
{
    char text[256];
    (void)signal;
    const int length = snprintf(text, sizeof text, "rank %d of %d: HANGS in %s\n", rank, ranks, scene);
    if (write(2, text, (size_t)length) < 0)
        _exit(4);
    _exit(3);
}

/* complain() counts without a lock. */
static void wrong(const char *what, int64_t number)
{
    pthread_mutex_lock(&failure_lock);
    complain("%s: %s (%" PRId64 ")", scene, what, number);
    pthread_mutex_unlock(&failure_lock);
}

static void ok(const char *what, int code)
{
    if (code != MPI_SUCCESS)
        wrong(what, code);
}

static char letter(int who, int64_t i)
{
    return (char)(who * 41 + i * 7 + i / 256 + 1);
}

static void fill(char *data, int who, int64_t first)
{
    for (int64_t i = 0; i < BYTES; i++)
        data[i] = letter(who, first + i);
}

static void expect_filled(const char *what, const char *data, int who, int64_t first)
{
    for (int64_t i = 0; i < BYTES; i++)
        if (data[i] != letter(who, first + i)) {
            wrong(what, i);
            return;
        }
}

static void expect_count(const char *what, const MPI_Status *status, int wanted)
{
    int count = -1;
    MPI_Get_count(status, MPI_BYTE, &count);
    if (count != wanted)
        wrong(what, count);
}

struct task {
    int thread, who; /* `who` among the threads of all ranks */
    MPI_File file;
    MPI_Comm comm; /* of its own: messages of this thread */
};

typedef void body(struct task *task);

struct start {
    struct task *task;
    body *run;
};

static void *start_thread(void *arg)
{
    struct start *start = arg;
    start->run(start->task);
    return NULL;
}

/* Runs bodies[i] in thread i, on tasks[i]; the last one in this thread. */
static void run_all(const char *name, struct task *tasks, body *const bodies[THREADS])
{
    pthread_t threads[THREADS];
    struct start starts[THREADS];
    scene = name;
    alarm(60);
    for (int i = 0; i < THREADS; i++)
        starts[i] = (struct start){&tasks[i], bodies[i]};
    for (int i = 0; i < THREADS - 1; i++)
        if (pthread_create(&threads[i], NULL, start_thread, &starts[i]) != 0)
            MPI_Abort(MPI_COMM_WORLD, 2);
    start_thread(&starts[THREADS - 1]);
    for (int i = 0; i < THREADS - 1; i++)
        pthread_join(threads[i], NULL);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* ---- one file ---- */

/* Explicit offsets: blocking and not, completed in every way; each thread has bytes of its own. */
static void use_offsets(struct task *task)
{
    char out[2][BYTES], in[BYTES];
    MPI_Status status;
    for (int turn = 0; turn < TURNS; turn++) {
        const int64_t first = ((int64_t)turn * ranks * THREADS + task->who) * 2 * BYTES;
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        fill(out[0], task->who, first);
        fill(out[1], task->who, first + BYTES);
        ok("iwrite_at", MPI_File_iwrite_at(task->file, first, out[0], BYTES, MPI_BYTE, &requests[0]));
        if (turn % 2)
            ok("iwrite_at", MPI_File_iwrite_at(task->file, first + BYTES, out[1], BYTES, MPI_BYTE, &requests[1]));
        else
            ok("write_at", MPI_File_write_at(task->file, first + BYTES, out[1], BYTES, MPI_BYTE, &status));
        if (turn % 3 == 0)
            ok("Waitall", MPI_Waitall(2, requests, MPI_STATUSES_IGNORE));
        for (int i = 0; i < 2; i++)
            ok("Wait", MPI_Wait(&requests[i], MPI_STATUS_IGNORE));
        ok("iread_at", MPI_File_iread_at(task->file, first, in, BYTES, MPI_BYTE, &requests[0]));
        for (int done = 0; !done;)
            ok("Test", MPI_Test(&requests[0], &done, &status));
        expect_count("bytes read back", &status, BYTES);
        expect_filled("bytes read back", in, task->who, first);
        ok("read_at", MPI_File_read_at(task->file, first + BYTES, in, BYTES, MPI_BYTE, &status));
        expect_filled("bytes read back", in, task->who, first + BYTES);
    }
}

/* The shared pointer: records of threads, some by requests. */
static void use_shared(struct task *task)
{
    int records[TURNS][4];
    MPI_Request requests[TURNS];
    for (int turn = 0; turn < TURNS; turn++) {
        const int number = task->who * TURNS + turn;
        records[turn][0] = number;
        records[turn][1] = ~number;
        records[turn][2] = records[turn][3] = number * 3;
        requests[turn] = MPI_REQUEST_NULL;
        if (turn % 2)
            ok("write_shared", MPI_File_write_shared(task->file, records[turn], 16, MPI_BYTE, MPI_STATUS_IGNORE));
        else
            ok("iwrite_shared", MPI_File_iwrite_shared(task->file, records[turn], 16, MPI_BYTE, &requests[turn]));
    }
    ok("Waitall", MPI_Waitall(TURNS, requests, MPI_STATUSES_IGNORE));
}

/* The individual pointer belongs to the rank: without a lock of the program, threads still get places of their own. */
static void use_individual(struct task *task)
{
    int record[4];
    MPI_Request request;
    for (int turn = 0; turn < TURNS; turn++) {
        const int number = task->who * TURNS + turn;
        record[0] = number;
        record[1] = ~number;
        record[2] = record[3] = number * 3;
        if (turn % 2) {
            ok("write", MPI_File_write(task->file, record, 16, MPI_BYTE, MPI_STATUS_IGNORE));
        } else {
            ok("iwrite", MPI_File_iwrite(task->file, record, 16, MPI_BYTE, &request));
            ok("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
        }
    }
}

/* Records of all threads of all ranks, from `offset` on: each of them once, whole. */
static void check_records(const char *name, int64_t offset)
{
    const int all = ranks * THREADS * TURNS;
    int(*found)[4] = calloc((size_t)all, sizeof *found);
    char *seen = calloc((size_t)all, 1);
    if (rank == 0 && raw_read(name, found, (int64_t)all * 16, offset) != (int64_t)all * 16)
        wrong("the file is too short", raw_size(name));
    for (int i = 0; i < all && rank == 0; i++) {
        const int number = found[i][0];
        if (number < 0 || number >= all || found[i][1] != ~number || found[i][2] != number * 3 || seen[number]++) {
            wrong("a record is missing, twice there or mixed", i);
            break;
        }
    }
    free(found);
    free(seen);
}

/* Messages, while the others access the file. */
static void use_messages(struct task *task)
{
    enum { WORDS = 20000 };
    int *out = malloc(WORDS * sizeof *out), *in = malloc(WORDS * sizeof *in);
    const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
    for (int turn = 0; turn < TURNS; turn++) {
        const int words = turn % 4 ? 10 : WORDS;
        MPI_Request request;
        int sum = 0;
        for (int i = 0; i < words; i++)
            out[i] = rank * 100000 + turn * 100 + i;
        MPI_Isend(out, words, MPI_INT, next, turn, task->comm, &request);
        MPI_Recv(in, words, MPI_INT, before, turn, task->comm, MPI_STATUS_IGNORE);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        for (int i = 0; i < words; i++)
            if (in[i] != before * 100000 + turn * 100 + i) {
                wrong("a word of a message", i);
                break;
            }
        MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, task->comm);
        if (sum != ranks * (ranks - 1) / 2)
            wrong("a sum", sum);
    }
    free(out);
    free(in);
}

/* ---- a file for each thread ---- */

static void use_together(struct task *task)
{
    char out[BYTES], in[BYTES];
    MPI_Status status;
    for (int turn = 0; turn < TURNS; turn++) {
        const int64_t place = ((int64_t)turn * ranks + rank) * BYTES;
        MPI_Request request;
        fill(out, task->who, place);
        memset(in, 0, BYTES);
        if (turn % 3 == 0) {
            ok("write_at_all", MPI_File_write_at_all(task->file, place, out, BYTES, MPI_BYTE, &status));
        } else if (turn % 3 == 1) {
            ok("iwrite_at_all", MPI_File_iwrite_at_all(task->file, place, out, BYTES, MPI_BYTE, &request));
            ok("Wait", MPI_Wait(&request, &status));
        } else {
            ok("write_at_all_begin", MPI_File_write_at_all_begin(task->file, place, out, BYTES, MPI_BYTE));
            ok("write_at_all_end", MPI_File_write_at_all_end(task->file, out, &status));
        }
        expect_count("bytes written together", &status, BYTES);
        if (turn % 7 == 0)
            ok("sync", MPI_File_sync(task->file));
        ok("iread_at_all", MPI_File_iread_at_all(task->file, place, in, BYTES, MPI_BYTE, &request));
        ok("Wait", MPI_Wait(&request, &status));
        expect_count("bytes read together", &status, BYTES);
        expect_filled("bytes read together", in, task->who, place);
    }
}

/* Each thread opens, uses and closes files of its own. */
static void open_and_close(struct task *task)
{
    char name[4200], out[BYTES], in[BYTES];
    snprintf(name, sizeof name, "%s.open.%d", path, task->thread);
    for (int turn = 0; turn < 10; turn++) {
        MPI_File file = MPI_FILE_NULL;
        ok("open", MPI_File_open(task->comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                                 MPI_INFO_NULL, &file));
        if (file == MPI_FILE_NULL)
            return;
        fill(out, task->who, turn);
        ok("set_view", MPI_File_set_view(file, (MPI_Offset)rank * BYTES, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
        ok("write_all", MPI_File_write_all(file, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        ok("read_at", MPI_File_read_at(file, 0, in, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
        expect_filled("bytes of a file of its own", in, task->who, turn);
        ok("close", MPI_File_close(&file));
    }
}

/* ---- a thread that was inside of MPI before the access began ---- */

static atomic_int entered, heard;
static MPI_Request started;

/* Rank 0 sits in a receive, or in a barrier, while another thread of it starts an access and then waits outside of MPI.
 * Rank 1 completes the access before it sends: rank 0 has to go on with its part from within the receive. */
static void sit_in_receive(struct task *task)
{
    int number = -1;
    atomic_store(&entered, 1);
    if (rank == 0)
        MPI_Recv(&number, 1, MPI_INT, 1, 77, task->comm, MPI_STATUS_IGNORE);
    MPI_Barrier(task->comm);
    atomic_store(&heard, 1);
}

static void start_and_leave(struct task *task)
{
    static char data[BYTES];
    const int number = 5;
    while (!atomic_load(&entered))
        usleep(1000);
    usleep(50000); /* by now the other thread is inside; if not, nothing is proved and nothing is wrong */
    ok("iwrite_at_all", MPI_File_iwrite_at_all(task->file, (MPI_Offset)rank * BYTES, data, BYTES, MPI_BYTE, &started));
    if (rank == 1) {
        ok("Wait", MPI_Wait(&started, MPI_STATUS_IGNORE));
        MPI_Send(&number, 1, MPI_INT, 0, 77, task[-1].comm);
    }
    while (!atomic_load(&heard))
        usleep(1000);
    ok("Wait", MPI_Wait(&started, MPI_STATUS_IGNORE));
}

static void do_nothing(struct task *task)
{
    (void)task;
}

/* ---- all ---- */

static const char *HINTS = "romio_cb_write=enable;romio_cb_read=enable;cb_nodes=2;cb_buffer_size=4096";

static MPI_File open_on(MPI_Comm comm, const char *name, const char *hints)
{
    MPI_Info info = info_of(hints);
    MPI_File file = MPI_FILE_NULL;
    ok("open", MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file));
    MPI_Info_free(&info);
    return file;
}

static void close_and_remove(MPI_File *file, const char *name)
{
    ok("close", MPI_File_close(file));
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0)
        unlink(name);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void check_one_file(struct task *tasks, const char *hints)
{
    body *const at_offsets[THREADS] = {use_offsets, use_offsets, use_offsets};
    body *const shared[THREADS] = {use_shared, use_shared, use_shared};
    body *const individual[THREADS] = {use_individual, use_individual, use_individual};
    body *const beside_messages[THREADS] = {use_offsets, use_messages, use_offsets};
    MPI_File file = open_on(MPI_COMM_WORLD, path, hints);
    for (int i = 0; i < THREADS; i++)
        tasks[i].file = file;
    run_all("explicit offsets", tasks, at_offsets);
    run_all("beside messages", tasks, beside_messages);
    ok("set_size", MPI_File_set_size(file, 0));
    run_all("the shared pointer", tasks, shared);
    check_records(path, 0);
    const MPI_Offset part = (MPI_Offset)THREADS * TURNS * 16;
    ok("set_size", MPI_File_set_size(file, 0));
    ok("seek", MPI_File_seek(file, rank * part, MPI_SEEK_SET));
    run_all("the individual pointer", tasks, individual);
    check_records(path, 0);
    MPI_Offset position = -1;
    ok("get_position", MPI_File_get_position(file, &position));
    if (position != (rank + 1) * part)
        wrong("the individual pointer", position);
    close_and_remove(&file, path);
}

static void check_several_files(struct task *tasks)
{
    body *const together[THREADS] = {use_together, use_together, use_together};
    body *const mixed[THREADS] = {use_together, use_messages, use_together};
    body *const opening[THREADS] = {open_and_close, open_and_close, open_and_close};
    char names[FILES][4200];
    for (int i = 0; i < FILES; i++) {
        snprintf(names[i], sizeof names[i], "%s.%d", path, i);
        tasks[i].file = open_on(tasks[i].comm, names[i], HINTS);
    }
    run_all("collectives on different files", tasks, together);
    run_all("collectives beside messages", tasks, mixed);
    for (int i = 0; i < FILES; i++)
        close_and_remove(&tasks[i].file, names[i]);
    run_all("open and close", tasks, opening);
}

static void check_inside(struct task *tasks)
{
    body *const inside[THREADS] = {sit_in_receive, start_and_leave, do_nothing};
    tasks[1].file = open_on(tasks[1].comm, path, HINTS);
    atomic_store(&entered, 0);
    atomic_store(&heard, 0);
    if (ranks > 1)
        run_all("a thread inside of MPI since before", tasks, inside);
    close_and_remove(&tasks[1].file, path);
}

int main(int argc, char **argv)
{
    int level;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    path = argv[1];
    if (level != MPI_THREAD_MULTIPLE) {
        if (rank == 0)
            puts("not checked: this MPI has no MPI_THREAD_MULTIPLE");
        MPI_Finalize();
        return 0;
    }
    signal(SIGALRM, on_alarm);
    struct task tasks[THREADS];
    for (int i = 0; i < THREADS; i++) {
        tasks[i] = (struct task){.thread = i, .who = rank * THREADS + i};
        MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm);
    }
    check_one_file(tasks, HINTS);
    check_one_file(tasks, "romio_cb_write=disable;romio_cb_read=disable;romio_ds_write=enable");
    check_several_files(tasks);
    check_inside(tasks);
    alarm(0);
    for (int i = 0; i < THREADS; i++)
        MPI_Comm_free(&tasks[i].comm);
    return check_end("engine_threads");
}
