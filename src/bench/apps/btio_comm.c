/* What BT says to its neighbours between two dumps, without the computation: the same calls, in the same order and with
 * messages of the same sizes.
 *
 * A time step exchanges the faces of all cells with six neighbours at once, then sweeps along x, y and z: forward with
 * elimination, backward with substitution, each from cell to cell. On one process there is nothing to send.
 *
 * The first number of a sweep's message tells whether the sender, or anybody before it, has failed. A sweep along x
 * goes through all ranks of a row and one along y through all of a column: behind a step every rank knows the same. */
#include "bench/apps/btio.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

enum { ELIMINATION_NUMBERS = 30, SUBSTITUTION_NUMBERS = 5, FACE_DEPTH = 2, FACES = 6 };

/* Numbers that go out through face 2d (forward) and 2d + 1 of all cells: those at the border of the grid have none. */
static int64_t btio_face_numbers(const struct btio_plan *plan, int rank, int face)
{
    const int d = face / 2;
    int64_t numbers = 0;
    for (int64_t c = 0; c < plan->cells; c++) {
        const struct btio_cell cell = btio_plan_cell(plan, rank, c);
        const bool first = cell.low[d] == 0, last = cell.low[d] + cell.size[d] == plan->options.class->size;
        if (!(face % 2 == 0 ? last : first))
            numbers += cell.size[(d + 1) % 3] * cell.size[(d + 2) % 3] * BTIO_COMPONENTS * FACE_DEPTH;
    }
    return numbers;
}

static int64_t btio_sweep_numbers(const struct btio_plan *plan, int64_t each)
{
    const int64_t side = plan->options.class->size / plan->cells + 1; /* the original's largest cell */
    return side * side * each;
}

int64_t btio_comm_bytes(const struct btio_plan *plan)
{
    int64_t numbers = 0;
    if (plan->cells == 1)
        return 0;
    for (int face = 0; face < FACES; face++)
        numbers += btio_face_numbers(plan, 0, face);
    const int64_t sweep = btio_sweep_numbers(plan, ELIMINATION_NUMBERS);
    return 2 * (numbers > sweep ? numbers : sweep) * (int64_t)sizeof(double);
}

pl_status btio_comm_make_coll(const struct btio_plan *plan, int rank, MPI_Comm world, struct btio_comm *comm,
                              struct pl_error *error)
{
    const int q = (int)plan->cells, x = rank % q, y = rank / q;
    const int before[3] = {(x + q - 1) % q + q * y, x + q * ((y + q - 1) % q), (x + 1) % q + q * ((y + q - 1) % q)};
    const int behind[3] = {(x + 1) % q + q * y, x + q * ((y + 1) % q), (x + q - 1) % q + q * ((y + 1) % q)};
    *comm = (struct btio_comm){.cells = q, .solve = MPI_COMM_NULL, .faces = MPI_COMM_NULL};
    MPI_Comm_dup(world, &comm->solve);
    MPI_Comm_dup(world, &comm->faces);
    for (int d = 0; d < 3; d++) {
        comm->before[d] = before[d];
        comm->behind[d] = behind[d];
    }
    int64_t all = 0;
    for (int face = 0; face < FACES; face++) {
        comm->face[face] = (int)btio_face_numbers(plan, rank, face);
        all += comm->face[face];
    }
    comm->elimination = (int)btio_sweep_numbers(plan, ELIMINATION_NUMBERS);
    comm->substitution = (int)btio_sweep_numbers(plan, SUBSTITUTION_NUMBERS);
    const int64_t most = all > comm->elimination ? all : comm->elimination;
    if (q > 1) {
        comm->sent = calloc((size_t)most, sizeof(double));
        comm->received = calloc((size_t)most, sizeof(double));
    }
    if (q > 1 && (!comm->sent || !comm->received))
        return pl_fail_errno(error, ENOMEM, "taking memory for messages of %lld numbers", (long long)most);
    return PL_OK;
}

void btio_comm_clear_coll(struct btio_comm *comm)
{
    if (comm->solve != MPI_COMM_NULL)
        MPI_Comm_free(&comm->solve);
    if (comm->faces != MPI_COMM_NULL)
        MPI_Comm_free(&comm->faces);
    free(comm->sent);
    free(comm->received);
    comm->sent = comm->received = NULL;
}

void btio_comm_faces_coll(struct btio_comm *comm)
{
    MPI_Request requests[2 * FACES];
    MPI_Status statuses[2 * FACES];
    double *from = comm->received, *to = comm->sent;
    if (comm->cells == 1)
        return;
    assert(from && to);
    for (int face = 0; face < FACES; face++) { /* what leaves a neighbour's opposite face is as much */
        const int peer = face % 2 == 0 ? comm->behind[face / 2] : comm->before[face / 2];
        MPI_Irecv(from, comm->face[face], MPI_DOUBLE, peer, face ^ 1, comm->faces, &requests[face]);
        from += comm->face[face];
    }
    for (int face = 0; face < FACES; face++) {
        const int peer = face % 2 == 0 ? comm->behind[face / 2] : comm->before[face / 2];
        MPI_Isend(to, comm->face[face], MPI_DOUBLE, peer, face, comm->faces, &requests[FACES + face]);
        to += comm->face[face];
    }
    MPI_Waitall(2 * FACES, requests, statuses);
}

/* From cell to cell, `numbers` each time; all ranks are in other cells of the same sweep. */
static void btio_comm_sweep_coll(struct btio_comm *comm, int to, int from, int numbers, int tag, bool *failed)
{
    MPI_Request sends, receives;
    for (int stage = 0; stage < comm->cells; stage++) {
        if (stage > 0) {
            MPI_Irecv(comm->received, numbers, MPI_DOUBLE, from, tag, comm->solve, &receives);
            MPI_Wait(&sends, MPI_STATUS_IGNORE);
            MPI_Wait(&receives, MPI_STATUS_IGNORE);
            *failed = *failed || comm->received[0] != 0;
        }
        if (stage < comm->cells - 1) {
            comm->sent[0] = *failed;
            MPI_Isend(comm->sent, numbers, MPI_DOUBLE, to, tag, comm->solve, &sends);
        }
    }
}

bool btio_comm_step_coll(struct btio_comm *comm, bool failed)
{
    btio_comm_faces_coll(comm);
    for (int d = 0; d < 3 && comm->cells > 1; d++) {
        btio_comm_sweep_coll(comm, comm->behind[d], comm->before[d], comm->elimination, 2 * d, &failed);
        btio_comm_sweep_coll(comm, comm->before[d], comm->behind[d], comm->substitution, 2 * d + 1, &failed);
    }
    return failed;
}
