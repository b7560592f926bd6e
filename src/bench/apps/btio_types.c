/* The cells of a rank in memory, and the datatypes of BT-IO. */
#include "bench/apps/btio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

double *btio_memory_line(const struct btio_plan *plan, const struct btio_memory *memory, int64_t cell, int64_t y,
                         int64_t z)
{
    const int64_t side = btio_plan_side(plan);
    const int64_t line = (cell * side + z + BTIO_GHOST) * side + y + BTIO_GHOST;
    return memory->values + (line * side + BTIO_GHOST) * BTIO_COMPONENTS;
}

void btio_memory_forget(const struct btio_plan *plan, struct btio_memory *memory)
{
    memset(memory->values, 0xff, (size_t)btio_plan_buffer_bytes(plan));
}

/* ---- data ---- */

static void btio_fill_line(const struct btio_plan *plan, const struct btio_cell *at, int64_t y, int64_t z,
                           uint64_t seed, int64_t dump, double *line)
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
                btio_fill_line(plan, &at, y, z, seed, dump, btio_memory_line(plan, memory, c, y, z));
    }
}

static pl_status btio_check_line(const struct btio_plan *plan, const struct btio_cell *at, int64_t y, int64_t z,
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
                if (btio_check_line(plan, &at, y, z, seed, dump, btio_memory_line(plan, memory, c, y, z), error) !=
                    PL_OK)
                    return error->status;
    }
    return PL_OK;
}

/* ---- types ---- */

/* A cell in memory from its first point on: lines of a plane, planes of the cell. */
static int btio_make_cell(const struct btio_plan *plan, const struct btio_cell *at, MPI_Datatype point,
                          MPI_Datatype *ret_type)
{
    const MPI_Aint line_bytes = (MPI_Aint)(btio_plan_side(plan) * BTIO_POINT_BYTES);
    MPI_Datatype plane;
    int code = MPI_Type_create_hvector((int)at->size[1], (int)at->size[0], line_bytes, point, &plane);
    if (code != MPI_SUCCESS)
        return code;
    code = MPI_Type_create_hvector((int)at->size[2], 1, line_bytes * (MPI_Aint)btio_plan_side(plan), plane, ret_type);
    MPI_Type_free(&plane);
    return code;
}

static int btio_make_cells(const struct btio_plan *plan, int rank, struct btio_memory *memory)
{
    int code = MPI_SUCCESS;
    for (int64_t c = 0; c < plan->cells && code == MPI_SUCCESS; c++) {
        const struct btio_cell at = btio_plan_cell(plan, rank, c);
        code = btio_make_cell(plan, &at, memory->point, &memory->cell[c]);
        if (code == MPI_SUCCESS)
            code = MPI_Type_commit(&memory->cell[c]);
    }
    return code;
}

/* The cells as the original describes them: a subarray for each, all from the beginning of the whole on. */
static int btio_join_cells(const struct btio_plan *plan, int rank, bool in_file, const struct btio_memory *memory,
                           MPI_Datatype *ret_type)
{
    const int side = (int)btio_plan_side(plan), size = (int)plan->options.class->size, cells = (int)plan->cells;
    const int whole[4] = {in_file ? size : side, in_file ? size : side, in_file ? size : side, cells};
    int *lengths = calloc((size_t)cells, sizeof *lengths);
    MPI_Aint *places = calloc((size_t)cells, sizeof *places); /* a subarray knows its own place */
    MPI_Datatype *types = calloc((size_t)cells, sizeof(MPI_Datatype));
    int code = lengths && places && types ? MPI_SUCCESS : MPI_ERR_NO_MEM, made = 0;
    for (; code == MPI_SUCCESS && made < cells; made += code == MPI_SUCCESS) {
        const struct btio_cell at = btio_plan_cell(plan, rank, made);
        const int part[4] = {(int)at.size[0], (int)at.size[1], (int)at.size[2], 1};
        const int first[4] = {in_file ? (int)at.low[0] : BTIO_GHOST, in_file ? (int)at.low[1] : BTIO_GHOST,
                              in_file ? (int)at.low[2] : BTIO_GHOST, made};
        lengths[made] = 1;
        code = MPI_Type_create_subarray(in_file ? 3 : 4, whole, part, first, MPI_ORDER_FORTRAN, memory->point,
                                        &types[made]);
    }
    if (code == MPI_SUCCESS)
        code = MPI_Type_create_struct(cells, lengths, places, types, ret_type);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(ret_type);
    while (made-- > 0)
        MPI_Type_free(&types[made]);
    free(lengths);
    free(places);
    free(types);
    return code;
}

static pl_status btio_make_types(const struct btio_plan *plan, int rank, struct btio_memory *memory,
                                 struct pl_error *error)
{
    int code = MPI_Type_contiguous(BTIO_COMPONENTS, MPI_DOUBLE, &memory->point);
    if (code == MPI_SUCCESS)
        code = MPI_Type_commit(&memory->point);
    if (code == MPI_SUCCESS && plan->options.subtype == BTIO_EPIO && !btio_plan_is_records(plan))
        code = btio_make_cells(plan, rank, memory);
    if (code == MPI_SUCCESS && plan->options.subtype == BTIO_FULL)
        code = btio_join_cells(plan, rank, false, memory, &memory->all_cells);
    if (code == MPI_SUCCESS && plan->options.subtype == BTIO_FULL)
        code = btio_join_cells(plan, rank, true, memory, &memory->filetype);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "making the types of the cells");
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
    const size_t record = (size_t)(plan->cell_max * plan->cell_max * plan->cell_max * BTIO_POINT_BYTES);
    if (btio_plan_is_records(plan))
        ret_memory->record = malloc(record + BTIO_MARK_BYTES);
    if (!ret_memory->values || !ret_memory->cell || (btio_plan_is_records(plan) && !ret_memory->record))
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for the cells", (long long)btio_plan_buffer_bytes(plan));
    for (int64_t c = 0; c < plan->cells; c++)
        ret_memory->cell[c] = MPI_DATATYPE_NULL;
    btio_memory_forget(plan, ret_memory);
    return btio_make_types(plan, rank, ret_memory, error);
}

static void btio_free_type(MPI_Datatype *type)
{
    if (*type != MPI_DATATYPE_NULL)
        MPI_Type_free(type);
}

void btio_memory_clear(struct btio_memory *memory)
{
    for (int64_t c = 0; c < memory->cells && memory->cell && memory->values; c++)
        btio_free_type(&memory->cell[c]);
    btio_free_type(&memory->point);
    btio_free_type(&memory->filetype);
    btio_free_type(&memory->all_cells);
    free(memory->record);
    free(memory->cell);
    free(memory->values);
    *memory = (struct btio_memory){
        .point = MPI_DATATYPE_NULL, .filetype = MPI_DATATYPE_NULL, .all_cells = MPI_DATATYPE_NULL};
}
