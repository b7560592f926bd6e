#include "bench/bench.h"

#include "lab/show/analysis_tools.h"

#include <string.h>
#include <strings.h>

#define ENTRY(name) extern const struct bench bench_##name;
#include "bench/bench.def"
#undef ENTRY

const struct bench *const BENCHES[] = {
#define ENTRY(name) &bench_##name,
#include "bench/bench.def"
#undef ENTRY
    NULL};

const struct bench *bench_find(const char *name)
{
    for (const struct bench *const *bench = BENCHES; *bench; bench++)
        if (strcmp((*bench)->name, name) == 0)
            return *bench;
    return NULL;
}

const struct bench *bench_of_class(const char *class_name)
{
    for (const struct bench *const *bench = BENCHES; *bench; bench++)
        for (const char *const *name = (*bench)->classes; *name; name++)
            if (strcasecmp(*name, class_name) == 0)
                return *bench;
    return NULL;
}

static bool bench_has(const char *const *names, const char *name)
{
    for (; names && *names; names++)
        if (strcasecmp(*names, name) == 0)
            return true;
    return false;
}

const struct bench *bench_of_block(const struct blockfile_block *block)
{
    for (const struct bench *const *bench = BENCHES; *bench; bench++)
        if (bench_has((*bench)->classes, block->class_name) &&
            (!(*bench)->tests || bench_has((*bench)->tests, block->testname)))
            return *bench;
    return bench_of_class(block->class_name);
}

pl_status bench_results_of(struct blockfile *file, size_t number, struct result **ret_result, struct pl_error *error)
{
    const struct bench *bench = bench_of_block(&file->blocks[number]);
    const struct analysis_request request = {.block = (int64_t)number + 1, .to = INT64_MAX};
    const struct analysis_input input = {file, 1};
    struct result *result = result_new(bench ? bench->name : "unknown", NULL);
    pl_status status = bench ? bench->results(&request, &input, result, error) : PL_OK;
    if (status == PL_E_INPUT) /* it was killed before its first set */
        status = PL_OK;
    if (status != PL_OK) {
        result_free(result);
        return status;
    }
    result_finish(result);
    *ret_result = result;
    return PL_OK;
}

pl_status bench_show(const struct bench *bench, const struct analysis_request *request,
                     const struct analysis_input *input, struct pl_error *error)
{
    const struct analysis_tool tool = {.name = bench->name, .build = bench->results};
    return analysis_tool_show(&tool, request, input, error);
}
