/* A command line of a benchmark, read: common options, its own, and what a resumed run has in its head. */
#include "lab/runner/lab.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/output.h"

#include <assert.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

enum { RANKS_MAX = 1000000 };

#define AT(member) OPTION_AT(struct lab_options, member)

static pl_status lab_check_plot(void *target, const struct option_row *row, const char *value, struct pl_error *error)
{
    const size_t length = strlen(value);
    (void)target;
    (void)row;
    if (length > 4 && (strcmp(value + length - 4, ".svg") == 0 || strcmp(value + length - 4, ".png") == 0))
        return PL_OK;
    return pl_fail(error, PL_E_USAGE, "'%s'; allowed: a name that ends in .svg or .png", value);
}

const struct option_row LAB_ROWS[] = {{.name = "ranks",
                                       .letter = 'n',
                                       .type = OPTION_INTS,
                                       .argument = "N[,N...]",
                                       .min = 1,
                                       .max = RANKS_MAX,
                                       AT(ranks),
                                       .help = "start mpiexec (srun under SLURM) with so many ranks"},
                                      {.name = "output",
                                       .letter = 'o',
                                       .type = OPTION_TEXT,
                                       .flags = OPTION_NO_INPUT,
                                       .argument = "FILE",
                                       AT(output),
                                       .more = "Every set is written as soon as it is measured.",
                                       .help = "append the results to FILE"},
                                      {.name = "config",
                                       .type = OPTION_TEXT,
                                       .flags = OPTION_NO_INPUT,
                                       .argument = "FILE",
                                       AT(config),
                                       .help = "read options from FILE, lines 'name value'; the command line wins"},
                                      {.name = "dry-run",
                                       .type = OPTION_FLAG,
                                       .flags = OPTION_NO_INPUT,
                                       AT(dry_run),
                                       .more = "With -n for that number of ranks.",
                                       .help = "print what would be measured; run nothing"},
                                      {.name = "json",
                                       .type = OPTION_TEXT,
                                       .flags = OPTION_NO_INPUT,
                                       .argument = "FILE|-",
                                       AT(json),
                                       .more = "- is standard output, then without the tables.",
                                       .help = "export what was measured as JSON"},
                                      {.name = "csv",
                                       .type = OPTION_TEXT,
                                       .flags = OPTION_NO_INPUT,
                                       .argument = "FILE|-",
                                       AT(csv),
                                       .more = "- is standard output, then without the tables.",
                                       .help = "export what was measured as CSV"},
                                      {.name = "plot",
                                       .type = OPTION_TEXT,
                                       .flags = OPTION_NO_INPUT,
                                       .argument = "FILE",
                                       AT(plot),
                                       .more = "PNG needs rsvg-convert.",
                                       .help = "draw the results: FILE.svg or FILE.png",
                                       .set = lab_check_plot},
                                      {.name = "progress",
                                       .type = OPTION_CHOICE,
                                       .flags = OPTION_NO_INPUT,
                                       .argument = "WHEN",
                                       .choices = PROGRESS_CHOICES,
                                       .initial = "auto",
                                       AT(progress),
                                       .more = "auto: on a terminal.",
                                       .help = "progress and time left on standard error"},
                                      {.name = "strict",
                                       .type = OPTION_FLAG,
                                       .flags = OPTION_NO_INPUT,
                                       AT(strict),
                                       .help = "refuse to measure while others keep the machine busy"},
                                      {0}};

const struct option_row LAB_ROWS_RESUME[] = {
    {.name = "resume",
     .type = OPTION_TEXT,
     .flags = OPTION_NO_INPUT,
     .argument = "FILE",
     AT(resume),
     .help = "go on with the run whose results are in FILE, without what it holds already"},
    {0}};

const struct option_row LAB_ROWS_ON[] = {
    {.name = "on",
     .aliases = "path",
     .letter = 'p',
     .type = OPTION_EACH,
     .argument = "DIR",
     AT(on),
     .help = "the place that is measured: a directory; the current one by default"},
    {0}};

