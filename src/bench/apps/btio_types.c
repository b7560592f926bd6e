/* The cells of a rank in memory, and the datatypes of BT-IO. */
#include "bench/apps/btio_io.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static int64_t side_of(const struct btio_plan *plan)
{
    return plan->cell_max + 2 * BTIO_GHOST;
}

double *btio_memory_line(const struct btio_plan *plan, const struct btio_memory *memory, int64_t cell, int64_t y,
                         int64_t z)
{
    const int64_t side = side_of(plan);
    const int64_t line = (cell * side + z + BTIO_GHOST) * side + y + BTIO_GHOST;
    return memory->values + (line * side + BTIO_GHOST) * BTIO_COMPONENTS;
}

void btio_memory_forget(const struct btio_plan *plan, struct btio_memory *memory)
{
    memset(memory->values, 0xff, (size_t)btio_plan_buffer_bytes(plan));
}

/* ---- data ---- */

static void fill_line(const struct btio_plan *plan, const struct btio_cell *at, int64_t y, int64_t z, uint64_t seed,
                      int64_t dump, double *line)
{
    const int64_t first = btio_plan_point(plan, at->low[0], at->low[1] + y, at->low[2] + z);
    for (int64_t x = 0; x < at->size[0]; x++)
        for (int m = 0; m < BTIO_COMPONENTS; m++)
            *line++ = btio_value(seed, dump, first + x, m);
}

void btio_memory_fill(const struct btio_plan *plan, int rank, uint64_t seed, int64_t dump, struct btio_memory *memory)
{
    for (int64_t c = 0; c < plan->cells; c++) {
        const struct btio_cell at = btio_plan_cell(plan, rank, c);
        for (int64_t z = 0; z < at.size[2]; z++)
            for (int64_t y = 0; y < at.size[1]; y++)
                fill_line(plan, &at, y, z, seed, dump, btio_memory_line(plan, memory, c, y, z));
    }
}

static pl_status check_line(const struct btio_plan *plan, const struct btio_cell *at, int64_t y, int64_t z,
                            uint64_t seed, int64_t dump, const double *line, struct pl_error *error)
{
    const int64_t first = btio_plan_point(plan, at->low[0], at->low[1] + y, at->low[2] + z);
    for (int64_t x = 0; x < at->size[0]; x++)
        for (int m = 0; m < BTIO_COMPONENTS; m++, line++) {
            const double wanted = btio_value(seed, dump, first + x, m);
            if (memcmp(&wanted, line, sizeof wanted) != 0)
                return pl_fail(error, PL_E_DATA,
                               "dump %lld, point (%lld, %lld, %lld), component %d: read %.17g in the place of %.17g",
                               (long long)dump + 1, (long long)(at->low[0] + x), (long long)(at->low[1] + y),
                               (long long)(at->low[2] + z), m, *line, wanted);
        }
    return PL_OK;
}

pl_status btio_memory_check(const struct btio_plan *plan, int rank, uint64_t seed, int64_t dump,
                            const struct btio_memory *memory, struct pl_error *error)
{
    for (int64_t c = 0; c < plan->cells; c++) {
        const struct btio_cell at = btio_plan_cell(plan, rank, c);
        for (int64_t z = 0; z < at.size[2]; z++)
            for (int64_t y = 0; y < at.size[1]; y++)
                if (check_line(plan, &at, y, z, seed, dump, btio_memory_line(plan, memory, c, y, z), error) != PL_OK)
                    return error->status;
    }
    return PL_OK;
}

/* ---- types ---- */

/* A cell in memory from its first point on: lines of a plane, planes of the cell. */
static int make_cell(const struct btio_plan *plan, const struct btio_cell *at, MPI_Datatype point,
                     MPI_Datatype *ret_type)
{
    const MPI_Aint line_bytes = (MPI_Aint)(side_of(plan) * BTIO_POINT_BYTES);
    MPI_Datatype plane;
    int code = MPI_Type_create_hvector((int)at->size[1], (int)at->size[0], line_bytes, point, &plane);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_create_hvector((int)at->size[2], 1, line_bytes * (MPI_Aint)side_of(plan), plane, ret_type);
    MPI_Type_free(&plane);
    return code;
}

