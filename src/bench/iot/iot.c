/* The Parallel I/O Test Suite as a benchmark: the table of tests, the command line, the keyword file, its checks and
 * its plan. The run is in iot_run.c, results in iot_results.c. */
#include "bench/iot/iot.h"

#include "base/output.h"
#include "base/path.h"
#include "base/units.h"
#include "bench/iot/iot_bench.h"
#include "bench/iot/iot_kernel.h"
#include "lab/runner/testfile.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SETS_MAX = 1000000,
    FILE_MAX = 16 << 20,
    OVERRIDES_MAX = 64,
    /* Open MPI 4.1 aborts the job when a name is longer than its shared file pointer can put into a buffer. */
    FILENAME_LONGEST = PIOLET_IS_OPENMPI ? 240 : 4000
};

/* ---- the tests ---- */

#define ENTRY(name) extern const struct iot_test iot_test_##name;
#include "bench/iot/kernel.def"
#include "bench/iot/lowlevel.def"
#undef ENTRY

static const char LOWLEVEL[] = "Lowlevel", KERNEL[] = "Kernel";

#define ENTRY(name) &iot_test_##name,
const struct iot_class IOT_CLASSES[] = {
    [IOT_LOWLEVEL] = {LOWLEVEL, "Low-Level",
                      (const struct iot_test *const[]){
#include "bench/iot/lowlevel.def" /* NOLINT(readability-duplicate-include) */
                          NULL}},
    [IOT_KERNEL] = {KERNEL, NULL,
                    (const struct iot_test *const[]){
#include "bench/iot/kernel.def" /* NOLINT(readability-duplicate-include) */
                        NULL}},
    [IOT_CLASS_COUNT] = {0},
};
#undef ENTRY

/* Those of the benchmark, which is one of the programs iot_* where it has one class alone. */
static void iot_classes_of(const struct bench *bench, struct iot_class ret_classes[IOT_CLASS_COUNT + 1])
{
    size_t count = 0;
    for (const char *const *name = bench->classes; *name; name++)
        for (const struct iot_class *class = IOT_CLASSES; class->name; class ++)
            if (strcmp(class->name, *name) == 0)
                ret_classes[count++] = *class;
    assert(count > 0 && count <= IOT_CLASS_COUNT);
    ret_classes[count] = (struct iot_class){0};
}

/* ---- options ---- */

static pl_status iot_check_override(void *target, const struct option_row *row, const char *value,
                                    struct pl_error *error)
{
    const struct iot_options *options = target;
    (void)row;
    if (!strchr(value, '=') || value[0] == '=')
        return pl_fail(error, PL_E_USAGE, "'%s' is not KEY=VALUE", value);
    if (options->set.count > OVERRIDES_MAX)
        return pl_fail(error, PL_E_USAGE, "more than %d", OVERRIDES_MAX);
    return PL_OK;
}

/* What other benchmarks take as options stands in the keyword file here. */
static pl_status iot_is_keyword(void *target, const struct option_row *row, const char *value, struct pl_error *error)
{
    (void)target;
    return strcmp(row->name, "on") == 0
               ? pl_fail(error, PL_E_USAGE, "the keyword 'filename' says where; allowed: --set filename=%s/FILE", value)
               : pl_fail(error, PL_E_USAGE, "keywords name hints; allowed: --set hint.NAME=VALUE, one for each");
}

#define AT(member) OPTION_AT(struct iot_options, member)
static const struct option_row ROWS[] = {
    {.name = "on",
     .aliases = "path",
     .letter = 'p',
     .type = OPTION_CALL,
     .flags = OPTION_QUIET,
     .help = "",
     .set = iot_is_keyword},
    {.name = "hints", .aliases = "hint", .type = OPTION_CALL, .flags = OPTION_QUIET, .help = "", .set = iot_is_keyword},
    {.name = "set",
     .letter = 's',
     .type = OPTION_EACH,
     .argument = "KEY=VALUE",
     AT(set),
     .set = iot_check_override,
     .help = "give a keyword this value in every block whose test knows it"},
    {.name = "keywords",
     .type = OPTION_TEXT,
     .flags = OPTION_NO_INPUT,
     .argument = "TEST",
     AT(keywords),
     .help = "print the keywords of a test; 'all' lists the tests"},
    {.name = "overwrite",
     .type = OPTION_FLAG,
     AT(overwrite),
     .help = "take test files that are there and that piolet did not leave as they are"},
    {0}};
