/* A keyword file, read and checked for one rank and for six. */
/* proves: IOT-2 IOT-5
 * Fails when a keyword file crashes the parser, the checks of a test or the plan of its sets. */
#include "fuzz.h"

#include "bench/iot/iot.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct text text = {0};
    text_append(&text, (const char *)bytes, size);
    for (int ranks = 1; ranks <= 6; ranks += 5) {
        struct iot_spec spec;
        struct pl_error error;
        if (iot_load("fuzz.in", &text, IOT_CLASSES, ranks, NULL, 0, &spec, &error) != PL_OK)
            continue;
        iot_totals_of(&spec, ranks);
        iot_spec_clear(&spec);
    }
    text_clear(&text);
    return 0;
}
