/* PIOBENCH: what is asked for, who takes part, and launches that alternate. */
#include "bench/contest/piobench.h"

#include "base/memory.h"
#include "base/units.h"
#include "mpi/launcher.h"

#include <stdlib.h>
#include <string.h>

#define TEST "piobench"

enum { RANKS_MAX = 1000000, HINT_MAX = 63 };
static const double FILE_MAX = 1125899906842624.0; /* 2^50 */

/* Who may take part. To add a strategy of the engine: one line. */
#define ENGINE(name, f, buffer, text)                                                                                  \
    {                                                                                                                  \
        .label = name, .access = CONTEST_ENGINE, .strategy = (name), .family = (f), .buffer_hint = (buffer),           \
        .summary = (text)                                                                                              \
    }
const struct contest_contestant PIOBENCH_ALGORITHMS[] = {
    {.label = "naive",
     .access = CONTEST_POSIX,
     .family = "naive",
     .summary = "POSIX: each rank lseek + write of each data block"},
    ENGINE("independent", "scheduling", NULL, "each rank by itself, in one collective call"),
    ENGINE("node_grouping", "scheduling", NULL, "ranks of one colour after those of another"),
    ENGINE("data_grouping", "scheduling", NULL, "all ranks, a part of their data at a time"),
    ENGINE("random", "scheduling", NULL, "each rank's data blocks in an order of its own"),
    ENGINE("sliding_window", "scheduling", NULL, "a window of the file at a time"),
    ENGINE("generalized_window", "scheduling", NULL, "a window on each device at a time"),
    ENGINE("cb_b", "buffering", "cb_buffer_size", "CB-B: one part of the file for each rank"),
    ENGINE("cb_fl", "buffering", "cb_buffer_size", "CB-FL: aggregators as the file is laid out"),
    ENGINE("cb_c", "buffering", "cb_buffer_size", "CB-C: blocks of the file in turn"),
    ENGINE("cbx", "buffering", "cb_buffer_size", "CBx: as CB-C, with gathered messages"),
    ENGINE("shipping", "buffering", "IBM_io_buffer_size", "data shipping to agents"),
    ENGINE("ring", "buffering", "cb_buffer_size", "blocks in memory that ranks share"),
    ENGINE("twophase", "buffering", "cb_buffer_size", "gathered messages to aggregators"),
    ENGINE("broadcast", "buffering", NULL, "read once and broadcast, where all want the same"),
    ENGINE("auto", "choosing", "cb_buffer_size", "what the engine chooses"),
    {.label = "system",
     .access = CONTEST_SYSTEM,
     .family = "system",
     .buffer_hint = "cb_buffer_size",
     .summary = "the MPI's own MPI-IO, collective"},
    {.label = "system-independent",
     .access = CONTEST_SYSTEM,
     .family = "system",
     .independent = true,
     .summary = "the MPI's own MPI-IO, independent"},
    {.label = ""}};
#undef ENGINE

/* ---- options ---- */

static pl_status piobench_set_sizes(void *target, const struct option_row *row, const char *value,
                                    struct pl_error *error)
{
    const struct option_numbers *list = (const void *)((const char *)target + row->offset);
    (void)value;
    for (size_t i = 0; i < list->count; i++)
        if (list->values[i] % PIOBENCH_ELEMENT)
            return pl_fail(error, PL_E_USAGE, "'%lld'; allowed: multiples of 8 bytes, as 64,1k,1m",
                           (long long)list->values[i]);
    return PL_OK;
}

static pl_status piobench_set_dims(void *target, const struct option_row *row, const char *value,
                                   struct pl_error *error)
{
    struct piobench *piobench = target;
    double product = PIOBENCH_ELEMENT;
    char *copy = memory_copy(value ? value : ""), *rest = copy, *word;
    bool right = true;
    (void)row;
    piobench->dim_count = 0;
    while (value && right && (word = strsep(&rest, "x")) != NULL) {
        int64_t size;
        right = units_parse_int(word, 1, INT64_C(1) << 50, &size) && piobench->dim_count < PIOLET_DIST_DIMS_MAX;
        if (right)
            piobench->dims[piobench->dim_count++] = size;
        product *= right ? (double)size : 1;
    }
    free(copy);
    if (value && (!right || piobench->dim_count < 2 || product > FILE_MAX))
        return pl_fail(error, PL_E_USAGE, "'%.200s'; allowed: elements along 2 to 4 dimensions, as 256x256x128", value);
    return PL_OK;
}

