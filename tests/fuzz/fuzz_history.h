/* What a history is tried with, once it is open: all that `piolet history` reads. */
#ifndef PIOLET_FUZZ_HISTORY_H
#define PIOLET_FUZZ_HISTORY_H

#include "history/history.h"

void fuzz_history(struct history *history);

#endif
