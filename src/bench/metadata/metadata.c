/* Metadata: many small files on many ranks, made, looked at, opened, renamed, listed and removed, in the manner of
 * mdtest.
 *
 * Each rank has its own files, in one shared directory or in a directory of its own. Operations run one behind the
 * other, all ranks at once between barriers; the rate of an operation is the number of files of all ranks over the time
 * of the slowest. With --shift, what a rank looks at, opens, renames and removes was made by another one, so that its
 * own cache does not answer. docs/metadata.md says more. */
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/units.h"
#include "lab/result/analysis_rows.h"
#include "lab/result/settings.h"
#include "lab/runner/lab.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char CLASS[] = "Metadata", TEST[] = "metadata";

/* ---- options ---- */

enum metadata_operation { CREATE, STAT, OPEN, RENAME, READDIR, UNLINK, OPERATIONS };
enum metadata_layout { SHARED, OWN };

#define OPERATION_NAMES "create stat open rename readdir unlink"

struct metadata_options {
    int64_t files, bytes, repeat, shift;
    int layout; /* enum metadata_layout */
    uint64_t operations;
};

#define AT(member) OPTION_AT(struct metadata_options, member)
static const struct option_row ROWS[] = {
    {.name = "files",
     .letter = 'f',
     .type = OPTION_INT,
     .initial = "1000",
     .min = 1,
     .max = 10000000,
     AT(files),
     .help = "files of each rank"},
    {.name = "bytes",
     .letter = 'b',
     .type = OPTION_SIZE,
     .initial = "0",
     .max = 1 << 30,
     AT(bytes),
     .help = "bytes that creating writes into a file, and opening reads"},
    {.name = "layout",
     .type = OPTION_CHOICE,
     .choices = "shared own",
     .initial = "shared",
     AT(layout),
     .help = "one directory of all ranks, or one of each"},
    {.name = "ops",
     .type = OPTION_CHOICES,
     .choices = OPERATION_NAMES,
     .initial = "create,stat,open,rename,readdir,unlink",
     AT(operations),
     .help = "what is measured; files are made and removed in any case"},
    {.name = "shift",
     .type = OPTION_INT,
     .initial = "1",
     .max = 1000000,
     AT(shift),
     .help = "work on the files of the rank that is so many further on; 0: on one's own"},
    {.name = "repeat",
     .letter = 'r',
     .type = OPTION_INT,
     .initial = "3",
     .min = 1,
     .max = 1000,
     AT(repeat),
     .help = "repetitions"},
    {0}};
#undef AT

static const char *metadata_name(enum metadata_operation operation)
{
    static const char *const names[OPERATIONS] = {"create", "stat", "open", "rename", "readdir", "unlink"};
    return names[operation];
}

/* ---- the tree of files ---- */

struct metadata_tree {
    const struct metadata_options *options;
    int rank, size;
    char root[PATH_MAX - 128]; /* made by rank 0 */
};

static void metadata_directory(const struct metadata_tree *tree, int rank, char path[PATH_MAX])
{
    if (tree->options->layout == OWN)
        snprintf(path, PATH_MAX, "%s/rank%d", tree->root, rank);
    else
        snprintf(path, PATH_MAX, "%s", tree->root);
}

/* File `number` of `rank`; `renamed`: its second name. */
static void metadata_file(const struct metadata_tree *tree, int rank, int64_t number, bool renamed, char path[PATH_MAX])
{
    if (tree->options->layout == OWN)
        snprintf(path, PATH_MAX, "%s/rank%d/%c%lld", tree->root, rank, renamed ? 'r' : 'f', (long long)number);
    else
        snprintf(path, PATH_MAX, "%s/%c%d.%lld", tree->root, renamed ? 'r' : 'f', rank, (long long)number);
}

static pl_status metadata_make_root(struct metadata_tree *tree, const char *place, struct pl_error *error)
{
    snprintf(tree->root, sizeof tree->root, "%.*s/piolet-metadata-XXXXXX", PATH_MAX - 256, place);
    return interrupt_mkdtemp(tree->root) ? PL_OK : pl_fail_errno(error, errno, "making a directory in '%s'", place);
}