#define AT(member) OPTION_AT(struct piobench, member)

static const struct option_row ROWS[] = {
    CONTEST_ROWS("piobench.dat"),
    {.name = "distribution",
     .letter = 'd',
     .type = OPTION_EACH,
     .argument = "DIST",
     AT(distribution_texts),
     .help =
         "BLOCK, BALANCED, CYCLIC, BLOCK,BLOCK,BLOCK, multipartition, random, broadcast (these by default), and all "
         "others that piolet_dist(3) has; may be repeated",
     .more = "CYCLIC, random, and arrays of more dimensions whose first is distributed take the data block sizes of "
             "--blocks; the others have the one that file and ranks give."},
    {.name = "algorithms",
     .letter = 'a',
     .type = OPTION_TEXTS,
     .argument = "LIST",
     AT(algorithms),
     .initial = "all",
     .help = "naive, cbx, ring, system, ..., or all; NAME:HINT=VALUE gives one hints of its own"},
    {.name = "blocks",
     .letter = 'b',
     .type = OPTION_SIZES,
     .min = 8,
     .max = 1 << 30,
     AT(blocks),
     .set = piobench_set_sizes,
     .initial = "64,256,1k,4k,16k,64k,256k,1m",
     .help = "data block sizes: multiples of 8 bytes"},
    {.name = "sizes",
     .letter = 's',
     .type = OPTION_SIZES,
     .min = 8,
     .max = 1125899906842624.0,
     AT(sizes),
     .set = piobench_set_sizes,
     .initial = "16m",
     .help = "file sizes; the one really used is a little less where the array does not fill it"},
    {.name = "dims",
     .type = OPTION_CALL,
     .argument = "AxBxC",
     .set = piobench_set_dims,
     .help = "elements of 8 bytes along each dimension, for distributions of as many; in the place of file and block "
             "size"},
    {.name = "ops",
     .type = OPTION_CHOICES,
     .choices = "write read",
     AT(ops),
     .initial = "write,read",
     .help = "operations; broadcast is only read"},
    {.name = "buffers",
     .type = OPTION_SIZES,
     .min = 1,
     .max = INT32_MAX,
     AT(buffers),
     .help = "buffer sizes to try with each algorithm that has buffers"},
    {.name = "groups",
     .type = OPTION_INTS,
     .min = 1,
     .max = RANKS_MAX,
     AT(groups),
     .help = "group sizes to try with node_grouping"},
    {.name = "repeat",
     .aliases = "trials",
     .letter = 'r',
     .type = OPTION_INT,
     .min = 1,
     .max = 200,
     AT(contest.rule.trials),
     .initial = "3",
     .help = "trials of each algorithm at least"},
    {.name = "max-repeat",
     .aliases = "max-trials",
     .type = OPTION_INT,
     .min = 1,
     .max = 200,
     AT(contest.rule.max_trials),
     .initial = "10",
     .help = "trials at most"},
    {.name = "width",
     .type = OPTION_PERCENT,
     .min = 1e-5,
     .max = 1,
     AT(contest.rule.width),
     .initial = "5%",
     .help = "go on until the half width of the 90 % interval is below this part of the mean",
     .more = "Between --repeat and --max-repeat an algorithm is measured again until it is."},
    {.name = "sync",
     .type = OPTION_FLAG,
     AT(contest.sync),
     .help = "writing ends when data are on the device",
     .more = "With MPI_File_sync(3) or fsync(2), inside of the time."},
    {.name = "cold", .type = OPTION_FLAG, AT(cold), .help = "take the file out of the page cache before each trial"},
    {.name = "direct",
     .type = OPTION_FLAG,
     AT(contest.direct),
     .help = "pass the page cache by, where possible",
     .more =
         "naive does (O_DIRECT), for data blocks that are multiples of 4096 bytes; ROMIO is asked to. Results of an "
         "MPI-IO that knows no direct I/O carry a warning."},
    {.name = "fresh", .type = OPTION_FLAG, AT(fresh), .help = "write a new file each time, not over the old"},
    {.name = "check",
     .type = OPTION_CHOICE,
     .argument = "WHEN",
     .choices = "first all none",
     AT(contest.check),
     .initial = "first",
     .help = "compare contents after which trials of an algorithm",
     .more = "Of the file, or of what was read: outside of the time and by POSIX calls only."},
    {.name = "mpis",
     .type = OPTION_TEXTS,
     .argument = "LIST",
     AT(mpis),
     .help = "alternate launches of mpich, openmpi, openmpi-romio; needs -n",
     .more =
         "openmpi has its OMPIO, openmpi-romio ROMIO. For each cell and round, each is started for one trial of its "
         "algorithms. The builds of these MPIs must stand side by side."},
    {0}};

