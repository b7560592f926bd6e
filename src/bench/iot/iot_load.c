/* From a keyword file to a checked spec on every rank. */
#include "bench/iot/iot_suite.h"

#include "base/output.h"
#include "base/path.h"
#include "measure/testfile.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
    TESTS_MAX = 64,
    SETS_MAX = 1000000,
    FILE_MAX = 16 << 20,
    /* Open MPI 4.1 aborts the job when a name is longer than its shared file pointer can put into a buffer. */
    FILENAME_LONGEST = PIOLET_IS_OPENMPI ? 240 : 4000
};

static pl_status read_stream(FILE *stream, const char *path, struct text *out, struct pl_error *error)
{
    char chunk[65536];
    size_t n;
    while ((n = fread(chunk, 1, sizeof chunk, stream)) > 0 && out->length < FILE_MAX)
        text_append(out, chunk, n);
    if (ferror(stream))
        return pl_fail_errno(error, errno, "reading '%s'", path);
    if (out->failed)
        return pl_fail_errno(error, ENOMEM, "reading '%s'", path);
    if (out->length >= FILE_MAX)
        return pl_fail(error, PL_E_INPUT, "%s: larger than 16 MiB; allowed: a keyword file", path);
    return PL_OK;
}

static pl_status read_file(const char *path, struct text *out, struct pl_error *error)
{
    output_reads(path);
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!stream)
        return pl_fail_errno(error, errno, "opening '%s'", path);
    const pl_status status = read_stream(stream, path, out, error);
    if (stream != stdin)
        fclose(stream);
    return status;
}

/* ---- checks of every test ---- */

static pl_status check_hint_lengths(const struct spec *spec, const struct spec_block *block, struct pl_error *error)
{
    for (size_t i = 0; i < block->hint_count; i++) {
        const struct spec_hint *hint = &block->hints[i];
        const size_t name = strlen(hint->key);
        size_t value = 0;
        for (size_t v = 0; v < hint->count; v++)
            value = strlen(hint->values[v]) > value ? strlen(hint->values[v]) : value;
        if (name >= MPI_MAX_INFO_KEY || value >= MPI_MAX_INFO_VAL)
            return pl_fail(error, PL_E_INPUT,
                           "%s:%d: %.64s: too long for a hint, the name %zu, the value %zu characters; allowed by this "
                           "MPI: %d and %d",
                           spec->path, hint->line, hint->key, name, value, MPI_MAX_INFO_KEY - 1, MPI_MAX_INFO_VAL - 1);
    }
    return PL_OK;
}

/* Nothing that the user needs may be taken for the test file. */
static pl_status check_filename(const struct spec *spec, const struct spec_block *block, struct pl_error *error)
{
    const char *filename = spec_text(block, "filename");
    if (strlen(filename) > FILENAME_LONGEST)
        return spec_fail(spec, block, "filename", error, "has %zu characters; allowed with this MPI: up to %d",
                         strlen(filename), FILENAME_LONGEST);
    if (path_same(iot_local_path(filename), spec->timings_path))
        return spec_fail(spec, block, "filename", error, "'%.200s' is where the results go; allowed: another file",
                         filename);
    if (path_same(iot_local_path(filename), spec->path))
        return spec_fail(spec, block, "filename", error, "'%.200s' is this keyword file; allowed: another file",
                         filename);
    return PL_OK;
}

static bool writes(const struct spec_block *block, int nprocs)
{
    struct iot_set set;
    iot_set_of(block, nprocs, 0, &set);
    return set.write_bytes > 0;
}

/* A block that only reads takes what it finds. */
static pl_status check_test_file(const struct spec *spec, const struct spec_block *block, int nprocs, bool overwrite,
                                 bool takes, struct pl_error *error)
{
    const char *path = iot_local_path(spec_text(block, "filename"));
    struct pl_error why;
    if (!writes(block, nprocs))
        return PL_OK;
    const pl_status status = takes ? testfile_take(path, spec_is_true(block, "keep"), overwrite, &why)
                                   : testfile_check(path, overwrite, &why);
    return status == PL_OK ? PL_OK : spec_fail(spec, block, "filename", error, "%s", why.text);
}