static pl_status metadata_make_own(const struct metadata_tree *tree, struct pl_error *error)
{
    char path[PATH_MAX];
    metadata_directory(tree, tree->rank, path);
    if (tree->options->layout == SHARED || mkdir(path, 0700) == 0)
        return PL_OK;
    return pl_fail_errno(error, errno, "making '%s'", path);
}

/* Whatever is left of this rank's files, and its directory. */
static void metadata_clean(const struct metadata_tree *tree)
{
    char path[PATH_MAX];
    for (int64_t i = 0; i < tree->options->files; i++)
        for (int renamed = 0; renamed < 2; renamed++) {
            metadata_file(tree, tree->rank, i, renamed, path);
            unlink(path);
        }
    metadata_directory(tree, tree->rank, path);
    if (tree->options->layout == OWN)
        rmdir(path);
}

/* ---- operations on one file: 0 or an errno ---- */

static int metadata_create(const char *path, int64_t bytes)
{
    static const char data[1 << 16] = {1};
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    int failed = fd < 0 ? errno : 0;
    for (int64_t done = 0; done < bytes && !failed;) {
        const int64_t left = bytes - done;
        const ssize_t count = write(fd, data, left < (int64_t)sizeof data ? (size_t)left : sizeof data);
        failed = count < 0 ? errno : count == 0 ? EIO : 0;
        done += count > 0 ? count : 0;
    }
    if (fd >= 0 && close(fd) != 0 && !failed)
        failed = errno;
    return failed;
}

static int metadata_open(const char *path, int64_t bytes)
{
    char data[1 << 16];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    int failed = fd < 0 ? errno : 0;
    ssize_t count = 1;
    for (int64_t done = 0; done < bytes && !failed && count > 0; done += count) {
        count = read(fd, data, sizeof data);
        failed = count < 0 ? errno : count == 0 ? EIO : 0;
    }
    if (fd >= 0 && close(fd) != 0 && !failed)
        failed = errno;
    return failed;
}

/* All entries of a directory; they are at least as many as one rank has files. */
static int metadata_readdir(const struct metadata_tree *tree, int rank)
{
    char path[PATH_MAX];
    metadata_directory(tree, rank, path);
    DIR *directory = opendir(path);
    int64_t entries = 0;
    if (!directory)
        return errno;
    while (readdir(directory))
        entries++;
    closedir(directory);
    return entries >= tree->options->files ? 0 : ENOENT;
}

static int metadata_do(const struct metadata_tree *tree, enum metadata_operation operation, int rank, int64_t file,
                       bool renamed)
{
    char path[PATH_MAX], other[PATH_MAX];
    struct stat info;
    metadata_file(tree, rank, file, renamed, path);
    switch (operation) {
    case CREATE:
        return metadata_create(path, tree->options->bytes);
    case STAT:
        return stat(path, &info) != 0 ? errno : 0;
    case OPEN:
        return metadata_open(path, tree->options->bytes);
    case RENAME:
        metadata_file(tree, rank, file, true, other);
        return rename(path, other) != 0 ? errno : 0;
    case READDIR:
        return metadata_readdir(tree, rank);
    default:
        return unlink(path) != 0 ? errno : 0;
    }
}

/* ---- the run ---- */

/* All of this rank's operations of one kind. Reading a directory is one operation, the others one for each file. */
static pl_status metadata_measure(const struct metadata_tree *tree, enum metadata_operation operation, bool renamed,
                                  struct sample_series *series, double *ret_seconds, struct pl_error *error)
{
    const int64_t count = operation == READDIR ? 1 : tree->options->files;
    const int whose = operation == CREATE ? tree->rank : (int)((tree->rank + tree->options->shift) % tree->size);
    const double began = MPI_Wtime();
    assert(series->capacity >= count);
    double before = began;
    for (int64_t i = 0; i < count; i++) {
        const int failed = metadata_do(tree, operation, whose, i, renamed);
        const double now = MPI_Wtime();
        if (failed)
            return pl_fail_errno(error, failed, "%s of file %lld of rank %d in '%s'", metadata_name(operation),
                                 (long long)i, whose, tree->root);
        sample_put(series, i, before, now);
        before = now;
    }
    *ret_seconds = before - began;
    return PL_OK;
}