#undef AT

/* ---- contestants ---- */

static void piobench_label(struct contest_contestant *contestant)
{
    for (size_t i = 0; i < contestant->hints.count; i++) {
        const size_t used = strlen(contestant->label);
        snprintf(contestant->label + used, sizeof contestant->label - used, ":%s=%s", contestant->hints.list[i].key,
                 contestant->hints.list[i].value);
    }
}

static const struct contest_contestant *piobench_find(const char *name, size_t length)
{
    for (const struct contest_contestant *row = PIOBENCH_ALGORITHMS; *row->label; row++)
        if (strlen(row->label) == length && strncmp(row->label, name, length) == 0)
            return row;
    return NULL;
}

static pl_status piobench_refuse(const char *word, struct pl_error *error)
{
    struct text names = {0};
    for (const struct contest_contestant *row = PIOBENCH_ALGORITHMS; *row->label; row++)
        text_format(&names, "%s, ", row->label);
    pl_fail(error, PL_E_USAGE, "--algorithms: '%.100s'; allowed: %sall; with hints of its own as NAME:HINT=VALUE", word,
            text_get(&names));
    text_clear(&names);
    return error->status;
}

/* "cbx", "cbx:cb_buffer_size=64k". */
static pl_status piobench_add_algorithm(struct contest *contest, const char *word, struct pl_error *error)
{
    const size_t length = strcspn(word, ":");
    const struct contest_contestant *row = piobench_find(word, length);
    if (!row)
        return piobench_refuse(word, error);
    struct contest_contestant contestant = *row;
    char *copy = memory_copy(word[length] ? word + length + 1 : ""), *rest = *copy ? copy : NULL, *hint;
    pl_status status = PL_OK;
    if (rest && row->access == CONTEST_POSIX)
        status = pl_fail(error, PL_E_USAGE, "--algorithms: '%s'; allowed: naive without hints: it is plain POSIX",
                         word);
    while (status == PL_OK && (hint = strsep(&rest, ":")) != NULL) {
        char *equals = strchr(hint, '=');
        if (!equals || equals == hint || !equals[1] || equals - hint > HINT_MAX || strlen(equals + 1) > HINT_MAX) {
            status = pl_fail(error, PL_E_USAGE, "--algorithms: '%s'; allowed: HINT=VALUE, up to %d characters each",
                             hint, HINT_MAX);
        } else {
            *equals = '\0';
            contest_hint(&contestant.hints, hint, "%s", equals + 1);
        }
    }
    free(copy);
    if (status != PL_OK) {
        lab_hints_clear(&contestant.hints);
        return status;
    }
    piobench_label(&contestant);
    return contest_add_contestant(contest, contestant, "algorithms", error);
}

static const char *piobench_buffer_hint(const struct contest_contestant *contestant)
{
    return contestant->buffer_hint;
}

static const char *piobench_group_hint(const struct contest_contestant *contestant)
{
    return contestant->strategy && strcmp(contestant->strategy, "node_grouping") == 0 ? "piolet_group_size" : NULL;
}

