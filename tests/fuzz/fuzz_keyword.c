/* A keyword file, read and checked for one rank and for six. */
/* proves: IOT-2 IOT-5
 * Fails when a keyword file crashes the parser, the checks of a test or the plan of its sets. */
#include "fuzz.h"

#include "bench/iot/iot_suite.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("fuzz.in", bytes, size);
    for (int ranks = 1; ranks <= 6; ranks += 5) {
        struct spec spec;
        struct pl_error error;
        if (iot_suite_load(ranks, path, NULL, NULL, 0, &spec, &error) != PL_OK)
            continue;
        iot_suite_totals(&spec, ranks);
        spec_clear(&spec);
    }
    return 0;
}