const struct option_row LAB_ROWS_TESTFILE[] = {
    {.name = "keep", .type = OPTION_FLAG, AT(keep), .help = "leave the test files there"},
    {.name = "overwrite",
     .type = OPTION_FLAG,
     .flags = OPTION_NO_INPUT,
     AT(overwrite),
     .more = "See TEST FILES in piolet(1).",
     .help = "take test files that are there and that piolet did not leave as they are"},
    {0}};

const struct option_row LAB_ROWS_HINTS[] = {
    {.name = "hints",
     .aliases = "hint",
     .type = OPTION_EACH,
     .argument = "TEXT|@FILE",
     AT(hints),
     .more = "Hints asked for and hints in force are in the results.",
     .help = "hints for all MPI-IO: name=value, several separated by ';', or a file of such lines; may be repeated"},
    {0}};

#undef AT

void lab_tables(const struct bench *bench, const struct option_row *ret_tables[LAB_TABLES_MAX])
{
    int count = 0;
    ret_tables[count++] = bench->rows;
    if (bench->takes & BENCH_ON)
        ret_tables[count++] = LAB_ROWS_ON;
    if (bench->takes & BENCH_HINTS)
        ret_tables[count++] = LAB_ROWS_HINTS;
    if (bench->takes & BENCH_TESTFILE)
        ret_tables[count++] = LAB_ROWS_TESTFILE;
    ret_tables[count++] = LAB_ROWS;
    ret_tables[count++] = LAB_ROWS_RESUME;
    assert(count < LAB_TABLES_MAX);
    ret_tables[count] = NULL;
}

/* ---- resuming ---- */

static bool lab_is_own_class(const struct bench *bench, const struct blockfile_block *block)
{
    bool is_test = !bench->tests;
    for (const char *const *name = bench->tests; name && *name; name++)
        is_test |= strcmp(*name, block->testname) == 0;
    for (const char *const *name = bench->classes; *name; name++)
        if (strcasecmp(*name, block->class_name) == 0)
            return is_test;
    return false;
}

const struct blockfile_block *lab_last_block(const struct bench *bench, const struct blockfile *file)
{
    const struct blockfile_block *last = NULL;
    for (size_t i = 0; i < file->block_count; i++)
        if (lab_is_own_class(bench, &file->blocks[i]))
            last = &file->blocks[i];
    return last;
}

/* All values of an input, a line each. */
static void lab_input_lines(const struct blockfile_block *block, const char *key, struct text *out)
{
    for (size_t i = 0; i < block->input_count; i++)
        if (strcmp(block->inputs[i].key, key) == 0)
            text_format(out, "%s%s", out->length ? "\n" : "", block->inputs[i].value);
}

/* What was given again must say the same. */
static pl_status lab_check_input(struct lab_job *job, const struct blockfile_block *block, const char *name,
                                 struct pl_error *error)
{
    struct text before = {0}, now = {0};
    lab_input_lines(block, name, &before);
    options_text(&job->all, name, &now);
    const bool same = strcmp(text_get(&before), text_get(&now)) == 0;
    if (!same)
        pl_fail(error, PL_E_USAGE, "--%s: '%.200s', but the run to resume has '%.200s'; leave it out", name,
                text_get(&now), text_get(&before));
    text_clear(&before);
    text_clear(&now);
    return same ? PL_OK : error->status;
}

static bool lab_is_place(const struct blockfile_pair *input)
{
    return strcmp(input->key, "on") == 0 || strcmp(input->key, "path") == 0;
}

/* Blocks of one run; where blocks do not name their runs, all are one. */
static bool lab_is_same_run(const struct blockfile_block *a, const struct blockfile_block *b)
{
    const char *one = blockfile_fact_of(a, "run"), *other = blockfile_fact_of(b, "run");
    return !one || (other && strcmp(one, other) == 0);
}

