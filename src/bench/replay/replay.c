/* Replay as a benchmark of the laboratory: its options, what it would do, its launches, and what is resumed. The replay
 * itself begins in replay_run.c. */
#include "base/rng.h"
#include "base/units.h"
#include "bench/replay/replay_run.h"
#include "lab/facts/environment.h"
#include "mpi/job.h"
#include "mpi/launcher.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PHASES_MAX = 256, NAME_MAX_CHARS = 32 };
enum replay_mpiio { REPLAY_SYSTEM, REPLAY_PIOLET, REPLAY_BOTH };

struct replay_bench {
    struct replay_job job; /* directory is that of the place under way */
    struct model model;
    struct replay_plan plan;
    struct replay_run run; /* behind prepare_coll */
    /* of the command line */
    const char *model_path;
    struct option_texts phases;
    int mpiio, pace, cache; /* choices */
    /* of launches that follow each other */
    int launched;
    char name[NAME_MAX_CHARS]; /* of the run; "": not known yet */
};

#define AT(member) OPTION_AT(struct replay_bench, member)
static const struct option_row ROWS[] = {
    {.name = "model",
     .type = OPTION_TEXT,
     .argument = "MODEL",
     AT(model_path),
     .help = "the model, where it is no operand: for --config"},
    {.name = "mpiio",
     .type = OPTION_CHOICE,
     .argument = "WHICH",
     .choices = "system piolet both",
     AT(mpiio),
     .more = "system: the MPI's own. piolet: ours, preloaded. both: a launch for each. Not told: what is there.",
     .help = "which MPI-IO, or both one after the other"},
    {.name = "pace",
     .type = OPTION_CHOICE,
     .argument = "HOW",
     .choices = "fast short recorded",
     .initial = "short",
     AT(pace),
     .help = "compute before calls: fast (not), short (as long as the program, at most 0.1 s), recorded (as long)"},
    {.name = "cache",
     .type = OPTION_CHOICE,
     .argument = "HOW",
     .choices = "asis cold",
     .initial = "asis",
     AT(cache),
     .more = "cold: before a phase that reads, the pages of its files are written and dropped.",
     .help = "leave the pages of a file as they are, or drop them before it is read"},
    {.name = "repeat",
     .letter = 'r',
     .type = OPTION_INT,
     .initial = "1",
     .min = 1,
     .max = 1000000,
     AT(job.repeat),
     .more = "Each time on new files.",
     .help = "replay so often"},
    {.name = "limit",
     .type = OPTION_TIME,
     .min = 0.001,
     AT(job.limit_s),
     .more = "As 30, 20s, 15m, 1h. A note tells where a phase was left early; its time is then extended from the turns "
             "that were done.",
     .help = "do fewer turns of loops where a repetition would take longer"},
    {.name = "all", .type = OPTION_FLAG, AT(job.all), .help = "no sampling: do all turns of all loops"},
    {.name = "phase",
     .type = OPTION_EACH,
     .argument = "N",
     AT(phases),
     .more = "What it reads is written before.",
     .help = "only this phase; may be repeated"},
    {.name = "keep", .type = OPTION_FLAG, AT(job.keep), .help = "leave the files behind"},
    {0}};
#undef AT

static void replay_clear(void *own)
{
    struct replay_bench *bench = own;
    replay_plan_clear(&bench->plan);
    model_clear(&bench->model);
    lab_hints_clear(&bench->job.hints);
    bench->job.plan = NULL;
}

/* ---- the model ---- */

/* The operand, or --model: of a file of options, or of the run to resume. */
static pl_status replay_name_model(struct lab_job *job, struct pl_error *error)
{
    const struct options *all = &job->all;
    const struct replay_bench *bench = job->own;
    if (all->operand_count > 1 || (all->operand_count == 0 && !bench->model_path))
        return pl_fail(error, PL_E_USAGE, "which MODEL? (one file that 'piolet model' made)");
    if (all->operand_count == 0)
        return PL_OK;
    if (options_source(all, "model") == OPTION_FROM_COMMAND && strcmp(bench->model_path, all->operands[0]) != 0)
        return pl_fail(error, PL_E_USAGE, "'%s' and --model '%s': one model at a time", all->operands[0],
                       bench->model_path);
    return options_set(&job->all, "model", all->operands[0], OPTION_FROM_COMMAND, error);
}

