/* Parallel HDF5 as programs use it: software_hdf5 write FILE, on any number of ranks, writes datasets of several kinds,
 * opens the file again and reads them with other selections. software_hdf5 many FILE writes 40 datasets one after the
 * other, each of another size, and reads them again; metadata as the library does it by itself. software_hdf5 dump
 * FILE, on one rank, prints everything that is in the file; it reads through HDF5's POSIX driver, past any MPI-IO. */
#include <hdf5.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/software.h"

enum { ROWS = 60, COLUMNS = 42 }; /* both divide by 1, 2, 3 ranks */

#define NEED(call) need((call) >= 0, #call, __LINE__)

static hid_t made(hid_t id, const char *what, int line)
{
    need(id >= 0, what, line);
    return id;
}
#define MADE(call) made((call), #call, __LINE__)

static double value(int dataset, hsize_t row, hsize_t column)
{
    return dataset * 1e6 + (double)row * 1000 + (double)column;
}

/* ---- what a rank takes of a dataset ---- */

struct part {
    hsize_t start[2], stride[2], count[2];
};

static struct part rows_of(int of)
{
    const hsize_t height = ROWS / (hsize_t)ranks;
    return (struct part){{(hsize_t)of * height, 0}, {1, 1}, {height, COLUMNS}};
}

static struct part columns_of(int of)
{
    return (struct part){{0, (hsize_t)of}, {1, (hsize_t)ranks}, {ROWS, COLUMNS / (hsize_t)ranks}};
}

static hid_t transfer(H5FD_mpio_xfer_t mode)
{
    const hid_t list = MADE(H5Pcreate(H5P_DATASET_XFER));
    NEED(H5Pset_dxpl_mpio(list, mode));
    return list;
}

static double *filled(int dataset, const struct part *part)
{
    double *data = malloc(part->count[0] * part->count[1] * sizeof *data);
    need(data != NULL, "memory", __LINE__);
    for (hsize_t i = 0; i < part->count[0]; i++)
        for (hsize_t j = 0; j < part->count[1]; j++)
            data[i * part->count[1] + j] = value(dataset, part->start[0] + i * part->stride[0],
                                                 part->start[1] + j * part->stride[1]);
    return data;
}

static void write_part(hid_t dataset, int number, struct part part, H5FD_mpio_xfer_t mode)
{
    const hid_t space = MADE(H5Dget_space(dataset)), memory = MADE(H5Screate_simple(2, part.count, NULL));
    const hid_t list = transfer(mode);
    double *data = filled(number, &part);
    NEED(H5Sselect_hyperslab(space, H5S_SELECT_SET, part.start, part.stride, part.count, NULL));
    NEED(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, list, data));
    free(data);
    NEED(H5Pclose(list));
    NEED(H5Sclose(memory));
    NEED(H5Sclose(space));
}

static void read_part(hid_t file, const char *name, int number, struct part part, H5FD_mpio_xfer_t mode)
{
    const hid_t dataset = MADE(H5Dopen(file, name, H5P_DEFAULT));
    const hid_t space = MADE(H5Dget_space(dataset)), memory = MADE(H5Screate_simple(2, part.count, NULL));
    const hid_t list = transfer(mode);
    double *wanted = filled(number, &part), *data = calloc(part.count[0] * part.count[1], sizeof *data);
    need(data != NULL, "memory", __LINE__);
    NEED(H5Sselect_hyperslab(space, H5S_SELECT_SET, part.start, part.stride, part.count, NULL));
    NEED(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, list, data));
    need(memcmp(data, wanted, part.count[0] * part.count[1] * sizeof *data) == 0, name, __LINE__);
    free(wanted);
    free(data);
    NEED(H5Pclose(list));
    NEED(H5Sclose(memory));
    NEED(H5Sclose(space));
    NEED(H5Dclose(dataset));
}

/* ---- the datasets ---- */

static hid_t create(hid_t file, const char *name, hid_t type, hsize_t rows, hid_t list)
{
    const hsize_t size[2] = {rows, COLUMNS}, largest[2] = {H5S_UNLIMITED, COLUMNS};
    const bool is_chunked = H5Pget_layout(list) == H5D_CHUNKED;
    const hid_t space = MADE(H5Screate_simple(2, size, is_chunked ? largest : NULL));
    const hid_t dataset = MADE(H5Dcreate(file, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT));
    NEED(H5Sclose(space));
    return dataset;
}