pl_status iot_suite_check_places(const struct spec *spec, int nprocs, bool overwrite, bool takes,
                                 struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < spec->block_count && status == PL_OK; i++)
        status = check_filename(spec, &spec->blocks[i], error);
    for (size_t i = 0; i < spec->block_count && status == PL_OK; i++)
        status = check_test_file(spec, &spec->blocks[i], nprocs, overwrite, takes, error);
    for (size_t i = 0; i < spec->block_count && status == PL_OK && takes; i++)
        if (spec_is_true(&spec->blocks[i], "keep"))
            testfile_keep(iot_local_path(spec_text(&spec->blocks[i], "filename")));
    return status;
}

static pl_status check_blocks(const struct spec *spec, int nprocs, struct pl_error *error)
{
    for (size_t i = 0; i < spec->block_count; i++) {
        const struct spec_block *block = &spec->blocks[i];
        int64_t sets;
        pl_status status = check_filename(spec, block, error);
        if (status == PL_OK)
            status = check_hint_lengths(spec, block, error);
        if (status == PL_OK)
            status = iot_test_of(block)->check(spec, block, nprocs, &sets, error);
        if (status == PL_OK && sets > SETS_MAX / (int64_t)block->hint_variants)
            status = spec_fail(spec, block, "repeat", error, "%lld sets in this block; allowed: up to %d",
                               (long long)sets * (long long)block->hint_variants, SETS_MAX);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* ---- text to spec ---- */

static pl_status parse(const char *path, const struct text *text, const char *class_name, int nprocs,
                       const struct spec_override *overrides, size_t override_count, struct spec *ret_spec,
                       struct pl_error *error)
{
    const struct spec_test *tests[TESTS_MAX + 1] = {NULL};
    const struct iot_test *const *all = iot_tests(class_name);
    for (size_t i = 0; all[i] && i < TESTS_MAX; i++)
        tests[i] = &all[i]->spec;
    pl_status status = spec_parse(path, text_get(text), text->length, tests, overrides, override_count, ret_spec,
                                  error);
    if (status != PL_OK)
        return status;
    status = check_blocks(ret_spec, nprocs, error);
    if (status != PL_OK)
        spec_clear(ret_spec);
    return status;
}

pl_status iot_suite_load(int nprocs, const char *path, const char *class_name, const struct spec_override *overrides,
                         size_t override_count, struct spec *ret_spec, struct pl_error *error)
{
    struct text text = {0};
    pl_status status = read_file(path, &text, error);
    if (status == PL_OK)
        status = parse(path, &text, class_name, nprocs, overrides, override_count, ret_spec, error);
    text_clear(&text);
    return status;
}

pl_status iot_suite_load_coll(MPI_Comm comm, const char *path, const char *class_name,
                              const struct spec_override *overrides, size_t override_count, struct spec *ret_spec,
                              struct pl_error *error)
{
    int rank, nprocs;
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &nprocs);
    struct text text = {0};
    struct coll_verdict verdict;
    pl_status status = rank == 0 ? read_file(path, &text, error) : PL_OK;
    status = coll_agree_coll(comm, status, error, &verdict);
    if (status != PL_OK)
        goto done;
    int length = (int)text.length;
    MPI_Bcast(&length, 1, MPI_INT, 0, comm);
    if (rank != 0 && (text.data = calloc(1, (size_t)length + 1)))
        text.length = (size_t)length;
    status = rank == 0 || text.data ? PL_OK : pl_fail_errno(error, ENOMEM, "reading '%s'", path);
    status = coll_agree_coll(comm, status, error, &verdict);
    if (status != PL_OK)
        goto done;
    MPI_Bcast(text.data ? text.data : (char *)"", length, MPI_CHAR, 0, comm);
    status = parse(path, &text, class_name, nprocs, overrides, override_count, ret_spec, error);
    const bool parsed = status == PL_OK;
    status = coll_agree_coll(comm, status, error, &verdict);
    if (parsed && status != PL_OK)
        spec_clear(ret_spec);
done:
    text_clear(&text);
    return status;
}