static int make_cells(const struct btio_plan *plan, int rank, struct btio_memory *memory)
{
    int code = MPI_SUCCESS;
    for (int64_t c = 0; c < plan->cells && code == MPI_SUCCESS; c++) {
        const struct btio_cell at = btio_plan_cell(plan, rank, c);
        code = make_cell(plan, &at, memory->point, &memory->cell[c]);
        if (code == MPI_SUCCESS)
            code = MPI_Type_commit(&memory->cell[c]);
    }
    return code;
}

/* All cells in one type, from the beginning of the memory on. */
static int join_cells(const struct btio_plan *plan, struct btio_memory *memory)
{
    int *lengths = calloc((size_t)plan->cells, sizeof *lengths);
    MPI_Aint *places = calloc((size_t)plan->cells, sizeof *places);
    int code = MPI_ERR_NO_MEM;
    if (lengths && places) {
        for (int64_t c = 0; c < plan->cells; c++) {
            lengths[c] = 1;
            places[c] = (char *)btio_memory_line(plan, memory, c, 0, 0) - (char *)memory->values;
        }
        code = MPI_Type_create_struct((int)plan->cells, lengths, places, memory->cell, &memory->all_cells);
    }
    free(lengths);
    free(places);
    return code == MPI_SUCCESS ? MPI_Type_commit(&memory->all_cells) : code;
}

static pl_status make_types(const struct btio_plan *plan, int rank, struct btio_memory *memory, struct pl_error *error)
{
    int code = MPI_Type_contiguous(BTIO_COMPONENTS, MPI_DOUBLE, &memory->point);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&memory->point);
    if (code == MPI_SUCCESS && plan->options.subtype != BTIO_SIMPLE)
        code = make_cells(plan, rank, memory);
    if (code == MPI_SUCCESS && plan->options.subtype == BTIO_FULL)
        code = join_cells(plan, memory);
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "making the types of the cells");
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (plan->options.subtype == BTIO_FULL &&
        piolet_dist_filetype(plan->dist, rank, memory->point, &memory->filetype, message, sizeof message) != 0)
        return pl_fail(error, PL_E_MPI, "making the filetype: %s", message);
    return PL_OK;
}

pl_status btio_memory_make(const struct btio_plan *plan, int rank, struct btio_memory *ret_memory,
                           struct pl_error *error)
{
    *ret_memory = (struct btio_memory){.point = MPI_DATATYPE_NULL,
                                       .filetype = MPI_DATATYPE_NULL,
                                       .all_cells = MPI_DATATYPE_NULL,
                                       .cells = plan->cells};
    ret_memory->values = malloc((size_t)btio_plan_buffer_bytes(plan));
    ret_memory->cell = calloc((size_t)plan->cells, sizeof(MPI_Datatype));
    if (!ret_memory->values || !ret_memory->cell)
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for the cells", (long long)btio_plan_buffer_bytes(plan));
    for (int64_t c = 0; c < plan->cells; c++)
        ret_memory->cell[c] = MPI_DATATYPE_NULL;
    btio_memory_forget(plan, ret_memory);
    return make_types(plan, rank, ret_memory, error);
}

static void free_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        MPI_Type_free(type);
}

void btio_memory_clear(struct btio_memory *memory)
{
    for (int64_t c = 0; c < memory->cells && memory->cell && memory->values; c++)
        free_type(&memory->cell[c]);
    free_type(&memory->point);
    free_type(&memory->filetype);
    free_type(&memory->all_cells);
    free(memory->cell);
    free(memory->values);
    *memory = (struct btio_memory){
        .point = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL, .all_cells = MPI_DATATYPE_NULL};
}