static pl_status replay_load(struct replay_bench *bench, struct pl_error *error)
{
    int phases[PHASES_MAX], count = 0;
    for (size_t i = 0; i < bench->phases.count; i++) {
        int64_t number;
        if (!units_parse_int(bench->phases.values[i], 1, INT32_MAX, &number) || count == PHASES_MAX)
            return pl_fail(error, PL_E_USAGE, "--phase: '%s'; allowed: up to %d numbers of phases, from 1 on",
                           bench->phases.values[i], PHASES_MAX);
        phases[count++] = (int)number;
    }
    pl_status status = model_read_file(bench->model_path, &bench->model, NULL, error);
    if (status != PL_OK)
        return status;
    status = replay_plan_make(&bench->model, phases, count, &bench->plan, error);
    if (status != PL_OK)
        return status == PL_E_USAGE ? status : pl_within(error, "%s", bench->model_path);
    bench->job.model_path = bench->model_path;
    bench->job.plan = &bench->plan;
    bench->job.pace = (enum replay_pace)bench->pace;
    bench->job.cold = bench->cache == 1;
    bench->job.mpiio = environment_has_engine() ? "piolet" : "system";
    replay_model_hash(&bench->model, bench->job.model_hash);
    return PL_OK;
}

/* ---- what is resumed ---- */

static bool replay_is_same(const char *a, const char *b)
{
    return strcmp(a ? a : "", b ? b : "") == 0;
}

/* Places of the run that it had not come to have no block yet: each block lists all. */
static pl_status replay_take_places(struct lab_job *job, const char *lines, struct pl_error *error)
{
    char *copy = text_dup(lines), *rest = copy, *line;
    pl_status status = copy ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory");
    while (status == PL_OK && (line = strsep(&rest, "\n")) != NULL) {
        bool known = false;
        for (size_t i = 0; i < job->common.on.count; i++)
            known |= strcmp(job->common.on.values[i], line) == 0;
        if (!known)
            status = options_set(&job->all, "on", line, OPTION_FROM_RESULTS, error);
    }
    free(copy);
    return status;
}

/* What the laboratory does not compare: the model by its contents, and options that the run was not given at all. */
static pl_status replay_check_resumed(struct lab_job *job, struct pl_error *error)
{
    static const char *const options[] = {"hints", "limit", "all", "phase", "keep"};
    struct replay_bench *bench = job->own;
    struct blockfile file;
    if (blockfile_open(job->common.resume, &file, error) != PL_OK)
        return error->status;
    const struct blockfile_block *last = lab_last_block(job->bench, &file);
    assert(last); /* lab_job_init() has found it */
    const char *hash = blockfile_fact_of(last, "model_hash"), *places = blockfile_fact_of(last, "places");
    const char *name = blockfile_fact_of(last, "run");
    pl_status status = PL_OK;
    if (!replay_is_same(hash, bench->job.model_hash))
        status = pl_fail(error, PL_E_USAGE, "'%s' is not the model of the run to resume: %s, and that one's is %s",
                         bench->model_path, bench->job.model_hash, hash ? hash : "not told");
    for (size_t i = 0; i < sizeof options / sizeof options[0] && status == PL_OK; i++)
        if (options_given(&job->all, options[i]) && !blockfile_input_of(last, options[i]))
            status = pl_fail(error, PL_E_USAGE, "--%s: the run to resume has none; leave it out", options[i]);
    if (status == PL_OK && places && options_source(&job->all, "on") == OPTION_FROM_RESULTS)
        status = replay_take_places(job, places, error);
    snprintf(bench->name, sizeof bench->name, "%s", name ? name : "");
    blockfile_close(&file);
    return status == PL_OK ? PL_OK : pl_within(error, "--resume '%s'", job->common.resume);
}

