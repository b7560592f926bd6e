/* Filetypes of distributions, through a real MPI-IO: dist_filetype FILE. Called by dist.sh.
 * Each distribution writes two arrays behind a header with one collective call; rank 0 compares the file, byte for
 * byte, with what a loop over the elements gives, and every rank reads its part back. Prints what is wrong. */
#include <mpi.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <piolet/dist.h>

enum { HEADER_BYTES = 24, ARRAYS = 2 };

struct job {
    const char *path;
    int rank, procs, failures;
    char message[PIOLET_DIST_MESSAGE_MAX];
};

struct layout {
    const char *text;
    int dims;
    int64_t size[4];
    enum piolet_dist_order order;
    int parts; /* doubles of an element */
};

static const struct layout LAYOUTS[] = {
    {"BLOCK", 1, {25}, 0, 1},
    {"BLOCK", 1, {5}, 0, 1}, /* on 4 ranks the last one is empty */
    {"BALANCED", 1, {25}, 0, 5},
    {"CYCLIC", 1, {31}, 0, 1},
    {"CYCLIC(4)", 1, {30}, 0, 1},
    {"CYCLIC(4)", 1, {3}, 0, 1}, /* all but the first are empty */
    {"BLOCK,BLOCK", 2, {10, 7}, 0, 1},
    {"BLOCK,*", 2, {10, 7}, 0, 1},
    {"*,BLOCK", 2, {10, 7}, 0, 5},
    {"*,BLOCK", 2, {10, 7}, 1, 1},
    {"CYCLIC(2),CYCLIC(3)", 2, {11, 13}, 0, 1},
    {"CYCLIC,BALANCED", 2, {11, 13}, 1, 5},
    {"BLOCK,BLOCK,BLOCK", 3, {5, 6, 7}, 0, 1},
    {"BLOCK,BLOCK,BLOCK", 3, {5, 6, 7}, 1, 1},
    {"BALANCED,*,CYCLIC(2)", 3, {5, 3, 9}, 0, 5},
    {"BLOCK,*,CYCLIC(2),BALANCED", 4, {3, 2, 5, 4}, 0, 1},
    {"multipartition", 3, {7, 8, 5}, 0, 5},
    {"multipartition", 3, {7, 8, 5}, 1, 1},
    {"multipartition", 3, {1, 1, 3}, 0, 1}, /* empty cells */
    {"random", 1, {200}, 0, 1},
    {"random(3)", 2, {25, 9}, 0, 5},
    {"random(3)", 1, {5}, 0, 1},
    {"scatter", 2, {9, 5}, 0, 1},
    {"scatter(4)", 2, {9, 5}, 0, 1},
    {"broadcast", 2, {6, 5}, 0, 1},
    {"transposed", 2, {6, 9}, 0, 1},
    {"transposed(BLOCK,*)", 2, {7, 5}, 0, 5},
    {"transposed(CYCLIC(2),BLOCK)", 2, {9, 8}, 0, 1},
    {"transposed(BLOCK,BLOCK)", 2, {9, 8}, 1, 1},
    {"transposed(BLOCK,*,CYCLIC)", 3, {4, 3, 5}, 0, 1},
};

static void complain(struct job *job, const char *text, const char *what, int64_t found, int64_t wanted)
{
    job->failures++;
    fprintf(stderr, "rank %d of %d: %s: %s: %" PRId64 " in the place of %" PRId64 "\n", job->rank, job->procs, text,
            what, found, wanted);
}

