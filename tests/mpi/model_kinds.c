/* Programs whose models are known, one for each argument, with the communication of the programs that they stand for:
 *
 *     views        a view that moves in a loop, its displacement by formula and by no formula, sizes set in a loop
 *     madbench     MADbench2 in its I/O mode: PMPI_Barrier around each request and each piece of work
 *     madbench2    the same in its asynchronous mode
 *     btio         NAS BT-IO (full): much communication between writes, a reduction behind each read
 *     halo K       a write in each step, and K messages each way between the steps
 *     irregular K  K calls of a rank and some more on others, with sizes and offsets that follow no rule
 *     files K      K files, one behind the other, each with 0 to 19 writes of any size */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 8, DUMPS = 40, MOST = 1 << 20 };

static int rank, size;
static char *buffer;
static MPI_File file;

static void open_file(const char *name)
{
    MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
}

/* ---- views ---- */

static void views(void)
{
    static const int places[] = {7, 0, 3, 11, 5, 2, 9, 1, 13, 4, 8, 6};
    open_file("views.out");
    for (int i = 0; i < 12; i++) {
        MPI_File_set_view(file, (MPI_Offset)i * 10000 + rank * 2000, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL);
        MPI_File_write_at_all(file, 0, buffer, 2000, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    for (int i = 0; i < 12; i++) {
        MPI_File_set_view(file, 200000 + (MPI_Offset)places[i] * 10000 + rank * 2000, MPI_INT, MPI_INT, "native",
                          MPI_INFO_NULL);
        MPI_File_write_at_all(file, 10, buffer, 400, MPI_INT, MPI_STATUS_IGNORE);
    }
    for (int turn = 0; turn < 5; turn++) /* a loop in a loop */
        for (int i = 0; i < 4; i++) {
            MPI_File_set_view(file, 400000 + (MPI_Offset)turn * 100000 + i * 10000, MPI_BYTE, MPI_BYTE, "native",
                              MPI_INFO_NULL);
            MPI_File_write_at(file, rank * 2000, buffer, 1000, MPI_BYTE, MPI_STATUS_IGNORE);
        }
    for (int i = 1; i <= 10; i++)
        MPI_File_set_size(file, 1000000 + (MPI_Offset)i * i * 1000);
    MPI_File_close(&file);
}

/* ---- MADbench2 ---- */

static MPI_Comm gang;
static MPI_Request requests[2]; /* of reads and of writes */
static int is_async;

static void work(void)
{
    PMPI_Barrier(gang);
    PMPI_Barrier(gang);
}

static void request_bin(int bin, int writes)
{
    const MPI_Offset stride = 8192;
    const int bytes = 8192 - 64 * rank;
    PMPI_Barrier(gang);
    MPI_File_seek(file, (rank * BINS + bin) * stride, MPI_SEEK_SET);
    if (is_async && writes)
        MPI_File_iwrite(file, buffer, bytes, MPI_BYTE, &requests[1]);
    else if (is_async)
        MPI_File_iread(file, buffer, bytes, MPI_BYTE, &requests[0]);
    else if (writes)
        MPI_File_write(file, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    else
        MPI_File_read(file, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    PMPI_Barrier(gang);
}

static void resync(int writes)
{
    if (!is_async)
        return;
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Wait(&requests[writes], MPI_STATUS_IGNORE);
    PMPI_Barrier(MPI_COMM_WORLD);
}

static void report(void)
{
    double mine = rank, all;
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
    MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
}

static void madbench(void)
{
    int numbers[8] = {0};
    MPI_Bcast(numbers, 8, MPI_INT, 0, MPI_COMM_WORLD);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, rank, &gang);
    MPI_Bcast(numbers, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int i = 0; i < size; i++)
        PMPI_Barrier(MPI_COMM_WORLD);
    open_file("madbench.out");
    PMPI_Barrier(MPI_COMM_WORLD);
    for (int b = 0; b <= BINS; b++) { /* S */
        if (b < BINS)
            work();
        if (b > 0)
            resync(1);
        if (b < BINS)
            request_bin(b, 1);
    }
    report();
    for (int b = 0; b <= BINS + 1; b++) { /* W */
        if (b > 0 && b <= BINS)
            resync(0);
        if (b < BINS)
            request_bin(b, 0);
        if (b > 0 && b <= BINS)
            work();
        if (b > 1)
            resync(1);
        if (b > 0 && b <= BINS)
            request_bin(b - 1, 1);
    }
    report();
    for (int b = 0; b <= BINS; b++) { /* C */
        if (b > 0)
            resync(0);
        if (b < BINS)
            request_bin(b, 0);
        if (b > 0)
            work();
    }
    report();
    MPI_File_close(&file);
    PMPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_free(&gang);
}

/* ---- exchanges ---- */

static void exchange(int messages)
{
    const int right = (rank + 1) % size, left = (rank + size - 1) % size;
    for (int i = 0; i < messages; i++) {
        MPI_Request both[2];
        int out = i, in;
        MPI_Irecv(&in, 1, MPI_INT, left, 0, MPI_COMM_WORLD, &both[0]);
        MPI_Isend(&out, 1, MPI_INT, right, 0, MPI_COMM_WORLD, &both[1]);
        MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    }
}

static void btio(void)
{
    const int sizes[] = {8, 8 * size}, part[] = {8, 8}, begin[] = {0, 8 * rank};
    MPI_Datatype point, view;
    double norm = 0, all;
    MPI_Type_contiguous(5, MPI_DOUBLE, &point);
    MPI_Type_commit(&point);
    MPI_Type_create_subarray(2, sizes, part, begin, MPI_ORDER_FORTRAN, point, &view);
    MPI_Type_commit(&view);
    MPI_Bcast(&norm, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    open_file("btio.out");
    MPI_File_set_view(file, 0, point, view, "native", MPI_INFO_NULL);
    for (int step = 1; step <= 5 * DUMPS; step++) {
        exchange(12);
        if (step % 5 == 0)
            MPI_File_write_at_all(file, (MPI_Offset)(step / 5 - 1) * 64, buffer, 64, point, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
    MPI_File_open(MPI_COMM_WORLD, "btio.out", MPI_MODE_RDONLY, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, 0, point, view, "native", MPI_INFO_NULL);
    for (int dump = 0; dump < DUMPS; dump++) {
        MPI_File_read_at_all(file, (MPI_Offset)dump * 64, buffer, 64, point, MPI_STATUS_IGNORE);
        MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
    MPI_File_close(&file);
    MPI_Allreduce(&norm, &all, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Type_free(&point);
    MPI_Type_free(&view);
}

static void halo(int messages)
{
    open_file("halo.out");
    for (int step = 0; step < 10; step++) {
        MPI_File_write_at_all(file, (MPI_Offset)(step * size + rank) * 4096, buffer, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
        exchange(messages);
        for (int i = 0; i < 5 * rank; i++) /* processes at the border have fewer neighbours */
            MPI_Sendrecv_replace(buffer, 1, MPI_CHAR, rank, 0, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_File_close(&file);
}

/* ---- no rule ---- */

static uint64_t state;

static uint64_t random_number(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
}

static void irregular(int calls)
{
    state = 17u + (uint64_t)rank;
    open_file("irregular.out");
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < calls + 100 * rank; i++) {
        const int bytes = (int)(random_number() % 4096) + 1;
        const MPI_Offset offset = (MPI_Offset)(random_number() % (1 << 26));
        MPI_File_write_at(file, offset, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < 50; i++) { /* two calls in turn, and communication */
        MPI_File_write_at(file, (MPI_Offset)(random_number() % (1 << 26)), buffer, (int)(random_number() % 999) + 1,
                          MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_File_read_at(file, (MPI_Offset)(random_number() % (1 << 20)), buffer, (int)(random_number() % 99) + 1,
                         MPI_BYTE, MPI_STATUS_IGNORE);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    for (int i = 0; i < 20 + rank; i++) /* other numbers of turns */
        MPI_File_write_at(file, (MPI_Offset)(rank + i * size) * 4096, buffer, 4096, MPI_BYTE, MPI_STATUS_IGNORE);
    MPI_File_close(&file);
}

static void files(int steps)
{
    state = 23u + (uint64_t)rank;
    for (int step = 0; step < steps; step++) {
        char name[32];
        MPI_Offset offset = rank * (MPI_Offset)100000;
        snprintf(name, sizeof name, "files%04d.out", step);
        open_file(name);
        for (int left = (int)(random_number() % 20); left > 0; left--) {
            const int bytes = 8 * (1 + (int)(random_number() % 200));
            MPI_File_write_at(file, offset, buffer, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
            offset += bytes;
        }
        MPI_File_close(&file);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    buffer = calloc(MOST, 1);
    const char *kind = argc > 1 ? argv[1] : "";
    const int number = argc > 2 ? atoi(argv[2]) : 0;
    is_async = strcmp(kind, "madbench2") == 0;
    if (strcmp(kind, "views") == 0)
        views();
    else if (strncmp(kind, "madbench", 8) == 0)
        madbench();
    else if (strcmp(kind, "btio") == 0)
        btio();
    else if (strcmp(kind, "halo") == 0)
        halo(number);
    else if (strcmp(kind, "irregular") == 0)
        irregular(number);
    else if (strcmp(kind, "files") == 0)
        files(number);
    else
        MPI_Abort(MPI_COMM_WORLD, 2);
    free(buffer);
    MPI_Finalize();
    return 0;
}