static void metadata_params(struct lab_set *set, const struct metadata_tree *tree, enum metadata_operation operation,
                            int64_t repetition)
{
    const struct metadata_options *options = tree->options;
    const struct {
        const char *key;
        int64_t value;
    } numbers[] = {{"files", options->files},
                   {"file_bytes", options->bytes},
                   {"shift", options->shift},
                   {"ranks", tree->size},
                   {"repetition", repetition}};
    char text[32];
    snprintf(set->label, sizeof set->label, "%s, repetition %lld", metadata_name(operation), (long long)repetition);
    notes_add(&set->params, "operation", metadata_name(operation));
    notes_add(&set->params, "layout", options->layout == OWN ? "own" : "shared");
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        snprintf(text, sizeof text, "%lld", (long long)numbers[i].value);
        notes_add(&set->params, numbers[i].key, text);
    }
}

/* *ok: the operation succeeded on all ranks, and the next one finds its files. The status is that of the results. */
static pl_status metadata_step_coll(struct lab_run *run, const struct metadata_tree *tree,
                                    enum metadata_operation operation, int64_t repetition, bool renamed, bool *ok,
                                    struct pl_error *error)
{
    const bool wanted = tree->options->operations >> operation & 1;
    struct lab_set set = {.label = ""};
    struct sample_series *series = NULL;
    struct pl_error failure;
    double seconds = 0;
    metadata_params(&set, tree, operation, repetition);
    const bool known = wanted && lab_is_measured_coll(run, TEST, &set.params);
    if (wanted && !known)
        lab_step(run, 1, "%s", set.label);
    else if (wanted)
        lab_skip(run, 1);
    pl_status mine = samples_add(&set.samples, "t", "ns", tree->options->files, &series, &failure);
    *ok = coll_agree_coll(run->world, mine, &failure, &set.verdict) ==
          PL_OK; /* and a barrier before the clock starts */
    if (*ok) {
        mine = metadata_measure(tree, operation, renamed, series, &seconds, &failure);
        samples_time(&set.samples, "phase_time", seconds);
        *ok = coll_agree_coll(run->world, mine, &failure, &set.verdict) == PL_OK;
    }
    pl_status status = PL_OK;
    if (!*ok || (wanted && !known)) /* also where files could not be made again for what is missing */
        status = lab_set_write_coll(run, run->world, &set, error);
    lab_set_clear(&set);
    return status;
}

/* Is an operation of the repetition missing in what is resumed? */
static bool metadata_is_missing_coll(struct lab_run *run, const struct metadata_tree *tree, int64_t repetition)
{
    bool missing = false;
    for (int operation = CREATE; operation < OPERATIONS; operation++) {
        struct lab_set set = {.label = ""};
        if (!(tree->options->operations >> operation & 1))
            continue;
        metadata_params(&set, tree, operation, repetition);
        missing |= !lab_is_measured_coll(run, TEST, &set.params);
        lab_set_clear(&set);
    }
    return missing;
}

/* No directory, no measurement: a set says why. */
static pl_status metadata_give_up_coll(struct lab_run *run, const struct metadata_tree *tree, int64_t repetition,
                                       const struct coll_verdict *verdict, struct pl_error *error)
{
    struct lab_set set = {.verdict = *verdict};
    metadata_params(&set, tree, CREATE, repetition);
    const pl_status status = lab_set_write_coll(run, run->world, &set, error);
    lab_set_clear(&set);
    return status;
}

static pl_status metadata_repeat_coll(struct lab_run *run, struct metadata_tree *tree, const char *place,
                                      int64_t repetition, struct pl_error *error)
{
    struct coll_verdict verdict;
    struct pl_error failure;
    pl_status mine = run->rank == 0 ? metadata_make_root(tree, place, &failure) : PL_OK;
    bool ok = coll_agree_coll(run->world, mine, &failure, &verdict) == PL_OK;
    MPI_Bcast(tree->root, sizeof tree->root, MPI_CHAR, 0, run->world);
    if (ok)
        ok = coll_agree_coll(run->world, metadata_make_own(tree, &failure), &failure, &verdict) == PL_OK;
    pl_status status = ok ? PL_OK : metadata_give_up_coll(run, tree, repetition, &verdict, error);
    for (int operation = CREATE; operation < OPERATIONS && ok && status == PL_OK; operation++) {
        const bool needed = operation == CREATE || operation == UNLINK || tree->options->operations >> operation & 1;
        const bool renamed = operation > RENAME && tree->options->operations >> RENAME & 1;
        if (needed)
            status = metadata_step_coll(run, tree, operation, repetition, renamed, &ok, error);
    }
    metadata_clean(tree);
    MPI_Barrier(run->world);
    if (run->rank == 0 && rmdir(tree->root) == 0)
        interrupt_keep(tree->root);
    return status;
}