#undef AT

static pl_status iot_answer(const struct lab_job *job, FILE *stream, bool *ret_asked, struct pl_error *error)
{
    const char *name = ((const struct iot_options *)job->own)->keywords;
    struct iot_class classes[IOT_CLASS_COUNT + 1];
    *ret_asked = name != NULL;
    if (!name)
        return PL_OK;
    iot_classes_of(job->bench, classes);
    for (const struct iot_class *class = classes; class->name; class ++)
        for (const struct iot_test *const *test = class->tests; *test; test++) {
            if (strcmp(name, "all") == 0)
                fprintf(stream, "%-9s %-12s %s\n", class->name, (*test)->name, (*test)->summary);
            if (strcmp(name, (*test)->name) != 0)
                continue;
            fprintf(stream, "classname %s\ntestname  %s\n", class->name, name);
            iot_spec_print_keywords(*test, stream);
            return PL_OK;
        }
    if (strcmp(name, "all") == 0)
        return PL_OK;
    return pl_fail(error, PL_E_USAGE, "--keywords: '%s' is not a test; allowed: all, or a name that it lists", name);
}

/* ---- sets ---- */

int64_t iot_sets_of(const struct iot_spec *spec, const struct iot_block *block, int nprocs)
{
    int64_t sets = 0;
    struct pl_error error;
    const pl_status status = block->test->check(spec, block, nprocs, &sets, &error);
    assert(status == PL_OK); /* the spec was checked when it was loaded */
    (void)status;
    return sets * (int64_t)block->hint_variants;
}

void iot_set_of(const struct iot_block *block, int nprocs, int64_t number, struct iot_set *ret_set)
{
    assert(number >= 0 && block->hint_variants > 0);
    block->test->describe(block, nprocs, number / (int64_t)block->hint_variants, ret_set);
    assert(ret_set->file_bytes >= 0 && ret_set->write_bytes >= 0 && ret_set->read_bytes >= 0);
}

struct iot_totals iot_totals_of(const struct iot_spec *spec, int nprocs)
{
    struct iot_totals totals = {0};
    for (size_t b = 0; b < spec->block_count; b++) {
        const struct iot_block *block = &spec->blocks[b];
        const int64_t sets = iot_sets_of(spec, block, nprocs);
        for (int64_t i = 0; i < sets; i++) {
            struct iot_set set;
            iot_set_of(block, nprocs, i, &set);
            totals.sets++;
            totals.write_bytes += (double)set.write_bytes;
            totals.read_bytes += (double)set.read_bytes;
            totals.samples += (double)set.samples * (set.memory_bytes > 0 ? nprocs : 1);
            if (set.file_bytes > totals.largest_file_bytes)
                totals.largest_file_bytes = set.file_bytes;
            if (set.memory_bytes + set.memory_alone_bytes > totals.memory_bytes)
                totals.memory_bytes = set.memory_bytes + set.memory_alone_bytes;
        }
    }
    return totals;
}

/* ---- checks of every test ---- */