/* Gives each contestant that `hint_of` has a hint for one variant for each value, in its place. */
static pl_status piobench_expand(struct contest *contest, const struct option_numbers *values,
                                 const char *(*hint_of)(const struct contest_contestant *contestant),
                                 struct pl_error *error)
{
    struct contest_contestant *before = contest->contestants;
    const int count = contest->contestant_count;
    pl_status status = PL_OK;
    if (values->count == 0)
        return PL_OK;
    contest->contestants = NULL;
    contest->contestant_count = 0;
    for (int i = 0; i < count; i++) {
        const char *hint = hint_of(&before[i]);
        for (size_t v = 0; v < (hint ? values->count : 1) && status == PL_OK; v++) {
            struct contest_contestant variant = before[i];
            variant.hints = (struct lab_hints){0};
            for (size_t h = 0; h < before[i].hints.count; h++)
                contest_hint(&variant.hints, before[i].hints.list[h].key, "%s", before[i].hints.list[h].value);
            if (hint)
                contest_hint(&variant.hints, hint, "%lld", (long long)values->values[v]);
            variant.label[strcspn(variant.label, ":")] = '\0';
            piobench_label(&variant);
            status = contest_add_contestant(contest, variant, "algorithms", error);
        }
        lab_hints_clear(&before[i].hints);
    }
    free(before);
    return status;
}

static pl_status piobench_make_contestants(struct piobench *piobench, struct pl_error *error)
{
    struct contest *contest = &piobench->contest;
    pl_status status = PL_OK;
    for (size_t i = 0; i < piobench->algorithms.count && status == PL_OK; i++) {
        if (strcmp(piobench->algorithms.values[i], "all") != 0)
            status = piobench_add_algorithm(contest, piobench->algorithms.values[i], error);
        else
            for (const struct contest_contestant *row = PIOBENCH_ALGORITHMS; *row->label && status == PL_OK; row++)
                status = contest_add_contestant(contest, *row, "algorithms", error);
    }
    if (status == PL_OK)
        status = piobench_expand(contest, &piobench->buffers, piobench_buffer_hint, error);
    return status == PL_OK ? piobench_expand(contest, &piobench->groups, piobench_group_hint, error) : status;
}

/* ---- the rest of prepare ---- */

static pl_status piobench_add_distribution(struct piobench *piobench, const char *text, struct pl_error *error)
{
    struct piobench_distribution *distribution = &piobench->distributions[piobench->distribution_count];
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (piolet_dist_parse(text, &distribution->spec, message, sizeof message) != PIOLET_DIST_OK)
        return pl_fail(error, PL_E_USAGE, "--distribution: %s", message);
    if (distribution->spec.transposed)
        return pl_fail(error, PL_E_USAGE,
                       "--distribution: '%s'; allowed: distributions that are not transposed (piolet run has the test "
                       "transpose)",
                       text);
    piolet_dist_format(&distribution->spec, distribution->text, sizeof distribution->text);
    for (int i = 0; i < piobench->distribution_count; i++)
        if (strcmp(piobench->distributions[i].text, distribution->text) == 0)
            return pl_fail(error, PL_E_USAGE, "--distribution: '%s' stands there twice", text);
    piobench->distribution_count++;
    return PL_OK;
}

static pl_status piobench_make_distributions(struct piobench *piobench, struct pl_error *error)
{
    static const char *usual[] = {"BLOCK",          "BALANCED", "CYCLIC",   "BLOCK,BLOCK,BLOCK",
                                  "multipartition", "random",   "broadcast"};
    struct option_texts texts = piobench->distribution_texts;
    pl_status status = PL_OK;
    if (texts.count == 0)
        texts = (struct option_texts){usual, sizeof usual / sizeof usual[0]};
    piobench->distributions = memory_new(texts.count, sizeof *piobench->distributions);
    for (size_t i = 0; i < texts.count && status == PL_OK; i++)
        status = piobench_add_distribution(piobench, texts.values[i], error);
    return status;
}