static void write_contiguous(hid_t file)
{
    const hid_t list = MADE(H5Pcreate(H5P_DATASET_CREATE));
    const struct {
        const char *name;
        hid_t type;
        struct part part;
        H5FD_mpio_xfer_t transfer;
    } sets[] = {
        {"rows", H5T_IEEE_F64LE, rows_of(rank), H5FD_MPIO_COLLECTIVE},
        {"columns", H5T_IEEE_F64BE, columns_of(rank), H5FD_MPIO_COLLECTIVE}, /* the library converts, too */
        {"alone", H5T_IEEE_F64LE, columns_of(rank), H5FD_MPIO_INDEPENDENT},
    };
    for (int i = 0; i < 3; i++) {
        const hid_t dataset = create(file, sets[i].name, sets[i].type, ROWS, list);
        write_part(dataset, i + 1, sets[i].part, sets[i].transfer);
        NEED(H5Dclose(dataset));
    }
    NEED(H5Pclose(list));
}

static void write_chunked(hid_t file)
{
    const hid_t list = MADE(H5Pcreate(H5P_DATASET_CREATE));
    const hsize_t chunk[2] = {16, 10}, whole[2] = {ROWS, COLUMNS};
    const double fill = -1;
    NEED(H5Pset_chunk(list, 2, chunk));
    NEED(H5Pset_fill_value(list, H5T_NATIVE_DOUBLE, &fill));
    hid_t dataset = create(file, "chunked", H5T_IEEE_F64LE, ROWS / 2, list);
    NEED(H5Dset_extent(dataset, whole));
    write_part(dataset, 4, columns_of(rank), H5FD_MPIO_COLLECTIVE);
    NEED(H5Dclose(dataset));
    dataset = create(file, "chunked alone", H5T_IEEE_F64LE, ROWS, list);
    write_part(dataset, 5, rows_of(rank), H5FD_MPIO_INDEPENDENT);
    NEED(H5Dclose(dataset));
    dataset = create(file, "fill values", H5T_IEEE_F64LE, ROWS, list);
    NEED(H5Dclose(dataset));
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) { /* chunks of unknown sizes, whose places all ranks agree on */
        NEED(H5Pset_deflate(list, 1));
        dataset = create(file, "compressed", H5T_IEEE_F64LE, ROWS, list);
        write_part(dataset, 6, rows_of(rank), H5FD_MPIO_COLLECTIVE);
        NEED(H5Dclose(dataset));
    }
    NEED(H5Pclose(list));
}

static void write_metadata(hid_t file)
{
    const hid_t scalar = MADE(H5Screate(H5S_SCALAR)),
                group = MADE(H5Gcreate(file, "group", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    char name[32];
    for (int i = 0; i < 40; i++) { /* enough to make the group's index grow */
        snprintf(name, sizeof name, "attribute %d", i);
        const hid_t attribute = MADE(H5Acreate(group, name, H5T_STD_I32LE, scalar, H5P_DEFAULT, H5P_DEFAULT));
        NEED(H5Awrite(attribute, H5T_NATIVE_INT, &i));
        NEED(H5Aclose(attribute));
        snprintf(name, sizeof name, "group %d", i);
        NEED(H5Gclose(MADE(H5Gcreate(group, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))));
    }
    NEED(H5Gclose(group));
    NEED(H5Sclose(scalar));
}

static hid_t parallel(void)
{
    const hid_t list = MADE(H5Pcreate(H5P_FILE_ACCESS));
    NEED(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL));
    NEED(H5Pset_coll_metadata_write(list, true));
    NEED(H5Pset_all_coll_metadata_ops(list, true));
    return list;
}

static void write_file(const char *path)
{
    const hid_t list = parallel();
    hid_t file = MADE(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list));
    write_contiguous(file);
    write_metadata(file);
    NEED(H5Fflush(file, H5F_SCOPE_GLOBAL));
    NEED(H5Fclose(file));
    file = MADE(H5Fopen(path, H5F_ACC_RDWR, list));
    write_chunked(file);
    NEED(H5Fclose(file));
    file = MADE(H5Fopen(path, H5F_ACC_RDONLY, list));
    const int next = (rank + 1) % ranks;
    read_part(file, "rows", 1, columns_of(next), H5FD_MPIO_COLLECTIVE);
    read_part(file, "columns", 2, rows_of(next), H5FD_MPIO_COLLECTIVE);
    read_part(file, "alone", 3, rows_of(next), H5FD_MPIO_INDEPENDENT);
    read_part(file, "chunked", 4, rows_of(next), H5FD_MPIO_COLLECTIVE);
    read_part(file, "chunked alone", 5, columns_of(next), H5FD_MPIO_INDEPENDENT);
    if (H5Lexists(file, "compressed", H5P_DEFAULT) > 0)
        read_part(file, "compressed", 6, columns_of(next), H5FD_MPIO_COLLECTIVE);
    NEED(H5Fclose(file));
    NEED(H5Pclose(list));
}