static pl_status iot_check_hints(const struct iot_spec *spec, const struct iot_block *block, struct pl_error *error)
{
    for (size_t i = 0; i < block->hint_count; i++) {
        const struct iot_hint *hint = &block->hints[i];
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
static pl_status iot_check_filename(const struct iot_spec *spec, const struct iot_block *block, struct pl_error *error)
{
    const char *filename = iot_spec_text(block, "filename");
    if (strlen(filename) > FILENAME_LONGEST)
        return iot_spec_fail(spec, block, "filename", error, "has %zu characters; allowed with this MPI: up to %d",
                             strlen(filename), FILENAME_LONGEST);
    if (path_same(iot_local_path(filename), spec->timings_path))
        return iot_spec_fail(spec, block, "filename", error, "'%.200s' is where the results go; allowed: another file",
                             filename);
    if (path_same(iot_local_path(filename), spec->path))
        return iot_spec_fail(spec, block, "filename", error, "'%.200s' is this keyword file; allowed: another file",
                             filename);
    return PL_OK;
}

static pl_status iot_check_blocks(const struct iot_spec *spec, int nprocs, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < spec->block_count && status == PL_OK; i++) {
        const struct iot_block *block = &spec->blocks[i];
        int64_t sets;
        status = iot_check_filename(spec, block, error);
        if (status == PL_OK)
            status = iot_check_hints(spec, block, error);
        if (status == PL_OK)
            status = block->test->check(spec, block, nprocs, &sets, error);
        if (status == PL_OK && sets > SETS_MAX / (int64_t)block->hint_variants)
            status = iot_spec_fail(spec, block, "repeat", error, "%lld sets in this block; allowed: up to %d",
                                   (long long)sets * (long long)block->hint_variants, SETS_MAX);
    }
    return status;
}

pl_status iot_check_places(const struct iot_spec *spec, int nprocs, bool overwrite, bool takes, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t i = 0; i < spec->block_count && status == PL_OK; i++)
        status = iot_check_filename(spec, &spec->blocks[i], error);
    for (size_t i = 0; i < spec->block_count && status == PL_OK; i++) {
        const struct iot_block *block = &spec->blocks[i];
        const char *path = iot_local_path(iot_spec_text(block, "filename"));
        struct iot_set set;
        struct pl_error why;
        iot_set_of(block, nprocs, 0, &set);
        if (set.write_bytes == 0) /* one that only reads takes what it finds */
            continue;
        status = takes ? testfile_take(path, iot_spec_is_true(block, "keep"), overwrite, &why)
                       : testfile_check(path, overwrite, &why);
        if (status != PL_OK)
            status = iot_spec_fail(spec, block, "filename", error, "%s", why.text);
    }
    for (size_t i = 0; i < spec->block_count && status == PL_OK && takes; i++)
        if (iot_spec_is_true(&spec->blocks[i], "keep"))
            testfile_keep(iot_local_path(iot_spec_text(&spec->blocks[i], "filename")));
    return status;
}

/* ---- the keyword file ---- */

static pl_status iot_read_stream(FILE *stream, const char *path, struct text *out, struct pl_error *error)
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

static pl_status iot_read_file(const char *path, struct text *out, struct pl_error *error)
{
    output_reads(path);
    FILE *stream = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
    if (!stream)
        return pl_fail_errno(error, errno, "opening '%s'", path);
    const pl_status status = iot_read_stream(stream, path, out, error);
    if (stream != stdin)
        fclose(stream);
    return status;
}

pl_status iot_load(const char *path, const struct text *text, const struct iot_class *classes, int nprocs,
                   const struct iot_override *overrides, size_t override_count, struct iot_spec *ret_spec,
                   struct pl_error *error)
{
    assert(nprocs > 0);
    pl_status status = iot_spec_parse(path, text_get(text), text->length, classes, overrides, override_count, ret_spec,
                                      error);
    if (status != PL_OK)
        return status;
    status = iot_check_blocks(ret_spec, nprocs, error);
    if (status != PL_OK)
        iot_spec_clear(ret_spec);
    return status;
}

static const char *iot_path(const struct lab_job *job)
{
    return job->all.operand_count ? job->all.operands[0] : "iotparams.in";
}