/* Several places may be lines of one input. */
static pl_status lab_take_place(struct lab_job *job, const char *lines, struct pl_error *error)
{
    char *copy = memory_copy(lines), *rest = copy, *line;
    pl_status status = PL_OK;
    while (status == PL_OK && (line = strsep(&rest, "\n")) != NULL) {
        bool known = false;
        for (size_t k = 0; k < job->common.on.count; k++)
            known |= strcmp(job->common.on.values[k], line) == 0;
        if (!known)
            status = options_set(&job->all, "on", line, OPTION_FROM_RESULTS, error);
    }
    free(copy);
    return status;
}

/* Places of all blocks of the run: each may be about another one. */
static pl_status lab_take_places(struct lab_job *job, const struct blockfile *file, const struct blockfile_block *last,
                                 struct pl_error *error)
{
    pl_status status = PL_OK;
    for (size_t b = 0; b < file->block_count && status == PL_OK; b++) {
        const struct blockfile_block *block = &file->blocks[b];
        if (!lab_is_own_class(job->bench, block) || !lab_is_same_run(last, block))
            continue;
        for (size_t i = 0; i < block->input_count && status == PL_OK; i++)
            if (lab_is_place(&block->inputs[i]))
                status = lab_take_place(job, block->inputs[i].value, error);
    }
    return status;
}

static pl_status lab_take_inputs(struct lab_job *job, const struct blockfile_block *block, struct pl_error *error)
{
    for (size_t i = 0; i < block->input_count; i++) {
        const struct blockfile_pair *input = &block->inputs[i];
        const enum option_source source = options_knows(&job->all, input->key) ? options_source(&job->all, input->key)
                                                                               : OPTION_FROM_DEFAULT;
        pl_status status = PL_OK;
        if (options_knows(&job->all, input->key) && !options_is_input(&job->all, input->key))
            continue; /* heads of the first edition hold the whole command line */
        if (lab_is_place(input) && (job->bench->takes & BENCH_ON_MANY) == BENCH_ON_MANY)
            continue;
        if (source == OPTION_FROM_COMMAND || source == OPTION_FROM_FILE)
            status = lab_check_input(job, block, input->key, error);
        else
            status = options_set(&job->all, input->key, input->value, OPTION_FROM_RESULTS, error);
        if (status != PL_OK)
            return status;
    }
    return PL_OK;
}

/* Where heads hold no options: the ranks of the last block, unless -n asks for those of another one. */
static pl_status lab_take_ranks(struct lab_job *job, const struct blockfile *file, const struct blockfile_block *last,
                                struct pl_error *error)
{
    const char *ranks = blockfile_fact_of(last, "nprocs");
    if (!ranks)
        return PL_OK;
    if (options_source(&job->all, "ranks") == OPTION_FROM_DEFAULT)
        return options_set(&job->all, "ranks", ranks, OPTION_FROM_RESULTS, error);
    for (size_t i = 0; i < job->common.ranks.count; i++) {
        const long long asked = (long long)job->common.ranks.values[i];
        bool known = false;
        for (size_t b = 0; b < file->block_count; b++) {
            const char *there = blockfile_fact_of(&file->blocks[b], "nprocs");
            known |= lab_is_own_class(job->bench, &file->blocks[b]) && there && strtoll(there, NULL, 10) == asked;
        }
        if (!known)
            return pl_fail(error, PL_E_USAGE, "ranks: %lld, but the run to resume has %s; allowed: the same", asked,
                           ranks);
    }
    return PL_OK;
}

