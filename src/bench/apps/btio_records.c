/* epio by UNIX calls, as a Fortran program writes it: a cell is a record of an unformatted sequential file, with its
 * length in 4 bytes before and behind. */
#include "bench/apps/btio.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void btio_record_copy(const struct btio_plan *plan, int rank, const struct btio_memory *memory, int64_t number,
                             bool to_record, char *record)
{
    const struct btio_cell at = btio_plan_cell(plan, rank, number);
    const size_t line_bytes = (size_t)(at.size[0] * BTIO_POINT_BYTES);
    for (int64_t z = 0; z < at.size[2]; z++)
        for (int64_t y = 0; y < at.size[1]; y++, record += line_bytes) {
            double *line = btio_memory_line(plan, memory, number, y, z);
            if (to_record)
                memcpy(record, line, line_bytes);
            else
                memcpy(line, record, line_bytes);
        }
}

static pl_status btio_record_move(int fd, bool writes, char *record, size_t bytes, size_t *ret_moved,
                                  struct pl_error *error)
{
    *ret_moved = 0;
    while (*ret_moved < bytes) {
        const size_t left = bytes - *ret_moved;
        const ssize_t moved = writes ? write(fd, record + *ret_moved, left) : read(fd, record + *ret_moved, left);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved < 0)
            return pl_fail_errno(error, errno, "%s a record of %zu bytes", writes ? "writing" : "reading", bytes);
        if (moved == 0)
            break;
        *ret_moved += (size_t)moved;
    }
    return PL_OK;
}

pl_status btio_record_transfer(const struct btio_plan *plan, int rank, bool writes, int fd,
                               const struct btio_request *request, struct btio_memory *memory, struct apps_phase *phase,
                               struct pl_error *error)
{
    const int32_t length = (int32_t)request->bytes;
    const size_t mark = sizeof length, bytes = (size_t)request->bytes + 2 * mark;
    char *record = memory->record;
    size_t moved;
    assert(request->bytes <= BTIO_RECORD_MOST && record);
    memset(record, 0xff, bytes);
    if (writes) {
        memcpy(record, &length, mark);
        memcpy(record + mark + request->bytes, &length, mark);
        btio_record_copy(plan, rank, memory, request->cell, true, record + mark);
    }
    const double begin = MPI_Wtime();
    pl_status status = btio_record_move(fd, writes, record, bytes, &moved, error);
    apps_phase_note(phase, begin, request->bytes);
    if (status == PL_OK && moved != bytes)
        status = pl_fail(error, PL_E_IO, "%s a record at %lld: only %zu of %zu bytes moved",
                         writes ? "writing" : "reading", (long long)request->offset, moved, bytes);
    if (status == PL_OK && !writes &&
        (memcmp(record, &length, mark) != 0 || memcmp(record + mark + request->bytes, &length, mark) != 0))
        status = pl_fail(error, PL_E_DATA, "the record at %lld has other marks in the place of %ld",
                         (long long)request->offset, (long)length);
    if (status == PL_OK && !writes)
        btio_record_copy(plan, rank, memory, request->cell, false, record + mark);
    return status;
}