/* The spec of the text, with what the command line gives; and where the results go. */
static pl_status iot_take_text(struct lab_job *job, const struct text *text, struct pl_error *error)
{
    struct iot_options *options = job->own;
    struct iot_override overrides[OVERRIDES_MAX + 1];
    struct iot_class classes[IOT_CLASS_COUNT + 1];
    size_t count = 0;
    char *keys[OVERRIDES_MAX];
    assert(options->set.count <= OVERRIDES_MAX && !options->spec.blocks);
    if (job->common.output && path_same(job->common.output, iot_path(job)))
        return pl_fail(error, PL_E_USAGE, "--output: '%s' is the keyword file; allowed: another file",
                       job->common.output);
    for (; count < options->set.count; count++) {
        const char *given = options->set.values[count], *equals = strchr(given, '=');
        keys[count] = strndup(given, (size_t)(equals - given));
        overrides[count] = (struct iot_override){keys[count] ? keys[count] : "", equals + 1};
    }
    if (job->common.output)
        overrides[count++] = (struct iot_override){"timingsfilename", job->common.output};
    iot_classes_of(job->bench, classes);
    const pl_status status = iot_load(iot_path(job), text, classes, job->ranks, overrides, count, &options->spec,
                                      error);
    for (size_t i = 0; i < options->set.count; i++)
        free(keys[i]);
    if (status != PL_OK)
        return status;
    job->common.output = options->spec.timings_path;
    for (size_t b = 0; b < options->spec.block_count; b++)
        output_reserve(iot_local_path(iot_spec_text(&options->spec.blocks[b], "filename")), "a test file will be");
    return PL_OK;
}

static pl_status iot_check_operands(const struct lab_job *job, struct pl_error *error)
{
    if (job->all.operand_count > 1)
        return pl_fail(error, PL_E_USAGE, "'%s': one keyword file at a time", job->all.operands[1]);
    if (job->common.resume && job->all.operand_count == 0 && access(iot_path(job), F_OK) != 0)
        return pl_fail(error, PL_E_USAGE,
                       "--resume '%s': give the keyword file of that run again, as in 'run FILE --resume %s'",
                       job->common.resume, job->common.resume);
    return PL_OK;
}

/* Before anything is started, so that a mistake is one message and no launcher's besides. */
static pl_status iot_prepare(struct lab_job *job, struct pl_error *error)
{
    const struct iot_options *options = job->own;
    struct text text = {0};
    pl_status status = iot_check_operands(job, error);
    if (status != PL_OK || (strcmp(iot_path(job), "-") == 0 && !job->common.dry_run)) /* can be read only once */
        return status;
    status = iot_read_file(iot_path(job), &text, error);
    if (status == PL_OK)
        status = iot_take_text(job, &text, error);
    if (status == PL_OK && !job->common.dry_run)
        status = iot_check_places(&options->spec, job->ranks, options->overwrite, false, error);
    text_clear(&text);
    return status;
}

/* Rank 0 reads the file and gives its text to all, so that every rank has the same, checked spec. */
static pl_status iot_prepare_coll(struct lab_job *job, MPI_Comm world, struct pl_error *error)
{
    const struct iot_options *options = job->own;
    struct text text = {0};
    struct coll_verdict verdict;
    int rank;
    MPI_Comm_rank(world, &rank);
    pl_status status = iot_check_operands(job, error);
    if (status == PL_OK && rank == 0)
        status = iot_read_file(iot_path(job), &text, error);
    status = coll_agree_coll(world, status, error, &verdict);
    if (status != PL_OK)
        goto done;
    int length = (int)text.length;
    MPI_Bcast(&length, 1, MPI_INT, 0, world);
    if (rank != 0 && (text.data = calloc(1, (size_t)length + 1)))
        text.length = (size_t)length;
    status = rank == 0 || text.data ? PL_OK : pl_fail_errno(error, ENOMEM, "reading '%s'", iot_path(job));
    status = coll_agree_coll(world, status, error, &verdict);
    if (status != PL_OK)
        goto done;
    MPI_Bcast(text.data ? text.data : (char *)"", length, MPI_CHAR, 0, world);
    status = iot_take_text(job, &text, error);
    if (status == PL_OK && rank == 0 && !job->common.dry_run)
        status = iot_check_places(&options->spec, job->ranks, options->overwrite, true, error);
done:
    text_clear(&text);
    return status;
}

