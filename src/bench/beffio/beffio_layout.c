#include "bench/beffio/beffio_layout.h"

#include <string.h>

static const int64_t MB = 1024 * 1024;

int64_t beffio_repeats(const struct beffio_measured *measured, enum beffio_chunk chunk, int64_t mpart_bytes)
{
    int64_t sum = 0, types = 0;
    for (int type = 0; type < 3; type++) {
        const int64_t bytes = measured->process_bytes[beffio_counterpart(type, chunk)];
        if (bytes < 0)
            continue;
        sum += bytes;
        types++;
    }
    const int64_t repeats = types ? sum / types / beffio_chunk_bytes(chunk, mpart_bytes) : 1;
    return repeats > 1 ? repeats : 1;
}

void beffio_layout_plan(struct beffio_layout *layout, int type, int nprocs, int64_t mpart_bytes,
                        const struct beffio_measured *measured)
{
    memset(layout, 0, sizeof *layout);
    *layout = (struct beffio_layout){.type = type, .nprocs = nprocs, .mpart_bytes = mpart_bytes};
    if (!beffio_is_planned(type))
        return;
    int64_t sum = 0;
    for (int p = beffio_type_first(type); p < beffio_type_end(type); p++) {
        const struct beffio_pattern *pattern = &BEFFIO_TABLE[p];
        if (pattern->chunk == BEFFIO_FILL)
            continue;
        layout->calls[p] = pattern->units ? beffio_repeats(measured, pattern->chunk, mpart_bytes) : 1;
        sum += layout->calls[p] * beffio_chunk_bytes(pattern->chunk, mpart_bytes);
    }
    if (type == BEFFIO_RANDOM)
        return;
    layout->segment_bytes = (sum + MB - 1) / MB * MB;
    layout->fill_bytes = layout->segment_bytes - sum;
    layout->calls[beffio_type_end(type) - 1] = layout->fill_bytes > 0;
}

int64_t beffio_layout_call_bytes(const struct beffio_layout *layout, int pattern)
{
    return BEFFIO_TABLE[pattern].chunk == BEFFIO_FILL ? layout->fill_bytes
                                                      : beffio_call_bytes(pattern, layout->mpart_bytes);
}

/* Processes whose chunks lie in one region. */
static int64_t sharers(const struct beffio_layout *layout)
{
    return layout->type == 0 || layout->type == 1 || layout->type == BEFFIO_RANDOM ? layout->nprocs : 1;
}

int64_t beffio_layout_start(const struct beffio_layout *layout, int pattern)
{
    int64_t start = 0;
    for (int p = beffio_type_first(layout->type); p < pattern; p++)
        start += layout->calls[p] * beffio_layout_call_bytes(layout, p) * sharers(layout);
    return start;
}

int64_t beffio_layout_offset(const struct beffio_layout *layout, int pattern, int rank, int64_t index)
{
    const int64_t call_bytes = beffio_layout_call_bytes(layout, pattern);
    const int64_t start = beffio_layout_start(layout, pattern);
    if (layout->type == 0) /* a call's chunks lie n chunks apart: its first one is behind those of the lower ranks */
        return start + index * call_bytes * layout->nprocs + rank * (call_bytes / BEFFIO_TABLE[pattern].chunks);
    if (sharers(layout) > 1)
        return start + (index * layout->nprocs + rank) * call_bytes;
    return start + rank * layout->segment_bytes + index * call_bytes;
}

int64_t beffio_layout_total(const struct beffio_layout *layout)
{
    int64_t sum = 0;
    for (int p = beffio_type_first(layout->type); p < beffio_type_end(layout->type); p++)
        sum += layout->calls[p] * beffio_layout_call_bytes(layout, p) * layout->nprocs;
    return sum;
}
