/* Requests of more than 2^31 bytes. */
#ifndef ENGINE_FUZZ_LARGE_H
#define ENGINE_FUZZ_LARGE_H

#include "engine_fuzz_base.h"

int large_run_coll(void); /* an exit status */

#endif