/* On rank 0: which repetitions of this place the run has measured. */
static void replay_look_back(const struct lab_run *lab, const struct replay_bench *bench, bool *measured)
{
    const struct blockfile *earlier = lab->job->common.resume ? lab_earlier(lab) : NULL;
    struct text label = {0};
    replay_label(&bench->job, &label);
    for (size_t b = 0; earlier && b < earlier->block_count; b++) {
        const struct blockfile_block *block = &earlier->blocks[b];
        const char *mpi = blockfile_fact_of(block, "mpi");
        if (strcmp(block->class_name, REPLAY_CLASS) != 0 || (mpi && strcmp(mpi, lab->job->mpi) != 0) ||
            !replay_is_same(blockfile_fact_of(block, "run"), bench->name) ||
            !replay_is_same(blockfile_fact_of(block, "model_hash"), bench->job.model_hash) ||
            !replay_is_same(blockfile_fact_of(block, "configuration"), text_get(&label)))
            continue;
        for (int64_t i = 1; i <= bench->job.repeat; i++)
            measured[i] |= replay_results_has(block, i);
    }
    text_clear(&label);
}

/* ---- before the run ---- */

static pl_status replay_check_place(const char *directory, struct pl_error *error)
{
    struct stat info;
    if (stat(directory, &info) != 0)
        return pl_fail_errno(error, errno, "--on '%s'", directory);
    if (!S_ISDIR(info.st_mode))
        return pl_fail(error, PL_E_USAGE, "--on '%s' is no directory", directory);
    return access(directory, W_OK | X_OK) == 0 ? PL_OK : pl_fail_errno(error, errno, "--on '%s'", directory);
}

/* As many as the program had. */
static pl_status replay_check_ranks(struct lab_job *job, struct pl_error *error)
{
    const struct replay_bench *bench = job->own;
    const struct option_numbers *asked = &job->common.ranks;
    for (size_t i = 0; i < asked->count; i++)
        if (asked->values[i] != bench->model.ranks)
            return pl_fail(error, PL_E_USAGE, "-n %lld: the model is of %lld ranks; allowed: as many, or no -n",
                           (long long)asked->values[i], (long long)bench->model.ranks);
    if (asked->count > 1)
        return pl_fail(error, PL_E_USAGE, "-n: one number of ranks at a time");
    if (job->ranks == 0)
        job->ranks = (int)bench->model.ranks;
    if (job->ranks != bench->model.ranks)
        return pl_fail(error, PL_E_USAGE,
                       "'%s' is of %lld ranks, and these are %d; allowed: as many as the program had",
                       bench->model_path, (long long)bench->model.ranks, job->ranks);
    return PL_OK;
}

/* Which MPI-IO this launch has: of two that follow each other, the step says it. */
static enum replay_mpiio replay_mpiio_of(const struct lab_job *job)
{
    const struct replay_bench *bench = job->own;
    if (bench->mpiio != REPLAY_BOTH || !*job->step)
        return (enum replay_mpiio)bench->mpiio;
    return strncmp(job->step, "piolet", strlen("piolet")) == 0 ? REPLAY_PIOLET : REPLAY_SYSTEM;
}

static bool replay_needs_engine(const struct lab_job *job)
{
    return replay_mpiio_of(job) == REPLAY_PIOLET;
}

static pl_status replay_check_mpiio(struct lab_job *job, struct pl_error *error)
{
    const struct replay_bench *bench = job->own;
    job->alternates = bench->mpiio == REPLAY_BOTH && !*job->step;
    if (job->alternates && job_is_launched())
        return pl_fail(error, PL_E_USAGE, "--mpiio both starts MPI twice: leave mpiexec away");
    if (options_given(&job->all, "mpiio") && replay_mpiio_of(job) == REPLAY_SYSTEM && environment_has_engine())
        return pl_fail(error, PL_E_USAGE, "--mpiio system: libpiolet-mpiio.so is preloaded");
    return PL_OK;
}