/* A resumed run is asked for what the interrupted one was. */
static pl_status lab_job_resume(struct lab_job *job, struct pl_error *error)
{
    const char *path = job->common.resume;
    struct blockfile file;
    if (job->common.output && strcmp(job->common.output, path) != 0)
        return pl_fail(error, PL_E_USAGE, "--resume names the file to go on with; leave out --output");
    if (blockfile_open(path, &file, error) != PL_OK)
        return error->status;
    const struct blockfile_block *last = lab_last_block(job->bench, &file);
    pl_status status = !last ? pl_fail(error, PL_E_INPUT, "'%s' holds no results of %s", path, job->bench->name)
                       : job->bench->takes & BENCH_OWN_INPUTS ? lab_take_ranks(job, &file, last, error)
                                                              : lab_take_inputs(job, last, error);
    if (status == PL_OK && (job->bench->takes & BENCH_ON_MANY) == BENCH_ON_MANY && job->common.on.count == 0)
        status = lab_take_places(job, &file, last, error);
    if (last)
        job->test = memory_copy(last->testname);
    if (status != PL_OK)
        pl_within(error, "--resume '%s'", path);
    blockfile_close(&file);
    job->common.output = path;
    return status;
}

/* ---- the whole ---- */

static void lab_job_begin(struct lab_job *job)
{
    const struct option_row *rows[LAB_TABLES_MAX];
    struct option_table tables[LAB_TABLES_MAX];
    int count = 0;
    lab_tables(job->bench, rows);
    for (; rows[count]; count++)
        tables[count] = (struct option_table){rows[count], rows[count] == job->bench->rows ? job->own : &job->common};
    options_init(&job->all, tables, count);
}

