#include "measure/analysis_names.h"

#include "base/units.h"

#include <string.h>

bool analysis_one_process(const struct blockfile_set *set)
{
    if (blockfile_param_of(set, "collective"))
        return false;
    int rank = -1;
    for (size_t i = 0; i < set->series_count; i++) {
        const struct blockfile_series *series = &set->series[i];
        if (series->count == 0 || series->rank == rank)
            continue;
        if (rank >= 0)
            return false;
        rank = series->rank;
    }
    return rank >= 0;
}

const char *analysis_processes_text(const char *nprocs, bool one_process, char text[ANALYSIS_NAME_MAX])
{
    if (!nprocs || !nprocs[0])
        snprintf(text, ANALYSIS_NAME_MAX, one_process ? "1 process" : "? processes");
    else if (strcmp(nprocs, "1") == 0)
        snprintf(text, ANALYSIS_NAME_MAX, "1 process");
    else
        snprintf(text, ANALYSIS_NAME_MAX, "%s%.12s processes", one_process ? "1 of " : "", nprocs);
    return text;
}

const char *analysis_access_text(const char *testname, const char *collective, char text[ANALYSIS_NAME_MAX])
{
    const char *access = "";
    if (collective && collective[0])
        access = strcmp(collective, "true") == 0 ? " collective" : " independent";
    snprintf(text, ANALYSIS_NAME_MAX, "%.40s%s", testname, access);
    return text;
}

const char *analysis_test_text(const struct analysis_chosen *chosen, char text[ANALYSIS_NAME_MAX])
{
    return analysis_access_text(chosen->block->testname, blockfile_param_of(chosen->set, "collective"), text);
}

const char *analysis_sizes_text(const struct blockfile_set *set, char text[ANALYSIS_NAME_MAX])
{
    const char *const file_text = blockfile_param_of(set, "filesize_bytes");
    const char *const block_text = blockfile_param_of(set, "blocksize_bytes");
    char file[UNITS_TEXT_MAX], block[UNITS_TEXT_MAX];
    int64_t bytes;
    const bool has_file = file_text && units_parse_int(file_text, 0, INT64_MAX, &bytes);
    if (has_file)
        units_bytes(bytes, file);
    const bool has_block = block_text && units_parse_int(block_text, 0, INT64_MAX, &bytes);
    if (has_block)
        units_bytes(bytes, block);
    snprintf(text, ANALYSIS_NAME_MAX, "%s%s%s%s%s", has_file ? "file " : "", has_file ? file : "",
             has_file && has_block ? ", " : "", has_block ? "block " : "", has_block ? block : "");
    return text;
}

const char *analysis_op_text(const char *key, char text[ANALYSIS_NAME_MAX])
{
    static const struct {
        const char *key, *name;
    } names[] = {{"w", "write"}, {"r", "read"}, {"u", "update"}, {"t", "task"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(key, names[i].key) == 0) {
            snprintf(text, ANALYSIS_NAME_MAX, "%s (%s)", names[i].name, key);
            return text;
        }
    snprintf(text, ANALYSIS_NAME_MAX, "%.20s", key);
    return text;
}

const char *analysis_path_text(const char *path, char text[ANALYSIS_NAME_MAX])
{
    enum { PATH_COLUMNS = 40 };
    const size_t length = strlen(path);
    if (length <= PATH_COLUMNS)
        snprintf(text, ANALYSIS_NAME_MAX, "%s", path);
    else
        snprintf(text, ANALYSIS_NAME_MAX, "...%s", path + length - (PATH_COLUMNS - 3));
    return text;
}

const char *analysis_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
