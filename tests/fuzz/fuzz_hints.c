/* Hints: as the text of PIOLET_HINTS and as the file that ROMIO_HINTS names. */
/* proves: GPFS-5
 * Fails when hints from outside of the program crash the engine. */
#include "fuzz.h"

#include "engine/hint/hint.h"

#include <stdlib.h>

static void use(void)
{
    struct hints *hints = NULL;
    struct pl_error error;
    char text[HINT_TEXT_MAX];
    if (hints_new_local(&hints, &error) != PL_OK)
        return;
    for (int i = 0; hint_row_at(i); i++)
        if (hints_origin(hints, hint_row_at(i)->name, text) && hints_get(hints, hint_row_at(i)->name))
            fprintf(fuzz_nowhere(), "%s %s\n", hints_get(hints, hint_row_at(i)->name), text);
    hints_digest(hints);
    hints_free(hints);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    char *text = fuzz_text(bytes, size);
    setenv("PIOLET_HINTS", text, 1);
    unsetenv("ROMIO_HINTS");
    use();
    unsetenv("PIOLET_HINTS");
    setenv("ROMIO_HINTS", fuzz_file("hints", bytes, size), 1);
    use();
    free(text);
    return 0;
}
