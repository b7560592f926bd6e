/* What messages hold: bytes that tell sender, link and measurement apart, at the places that are looked at afterwards
 * (the first, the last, and some between). Pure; called outside of the timing. */
#ifndef PIOLET_BENCH_BEFF_DATA_H
#define PIOLET_BENCH_BEFF_DATA_H

#include "base/status.h"

#include <stdint.h>

struct beff_message {
    uint64_t serial; /* of the measurement, the same on all ranks */
    int sender, link;
    int64_t length;
};

void beff_data_fill(const struct beff_message *message, char *buffer);
/* Puts wrong bytes where beff_data_check() will look, so that an old message does not pass for a new one. */
void beff_data_spoil(const struct beff_message *message, char *buffer);
pl_status beff_data_check(const struct beff_message *message, const char *buffer, struct pl_error *error);

#endif
