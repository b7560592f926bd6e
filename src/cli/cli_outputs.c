#include "cli/cli_outputs.h"

#include "base/path.h"

#include <errno.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

pl_status cli_outputs_writable(const char *name, struct pl_error *error)
{
    struct stat info;
    if (strcmp(name, "-") == 0)
        return PL_OK;
    if (stat(name, &info) == 0) {
        if (S_ISDIR(info.st_mode))
            return pl_fail(error, PL_E_USAGE, "'%s' is a directory; allowed: a file", name);
        return access(name, W_OK) == 0 ? PL_OK : pl_fail_errno(error, errno, "'%s' cannot be written", name);
    }
    char *copy = strdup(name);
    if (!copy)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    const int code = access(dirname(copy), W_OK | X_OK), cause = errno;
    free(copy);
    return code == 0 ? PL_OK : pl_fail_errno(error, cause, "'%s' cannot be made", name);
}

pl_status cli_outputs_check(const char *test_file, const char *output, const char *json, const char *csv,
                            struct pl_error *error)
{
    const char *const names[] = {output, json, csv};
    for (int i = 0; i < 3; i++) {
        if (!names[i])
            continue;
        if (path_same(names[i], test_file))
            return pl_fail(error, PL_E_USAGE, "'%s' is where the test file will be; allowed: another name", names[i]);
        for (int j = 0; j < i; j++)
            if (names[j] && strcmp(names[i], "-") != 0 && path_same(names[i], names[j]))
                return pl_fail(error, PL_E_USAGE, "'%s' is named for two outputs; allowed: another file", names[i]);
        if (cli_outputs_writable(names[i], error) != PL_OK)
            return error->status;
    }
    return PL_OK;
}
