/* Waiting in different orders: engine_mix_scenes FILE [SCENE]. Called by engine_mix.sh.
 *
 * All ranks start a collective access. Some of them complete it at once and then do something that meets another rank;
 * the others do that first and complete the access afterwards. By the standard nobody waits for ever: whoever is inside
 * of MPI goes on with what it has started. Each scene is one such thing. */
#include "engine_check.c"

#include <signal.h>

enum { BYTES = 200000, WORDS = 50000 }; /* messages that no MPI sends before somebody receives them */

static const char *path;
static MPI_File other; /* a second file, of a communicator of its own */
static int partner;    /* MPI_PROC_NULL: none */
static bool sends;     /* which of a pair */
static int out[WORDS], in[WORDS];
static char doing[128];

static void on_alarm(int signal)
{
    char text[256];
    (void)signal;
    const int length = snprintf(text, sizeof text, "rank %d of %d: HANGS in scene %s\n", rank, ranks, doing);
    if (write(2, text, (size_t)length) < 0)
        _exit(4);
    _exit(3);
}

static void received(void)
{
    if (partner == MPI_PROC_NULL)
        return;
    for (int i = 0; i < WORDS; i++)
        if (in[i] != partner + i) {
            complain("scene %s: word %d of the message is %d", doing, i, in[i]);
            return;
        }
}

/* ---- messages: one of a pair sends in the plain way, the other receives as the scene says ---- */

static void send_it(void)
{
    MPI_Send(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD);
}

