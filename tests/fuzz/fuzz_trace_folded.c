/* A folded trace: records that point at each other. */
/* proves: PHASE-1 PHASE-2
 * Fails when records that nobody wrote so crash their reader, or a small file stands for more work than is allowed. */
#include "fuzz.h"
#include "fuzz_trace.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fuzz_trace(bytes, size);
    return 0;
}