static pl_status replay_prepare(struct lab_job *job, struct pl_error *error)
{
    struct replay_bench *bench = job->own;
    replay_clear(bench);
    pl_status status = replay_name_model(job, error);
    if (status == PL_OK && job->common.on.count == 0 && !job->common.dry_run)
        status = pl_fail(error, PL_E_USAGE, "--on is missing: a directory on the target");
    if (status == PL_OK)
        status = lab_hints_parse(&job->common.hints, &bench->job.hints, error);
    if (status == PL_OK)
        status = replay_load(bench, error);
    if (status == PL_OK)
        status = replay_check_ranks(job, error);
    if (status == PL_OK && job->common.resume)
        status = replay_check_resumed(job, error);
    for (size_t i = 0; i < job->common.on.count && status == PL_OK; i++)
        status = replay_check_place(job->common.on.values[i], error);
    return status == PL_OK ? replay_check_mpiio(job, error) : status;
}

/* The first thing that ranks do together: a program that opens a file before its ranks have communicated waits there
 * for those that were started last, and so does its replay. */
static pl_status replay_prepare_coll(struct lab_job *job, MPI_Comm world, struct pl_error *error)
{
    struct replay_bench *bench = job->own;
    struct coll_verdict verdict;
    bench->job.start_wait_ns = job_meet_coll();
    const pl_status status = coll_agree_coll(world, replay_prepare(job, error), error, &verdict);
    return status == PL_OK && !job->common.dry_run ? replay_run_check_coll(&bench->run, &bench->job, world, error)
                                                   : status;
}

static pl_status replay_plan_show(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    static const struct result_column columns[] = {{.key = "what", .label = "", .form = RESULT_TEXT},
                                                   {.key = "times", .form = RESULT_INT},
                                                   {.key = "bytes", .label = "bytes each", .form = RESULT_BYTES},
                                                   {0}};
    const struct replay_bench *bench = job->own;
    const struct model_facts *facts = &bench->plan.facts;
    char written[UNITS_TEXT_MAX], read[UNITS_TEXT_MAX];
    (void)error;
    result_line(plan, "%s on %" PRId64 " ranks", bench->model.program, bench->model.ranks);
    result_begin_table(plan, "units", NULL, columns);
    for (int i = 0; i < bench->plan.unit_count; i++) {
        const struct replay_unit *unit = &bench->plan.units[i];
        char name[64];
        if (!unit->selected)
            continue;
        replay_unit_name(unit, name, sizeof name);
        result_row(plan);
        result_put_text(plan, name);
        result_put_int(plan, unit->count);
        if (unit->phase)
            result_put_int(plan, unit->phase->read_bytes + unit->phase->written_bytes);
    }
    result_line(plan, "%s written and %s read in all, %" PRId64 " time%s%s", units_bytes(facts->written_bytes, written),
                units_bytes(facts->read_bytes, read), bench->job.repeat, bench->job.repeat == 1 ? "" : "s",
                job->common.on.count ? " on each of:" : ".");
    for (size_t i = 0; i < job->common.on.count; i++)
        result_line(plan, "  %s", job->common.on.values[i]);
    return PL_OK;
}

/* ---- launches that follow each other ---- */

static void replay_make_name(struct replay_bench *bench)
{
    if (!*bench->name)
        snprintf(bench->name, sizeof bench->name, "%016" PRIx64, rng_seed_from_system());
}

