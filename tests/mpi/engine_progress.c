/* Does collective I/O go on whatever function of MPI a rank sits in or polls?
 *
 *   engine_progress FILE [--level LEVEL] [--only NAME]... [--without NAME]... [--computing]
 *                   [--strategy NAME] [--scene NAME]
 *
 * For each row, the last rank begins a collective write and goes into the function; the others begin theirs then, wait
 * for the end of it, which needs the last one, and only then do what lets it out. A rank that is still inside after a
 * minute is told. Prints "row NAME" for each that was right. --computing: no function of MPI at all. --scene: in the
 * place of rows, one of engine_progress_scene.c. */
#include "engine_progress.h"

#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PIECE = 64, PIECES = 1024, BYTES = PIECE * PIECES, PATIENCE_SECONDS = 60 };

struct board *board;
MPI_Comm world;
int rank, size;
const char *path;
char *program;
int in[INTS_MAX], out[INTS_MAX];
char big_in[BIG_BYTES], big_out[BIG_BYTES];

static const char *doing = "nothing";
static int failures;

void fail_row(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "rank %d, row %s: ", rank, doing);
    vfprintf(stderr, format, arguments);
    fprintf(stderr, "\n");
    va_end(arguments);
    failures++;
}

static void on_alarm(int number)
{
    char text[128];
    (void)number;
    const int length = snprintf(text, sizeof text, "rank %d of %d waits for ever in row %s\n", rank, size, doing);
    if (write(2, text, (size_t)length) < 0)
        _exit(4);
    _exit(3);
}

static void make_board(void)
{
    char name[4096];
    snprintf(name, sizeof name, "%s.board", path);
    const int file = open(name, O_RDWR | O_CREAT, 0600);
    if (file < 0 || ftruncate(file, sizeof *board) != 0)
        exit(4);
    board = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (board == MAP_FAILED)
        exit(4);
    close(file);
    MPI_Barrier(world);
    if (rank == 0)
        unlink(name);
}

/* ---- options ---- */

static int choices;
static char **choice;

static bool is_named(const char *option, const char *name)
{
    for (int i = 0; i + 1 < choices; i++)
        if (strcmp(choice[i], option) == 0 && strcmp(choice[i + 1], name) == 0)
            return true;
    return false;
}

static bool has_option(const char *option)
{
    for (int i = 0; i < choices; i++)
        if (strcmp(choice[i], option) == 0)
            return true;
    return false;
}

static const char *value_of(const char *option)
{
    for (int i = 0; i + 1 < choices; i++)
        if (strcmp(choice[i], option) == 0)
            return choice[i + 1];
    return NULL;
}

/* ---- the write that needs every rank ---- */

static MPI_File file;
static char mine[BYTES];
static int number; /* of the row */

