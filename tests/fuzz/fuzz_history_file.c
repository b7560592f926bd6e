/* A history that somebody else made: a foreign or damaged SQLite file. */
/* proves: IOT-6
 * Fails when such a file crashes the history, or makes it work without end. */
#include "fuzz.h"
#include "fuzz_history.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct history *history = NULL;
    struct pl_error error;
    if (history_open(fuzz_file("fuzz.db", bytes, size), false, &history, &error) == PL_OK)
        fuzz_history(history);
    history_close(history);
    return 0;
}