/* What is preloaded is preloaded: each MPI-IO has a launch of its own. */
static pl_status replay_next_launch(struct lab_job *job, struct bench_launch *launch, struct pl_error *error)
{
    static const char *const kinds[] = {"system", "piolet"};
    struct replay_bench *bench = job->own;
    (void)error;
    replay_make_name(bench);
    launch->mpi = bench->launched < 2 ? PIOLET_MPI_NAME : NULL;
    launch->steps = 2;
    if (!launch->mpi)
        return PL_OK;
    snprintf(launch->step, sizeof launch->step, "%s %s", kinds[bench->launched], bench->name);
    snprintf(launch->label, sizeof launch->label, "%s", kinds[bench->launched]);
    bench->launched++;
    return PL_OK;
}

/* ---- the run ---- */

static void replay_name_run_coll(struct lab_run *lab, struct replay_bench *bench)
{
    const char *given = strchr(lab->job->step, ' ');
    if (!*bench->name && given)
        snprintf(bench->name, sizeof bench->name, "%s", given + 1);
    if (lab->rank == 0)
        replay_make_name(bench);
    MPI_Bcast(bench->name, sizeof bench->name, MPI_CHAR, 0, lab->world);
}

/* A place that fails says so in the results; the next one may do. */
static pl_status replay_place_coll(struct lab_run *lab, const char *directory, struct pl_error *error)
{
    struct replay_bench *bench = lab->job->own;
    struct coll_verdict verdict;
    const size_t size = (size_t)bench->job.repeat + 1;
    bool *measured = calloc(size, sizeof *measured);
    int64_t missing = 0;
    pl_status status = measured ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for the results");
    status = coll_agree_coll(lab->world, status, error, &verdict);
    if (status != PL_OK) {
        free(measured);
        return status;
    }
    bench->job.directory = directory;
    replay_look_back(lab, bench, measured);
    MPI_Bcast(measured, (int)(size * sizeof *measured), MPI_BYTE, 0, lab->world);
    for (int64_t i = 1; i <= bench->job.repeat; i++)
        missing += !measured[i];
    if (missing > 0)
        status = replay_run_place_coll(&bench->run, bench->name, measured, error);
    for (int64_t i = 0; i < bench->job.repeat && missing == 0; i++)
        lab_skip(lab, 1);
    free(measured);
    return status;
}

static pl_status replay_run_coll(struct lab_run *lab, struct pl_error *error)
{
    struct replay_bench *bench = lab->job->own;
    const struct option_texts *on = &lab->job->common.on;
    const int64_t steps = (int64_t)on->count * bench->job.repeat;
    replay_name_run_coll(lab, bench);
    lab_plan(lab, steps, (double)steps);
    pl_status status = replay_run_begin_coll(&bench->run, lab, error);
    for (size_t i = 0; i < on->count && status == PL_OK; i++)
        status = replay_place_coll(lab, on->values[i], error);
    replay_run_clear_coll(&bench->run);
    return status;
}

const struct bench bench_replay = {
    .name = "replay",
    .rows = ROWS,
    .options_size = sizeof(struct replay_bench),
    .takes = BENCH_ON_MANY | BENCH_HINTS | BENCH_WHOLE | BENCH_FROM_FILE,
    .classes = (const char *const[]){REPLAY_CLASS, NULL},
    .conditions = (const char *const[]){"pace", "cache", NULL},
    .summary = "do the I/O of a model on a target, and measure it",
    .operands = "MODEL --on DIR",
    .details =
        "MODEL is a file that 'piolet model' made. Its calls are made on files in a folder of their own in DIR; of "
        "several DIRs, one is replayed after the other. As many ranks as the program had are started: -n is not "
        "needed. --hints go over those of the program.",
    .example = "replay app.model --on /scratch --mpiio both",
    .output = "replay.out",
    .prepare = replay_prepare,
    .prepare_coll = replay_prepare_coll,
    .plan = replay_plan_show,
    .run_coll = replay_run_coll,
    .results = replay_results,
    .clear = replay_clear,
    .needs_engine = replay_needs_engine,
    .next_launch = replay_next_launch,
};
