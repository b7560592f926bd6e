/* PnetCDF as programs use it: software_pnetcdf FILE, on any number of ranks, writes fixed and record variables with
 * collective, independent, strided and non-blocking calls, changes the header so that data move, and reads all again
 * with another partition. Files of two runs may be compared byte by byte. */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/software.h"

enum { ROWS = 60, COLUMNS = 42, RECORDS = 3 }; /* rows and columns divide by 1, 2, 3 ranks */

#define NEED(call)                                                                                                     \
    do {                                                                                                               \
        const int code_ = (call);                                                                                      \
        if (code_ != NC_NOERR)                                                                                         \
            fprintf(stderr, "%s\n", ncmpi_strerror(code_));                                                            \
        need(code_ == NC_NOERR, #call, __LINE__);                                                                      \
    } while (0)

struct part {
    MPI_Offset start[3], count[3], stride[3]; /* record, row, column */
};

static struct part rows_of(int of, int record)
{
    const MPI_Offset height = ROWS / ranks;
    return (struct part){{record, of * height, 0}, {1, height, COLUMNS}, {1, 1, 1}};
}

static struct part columns_of(int of, int record)
{
    return (struct part){{record, 0, of}, {1, ROWS, COLUMNS / ranks}, {1, 1, ranks}};
}

static int value(int variable, MPI_Offset record, MPI_Offset row, MPI_Offset column)
{
    return (int)(variable * 10000000 + record * 1000000 + row * 1000 + column);
}

static int *filled(int variable, const struct part *part)
{
    int *data = malloc((size_t)(part->count[1] * part->count[2]) * sizeof *data);
    need(data != NULL, "memory", __LINE__);
    for (MPI_Offset i = 0; i < part->count[1]; i++)
        for (MPI_Offset j = 0; j < part->count[2]; j++)
            data[i * part->count[2] + j] = value(variable, part->start[0], part->start[1] + i * part->stride[1],
                                                 part->start[2] + j * part->stride[2]);
    return data;
}

static void read_part(int file, int id, int variable, int dimensions, struct part part)
{
    const int skip = 3 - dimensions;
    const size_t bytes = (size_t)(part.count[1] * part.count[2]) * sizeof(int);
    int *wanted = filled(variable, &part), *data = malloc(bytes);
    need(data != NULL, "memory", __LINE__);
    NEED(ncmpi_get_vars_int_all(file, id, part.start + skip, part.count + skip, part.stride + skip, data));
    need(memcmp(data, wanted, bytes) == 0, "data", __LINE__);
    free(wanted);
    free(data);
}

static void write_fixed(int file, int rows, int columns)
{
    struct part part = rows_of(rank, 0);
    int *data = filled(1, &part);
    NEED(ncmpi_put_vara_int_all(file, rows, part.start + 1, part.count + 1, data));
    free(data);
    part = columns_of(rank, 0);
    data = filled(2, &part);
    NEED(ncmpi_put_vars_int_all(file, columns, part.start + 1, part.count + 1, part.stride + 1, data));
    free(data);
}

static void write_records(int file, int alone, int later)
{
    int requests[RECORDS], states[RECORDS], *data[RECORDS];
    struct part parts[RECORDS];
    NEED(ncmpi_begin_indep_data(file));
    for (int record = 0; record < RECORDS; record++) {
        struct part part = rows_of(rank, record);
        int *buffer = filled(3, &part);
        NEED(ncmpi_put_vara_int(file, alone, part.start, part.count, buffer));
        free(buffer);
    }
    NEED(ncmpi_end_indep_data(file));
    for (int record = 0; record < RECORDS; record++) {
        parts[record] = columns_of(rank, record);
        data[record] = filled(4, &parts[record]);
        NEED(ncmpi_iput_vars_int(file, later, parts[record].start, parts[record].count, parts[record].stride,
                                 data[record], &requests[record]));
    }
    NEED(ncmpi_wait_all(file, RECORDS, requests, states));
    for (int record = 0; record < RECORDS; record++) {
        NEED(states[record]);
        free(data[record]);
    }
}

static void define(int file, int dimension[3], int ids[4])
{
    NEED(ncmpi_def_dim(file, "record", NC_UNLIMITED, &dimension[0]));
    NEED(ncmpi_def_dim(file, "row", ROWS, &dimension[1]));
    NEED(ncmpi_def_dim(file, "column", COLUMNS, &dimension[2]));
    NEED(ncmpi_def_var(file, "rows", NC_INT, 2, dimension + 1, &ids[0]));
    NEED(ncmpi_def_var(file, "columns", NC_INT, 2, dimension + 1, &ids[1]));
    NEED(ncmpi_def_var(file, "alone", NC_INT, 3, dimension, &ids[2]));
    NEED(ncmpi_def_var(file, "later", NC_INT, 3, dimension, &ids[3]));
    NEED(ncmpi_put_att_text(file, NC_GLOBAL, "title", 6, "piolet"));
    NEED(ncmpi_enddef(file));
}

/* A larger header and one more variable: what is there moves. */
static int define_more(int file, const int dimension[3])
{
    char text[3000];
    int id;
    memset(text, 'x', sizeof text);
    NEED(ncmpi_redef(file));
    NEED(ncmpi_put_att_text(file, NC_GLOBAL, "long", sizeof text, text));
    NEED(ncmpi_def_var(file, "new", NC_INT, 2, dimension + 1, &id));
    NEED(ncmpi_enddef(file));
    return id;
}

static void write_file(const char *path)
{
    int file, dimension[3], ids[4];
    NEED(ncmpi_create(MPI_COMM_WORLD, path, NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &file));
    define(file, dimension, ids);
    write_fixed(file, ids[0], ids[1]);
    write_records(file, ids[2], ids[3]);
    const int more = define_more(file, dimension);
    const struct part part = rows_of(rank, 0);
    int *data = filled(5, &part);
    NEED(ncmpi_put_vara_int_all(file, more, part.start + 1, part.count + 1, data));
    free(data);
    NEED(ncmpi_close(file));
}

static void read_file(const char *path)
{
    const int next = (rank + 1) % ranks;
    int file, variables = 0;
    NEED(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &file));
    NEED(ncmpi_inq_nvars(file, &variables));
    need(variables == 5, "five variables", __LINE__);
    read_part(file, 0, 1, 2, columns_of(next, 0));
    read_part(file, 1, 2, 2, rows_of(next, 0));
    for (int record = 0; record < RECORDS; record++) {
        read_part(file, 2, 3, 3, columns_of(next, record));
        read_part(file, 3, 4, 3, rows_of(next, record));
    }
    read_part(file, 4, 5, 2, columns_of(next, 0));
    NEED(ncmpi_close(file));
}

int main(int argc, char **argv)
{
    software_begin(argc, argv, 1, "argument: FILE");
    write_file(argv[1]);
    read_file(argv[1]);
    MPI_Finalize();
    return 0;
}