static pl_status piobench_check_mpis(struct lab_job *job, struct pl_error *error)
{
    static const char *const known[] = {"mpich", "openmpi", "openmpi-romio"};
    const struct piobench *piobench = job->own;
    const struct option_texts *mpis = &piobench->mpis;
    struct blockfile file;
    for (size_t i = 0; i < mpis->count; i++) {
        bool is_known = false;
        for (size_t k = 0; k < sizeof known / sizeof known[0]; k++)
            is_known |= strcmp(mpis->values[i], known[k]) == 0;
        if (!is_known)
            return pl_fail(error, PL_E_USAGE, "--mpis: '%s'; allowed: mpich, openmpi, openmpi-romio, each once",
                           mpis->values[i]);
        for (size_t k = 0; k < i; k++)
            if (strcmp(mpis->values[i], mpis->values[k]) == 0)
                return pl_fail(error, PL_E_USAGE, "--mpis: '%s' stands there twice", mpis->values[i]);
    }
    job->alternates = mpis->count > 0 && !*job->step;
    if (!job->alternates)
        return PL_OK;
    if (!options_given(&job->all, "ranks"))
        return pl_fail(error, PL_E_USAGE, "--mpis starts MPI jobs: on how many ranks? Give -n");
    if (job_is_launched())
        return pl_fail(error, PL_E_USAGE, "--mpis starts MPI jobs, but this is one already; leave mpiexec out");
    if (!job->common.resume && !job->common.dry_run && blockfile_open(job->common.output, &file, error) == PL_OK) {
        const size_t blocks = file.block_count;
        blockfile_close(&file);
        if (blocks)
            return pl_fail(error, PL_E_USAGE, "'%s' holds results already; allowed: another file, or --resume %s",
                           job->common.output, job->common.output);
    }
    return PL_OK;
}

static pl_status piobench_check_rule(const struct contest_rule *rule, struct pl_error *error)
{
    if (rule->max_trials < rule->trials)
        return pl_fail(error, PL_E_USAGE, "--max-repeat: %lld is less than --repeat, %lld", (long long)rule->max_trials,
                       (long long)rule->trials);
    if (rule->trials < 2 && rule->max_trials > rule->trials)
        return pl_fail(error, PL_E_USAGE, "--repeat: 1 gives no interval; allowed: 2 and more, or --max-repeat 1 too");
    return PL_OK;
}

static void piobench_clear(void *own)
{
    struct piobench *piobench = own;
    contest_clear(own);
    free(piobench->distributions);
    piobench->distributions = NULL;
    piobench->distribution_count = 0;
}

static pl_status piobench_prepare(struct lab_job *job, struct pl_error *error)
{
    struct piobench *piobench = job->own;
    const struct {
        const char *option;
        const struct option_numbers *list;
    } lists[] = {{"blocks", &piobench->blocks},
                 {"sizes", &piobench->sizes},
                 {"buffers", &piobench->buffers},
                 {"groups", &piobench->groups}};
    piobench_clear(piobench);
    pl_status status = piobench_check_mpis(job, error);
    if (status == PL_OK)
        status = contest_begin(job, &PIOBENCH_KIND, error);
    piobench->contest.test = TEST;
    piobench->round = 1;
    for (size_t i = 0; i < sizeof lists / sizeof lists[0] && status == PL_OK; i++)
        status = contest_check_twice(lists[i].option, lists[i].list, error);
    if (status == PL_OK)
        status = piobench_check_rule(&piobench->contest.rule, error);
    if (status == PL_OK)
        status = piobench_make_distributions(piobench, error);
    if (status == PL_OK)
        status = piobench_make_contestants(piobench, error);
    if (status == PL_OK)
        status = piobench_matrix_make(piobench, &job->common.ranks, error);
    return status == PL_OK ? contest_check_place(job, error) : status;
}

/* Before `prepare`, from the words alone. */
static bool piobench_needs_engine(const struct lab_job *job)
{
    const struct piobench *piobench = job->own;
    for (size_t i = 0; i < piobench->algorithms.count; i++) {
        const char *word = piobench->algorithms.values[i];
        const struct contest_contestant *row = piobench_find(word, strcspn(word, ":"));
        if (!row ? strcmp(word, "all") == 0 : row->access == CONTEST_ENGINE)
            return true;
    }
    return false;
}

