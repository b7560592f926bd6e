/* Collective buffering to a BLOCK distribution: every rank is an agent, and gets one part of what is accessed. */
#include "mpiio/strategy/buffering.h"

enum { ALIGN_BYTES = 65536 };

static void start(struct collective *collective)
{
    const int64_t unit = collective->file->values.striping_unit;
    buffering_start(collective, collective->file->size, unit > 0 ? unit : ALIGN_BYTES);
}

const struct strategy strategy_cb_b = {
    .name = "cb_b",
    .summary = "collective buffering (CB-B): each rank accesses one part of the file for all",
    .exchanges = true,
    .defers = true,
    .scheme = {.target = TARGET_BLOCK, .exchange = EXCHANGE_PIECES},
    .agents = "all ranks",
    .start = start,
    .step = buffering_step,
};
