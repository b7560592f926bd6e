#include "cli/cli_outputs.h"

#include "base/blockfile.h"
#include "base/output.h"
#include "base/path.h"

#include <dirent.h>
#include <stddef.h>
#include <string.h>

static pl_status outputs_check_results(const struct cli_outputs *outputs, struct pl_error *error)
{
    if (outputs->test_file && path_same(outputs->results, outputs->test_file))
        return pl_fail(error, PL_E_USAGE, "'%s' is where the test file will be; allowed: another file",
                       outputs->results);
    if (blockfile_check_append(outputs->results, error) != PL_OK)
        return error->status;
    if (outputs->of_others && output_check_unread(outputs->results, error) != PL_OK)
        return error->status;
    output_reserve(outputs->results, "the results go");
    return PL_OK;
}

pl_status cli_outputs_check(const struct cli_outputs *outputs, struct pl_error *error)
{
    const struct {
        const char *option, *path;
    } files[] = {{"--json", outputs->json}, {"--csv", outputs->csv}, {"--plot", outputs->plot}};
    if (outputs->json && outputs->csv && strcmp(outputs->json, "-") == 0 && strcmp(outputs->csv, "-") == 0)
        return pl_fail(error, PL_E_USAGE, "--json and --csv cannot both go to standard output");
    if (outputs->test_file)
        output_reserve(outputs->test_file, "the test file will be");
    if (outputs->results && outputs_check_results(outputs, error) != PL_OK)
        return pl_within(error, "--output");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (files[i].path && output_check(files[i].path, error) != PL_OK)
            return pl_within(error, "%s", files[i].option);
    return PL_OK;
}

bool cli_outputs_is_empty(const char *directory)
{
    DIR *stream = opendir(directory);
    int count = 0;
    if (!stream)
        return false;
    while (count < 3 && readdir(stream))
        count++;
    closedir(stream);
    return count < 3; /* . and .. */
}