static void give_up(const struct job *job, const char *text, const char *why)
{
    fprintf(stderr, "rank %d of %d: %s: %s\n", job->rank, job->procs, text, why);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static piolet_dist *make(struct job *job, const char *text, const struct piolet_dist_shape *shape)
{
    struct piolet_dist_spec spec;
    piolet_dist *dist = NULL;
    if (piolet_dist_parse(text, &spec, job->message, sizeof job->message) ||
        piolet_dist_new(&spec, shape, &dist, job->message, sizeof job->message))
        give_up(job, text, job->message);
    return dist;
}

/* The types of a rank, with what MPI says about them checked. */
static void make_types(struct job *job, const char *text, const piolet_dist *dist, int64_t rank, MPI_Datatype element,
                       MPI_Datatype types[2])
{
    MPI_Aint lower, element_bytes, extent;
    MPI_Count bytes, element_size;
    MPI_Type_get_extent(element, &lower, &element_bytes);
    MPI_Type_size_x(element, &element_size);
    if (piolet_dist_filetype(dist, rank, element, &types[0], job->message, sizeof job->message) ||
        piolet_dist_memtype(dist, rank, element, &types[1], job->message, sizeof job->message))
        give_up(job, text, job->message);
    const int64_t count = piolet_dist_count(dist, rank);
    for (int i = 0; i < 2; i++) {
        const int64_t elements = i ? count : piolet_dist_elements(dist);
        MPI_Type_size_x(types[i], &bytes);
        if (bytes != count * element_size)
            complain(job, text, i ? "size of the memtype" : "size of the filetype", bytes, count * element_size);
        MPI_Type_get_extent(types[i], &lower, &extent);
        if (lower != 0 || extent != elements * element_bytes)
            complain(job, text, i ? "extent of the memtype" : "extent of the filetype", extent,
                     elements * element_bytes);
    }
}

static double value_at(int64_t array, int64_t offset, int part)
{
    return (double)((array * 100000 + offset) * 10 + part + 1);
}

/* Fills a rank's buffer with what belongs there, or counts what does not. */
static int64_t visit_buffer(const piolet_dist *dist, int64_t rank, int parts, double *buffer, int is_check)
{
    const int64_t count = piolet_dist_count(dist, rank);
    int64_t wrong = 0;
    for (int64_t i = 0; i < ARRAYS * count * parts; i++) {
        const int64_t local = i / parts % count;
        const double value = value_at(i / parts / count, piolet_dist_offset_of_local(dist, rank, local),
                                      (int)(i % parts));
        if (is_check)
            wrong += buffer[i] != value;
        else
            buffer[i] = value;
    }
    return wrong;
}

/* The file as one process would write it: a header of zeros, then the arrays in file order. */
static double *serial_file(const piolet_dist *dist, int parts, size_t *ret_bytes)
{
    const int64_t elements = piolet_dist_elements(dist), header = HEADER_BYTES / (int64_t)sizeof(double);
    *ret_bytes = HEADER_BYTES + (size_t)(ARRAYS * elements * parts) * sizeof(double);
    double *content = calloc(1, *ret_bytes);
    for (int64_t i = 0; content && i < ARRAYS * elements * parts; i++)
        content[header + i] = value_at(i / parts / elements, i / parts % elements, (int)(i % parts));
    return content;
}

static void compare_file(struct job *job, const struct layout *layout, const piolet_dist *dist)
{
    size_t bytes;
    double *wanted = serial_file(dist, layout->parts, &bytes), *found = calloc(1, bytes + 1);
    const int file = open(job->path, O_RDONLY);
    const ssize_t got = read(file, found, bytes + 1);
    close(file);
    if (got != (ssize_t)bytes)
        complain(job, layout->text, "bytes of the file", got, (int64_t)bytes);
    else if (memcmp(found, wanted, bytes) != 0)
        for (size_t i = 0; i < bytes / sizeof *wanted; i++)
            if (found[i] != wanted[i]) {
                complain(job, layout->text, "number in the file", (int64_t)found[i], (int64_t)wanted[i]);
                break;
            }
    free(wanted);
    free(found);
}

static void write_and_read(struct job *job, const struct layout *layout, const piolet_dist *dist, MPI_Datatype element,
                           const MPI_Datatype types[2])
{
    const int64_t numbers = ARRAYS * piolet_dist_count(dist, job->rank) * layout->parts;
    double *buffer = calloc((size_t)numbers + 1, sizeof *buffer);
    MPI_File file;
    MPI_Status status;
    visit_buffer(dist, job->rank, layout->parts, buffer, 0);
    if (MPI_File_open(MPI_COMM_WORLD, job->path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file))
        give_up(job, layout->text, "cannot open the file");
    int mpi = MPI_File_set_size(file, 0);
    mpi = mpi ? mpi : MPI_File_set_view(file, HEADER_BYTES, element, types[0], "native", MPI_INFO_NULL);
    mpi = mpi ? mpi : MPI_File_write_all(file, buffer, ARRAYS, types[1], &status);
    if (mpi)
        give_up(job, layout->text, "set_view or write_all failed");
    MPI_File_sync(file);
    MPI_Barrier(MPI_COMM_WORLD);
    if (job->rank == 0)
        compare_file(job, layout, dist);
    memset(buffer, 0, (size_t)numbers * sizeof *buffer);
    if (MPI_File_seek(file, 0, MPI_SEEK_SET) || MPI_File_read_all(file, buffer, ARRAYS, types[1], &status))
        give_up(job, layout->text, "read_all failed");
    const int64_t wrong = visit_buffer(dist, job->rank, layout->parts, buffer, 1);
    if (wrong)
        complain(job, layout->text, "wrong numbers read", wrong, 0);
    MPI_File_close(&file);
    free(buffer);
}

static void check_layout(struct job *job, const struct layout *layout)
{
    struct piolet_dist_shape shape = {
        .dims = layout->dims, .order = layout->order, .procs = job->procs, .seed = 20261115};
    memcpy(shape.size, layout->size, sizeof layout->size);
    piolet_dist *dist = make(job, layout->text, &shape);
    MPI_Datatype element, types[2];
    MPI_Type_contiguous(layout->parts, MPI_DOUBLE, &element);
    MPI_Type_commit(&element);
    make_types(job, layout->text, dist, job->rank, element, types);
    write_and_read(job, layout, dist, element, types);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
    MPI_Type_free(&element);
    piolet_dist_free(dist);
}

/* ---- More than 2^31 elements ------------------------------------------------------------------------------------- */

static const struct {
    const char *text;
    int dims;
    int64_t size[3], procs;
} HUGE_LAYOUTS[] = {
    {"*", 1, {(INT64_C(7) << 31) + 5}, 1},            /* one run longer than an int counts */
    {"BLOCK", 1, {(INT64_C(7) << 31) + 5}, 2},        /* two of them */
    {"CYCLIC", 1, {(INT64_C(6) << 30) + 1}, 2},       /* more intervals than an int counts */
    {"CYCLIC(1073741827)", 1, {INT64_C(1) << 34}, 3}, /* short last interval */
    {"BLOCK,BLOCK", 2, {1 << 20, 1 << 20}, 64},
    {"CYCLIC(7),CYCLIC(5)", 2, {1 << 20, 1 << 20}, 6},
    {"multipartition", 3, {5000, 5001, 5002}, 16},
    {"random(1500000000)", 1, {INT64_C(1) << 36}, 5}, /* blocks that are cut for MPI */
    {"broadcast", 2, {1 << 20, 1 << 15}, 3},
    {"transposed(BLOCK,CYCLIC(3))", 2, {1 << 18, 1 << 18}, 4},
};

static void check_huge_types(struct job *job)
{
    for (size_t i = 0; i < sizeof HUGE_LAYOUTS / sizeof HUGE_LAYOUTS[0]; i++) {
        struct piolet_dist_shape shape = {.dims = HUGE_LAYOUTS[i].dims, .procs = HUGE_LAYOUTS[i].procs};
        memcpy(shape.size, HUGE_LAYOUTS[i].size, sizeof HUGE_LAYOUTS[i].size);
        piolet_dist *dist = make(job, HUGE_LAYOUTS[i].text, &shape);
        for (int64_t rank = 0; rank<shape.procs; rank += shape.procs> 8 ? 5 : 1) {
            MPI_Datatype types[2];
            MPI_Aint first, extent;
            const int64_t count = piolet_dist_count(dist, rank);
            make_types(job, HUGE_LAYOUTS[i].text, dist, rank, MPI_DOUBLE, types);
            MPI_Type_get_true_extent(types[0], &first, &extent);
            /* Turned or not, the corners are the same elements. */
            const int64_t wanted_first = 8 * piolet_dist_offset_of_local(dist, rank, 0);
            const int64_t wanted_end = 8 * piolet_dist_offset_of_local(dist, rank, count - 1) + 8;
            if (first != wanted_first)
                complain(job, HUGE_LAYOUTS[i].text, "first byte", first, wanted_first);
            if (first + extent != wanted_end)
                complain(job, HUGE_LAYOUTS[i].text, "end", first + extent, wanted_end);
            MPI_Type_free(&types[0]);
            MPI_Type_free(&types[1]);
        }
        piolet_dist_free(dist);
    }
}

/* 2^32 doubles in a sparse file: every rank writes its last four numbers, at the far corner of its part. */
static void check_far_corner(struct job *job)
{
    const struct piolet_dist_shape shape = {.dims = 2, .size = {1 << 19, 1 << 13}, .procs = job->procs};
    piolet_dist *dist = make(job, "BLOCK,BLOCK", &shape);
    const int64_t count = piolet_dist_count(dist, job->rank);
    const double wanted[4] = {1 + job->rank, 2, 3, 4};
    double found[4] = {0};
    MPI_Datatype types[2];
    MPI_File file;
    make_types(job, "far corner", dist, job->rank, MPI_DOUBLE, types);
    if (MPI_File_open(MPI_COMM_WORLD, job->path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ||
        MPI_File_set_size(file, 0) || MPI_File_set_view(file, 0, MPI_DOUBLE, types[0], "native", MPI_INFO_NULL) ||
        MPI_File_write_at(file, count - 4, wanted, 4, MPI_DOUBLE, MPI_STATUS_IGNORE))
        give_up(job, "far corner", "open, set_view or write_at failed");
    MPI_File_sync(file);
    const int direct = open(job->path, O_RDONLY);
    const off_t place = 8 * piolet_dist_offset_of_local(dist, job->rank, count - 4);
    if (pread(direct, found, sizeof found, place) != (ssize_t)sizeof found || memcmp(found, wanted, sizeof found) != 0)
        complain(job, "far corner", "first number", (int64_t)found[0], (int64_t)wanted[0]);
    close(direct);
    MPI_File_close(&file);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
    piolet_dist_free(dist);
}

/* One call reads the transpose: rank r of P has columns of the matrix, each of its buffer's rows is one turned over. */
static void check_transpose(struct job *job)
{
    enum { ROWS = 6, COLUMNS = 8 };
    const struct piolet_dist_shape shape = {.dims = 2, .size = {ROWS, COLUMNS}, .procs = job->procs};
    piolet_dist *dist = make(job, "transposed", &shape);
    double matrix[ROWS * COLUMNS], buffer[ROWS * COLUMNS] = {0}; /* buffer: at most the whole transpose */
    const int64_t width = piolet_dist_count(dist, job->rank) / ROWS;
    const int64_t first = width ? piolet_dist_offset_of_local(dist, job->rank, 0) / ROWS : 0;
    MPI_Datatype types[2];
    MPI_File file;
    for (int column = 0; column < COLUMNS; column++) /* in column order */
        for (int row = 0; row < ROWS; row++)
            matrix[column * ROWS + row] = row + 100 * column;
    make_types(job, "transpose", dist, job->rank, MPI_DOUBLE, types);
    if (MPI_File_open(MPI_COMM_WORLD, job->path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) ||
        MPI_File_set_size(file, 0) ||
        MPI_File_write_at_all(file, 0, matrix, (int)sizeof matrix, MPI_BYTE, MPI_STATUS_IGNORE) ||
        MPI_File_sync(file) || MPI_Barrier(MPI_COMM_WORLD) ||
        MPI_File_set_view(file, 0, MPI_DOUBLE, types[0], "native", MPI_INFO_NULL) ||
        MPI_File_read_at_all(file, 0, buffer, 1, types[1], MPI_STATUS_IGNORE))
        give_up(job, "transpose", "MPI-IO failed");
    for (int row = 0; row < ROWS; row++)
        for (int64_t column = 0; column < width; column++) { /* the transpose in column order: columns run fastest */
            const double wanted = row + 100 * (double)(first + column);
            if (buffer[row * width + column] != wanted)
                complain(job, "transpose", "number", (int64_t)buffer[row * width + column], (int64_t)wanted);
        }
    MPI_File_close(&file);
    MPI_Type_free(&types[0]);
    MPI_Type_free(&types[1]);
    piolet_dist_free(dist);
}

static void check_refusals(struct job *job)
{
    const struct piolet_dist_shape shape = {.dims = 1, .size = {INT64_C(1) << 61}, .procs = 1};
    piolet_dist *dist = make(job, "BLOCK", &shape);
    MPI_Datatype type = MPI_DATATYPE_NULL, shifted;
    MPI_Type_create_resized(MPI_DOUBLE, -8, 16, &shifted);
    int code = piolet_dist_filetype(dist, 0, MPI_DOUBLE, &type, job->message, sizeof job->message);
    if (code != PIOLET_DIST_E_SHAPE || !strstr(job->message, "more than a file offset can count"))
        complain(job, job->message, "2^64 bytes", code, PIOLET_DIST_E_SHAPE);
    code = piolet_dist_memtype(dist, 1, MPI_BYTE, &type, job->message, sizeof job->message);
    if (code != PIOLET_DIST_E_RANGE || !strstr(job->message, "rank 1; allowed: 0 to 0"))
        complain(job, job->message, "no such rank", code, PIOLET_DIST_E_RANGE);
    code = piolet_dist_filetype(dist, 0, shifted, &type, job->message, sizeof job->message);
    if (code != PIOLET_DIST_E_SHAPE || !strstr(job->message, "from byte -8"))
        complain(job, job->message, "lower bound", code, PIOLET_DIST_E_SHAPE);
    if (type != MPI_DATATYPE_NULL)
        complain(job, "refusals", "a type was written", 1, 0);
    MPI_Type_free(&shifted);
    piolet_dist_free(dist);
}

int main(int argc, char **argv)
{
    struct job job = {.path = argc == 2 ? argv[1] : NULL};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &job.rank);
    MPI_Comm_size(MPI_COMM_WORLD, &job.procs);
    if (!job.path)
        give_up(&job, "usage", "dist_filetype FILE");
    for (size_t i = 0; i < sizeof LAYOUTS / sizeof LAYOUTS[0]; i++)
        if (job.procs == 1 || job.procs == 4 || strcmp(LAYOUTS[i].text, "multipartition") != 0)
            check_layout(&job, &LAYOUTS[i]);
    check_transpose(&job);
    check_far_corner(&job);
    check_huge_types(&job);
    check_refusals(&job);
    int failures = 0;
    MPI_Allreduce(&job.failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (job.rank == 0 && !failures)
        printf("%d ranks: all filetypes are right\n", job.procs);
    MPI_Finalize();
    return failures != 0;
}