/* ---- many datasets ---- */

static void many_part(hid_t file, int number, bool writes, H5FD_mpio_xfer_t mode)
{
    const hsize_t width = 100 + (hsize_t)number * 7,
                  whole = width * (hsize_t)ranks + 13; /* a rest that nobody writes */
    const hsize_t start = (hsize_t)rank * width;
    char name[32];
    snprintf(name, sizeof name, "dataset %d", number);
    const hid_t all = MADE(H5Screate_simple(1, &whole, NULL)), memory = MADE(H5Screate_simple(1, &width, NULL));
    const hid_t dataset = writes
                              ? MADE(H5Dcreate(file, name, H5T_IEEE_F64LE, all, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT))
                              : MADE(H5Dopen(file, name, H5P_DEFAULT));
    const hid_t list = transfer(mode);
    double *data = calloc(width, sizeof *data);
    need(data != NULL, "memory", __LINE__);
    NEED(H5Sselect_hyperslab(all, H5S_SELECT_SET, &start, NULL, &width, NULL));
    if (writes)
        NEED(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, all, list, data));
    else
        NEED(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, all, list, data));
    free(data);
    NEED(H5Pclose(list));
    NEED(H5Dclose(dataset));
    NEED(H5Sclose(memory));
    NEED(H5Sclose(all));
}

static void many_file(const char *path)
{
    const hid_t list = MADE(H5Pcreate(H5P_FILE_ACCESS));
    NEED(H5Pset_fapl_mpio(list, MPI_COMM_WORLD, MPI_INFO_NULL));
    hid_t file = MADE(H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, list));
    for (int i = 0; i < 40; i++)
        many_part(file, i, true, H5FD_MPIO_COLLECTIVE);
    for (int i = 40; i < 44; i++)
        many_part(file, i, true, H5FD_MPIO_INDEPENDENT);
    NEED(H5Fclose(file));
    file = MADE(H5Fopen(path, H5F_ACC_RDONLY, list));
    for (int i = 0; i < 44; i++)
        many_part(file, i, false, i % 2 ? H5FD_MPIO_INDEPENDENT : H5FD_MPIO_COLLECTIVE);
    NEED(H5Fclose(file));
    NEED(H5Pclose(list));
}

/* ---- what is in a file ---- */

static herr_t dump_attribute(hid_t object, const char *name, const H5A_info_t *info, void *context)
{
    (void)info;
    (void)context;
    int number = 0;
    const hid_t attribute = MADE(H5Aopen(object, name, H5P_DEFAULT));
    NEED(H5Aread(attribute, H5T_NATIVE_INT, &number));
    printf("  %s = %d\n", name, number);
    return H5Aclose(attribute);
}

static void dump_dataset(hid_t dataset)
{
    const hid_t space = MADE(H5Dget_space(dataset));
    hsize_t size[2];
    need(H5Sget_simple_extent_dims(space, size, NULL) == 2, "two dimensions", __LINE__);
    double *data = malloc(size[0] * size[1] * sizeof *data);
    need(data != NULL, "memory", __LINE__);
    NEED(H5Dread(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data));
    for (hsize_t i = 0; i < size[0]; i++)
        for (hsize_t j = 0; j < size[1]; j++)
            printf("%.17g%c", data[i * size[1] + j], j + 1 < size[1] ? ' ' : '\n');
    free(data);
    NEED(H5Sclose(space));
}

static herr_t dump_object(hid_t file, const char *name, const H5O_info_t *info, void *context)
{
    (void)context;
    const hid_t object = MADE(H5Oopen(file, name, H5P_DEFAULT));
    hsize_t position = 0;
    printf("%s\n", name);
    NEED(H5Aiterate(object, H5_INDEX_NAME, H5_ITER_INC, &position, dump_attribute, NULL));
    if (info->type == H5O_TYPE_DATASET)
        dump_dataset(object);
    return H5Oclose(object);
}

static void dump_file(const char *path)
{
    const hid_t file = MADE(H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT));
    NEED(H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, dump_object, NULL));
    NEED(H5Fclose(file));
}

int main(int argc, char **argv)
{
    software_begin(argc, argv, 2, "arguments: write|many|dump FILE");
    if (strcmp(argv[1], "write") == 0)
        write_file(argv[2]);
    else if (strcmp(argv[1], "many") == 0)
        many_file(argv[2]);
    else
        dump_file(argv[2]);
    MPI_Finalize();
    return 0;
}