static int metadata_wanted(const struct metadata_options *options)
{
    return __builtin_popcountll(options->operations);
}

static pl_status metadata_run_coll(struct lab_run *run, struct pl_error *error)
{
    const struct metadata_options *options = run->job->own;
    const char *place = run->job->common.on.count ? run->job->common.on.values[0] : ".";
    struct metadata_tree tree = {.options = options, .rank = run->rank, .size = run->size};
    lab_plan(run, options->repeat * metadata_wanted(options), (double)(options->repeat * metadata_wanted(options)));
    pl_status status = PL_OK;
    bool begun = false;
    for (int64_t i = 1; i <= options->repeat && status == PL_OK; i++) {
        if (!metadata_is_missing_coll(run, &tree, i)) {
            for (int k = 0; k < metadata_wanted(options); k++)
                lab_skip(run, 1);
            continue;
        }
        if (!begun) {
            lab_block_begin(run, CLASS, TEST);
            status = lab_block_head_coll(run, place, error);
        }
        begun = true;
        if (status == PL_OK)
            status = metadata_repeat_coll(run, &tree, place, i, error);
    }
    return begun ? lab_block_end_coll(run, status, error) : status;
}

static pl_status metadata_prepare(struct lab_job *job, struct pl_error *error)
{
    const char *place = job->common.on.count ? job->common.on.values[0] : ".";
    struct stat info;
    if (stat(place, &info) != 0)
        return pl_fail_errno(error, errno, "--on '%s'", place);
    if (!S_ISDIR(info.st_mode))
        return pl_fail(error, PL_E_USAGE, "--on '%s': is not a directory", place);
    return access(place, W_OK | X_OK) == 0 ? PL_OK : pl_fail_errno(error, errno, "--on '%s'", place);
}

static pl_status metadata_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct metadata_options *options = job->own;
    (void)error;
    result_line(plan, "%lld files of each of %d ranks, %s; %d operations, %lld times.", (long long)options->files,
                job->ranks, options->layout == OWN ? "a directory for each rank" : "in one directory",
                metadata_wanted(options), (long long)options->repeat);
    return PL_OK;
}

/* ---- results ---- */

static const struct quantity_kind RATES[OPERATIONS] = {
#define RATE(operation)                                                                                                \
    {                                                                                                                  \
        operation " rate", "1/s", "operations of all ranks / time of the slowest rank; median of repetitions", false   \
    }
    RATE("create"),  RATE("stat"),  RATE("open"), RATE("rename"),
    RATE("readdir"), RATE("unlink")
#undef RATE
};

static const struct result_column COLUMNS[] = {{.key = "operation", .form = RESULT_TEXT},
                                               {.key = "layout", .form = RESULT_TEXT},
                                               {.key = "ranks", .form = RESULT_INT},
                                               {.key = "files", .label = "files/rank", .form = RESULT_INT},
                                               {.key = "repetition", .label = "rep", .form = RESULT_INT},
                                               {.key = "per_s", .label = "1/s", .form = RESULT_NUMBER, .decimals = 0},
                                               {.key = "median_ns", .label = "median", .form = RESULT_NS},
                                               {.key = "p99_ns", .label = "p99", .form = RESULT_NS},
                                               {.key = "failure", .form = RESULT_TEXT, .hidden = true},
                                               {0}};

static enum metadata_operation metadata_find(const char *name)
{
    int i = 0;
    while (i < OPERATIONS && (!name || strcmp(metadata_name(i), name) != 0))
        i++;
    return i;
}