/* ---- launches that alternate ---- */

/* Has somebody of this MPI all trials before this round, and wants another one? */
static pl_status piobench_wants_round(const struct lab_job *job, const char *mpi, bool *ret_wants,
                                      struct pl_error *error)
{
    const struct piobench *piobench = job->own;
    const struct contest *contest = &piobench->contest;
    const struct contest_cell *cell = &contest->cells[piobench->cell];
    struct contest_tally *tallies = memory_new((size_t)contest->contestant_count, sizeof *tallies);
    struct lab_job as = *job;
    struct lab_run run = {.job = &as};
    struct text params = {0};
    as.mpi = mpi;
    run.resumes = blockfile_open(job->common.output, &run.earlier, error) == PL_OK;
    if (!run.resumes && job->common.resume) {
        free(tallies);
        return error->status;
    }
    contest->kind->identify(cell, &params);
    contest_tally_measured(&run, contest, &params, tallies);
    text_clear(&params);
    *ret_wants = false;
    for (int i = 0; i < contest->contestant_count; i++)
        *ret_wants |= contest_takes_part(&contest->contestants[i], cell) && tallies[i].count == piobench->round - 1 &&
                      !contest_finished(&tallies[i], &contest->rule);
    if (run.resumes)
        blockfile_close(&run.earlier);
    free(tallies);
    return PL_OK;
}

/* For each cell and round, each MPI is launched for one trial of its algorithms; none always comes first. */
static pl_status piobench_next_launch(struct lab_job *job, struct bench_launch *launch, struct pl_error *error)
{
    struct piobench *piobench = job->own;
    const int count = (int)piobench->mpis.count;
    launch->mpi = NULL;
    launch->steps = (int64_t)piobench->contest.cell_count * count * piobench->contest.rule.trials;
    for (; piobench->cell < piobench->contest.cell_count; piobench->cell++, piobench->round = 1)
        for (; piobench->round <= piobench->contest.rule.max_trials; piobench->round++, piobench->mpi = 0)
            while (piobench->mpi < count) {
                const char *mpi = piobench->mpis.values[(piobench->mpi++ + piobench->round - 1) % count];
                char text[CONTEST_TEXT_MAX];
                bool wants = false;
                if (piobench_wants_round(job, mpi, &wants, error) != PL_OK)
                    return error->status;
                if (!wants)
                    continue;
                launch->mpi = mpi;
                piobench_cell_text(&piobench->contest.cells[piobench->cell], text);
                snprintf(launch->step, sizeof launch->step, "%d %d", piobench->cell, piobench->round);
                snprintf(launch->label, sizeof launch->label, "%.200s, round %d, %s", text, piobench->round, mpi);
                return PL_OK;
            }
    return PL_OK;
}

static pl_status piobench_results(const struct analysis_request *request, const struct analysis_input *input,
                                  struct result *result, struct pl_error *error)
{
    return contest_results(&PIOBENCH_KIND, request, input, result, error);
}

const struct bench bench_piobench = {
    .name = "piobench",
    .rows = ROWS,
    .options_size = sizeof(struct piobench),
    .takes = BENCH_ON | BENCH_TESTFILE | BENCH_HINTS | BENCH_RANK_LIST,
    .classes = PIOBENCH_CLASSES,
    .conditions = PIOBENCH_CONDITIONS + 2, /* the name of the file changes nothing */
    .summary = "compare algorithms of collective I/O over distributions and block sizes",
    .details =
        "Every algorithm moves the same data in turn; trials are repeated until the mean is known well enough. "
        "'piolet analyze piobench FILE' reads the results. Lists are separated by commas; sizes may end in k, m, "
        "g (powers of 1024).",
    .example = "piobench -n 4 -d CYCLIC -a naive,system,auto -b 1k,64k",
    .output = "piobench.out",
    .prepare = piobench_prepare,
    .plan = contest_plan,
    .run_coll = contest_run_coll,
    .results = piobench_results,
    .clear = piobench_clear,
    .needs_engine = piobench_needs_engine,
    .next_launch = piobench_next_launch,
};
