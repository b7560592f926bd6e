/* A full trace: a line for each call. */
/* proves: PHASE-1 PHASE-2
 * Fails when lines of a trace crash their reader, or the folding of what they say. */
#include "fuzz.h"
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_trace(bytes, size);
    return 0;
}