static void receive_it(void)
{
    MPI_Recv(in, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received();
}

static void scene_recv(void)
{
    sends ? send_it() : receive_it();
}

static void scene_ssend(void)
{
    if (sends)
        MPI_Ssend(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD);
    else
        receive_it();
}

static void scene_probe(void)
{
    if (!sends)
        MPI_Probe(partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    scene_recv();
}

static void scene_iprobe(void)
{
    for (int found = sends; !found;)
        MPI_Iprobe(partner, 1, MPI_COMM_WORLD, &found, MPI_STATUS_IGNORE);
    scene_recv();
}

static void scene_mprobe(void)
{
    MPI_Message message;
    if (sends) {
        send_it();
        return;
    }
    MPI_Mprobe(partner, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, WORDS, MPI_INT, &message, MPI_STATUS_IGNORE);
    received();
}

static void scene_improbe(void)
{
    MPI_Message message;
    if (sends) {
        send_it();
        return;
    }
    for (int found = 0; !found;)
        MPI_Improbe(partner, 1, MPI_COMM_WORLD, &found, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv(in, WORDS, MPI_INT, &message, MPI_STATUS_IGNORE);
    received();
}

static void scene_sendrecv(void)
{
    MPI_Sendrecv(out, WORDS, MPI_INT, partner, 1, in, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received();
}

static void scene_sendrecv_replace(void)
{
    memcpy(in, out, sizeof in);
    MPI_Sendrecv_replace(in, WORDS, MPI_INT, partner, 1, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received();
}

/* Nobody may buffer it for ever: the detach waits until it has gone. */
static void scene_bsend(void)
{
    if (!sends) {
        receive_it();
        return;
    }
    int bytes = (int)sizeof out + MPI_BSEND_OVERHEAD;
    void *buffer = malloc((size_t)bytes), *back;
    MPI_Buffer_attach(buffer, bytes);
    MPI_Bsend(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD);
    MPI_Buffer_detach(&back, &bytes);
    free(buffer);
}

#if MPI_VERSION >= 4
static void scene_recv_c(void)
{
    if (sends)
        MPI_Send_c(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD);
    else
        MPI_Recv_c(in, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!sends)
        received();
}

static void scene_ssend_c(void)
{
    if (sends)
        MPI_Ssend_c(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD);
    else
        receive_it();
}

static void scene_sendrecv_c(void)
{
    MPI_Sendrecv_c(out, WORDS, MPI_INT, partner, 1, in, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    received();
}

static void scene_mrecv_c(void)
{
    MPI_Message message;
    if (sends) {
        send_it();
        return;
    }
    MPI_Mprobe(partner, 1, MPI_COMM_WORLD, &message, MPI_STATUS_IGNORE);
    MPI_Mrecv_c(in, WORDS, MPI_INT, &message, MPI_STATUS_IGNORE);
    received();
}
#endif

/* ---- requests of messages ---- */

static MPI_Request start_message(void)
{
    MPI_Request request;
    if (sends)
        MPI_Isend(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, &request);
    else
        MPI_Irecv(in, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, &request);
    return request;
}

static void end_message(void)
{
    if (!sends)
        received();
}

static void scene_wait(void)
{
    MPI_Request request = start_message();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_message();
}

static void scene_test(void)
{
    MPI_Request request = start_message();
    for (int done = 0; !done;)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    end_message();
}

static void scene_get_status(void)
{
    MPI_Request request = start_message();
    for (int done = 0; !done;)
        MPI_Request_get_status(request, &done, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    end_message();
}

static void scene_waitall(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, start_message()};
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    end_message();
}

static void scene_testall(void)
{
    MPI_Request requests[2] = {start_message(), MPI_REQUEST_NULL};
    for (int done = 0; !done;)
        MPI_Testall(2, requests, &done, MPI_STATUSES_IGNORE);
    end_message();
}

static void scene_waitany(void)
{
    MPI_Request requests[2] = {start_message(), MPI_REQUEST_NULL};
    int index = -1;
    MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
    expect("index of Waitany", index, 0);
    end_message();
}

static void scene_testany(void)
{
    MPI_Request requests[2] = {start_message(), MPI_REQUEST_NULL};
    int index = -1;
    for (int done = 0; !done;)
        MPI_Testany(2, requests, &index, &done, MPI_STATUS_IGNORE);
    end_message();
}

static void scene_waitsome(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, start_message()};
    int done = 0, indices[2];
    MPI_Waitsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    expect("requests that Waitsome completed", done, 1);
    end_message();
}

static void scene_testsome(void)
{
    MPI_Request requests[2] = {MPI_REQUEST_NULL, start_message()};
    int indices[2];
    for (int done = 0; done == 0;)
        MPI_Testsome(2, requests, &done, indices, MPI_STATUSES_IGNORE);
    end_message();
}

static void scene_persistent(void)
{
    MPI_Request request;
    if (sends)
        MPI_Send_init(out, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, &request);
    else
        MPI_Recv_init(in, WORDS, MPI_INT, partner, 1, MPI_COMM_WORLD, &request);
    MPI_Start(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Request_free(&request);
    end_message();
}

/* ---- collectives ---- */

static void scene_barrier(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

static void scene_ibarrier(void)
{
    MPI_Request request;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void scene_bcast(void)
{
    for (int root = 0; root < ranks; root++) {
        int number = rank == root ? root + 7 : 0;
        MPI_Bcast(&number, 1, MPI_INT, root, MPI_COMM_WORLD);
        expect("broadcast number", number, root + 7);
    }
}

static void scene_allreduce(void)
{
    int sum = 0;
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    expect("sum of the ranks", sum, ranks * (ranks - 1) / 2);
}

static void scene_alltoall(void)
{
    int numbers[64], all[64];
    for (int i = 0; i < ranks; i++)
        numbers[i] = 100 * rank + i;
    MPI_Alltoall(numbers, 1, MPI_INT, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < ranks; i++)
        expect("a number of all to all", all[i], 100 * i + rank);
}

static void scene_comm_dup(void)
{
    MPI_Comm comm;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_free(&comm);
}

static void scene_comm_split(void)
{
    MPI_Comm comm;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    MPI_Comm_free(&comm);
}

static void scene_cart_create(void)
{
    MPI_Comm comm;
    const int periods[1] = {1};
    MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, periods, 0, &comm);
    MPI_Comm_free(&comm);
}

/* Not what is put: MPICH 4.0.2 loses it now and then between fences of a new window, with and without the engine. */
static void scene_window(void)
{
    MPI_Win window;
    int *memory = NULL;
    MPI_Win_allocate(4, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
    MPI_Win_fence(0, window);
    MPI_Win_fence(0, window);
    MPI_Win_free(&window);
}

/* ---- another file ---- */

static void scene_file_write_all(void)
{
    fine("write_at_all",
         MPI_File_write_at_all(other, (MPI_Offset)rank * BYTES, out, BYTES, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void scene_file_write_ordered(void)
{
    fine("write_ordered", MPI_File_write_ordered(other, out, 1000, MPI_BYTE, MPI_STATUS_IGNORE));
}

static void scene_file_iwrite_all(void)
{
    MPI_Request request;
    fine("iwrite_at_all", MPI_File_iwrite_at_all(other, (MPI_Offset)rank * BYTES, out, BYTES, MPI_BYTE, &request));
    fine("Wait", MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void scene_file_split(void)
{
    fine("write_at_all_begin", MPI_File_write_at_all_begin(other, (MPI_Offset)rank * BYTES, out, BYTES, MPI_BYTE));
    fine("write_at_all_end", MPI_File_write_at_all_end(other, out, MPI_STATUS_IGNORE));
}

static void scene_file_sync(void)
{
    fine("sync", MPI_File_sync(other));
}

static void scene_file_set_size(void)
{
    fine("set_size", MPI_File_set_size(other, 1000));
}

static void scene_file_preallocate(void)
{
    fine("preallocate", MPI_File_preallocate(other, 1000));
}

static void scene_file_set_view(void)
{
    fine("set_view", MPI_File_set_view(other, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
}

static void scene_file_set_info(void)
{
    MPI_Info info = info_of("cb_buffer_size=64k");
    fine("set_info", MPI_File_set_info(other, info));
    MPI_Info_free(&info);
}

static void scene_file_set_atomicity(void)
{
    fine("set_atomicity", MPI_File_set_atomicity(other, 1));
}

static void scene_file_seek_shared(void)
{
    fine("seek_shared", MPI_File_seek_shared(other, 10, MPI_SEEK_SET));
}

static void scene_file_close(void)
{
    fine("close", MPI_File_close(&other));
}

static void scene_file_open(void)
{
    MPI_File third;
    char name[4200];
    snprintf(name, sizeof name, "%s.third", path);
    fine("open", MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                               MPI_INFO_NULL, &third));
    fine("close", MPI_File_close(&third));
}

static const struct scene {
    const char *name;
    void (*play)(void);
} SCENES[] = {
#define SCENE(name)                                                                                                    \
    {                                                                                                                  \
#name, scene_##name                                                                                            \
    }
    SCENE(recv),
    SCENE(ssend),
    SCENE(probe),
    SCENE(iprobe),
    SCENE(mprobe),
    SCENE(improbe),
    SCENE(sendrecv),
    SCENE(sendrecv_replace),
    SCENE(bsend),
#if MPI_VERSION >= 4
    SCENE(recv_c),
    SCENE(ssend_c),
    SCENE(sendrecv_c),
    SCENE(mrecv_c),
#endif
    SCENE(wait),
    SCENE(test),
    SCENE(get_status),
    SCENE(waitall),
    SCENE(testall),
    SCENE(waitany),
    SCENE(testany),
    SCENE(waitsome),
    SCENE(testsome),
    SCENE(persistent),
    SCENE(barrier),
    SCENE(ibarrier),
    SCENE(bcast),
    SCENE(allreduce),
    SCENE(alltoall),
    SCENE(comm_dup),
    SCENE(comm_split),
    SCENE(cart_create),
    SCENE(window),
    SCENE(file_write_all),
    SCENE(file_write_ordered),
    SCENE(file_iwrite_all),
    SCENE(file_split),
    SCENE(file_sync),
    SCENE(file_set_size),
    SCENE(file_preallocate),
    SCENE(file_set_view),
    SCENE(file_set_info),
    SCENE(file_set_atomicity),
    SCENE(file_seek_shared),
    SCENE(file_close),
    SCENE(file_open),
#undef SCENE
};

/* ---- the play ---- */

static const char *HINTS = "romio_cb_write=enable;romio_cb_read=enable;cb_nodes=64;cb_buffer_size=64k";

static MPI_File open_on(MPI_Comm comm, const char *name)
{
    MPI_Info info = info_of(HINTS);
    MPI_File file = MPI_FILE_NULL;
    fine("open", MPI_File_open(comm, name, MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, info, &file));
    MPI_Info_free(&info);
    return file;
}

/* The access of all ranks: its bytes come back as they were written, in pieces of every rank in turn. */
struct access {
    MPI_File file;
    bool split, write;
    char *buffer;
    MPI_Request request;
};

static char byte_of(int64_t i)
{
    return (char)(i * 7 + rank * 31 + 1);
}

static void access_start(struct access *access)
{
    if (access->split && access->write)
        fine("write_all_begin", MPI_File_write_all_begin(access->file, access->buffer, BYTES, MPI_BYTE));
    else if (access->split)
        fine("read_all_begin", MPI_File_read_all_begin(access->file, access->buffer, BYTES, MPI_BYTE));
    else if (access->write)
        fine("iwrite_all", MPI_File_iwrite_all(access->file, access->buffer, BYTES, MPI_BYTE, &access->request));
    else
        fine("iread_all", MPI_File_iread_all(access->file, access->buffer, BYTES, MPI_BYTE, &access->request));
}

static void access_end(struct access *access)
{
    MPI_Status status;
    int count = -1;
    if (access->split && access->write)
        fine("write_all_end", MPI_File_write_all_end(access->file, access->buffer, &status));
    else if (access->split)
        fine("read_all_end", MPI_File_read_all_end(access->file, access->buffer, &status));
    else
        fine("Wait", MPI_Wait(&access->request, &status));
    MPI_Get_count(&status, MPI_BYTE, &count);
    expect("bytes of the access", count, BYTES);
}

/* `eager`: this rank completes its access before it does what the scene says. */
static void play(const struct scene *scene, struct access *access, bool eager)
{
    snprintf(doing, sizeof doing, "%s (%s, %s, %s)", scene->name, access->split ? "split" : "request",
             access->write ? "write" : "read", eager ? "completes first" : "completes last");
    alarm(20);
    access_start(access);
    if (eager)
        access_end(access);
    scene->play();
    if (!eager)
        access_end(access);
}

static void check(const char *buffer)
{
    for (int64_t i = 0; i < BYTES; i++)
        if (buffer[i] != byte_of(i)) {
            complain("scene %s: byte %" PRId64 " is %d in the place of %d", doing, i, buffer[i], byte_of(i));
            return;
        }
}

/* Pieces of all ranks in turn: every agent has data of everybody. */
static void set_view(MPI_File file)
{
    enum { PIECE = 1000 };
    MPI_Datatype filetype, resized;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &filetype);
    MPI_Type_create_resized(filetype, 0, (MPI_Aint)PIECE * ranks, &resized);
    MPI_Type_commit(&resized);
    fine("set_view", MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, resized, "native", MPI_INFO_NULL));
    MPI_Type_free(&filetype);
    MPI_Type_free(&resized);
}

static void play_all_ways(const struct scene *scene, MPI_Comm comm)
{
    char name[4200];
    snprintf(name, sizeof name, "%s.other", path);
    char *written = malloc(BYTES), *read = malloc(BYTES);
    for (int64_t i = 0; i < BYTES; i++)
        written[i] = byte_of(i);
    for (int way = 0; way < 4; way++) {
        const bool split = way & 1, eager = (way >> 1 & 1) == rank % 2;
        struct access access = {.file = open_on(MPI_COMM_WORLD, path), .split = split};
        other = open_on(comm, name);
        set_view(access.file);
        sends = eager; /* it sends what the other one waits for */
        access.write = true;
        access.buffer = written;
        play(scene, &access, eager);
        if (other != MPI_FILE_NULL)
            fine("close", MPI_File_close(&other));
        other = open_on(comm, name);
        fine("seek", MPI_File_seek(access.file, 0, MPI_SEEK_SET));
        memset(read, 0, BYTES);
        access.write = false;
        access.buffer = read;
        play(scene, &access, eager);
        check(read);
        if (other != MPI_FILE_NULL)
            fine("close", MPI_File_close(&other));
        fine("close", MPI_File_close(&access.file));
    }
    free(written);
    free(read);
}

int main(int argc, char **argv)
{
    MPI_Comm comm;
    check_begin(&argc, &argv);
    signal(SIGALRM, on_alarm);
    path = argv[1];
    partner = (rank ^ 1) < ranks ? rank ^ 1 : MPI_PROC_NULL;
    for (int i = 0; i < WORDS; i++)
        out[i] = rank + i;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    for (size_t i = 0; i < sizeof SCENES / sizeof SCENES[0]; i++)
        if (argc < 3 || strcmp(argv[2], SCENES[i].name) == 0)
            play_all_ways(&SCENES[i], comm);
    alarm(0);
    MPI_Comm_free(&comm);
    return check_end("engine_mix_scenes");
}
