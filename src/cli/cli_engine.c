#include "cli/cli_engine.h"

#include "base/interrupt.h"
#include "base/process.h"
#include "cli/cli_target.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRELOAD_MARK "PIOLET_ENGINE_PRELOADED" /* once is enough: what is not there then will never be */

int cli_engine_start_again(const struct cli_verb *verb, const char *behind, int argc, char **argv)
{
    const char *const libraries[] = {"libpiolet-mpiio.so", behind, NULL};
    static char list[CLI_PRELOAD_MAX];
    char self[PATH_MAX];
    if (getenv(PRELOAD_MARK)) {
        cli_complain(verb, "libpiolet-mpiio.so was preloaded, but is not there: LD_PRELOAD is not obeyed");
        return CLI_FAILED;
    }
    char **words = calloc((size_t)argc + 2, sizeof *words);
    if (!words || !process_self(self) || !cli_target_preload(verb, libraries, list)) {
        free(words);
        return CLI_FAILED;
    }
    words[0] = self;
    memcpy(words + 1, argv, (size_t)argc * sizeof *words);
    setenv("LD_PRELOAD", list, 1);
    setenv(PRELOAD_MARK, "1", 1);
    if (behind)
        setenv("UCX_MEM_EVENTS", "no", 0); /* else UCX takes mmap() away from a library that looks at it */
    fflush(NULL);
    interrupt_restore();
    execv(self, words);
    cli_complain(verb, "cannot start '%s': %s", self, strerror(errno));
    free(words);
    return CLI_FAILED;
}