static pl_status metadata_add_set(struct result *result, const struct analysis_chosen *chosen, struct pl_error *error)
{
    static const char *const keys[] = {"layout", "files", "file_bytes", "shift", "ranks", NULL};
    const char *name = blockfile_param_of(chosen->set, "operation"), *text;
    const enum metadata_operation operation = metadata_find(name);
    struct analysis_times times;
    int64_t number;
    if (operation == OPERATIONS)
        return PL_OK;
    if (analysis_times_of(chosen, &times, error) != PL_OK)
        return error->status;
    const bool failed = chosen->set->error_count > 0;
    const double rate = failed ? NAN : (double)times.count / analysis_slowest_ns(chosen->set, "phase_time") * 1e9;
    result_row(result);
    result_put_text(result, name);
    result_put_text(result, blockfile_param_of(chosen->set, "layout"));
    for (size_t i = 0; i < 3; i++) {
        static const char *const counts[] = {"ranks", "files", "repetition"};
        text = blockfile_param_of(chosen->set, counts[i]);
        if (text && units_parse_int(text, 0, INT64_MAX, &number))
            result_put_int(result, number);
        else
            result_put_empty(result);
    }
    result_put_number(result, rate);
    result_put_number(result, times.median_ns);
    result_put_number(result, times.p99_ns);
    result_put_text(result, failed ? chosen->set->errors[0].text : NULL);
    struct text settings = {0};
    settings_of_keys(chosen->set, keys, &settings);
    result_quantity(result, chosen->block, &RATES[operation], NULL, text_get(&settings),
                    (struct analysis_estimate){rate, NAN});
    text_clear(&settings);
    return PL_OK;
}

/* Rates of all operations side by side. */
static void metadata_draw(struct result *result)
{
    static const char *const names[OPERATIONS] = {"create", "stat", "open", "rename", "readdir", "unlink"};
    const struct result_axis x = {.label = "", .form = RESULT_NUMBER, .names = names, .name_count = OPERATIONS};
    const struct result_axis y = {.label = "operations a second", .form = RESULT_NUMBER, .log = true};
    result_begin_panel(result, &x, &y, 1, "Operations on files");
    result_begin_series(result, RESULT_POINTS, "rate");
    for (size_t i = 0; i < result->quantity_count; i++)
        for (int operation = 0; operation < OPERATIONS; operation++)
            if (strcmp(result->quantities[i].what, RATES[operation].what) == 0)
                result_point(result, operation, result->quantities[i].value, NAN, NAN);
}

static pl_status metadata_results(const struct analysis_request *request, const struct analysis_input *input,
                                  struct result *result, struct pl_error *error)
{
    struct analysis_request selection = *request;
    struct analysis_chosen chosen = {0};
    pl_status status = PL_OK;
    int64_t found = 0;
    selection.op = NULL; /* here an operation is a parameter */
    result_begin_table(result, "operations", NULL, COLUMNS);
    while (status == PL_OK && analysis_next(&selection, input, &chosen)) {
        const char *name = blockfile_param_of(chosen.set, "operation");
        if (strcmp(chosen.block->class_name, CLASS) != 0 || (request->op && (!name || strcmp(name, request->op) != 0)))
            continue;
        status = metadata_add_set(result, &chosen, error);
        found++;
    }
    if (status == PL_OK && found == 0)
        return pl_fail(error, PL_E_INPUT, "no results of metadata are selected");
    if (status == PL_OK)
        metadata_draw(result);
    return status;
}

const struct bench bench_metadata = {
    .name = "metadata",
    .rows = ROWS,
    .options_size = sizeof(struct metadata_options),
    .takes = BENCH_ON,
    .survey = &(const struct bench_survey){{"-n {n} --on {work} --files 20 --repeat 1 -o {out}/metadata.out",
                                            "-n {n} --on {work} --files 500 -o {out}/metadata.out",
                                            "-n {n} --on {work} --files 10000 -o {out}/metadata.out"},
                                           {0.5, 1, 60}},
    .classes = (const char *const[]){CLASS, NULL},
    .summary = "create, stat, open, rename, list and remove many files",
    .details = "Every rank makes its files, and all ranks do one operation after the other at once. The rate of an "
               "operation is that of all ranks together, by the slowest one.",
    .example = "metadata -n 4 --on /scratch --files 10000",
    .output = "metadata.out",
    .prepare = metadata_prepare,
    .plan = metadata_plan,
    .run_coll = metadata_run_coll,
    .results = metadata_results,
};