static pl_status lab_job_environment(struct lab_job *job, struct pl_error *error)
{
    char prefix[64];
    snprintf(prefix, sizeof prefix, "PIOLET_OPT_%s_", job->bench->name);
    for (char *c = prefix; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return options_take_environment(&job->all, prefix, error);
}

/* "MPI WHICH": this process is one launch of many. */
static void lab_job_take_step(struct lab_job *job)
{
    static char mpi[32];
    const char *step = getenv("PIOLET_STEP");
    const size_t length = step ? strcspn(step, " ") : 0;
    job->mpi = PIOLET_MPI_NAME;
    job->step = "";
    if (!step || !step[length] || length >= sizeof mpi)
        return;
    snprintf(mpi, sizeof mpi, "%.*s", (int)length, step);
    job->mpi = mpi;
    job->step = step + length + 1;
}

pl_status lab_job_init(struct lab_job *job, const struct bench *bench, int count, char *const *words,
                       struct pl_error *error)
{
    *job = (struct lab_job){.bench = bench, .own = memory_new(1, bench->options_size ? bench->options_size : 1)};
    lab_job_take_step(job);
    lab_job_begin(job);
    pl_status status = options_take_words(&job->all, count, words, false, error);
    if (status == PL_OK) { /* again in order, now that the file is known: environment, file, command line */
        char *config = memory_copy(job->common.config);
        options_clear(&job->all);
        memset(&job->common, 0, sizeof job->common);
        if (bench->clear)
            bench->clear(job->own);
        memset(job->own, 0, bench->options_size);
        lab_job_begin(job);
        status = lab_job_environment(job, error);
        if (status == PL_OK && config)
            status = options_take_file(&job->all, config, error);
        if (status == PL_OK)
            status = options_take_words(&job->all, count, words, false, error);
        free(config);
    }
    if (status == PL_OK && job->all.operand_count && !bench->operands)
        status = pl_fail(error, PL_E_USAGE, "'%s': %s takes options only", job->all.operands[0], bench->name);
    if (status == PL_OK && job->common.on.count > 1 && (bench->takes & BENCH_ON_MANY) != BENCH_ON_MANY)
        status = pl_fail(error, PL_E_USAGE, "--on: '%s': one place at a time", job->common.on.values[1]);
    if (status == PL_OK && job->common.resume)
        status = lab_job_resume(job, error);
    if (status == PL_OK && !job->common.output)
        job->common.output = bench->output;
    for (size_t i = 0; i < job->common.ranks.count; i++)
        if (job->common.ranks.values[i] > job->ranks)
            job->ranks = (int)job->common.ranks.values[i];
    return status;
}

void lab_job_clear(struct lab_job *job)
{
    if (job->bench->clear)
        job->bench->clear(job->own);
    options_clear(&job->all);
    free(job->own);
    free(job->test);
    *job = (struct lab_job){.bench = job->bench};
}

char *lab_job_path(const struct lab_job *job, const char *name)
{
    const struct option_texts *on = &job->common.on;
    return on->count ? memory_text("%s/%s", on->values[0], name) : memory_copy(name);
}

/* ---- hints ---- */

/* `path`: of the file that the text is from, which may also have lines "name value"; NULL: of the command line. */
static pl_status lab_hints_add(struct lab_hints *hints, char *text, const char *path, struct pl_error *error)
{
    char *rest = text, *line;
    for (int number = 1; (line = strsep(&rest, path ? "\n" : ";\n")) != NULL; number++) {
        line += strspn(line, " \t\r");
        size_t length = strcspn(line, path ? "#\r" : "\r");
        while (length && (line[length - 1] == ' ' || line[length - 1] == '\t'))
            length--;
        line[length] = '\0';
        const size_t name = strcspn(line, path ? "= \t" : "=");
        char *value = line + name + strspn(line + name, path ? "= \t" : "=");
        if (!*line)
            continue;
        if (name == 0 || !line[name] || (path && !*value))
            return path ? pl_fail(error, PL_E_USAGE,
                                  "%s:%d: a hint is a line name=value or name value; '#' begins a "
                                  "comment",
                                  path, number)
                        : pl_fail(error, PL_E_USAGE, "'%.200s'; allowed: name=value, several separated by ';'", line);
        line[name] = '\0';
        hints->list = memory_grow(hints->list, hints->count, sizeof *hints->list);
        hints->list[hints->count++] = (struct lab_hint){memory_copy(line), memory_copy(value)};
    }
    return PL_OK;
}

pl_status lab_hints_parse(const struct option_texts *texts, struct lab_hints *ret_hints, struct pl_error *error)
{
    pl_status status = PL_OK;
    *ret_hints = (struct lab_hints){0};
    for (size_t i = 0; i < texts->count && status == PL_OK; i++) {
        struct text text = {0};
        const char *value = texts->values[i];
        /* a name of a file alone: how some verbs had it once */
        const char *path = value[0] == '@' ? value + 1 : !strchr(value, '=') && access(value, R_OK) == 0 ? value : NULL;
        if (path) {
            status = text_read_file(path, &text, error);
            output_reads(path);
        } else {
            text_add(&text, value);
        }
        if (status == PL_OK && text.data)
            status = lab_hints_add(ret_hints, text.data, path, error);
        text_clear(&text);
    }
    if (status == PL_OK)
        return PL_OK;
    lab_hints_clear(ret_hints);
    return pl_within(error, "--hints");
}

void lab_hints_clear(struct lab_hints *hints)
{
    for (size_t i = 0; i < hints->count; i++) {
        free(hints->list[i].key);
        free(hints->list[i].value);
    }
    free(hints->list);
    *hints = (struct lab_hints){0};
}

pl_status lab_hints_info(const struct lab_hints *hints, MPI_Info *ret_info, struct pl_error *error)
{
    *ret_info = MPI_INFO_NULL;
    if (hints->count == 0)
        return PL_OK;
    if (MPI_Info_create(ret_info) != MPI_SUCCESS)
        return pl_fail(error, PL_E_MPI, "MPI_Info_create failed");
    for (size_t i = 0; i < hints->count; i++) {
        const int code = MPI_Info_set(*ret_info, hints->list[i].key, hints->list[i].value);
        if (code == MPI_SUCCESS)
            continue;
        MPI_Info_free(ret_info);
        return coll_fail_mpi(error, code, "setting hint '%s'", hints->list[i].key);
    }
    return PL_OK;
}
