#include "mpiio/ship/ship_combine.h"

#include "mpiio/mem.h"

#include <stdlib.h>
#include <string.h>

enum { GAP_READ_BYTES = 8192 }; /* reading these from the page cache costs as much as one more system call */

pl_status ship_combine_init(struct ship_combine *combine, struct storage *storage, int64_t buffer_bytes,
                            struct pl_error *error)
{
    *combine = (struct ship_combine){.storage = storage, .buffer_bytes = buffer_bytes};
    combine->buffer = mem_alloc((size_t)buffer_bytes);
    combine->refs = mem_zalloc((size_t)SHIP_BATCH * SHIP_PIECES, sizeof *combine->refs);
    if (combine->buffer && combine->refs)
        return PL_OK;
    ship_combine_clear(combine);
    return pl_fail(error, PL_E_NOMEM, "no memory for an agent's buffer of %lld bytes", (long long)buffer_bytes);
}

void ship_combine_clear(struct ship_combine *combine)
{
    mem_free(combine->buffer);
    mem_free(combine->refs);
    *combine = (struct ship_combine){0};
}

void ship_combine_add(struct ship_combine *combine, struct ship_box *box)
{
    char *data = box->data;
    for (int i = 0; i < box->pieces; i++) {
        struct ship_piece *piece = &box->piece[i];
        combine->refs[combine->count++] = (struct ship_ref){piece->offset, box, piece, data};
        piece->done = 0;
        data += piece->bytes;
    }
}

static int by_offset(const void *a, const void *b)
{
    const struct ship_ref *first = a, *second = b;
    return (first->offset > second->offset) - (first->offset < second->offset);
}

static void sort(struct ship_combine *combine)
{
    bool sorted = true; /* one box mostly is */
    for (int64_t i = 1; i < combine->count && sorted; i++)
        sorted = combine->refs[i - 1].offset <= combine->refs[i].offset;
    if (!sorted)
        qsort(combine->refs, (size_t)combine->count, sizeof *combine->refs, by_offset);
}

/* How many pieces from `first` on are accessed as one; *ret_end is behind the last byte of them. Writes must touch,
 * reads may leave short gaps and overlap. */
static int64_t find_run(const struct ship_combine *combine, int64_t first, bool write, int64_t *ret_end)
{
    const struct ship_ref *refs = combine->refs;
    const int64_t begin = refs[first].offset;
    int64_t next = first + 1, end = begin + refs[first].piece->bytes;
    for (; next < combine->count; next++) {
        const int64_t gap = refs[next].offset - end, behind = refs[next].offset + refs[next].piece->bytes;
        if (write ? gap != 0 : gap > GAP_READ_BYTES)
            break;
        if (behind - begin > combine->buffer_bytes || end - begin > combine->buffer_bytes)
            break;
        end = behind > end ? behind : end;
    }
    *ret_end = end;
    return next - first;
}

/* `done` bytes of the run were moved: what that means for each piece. */
static void share_out(struct ship_ref *refs, int64_t count, int64_t done, bool write, const char *buffer,
                      const struct pl_error *error)
{
    for (int64_t i = 0; i < count; i++) {
        struct ship_piece *piece = refs[i].piece;
        const int64_t there = done - (refs[i].offset - refs[0].offset);
        piece->done = there < 0 ? 0 : there < piece->bytes ? there : piece->bytes;
        if (!write && count > 1)
            memcpy(refs[i].data, buffer + (refs[i].offset - refs[0].offset), (size_t)piece->done);
        if (error->status != PL_OK && piece->done < piece->bytes)
            ship_box_fail(refs[i].box, error);
    }
}

static void move_run(struct ship_combine *combine, struct ship_ref *refs, int64_t count, int64_t bytes, bool write)
{
    char *data = count > 1 ? combine->buffer : refs[0].data;
    struct pl_error error = {0};
    int64_t done = 0;
    if (write && count > 1)
        for (int64_t i = 0; i < count; i++)
            memcpy(data + (refs[i].offset - refs[0].offset), refs[i].data, (size_t)refs[i].piece->bytes);
    if (write)
        storage_write(combine->storage, refs[0].offset, data, bytes, &done, &error);
    else
        storage_read(combine->storage, refs[0].offset, data, bytes, &done, &error);
    combine->calls++;
    combine->combined += count > 1 ? count : 0;
    share_out(refs, count, done, write, data, &error);
}

/* The pieces as guided prefetching sees them: in the order of the file. */
static struct prefetch_piece next_piece(void *self)
{
    struct ship_combine *combine = self;
    if (combine->looked_at == combine->count)
        return (struct prefetch_piece){0};
    const struct ship_ref *ref = &combine->refs[combine->looked_at++];
    return (struct prefetch_piece){ref->offset, ref->piece->bytes};
}

static bool begin_guide(struct ship_combine *combine, struct prefetch *guide, bool write)
{
    const struct prefetch_pieces pieces = {combine, next_piece};
    combine->looked_at = 0;
    if (write || combine->together == 0 || combine->count == 0 || prefetch_is_regular(&pieces))
        return false;
    combine->looked_at = 0;
    prefetch_begin(guide, combine->storage, combine->prefetch, &pieces, combine->block_bytes, combine->together);
    return true;
}

void ship_combine_run(struct ship_combine *combine, bool write)
{
    struct prefetch guide;
    sort(combine);
    const bool guided = begin_guide(combine, &guide, write);
    for (int64_t first = 0, count; first < combine->count; first += count) {
        int64_t end;
        count = find_run(combine, first, write, &end);
        if (guided)
            prefetch_reach(&guide, combine->refs[first].offset, end - combine->refs[first].offset);
        move_run(combine, &combine->refs[first], count, end - combine->refs[first].offset, write);
    }
    if (guided)
        prefetch_end(&guide);
    combine->count = 0;
}
