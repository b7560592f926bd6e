/* `piolet history add`: a block file into a history, and out of it again. */
/* proves: IOT-6
 * Fails when a block file crashes the history, or is taken into it so that it cannot be read again. */
#include "fuzz.h"
#include "fuzz_history.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct history *history = NULL;
    struct history_added added;
    struct text warnings = {0};
    struct pl_error error;
    const char *path = fuzz_file("fuzz.out", bytes, size);
    if (history_open(":memory:", true, &history, &error) != PL_OK)
        abort();
    if (history_add(history, path, "label", &added, &warnings, &error) == PL_OK)
        fuzz_history(history);
    text_clear(&warnings);
    history_close(history);
    return 0;
}