static void open_file(void)
{
    MPI_Info info;
    MPI_Datatype type;
    MPI_Info_create(&info);
    MPI_Info_set(info, "piolet_strategy", value_of("--strategy") ? value_of("--strategy") : "twophase");
    MPI_Info_set(info, "cb_buffer_size", "16384"); /* many rounds */
    if (MPI_File_open(world, path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file) != MPI_SUCCESS)
        exit(4);
    MPI_Info_free(&info);
    MPI_Type_vector(PIECES, PIECE, PIECE * size, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    MPI_File_set_view(file, rank * PIECE, MPI_BYTE, type, "native", MPI_INFO_NULL);
    MPI_Type_free(&type);
}

static void begin_write(MPI_Request *request)
{
    memset(mine, number * 16 + rank, sizeof mine);
    if (MPI_File_iwrite_at_all(file, 0, mine, sizeof mine, MPI_BYTE, request) != MPI_SUCCESS)
        fail_row("the write does not begin");
}

static void end_write(MPI_Request *request)
{
    MPI_Status status;
    int count = -1;
    if (MPI_Wait(request, &status) != MPI_SUCCESS || MPI_Get_count(&status, MPI_BYTE, &count) != MPI_SUCCESS ||
        count != BYTES)
        fail_row("the write ends with %d of %d bytes", count, BYTES);
}

static void check_file(void)
{
    static unsigned char piece[PIECE];
    const int one = open(path, O_RDONLY);
    for (int i = 0; i < size * PIECES; i++) {
        if (pread(one, piece, sizeof piece, (off_t)i * PIECE) != PIECE ||
            piece[i % PIECE] != (unsigned char)(number * 16 + i % size)) {
            fail_row("byte %d of the file is wrong", i * PIECE + i % PIECE);
            break;
        }
    }
    close(one);
}

/* ---- rows ---- */

static void run_last(const struct row *row)
{
    MPI_Request request;
    begin_write(&request);
    atomic_store(&board->begun, number);
    row->sit();
    if (!row->may_return && atomic_load(&board->released) == 0)
        fail_row("returned before it was released: the row tries nothing");
    end_write(&request);
}

static void run_other(const struct row *row)
{
    MPI_Request request;
    while (atomic_load(&board->begun) != number)
        usleep(100);
    begin_write(&request);
    end_write(&request);
    atomic_fetch_add(&board->released, 1);
    row->release();
}

static void run_row(const struct row *row)
{
    const int before = failures;
    number++;
    doing = row->name;
    alarm(PATIENCE_SECONDS);
    if (row->prepare)
        row->prepare();
    atomic_store(&board->released, 0);
    atomic_store(&board->word, 0);
    MPI_Barrier(world);
    if (rank == LAST)
        run_last(row);
    else
        run_other(row);
    if (row->clean)
        row->clean();
    if (getenv("PIOLET_AUXILIARY")) /* stored later */
        MPI_File_sync(file);
    MPI_Barrier(world);
    if (rank == 0)
        check_file();
    int bad = failures - before;
    MPI_Allreduce(MPI_IN_PLACE, &bad, 1, MPI_INT, MPI_SUM, world);
    alarm(0);
    if (rank == 0 && bad == 0)
        printf("row %s\n", row->name);
}

static void compute(void)
{
    while (atomic_load(&board->released) < LAST)
        ;
}

static void nothing(void)
{
}

static void run_rows(const struct row *rows)
{
    for (; rows->name; rows++)
        if ((has_option("--only") ? is_named("--only", rows->name) : !is_named("--without", rows->name)))
            run_row(rows);
}

static int level_wanted(void)
{
    static const struct {
        const char *name;
        int level;
    } levels[] = {{"single", MPI_THREAD_SINGLE},
                  {"funneled", MPI_THREAD_FUNNELED},
                  {"serialized", MPI_THREAD_SERIALIZED},
                  {"multiple", MPI_THREAD_MULTIPLE}};
    for (size_t i = 0; i < sizeof levels / sizeof levels[0]; i++)
        if (is_named("--level", levels[i].name))
            return levels[i].level;
    return -1; /* MPI_Init */
}

static void print_progress(const char *when)
{
    MPI_Info info;
    char value[MPI_MAX_INFO_VAL + 1] = "nothing";
    int found = 0;
    MPI_File_get_info(file, &info);
    MPI_Info_get(info, "piolet_progress", MPI_MAX_INFO_VAL, value, &found);
    MPI_Info_free(&info);
    if (rank == 0)
        printf("%s: %s\n", when, value);
}

/* MPI_Finalize is the last row: the request is freed, the file stays open, and the others come later. */
static void finalize_row(void)
{
    MPI_Request request;
    number++;
    doing = "Finalize";
    alarm(PATIENCE_SECONDS);
    if (rank == LAST) {
        begin_write(&request);
        atomic_store(&board->begun, number);
        MPI_Request_free(&request);
    } else {
        while (atomic_load(&board->begun) != number)
            usleep(100);
        usleep(300000); /* longer than what is pending without a partner holds up the end */
        begin_write(&request);
        end_write(&request);
    }
    MPI_Finalize();
    if (rank == 0)
        check_file();
    if (rank == 0 && failures == 0)
        printf("row Finalize\n");
}

static void run_all(void)
{
    static const struct row computing = {.name = "computing", .sit = compute, .release = nothing};
    open_file();
    print_progress("progress");
    run_rows(ROWS_MESSAGE);
    run_rows(ROWS_COLLECTIVE);
    run_rows(ROWS_COMM);
    run_rows(ROWS_WINDOW);
    run_rows(ROWS_FILE);
    if (has_option("--computing"))
        run_row(&computing);
    print_progress("at the end");
    MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, world);
    if (has_option("--only") ? is_named("--only", "Finalize") : !is_named("--without", "Finalize")) {
        finalize_row();
    } else {
        MPI_File_close(&file);
        MPI_Finalize();
    }
}

int main(int argc, char **argv)
{
    int provided;
    choices = argc - 2;
    choice = argv + 2;
    program = argv[0];
    path = argv[1];
    if (argc > 2 && strcmp(argv[2], "--child") == 0) { /* of a spawn */
        MPI_Comm parent;
        MPI_Init(&argc, &argv);
        MPI_Comm_get_parent(&parent);
        MPI_Comm_disconnect(&parent);
        return MPI_Finalize();
    }
    if (level_wanted() < 0)
        MPI_Init(&argc, &argv);
    else
        MPI_Init_thread(&argc, &argv, level_wanted(), &provided);
    MPI_Comm_dup(MPI_COMM_WORLD, &world);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    signal(SIGALRM, on_alarm);
    make_board();
    const char *scene = value_of("--scene");
    if (scene) {
        doing = scene;
        alarm(PATIENCE_SECONDS);
        if (!run_scene(scene))
            fail_row("there is no such scene");
        MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, world);
        MPI_Finalize();
    } else {
        run_all();
    }
    if (rank == 0 && failures == 0)
        printf("%d ranks: engine_progress is right\n", size);
    return failures > 0;
}
