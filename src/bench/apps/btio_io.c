/* The calls of one dump. */
#include "bench/apps/btio_io.h"

/* What one call moves: its place in memory, and count times type. */
struct piece {
    double *values;
    int count;
    MPI_Datatype type;
};

static struct piece piece_of(const struct btio_plan *plan, const struct btio_memory *memory,
                             const struct btio_request *request)
{
    switch (plan->options.subtype) {
    case BTIO_FULL:
        return (struct piece){memory->values, 1, memory->all_cells};
    case BTIO_SIMPLE:
        return (struct piece){btio_memory_line(plan, memory, request->cell, request->row[0], request->row[1]),
                              (int)(request->bytes / (int64_t)sizeof(double)), MPI_DOUBLE};
    default:
        return (struct piece){btio_memory_line(plan, memory, request->cell, 0, 0), 1, memory->cell[request->cell]};
    }
}

static int transfer(const struct btio_plan *plan, bool writes, MPI_File file, int64_t offset, const struct piece *piece,
                    MPI_Status *status)
{
    if (plan->options.subtype == BTIO_FULL)
        return writes ? MPI_File_write_at_all(file, offset, piece->values, piece->count, piece->type, status)
                      : MPI_File_read_at_all(file, offset, piece->values, piece->count, piece->type, status);
    return writes ? MPI_File_write_at(file, offset, piece->values, piece->count, piece->type, status)
                  : MPI_File_read_at(file, offset, piece->values, piece->count, piece->type, status);
}

static pl_status judge(const struct btio_request *request, const struct piece *piece, bool writes, int64_t dump,
                       int code, const MPI_Status *status, struct pl_error *error)
{
    const char *doing = writes ? "writing" : "reading";
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "%s %lld bytes of dump %lld at offset %lld", doing, (long long)request->bytes,
                             (long long)dump + 1, (long long)request->offset);
    MPI_Count numbers = 0;
    MPI_Get_elements_x(status, piece->type, &numbers);
    if ((int64_t)numbers * (int64_t)sizeof(double) != request->bytes)
        return pl_fail(error, PL_E_IO, "%s dump %lld at offset %lld: only %lld of %lld bytes moved", doing,
                       (long long)dump + 1, (long long)request->offset, (long long)numbers * (long long)sizeof(double),
                       (long long)request->bytes);
    return PL_OK;
}

/* A rank that has failed: nothing to write or read, but the others count on its call. */
static void take_part_coll(const struct btio_plan *plan, bool writes, MPI_File file, struct btio_memory const *memory)
{
    const struct piece nothing = {memory->values, 0, MPI_DOUBLE};
    MPI_Status status;
    if (plan->options.subtype == BTIO_FULL)
        transfer(plan, writes, file, 0, &nothing, &status);
}

pl_status btio_io_dump_coll(const struct btio_plan *plan, int rank, int64_t dump, bool writes, bool takes_part,
                            MPI_File file, const struct btio_memory *memory, struct apps_phase *phase,
                            struct pl_error *error)
{
    struct btio_walk walk;
    struct btio_request request;
    if (!takes_part) {
        take_part_coll(plan, writes, file, memory);
        return error->status;
    }
    btio_walk_begin(&walk, plan, rank, dump);
    while (btio_walk_next(&walk, &request)) {
        const struct piece piece = piece_of(plan, memory, &request);
        MPI_Status status;
        const double begin = MPI_Wtime();
        const int code = transfer(plan, writes, file, request.offset, &piece, &status);
        apps_phase_note(phase, begin, request.bytes);
        if (judge(&request, &piece, writes, dump, code, &status, error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}
