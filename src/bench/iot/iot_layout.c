#include "bench/iot/iot_layout.h"

#include "base/rng.h"

struct iot_layout iot_layout_make(int64_t filesize, int64_t blocksize, int nprocs)
{
    if (blocksize > filesize)
        blocksize = filesize;
    const int64_t blocks = filesize / blocksize;
    return (struct iot_layout){
        .blocks = blocks, .blocksize = blocksize, .tail_bytes = filesize - blocks * blocksize, .nprocs = nprocs};
}

int64_t iot_layout_count(const struct iot_layout *layout, int rank)
{
    return layout->blocks / layout->nprocs + (rank < layout->blocks % layout->nprocs);
}

int64_t iot_layout_rounds(const struct iot_layout *layout)
{
    return iot_layout_count(layout, 0);
}

static int64_t edge(const struct iot_layout *layout, int64_t k)
{
    int64_t offset = k * layout->blocksize;
    if (layout->fuzzy > 0 && k > 0 && k < layout->blocks) {
        const double unit = rng_unit(rng_at(layout->seed, (uint64_t)k)) - 0.5;
        const int64_t numbers = layout->blocksize / 8;
        offset += (int64_t)(unit * layout->fuzzy * (double)numbers) * 8;
    }
    return offset;
}

static int64_t file_block(const struct iot_layout *layout, int rank, int64_t j)
{
    if (!layout->segmented)
        return j * layout->nprocs + rank;
    const int64_t longer = layout->blocks % layout->nprocs; /* the first ranks have one block more */
    return rank * (layout->blocks / layout->nprocs) + (rank < longer ? rank : longer) + j;
}

struct iot_extent iot_layout_block(const struct iot_layout *layout, int rank, int64_t j)
{
    const int64_t k = file_block(layout, rank, j);
    const int64_t offset = edge(layout, k);
    return (struct iot_extent){.offset = offset, .length = edge(layout, k + 1) - offset};
}

int64_t iot_layout_longest(const struct iot_layout *layout)
{
    if (layout->fuzzy == 0 || layout->blocks == 1)
        return layout->blocksize;
    const int64_t numbers = layout->blocksize / 8;
    return layout->blocksize + (int64_t)(layout->fuzzy * (double)numbers) * 8;
}
