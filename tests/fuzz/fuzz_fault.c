/* A fault plan, as PIOLET_FAULT tells it. */
/* proves: GPFS-6
 * Fails when a fault plan crashes its parser. */
#include "fuzz.h"

#include "engine/fault/fault.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size);
    struct fault_plan plan;
    struct pl_error error;
    for (int rank = 0; rank < 2; rank++)
        fault_parse(text, rank, &plan, &error);
    free(text);
    return 0;
}