static void iot_clear(void *own)
{
    iot_spec_clear(&((struct iot_options *)own)->spec);
}

/* ---- the plan ---- */

static void iot_plan_block(struct result *plan, const struct iot_spec *spec, const struct iot_block *block, int ranks)
{
    static const struct result_column columns[] = {{.key = "set", .form = RESULT_INT},
                                                   {.key = "sizes", .label = "sizes really used", .form = RESULT_TEXT},
                                                   {.key = "timings", .form = RESULT_INT},
                                                   {.key = "memory_bytes", .label = "memory", .form = RESULT_BYTES},
                                                   {.key = "tail_bytes", .label = "left out", .form = RESULT_BYTES},
                                                   {0}};
    const int64_t sets = iot_sets_of(spec, block, ranks);
    result_begin_group(plan, "blocks", "%s:%d: %s, file '%s'", spec->path, block->line, block->test->name,
                       iot_spec_text(block, "filename"));
    result_begin_table(plan, "sets", NULL, columns);
    for (int64_t i = 0; i < sets; i++) {
        struct iot_set set;
        iot_set_of(block, ranks, i, &set);
        result_row(plan);
        result_put_int(plan, i + 1);
        result_put_text(plan, set.label);
        result_put_int(plan, set.samples);
        result_put_int(plan, set.memory_bytes + set.memory_alone_bytes);
        result_put_int(plan, set.tail_bytes);
    }
    result_end_group(plan);
}

static pl_status iot_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct iot_spec *spec = &((const struct iot_options *)job->own)->spec;
    const struct iot_totals totals = iot_totals_of(spec, job->ranks);
    char text[UNITS_TEXT_MAX], results[UNITS_TEXT_MAX];
    (void)error;
    result_line(plan, "Plan for %d rank%s; timings and memory are those of the rank that has most.", job->ranks,
                job->ranks == 1 ? "" : "s");
    for (size_t b = 0; b < spec->block_count; b++)
        iot_plan_block(plan, spec, &spec->blocks[b], job->ranks);
    result_line(plan, "In all %lld sets; %.0f bytes written and %.0f read; largest file %s.", (long long)totals.sets,
                totals.write_bytes, totals.read_bytes, units_bytes(totals.largest_file_bytes, text));
    const double head = 1500 + 60.0 * job->ranks, each_set = 1500 + 250.0 * job->ranks; /* bytes, roughly */
    units_bytes((int64_t)(totals.samples * 10 + (double)spec->block_count * head + (double)totals.sets * each_set),
                results);
    result_line(plan, "The memory of a rank up to %s; results about %s.", units_bytes(totals.memory_bytes, text),
                results);
    return PL_OK;
}

const struct bench bench_run = {
    .name = "run",
    .summary = "run the tests of a keyword file",
    .operands = "[FILE]",
    .details = "FILE is a keyword file, 'iotparams.in' by default, '-' for standard input. "
               "'mpiexec -n 4 piolet run FILE' and 'piolet run -n 4 FILE' do the same. Results go to the file's "
               "timingsfilename ('all.out') where -o does not say otherwise. With --resume, sets that the results hold "
               "already are passed over: those of blocks with the same keywords on as many ranks.",
    .example = "run -n 4 iotparams.in",
    .classes = (const char *const[]){LOWLEVEL, KERNEL, NULL},
    .takes = BENCH_OWN_INPUTS | BENCH_TELLS,
    .rows = ROWS,
    .options_size = sizeof(struct iot_options),
    .prepare = iot_prepare,
    .prepare_coll = iot_prepare_coll,
    .answer = iot_answer,
    .plan = iot_plan,
    .run_coll = iot_run_coll,
    .results = iot_results,
    .tools = KERNEL_TOOLS,
    .clear = iot_clear,
};
