/* The benchmark `predict`: how far predicted times of I/O phases are from measured ones. Programs are traced once;
 * their models are replayed on each place and the programs run there too, in turns, with the system's MPI-IO and with
 * the engine; 'piolet predict --measured' compares phase by phase. */
#include "bench/engine/engine.h"

#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/notes.h"
#include "base/path.h"
#include "base/process.h"
#include "base/text.h"
#include "base/units.h"
#include "lab/facts/environment.h"
#include "lab/runner/watch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char TEST[] = "prediction";

/* ---- options ---- */

#define ACCURACY_MPIIOS "system piolet"
enum { MPIIO_COUNT = 2, RANKS = 4, WORDS_MAX = 64, ROUNDS_MAX = 99, ROUNDS_LEAST = 3, FIELDS_MAX = 64 };

/* "piolet" is our own file, "programs" that of piolet-programs. */
struct accuracy_program {
    const char *name;
    const char *words[WORDS_MAX];
    bool usual;
};

static const struct accuracy_program PROGRAMS[] = {
    {"btio", {"piolet", "btio", "--class", "W", "--file", "data", "-o", "apps.out"}, true},
    {"btio-simple",
     {"piolet", "btio", "--class", "W", "--subtype", "simple", "--file", "data", "-o", "apps.out"},
     true},
    {"btio-epio",
     {"piolet", "btio", "--class", "W", "--subtype", "epio", "--iomethod", "mpi", "--file", "data", "-o", "apps.out"},
     true},
    {"madbench", {"piolet", "madbench", "--file", "data", "-o", "apps.out"}, true},
    {"madbench-unique", {"piolet", "madbench", "--files", "unique", "--file", "data", "-o", "apps.out"}, true},
    {"segments", {"programs", "segments", "data"}, true},
    {"synced", {"programs", "synced", "data"}, true},
    {"mixed", {"programs", "mixed", "data"}, true},
    {"btio-A", {"piolet", "btio", "--class", "A", "--file", "data", "-o", "apps.out"}, false},
    {"madbench-large", {"piolet", "madbench", "--pixels", "2048", "--file", "data", "-o", "apps.out"}, false},
};
enum { PROGRAM_COUNT = sizeof PROGRAMS / sizeof PROGRAMS[0] };

struct accuracy_options {
    struct option_texts programs, hints;
    uint64_t mpiios;
    int64_t rounds;
    double limit_s;
    const char *name;
};

#define AT(member) OPTION_AT(struct accuracy_options, member)
static const struct option_row ACCURACY_ROWS[] = {
    {.name = "programs",
     .type = OPTION_TEXTS,
     .argument = "LIST",
     AT(programs),
     .help = "where no program is given: btio, btio-simple, btio-epio, madbench, madbench-unique, segments, synced, "
             "mixed (all of these), btio-A (420 MB), madbench-large (268 MB)"},
    {.name = "name", .type = OPTION_TEXT, .argument = "TEXT", AT(name), .help = "of the program, in the table"},
    {.name = "mpiio",
     .type = OPTION_CHOICES,
     .choices = ACCURACY_MPIIOS,
     .initial = "system,piolet",
     AT(mpiios),
     .help = "which MPI-IO serves"},
    {.name = "with-hints",
     .type = OPTION_EACH,
     .argument = "TEXT",
     AT(hints),
     .help = "further configurations, each with hints as 'cb_nodes=1 cb_buffer_size=1048576' (by ROMIO_HINTS, which "
             "ROMIO and the engine read)"},
    {.name = "repeat",
     .aliases = "rounds",
     .letter = 'r',
     .type = OPTION_INT,
     .initial = "20",
     .min = 1,
     .max = ROUNDS_MAX,
     AT(rounds),
     .help = "replays and runs of each in turns, at most; fewer where the intervals are narrow enough to judge"},
    {.name = "limit",
     .type = OPTION_TIME,
     .initial = "120",
     .min = 1,
     .max = 1e6,
     AT(limit_s),
     .help = "no further round of a program begins behind this time"},
    {0}};
#undef AT

static bool accuracy_is_asked(const struct lab_job *job, const struct accuracy_program *program)
{
    const struct accuracy_options *options = job->own;
    bool asked = options->programs.count == 0 && program->usual && job->all.operand_count == 0;
    for (size_t i = 0; i < options->programs.count; i++)
        asked |= strcmp(options->programs.values[i], program->name) == 0;
    return asked;
}

static int accuracy_programs(const struct lab_job *job)
{
    int count = job->all.operand_count > 0;
    for (int i = 0; i < PROGRAM_COUNT; i++)
        count += accuracy_is_asked(job, &PROGRAMS[i]);
    return count;
}

static int accuracy_ranks(const struct lab_job *job)
{
    return job->common.ranks.count ? (int)job->common.ranks.values[0] : RANKS;
}

static int accuracy_cases(const struct lab_job *job)
{
    const struct accuracy_options *options = job->own;
    const size_t places = job->common.on.count ? job->common.on.count : 1;
    return (int)(places * (1 + options->hints.count)) * __builtin_popcountll(options->mpiios);
}

static pl_status accuracy_prepare(struct lab_job *job, struct pl_error *error)
{
    const struct accuracy_options *options = job->own;
    if (job->common.ranks.count > 1)
        return pl_fail(error, PL_E_USAGE, "-n: one number of ranks at a time");
    if (job->all.operand_count >= WORDS_MAX)
        return pl_fail(error, PL_E_USAGE, "the program has more than %d words", WORDS_MAX - 1);
    for (size_t i = 0; i < options->programs.count; i++) {
        bool known = false;
        for (int k = 0; k < PROGRAM_COUNT; k++)
            known |= strcmp(PROGRAMS[k].name, options->programs.values[i]) == 0;
        if (!known)
            return pl_fail(error, PL_E_USAGE, "--programs: '%s' is not one of them; --help lists them",
                           options->programs.values[i]);
    }
    for (size_t i = 0; i < options->hints.count; i++)
        if (!strchr(options->hints.values[i], '='))
            return pl_fail(error, PL_E_USAGE, "--with-hints: '%s'; expected: NAME=VALUE ...", options->hints.values[i]);
    return PL_OK;
}

static pl_status accuracy_plan(struct lab_job *job, struct result *plan, struct pl_error *error)
{
    const struct accuracy_options *options = job->own;
    (void)error;
    result_line(plan, "%d programs with %d configurations each, up to %lld replays and runs of each, on %d ranks.",
                accuracy_programs(job), accuracy_cases(job), (long long)options->rounds, accuracy_ranks(job));
    return PL_OK;
}

/* ---- children ---- */

/* What is done for one program, in a folder of its own. */
struct accuracy_work {
    char piolet[PATH_MAX], programs[PATH_MAX + 64];
    char folder[PATH_MAX], log[PATH_MAX + 32], trace[PATH_MAX + 32], model[PATH_MAX + 32];
    int ranks;
    double others; /* cores that were busy with what is not ours while the last child ran */
};

/* A configuration. */
struct accuracy_case {
    char place[PATH_MAX];
    const char *mpiio, *hints; /* hints NULL: none of ours */
    char label[512];           /* of the MPI-IO in the table */
    char csv[PATH_MAX + 64], romio_hints[PATH_MAX + 64];
    int index;
    int tries, disturbed; /* runs and replays that were made; those of them that others disturbed, and that were kept */
    bool is_done;         /* by a run that is resumed */
    pl_status status;
    struct pl_error why;
};

struct accuracy_child {
    const char *log, *directory; /* directory: where it runs */
    const char *romio_hints;     /* a file of hints; NULL: none */
    char *words[3 * WORDS_MAX + 3 * ROUNDS_MAX];
    int count;
};

static void accuracy_add(struct accuracy_child *child, const char *word)
{
    assert(child->count < (int)(sizeof child->words / sizeof child->words[0]) - 1);
    child->words[child->count++] = (char *)word;
}

static void accuracy_become(void *context)
{
    struct accuracy_child *child = context;
    const int log = open(child->log, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_RDONLY);
    environ = engine_environment();
    if (child->romio_hints)
        setenv("ROMIO_HINTS", child->romio_hints, 1);
    if (log >= 0 && null >= 0 && chdir(child->directory) == 0) {
        dup2(null, STDIN_FILENO);
        dup2(log, STDOUT_FILENO);
        dup2(log, STDERR_FILENO);
        execv(child->words[0], child->words);
    }
    _exit(127);
}

/* Processor time of all children that have ended, in seconds. */
static double accuracy_own_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/* What a child printed tells why it failed. */
static pl_status accuracy_do(struct accuracy_work *work, struct accuracy_child *child, struct pl_error *error)
{
    struct process process = {.is_piolet = true};
    struct watch watch;
    const double own_s = accuracy_own_s(), begin_s = clock_now_s();
    child->words[child->count] = NULL;
    watch_begin(&watch, NULL);
    if (!process_start(&process, true, accuracy_become, child))
        return pl_fail_errno(error, errno, "starting '%s'", child->words[0]);
    process_follow(&process);
    if (process_signal())
        _exit(interrupt_end(process_signal()));
    const struct watch_report seen = watch_look(&watch);
    work->others = seen.known ? seen.busy_cores - (accuracy_own_s() - own_s) / (clock_now_s() - begin_s) : 0;
    if (process.status == 0)
        return PL_OK;
    struct text said = {0};
    struct pl_error ignored;
    text_read_file(child->log, &said, &ignored);
    const char *line = text_get(&said);
    for (const char *next = line; next && *next; next = strchr(next, '\n')) { /* piolet's own message, if it is there */
        next += *next == '\n';
        if (strncmp(next, "piolet ", strlen("piolet ")) == 0)
            line = next;
    }
    pl_fail(error, PL_E_SYSTEM, "'piolet %s' ended with exit status %d: %.*s", child->words[1], process.status,
            (int)strcspn(line, "\n"), line);
    text_clear(&said);
    return error->status;
}

/* A run of the program, traced into `trace`, in a folder of its own at `place`. */
static pl_status accuracy_trace(struct accuracy_work *work, const struct accuracy_program *program,
                                const struct accuracy_case *one, const char *trace, struct pl_error *error)
{
    char here[PATH_MAX], ranks[16];
    const char *temporary = getenv("TMPDIR");
    struct accuracy_child child = {.log = work->log, .directory = here};
    snprintf(here, sizeof here, "%.*s/piolet-predict.XXXXXX", PATH_MAX - 64,
             one         ? one->place
             : temporary ? temporary
                         : "/tmp");
    snprintf(ranks, sizeof ranks, "%d", work->ranks);
    if (!interrupt_mkdtemp(here))
        return pl_fail_errno(error, errno, "making a folder '%s'", here);
    accuracy_add(&child, work->piolet);
    accuracy_add(&child, "trace");
    if (one && strcmp(one->mpiio, "piolet") == 0)
        accuracy_add(&child, "--engine");
    if (one && one->hints)
        child.romio_hints = one->romio_hints;
    accuracy_add(&child, "-n");
    accuracy_add(&child, ranks);
    accuracy_add(&child, "-o");
    accuracy_add(&child, trace);
    accuracy_add(&child, "--");
    accuracy_add(&child, strcmp(program->words[0], "piolet") == 0     ? work->piolet
                         : strcmp(program->words[0], "programs") == 0 ? work->programs
                                                                      : program->words[0]);
    for (int i = 1; program->words[i]; i++)
        accuracy_add(&child, program->words[i]);
    const pl_status status = accuracy_do(work, &child, error);
    remove_quietly(here);
    interrupt_keep(here);
    return status;
}

static pl_status accuracy_replay(struct accuracy_work *work, const struct accuracy_case *one, const char *results,
                                 struct pl_error *error)
{
    struct accuracy_child child = {.log = work->log, .directory = work->folder};
    const char *const words[] = {work->piolet, "replay",   work->model, "--on", one->place,
                                 "--mpiio",    one->mpiio, "-o",        results};
    if (one->hints)
        child.romio_hints = one->romio_hints;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        accuracy_add(&child, words[i]);
    return accuracy_do(work, &child, error);
}

static pl_status accuracy_model(struct accuracy_work *work, const struct accuracy_program *program,
                                struct pl_error *error)
{
    struct accuracy_child child = {.log = work->log, .directory = work->folder};
    const char *const words[] = {work->piolet, "model", work->trace, "-o", work->model};
    char first[sizeof work->trace + 16];
    if (accuracy_trace(work, program, NULL, work->trace, error) != PL_OK)
        return error->status;
    snprintf(first, sizeof first, "%s/trace.0", work->trace);
    if (access(first, F_OK) != 0)
        return pl_fail(error, PL_E_INPUT,
                       "it ended without a trace: it does not call MPI_Init, or is linked statically, or with another "
                       "MPI than piolet (%s)",
                       PIOLET_IS_OPENMPI ? "Open MPI" : "MPICH");
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        accuracy_add(&child, words[i]);
    return accuracy_do(work, &child, error);
}

/* What all rounds so far say. */
static pl_status accuracy_predict(struct accuracy_work *work, const struct accuracy_case *one, int64_t rounds,
                                  struct pl_error *error)
{
    struct accuracy_child child = {.log = work->log, .directory = work->folder};
    char names[2 * ROUNDS_MAX][64];
    accuracy_add(&child, work->piolet);
    accuracy_add(&child, "predict");
    accuracy_add(&child, work->model);
    for (int64_t round = 0; round < rounds; round++) {
        char *replay = names[2 * round], *run = names[2 * round + 1];
        snprintf(replay, sizeof names[0], "replay.%d.%lld", one->index, (long long)round);
        snprintf(run, sizeof names[0], "run.%d.%lld", one->index, (long long)round);
        accuracy_add(&child, replay);
        accuracy_add(&child, "--measured");
        accuracy_add(&child, run);
    }
    accuracy_add(&child, "--csv");
    accuracy_add(&child, one->csv);
    return accuracy_do(work, &child, error);
}

/* ---- what was predicted ---- */

/* Fields of a line of CSV, in place: those in quotes may hold commas, and two quotes are one. */
static int accuracy_fields(char *line, char *fields[FIELDS_MAX])
{
    int count = 0;
    for (char *at = line; at && count < FIELDS_MAX;) {
        char *to = at, *from = at;
        bool quoted = false;
        fields[count++] = to;
        for (; *from && (quoted || *from != ','); from++) {
            if (*from == '"' && quoted && from[1] == '"')
                *to++ = *from++;
            else if (*from == '"')
                quoted = !quoted;
            else
                *to++ = *from;
        }
        at = *from ? from + 1 : NULL;
        *to = '\0';
    }
    return count;
}

static int accuracy_column(char *const fields[], int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (strcmp(fields[i], name) == 0)
            return i;
    return -1;
}

/* A row of what was predicted. */
struct accuracy_row {
    char name[128]; /* "1-40", "open", "total" */
    struct accuracy_time predicted, measured;
};

static double accuracy_number(char *const fields[], int count, int column)
{
    double number;
    return column >= 0 && column < count && units_parse_number(fields[column], &number) ? number : NAN;
}

/* The rows of which both times are known; the caller frees them. */
static pl_status accuracy_read(const char *csv, struct accuracy_row **ret_rows, size_t *ret_count,
                               struct pl_error *error)
{
    enum { KIND, NUMBERS, OPERATIONS, TIME, LOW, HIGH, MEASURED, MEASURED_LOW, MEASURED_HIGH, COLUMNS };
    static const char *const names[COLUMNS] = {"kind",        "numbers",         "operations",
                                               "time_ns",     "time_low_ns",     "time_high_ns",
                                               "measured_ns", "measured_low_ns", "measured_high_ns"};
    struct text text = {0};
    int at[COLUMNS];
    char *fields[FIELDS_MAX], *rest, *line;
    *ret_rows = NULL;
    *ret_count = 0;
    pl_status status = text_read_file(csv, &text, error);
    if (status != PL_OK)
        return status;
    rest = text.data;
    int count = rest && (line = strsep(&rest, "\n")) ? accuracy_fields(line, fields) : 0;
    for (int i = 0; i < COLUMNS; i++)
        if ((at[i] = accuracy_column(fields, count, names[i])) < 0)
            status = pl_fail(error, PL_E_FORMAT, "'%s' has no column %s", csv, names[i]);
    while (status == PL_OK && rest && (line = strsep(&rest, "\n")) != NULL) {
        count = accuracy_fields(line, fields);
        struct accuracy_row row = {
            .predicted = {accuracy_number(fields, count, at[TIME]), accuracy_number(fields, count, at[LOW]),
                          accuracy_number(fields, count, at[HIGH])},
            .measured = {accuracy_number(fields, count, at[MEASURED]), accuracy_number(fields, count, at[MEASURED_LOW]),
                         accuracy_number(fields, count, at[MEASURED_HIGH])}};
        if (!isfinite(row.predicted.ns) || !(row.measured.ns > 0))
            continue;
        const bool phase = strcmp(fields[at[KIND]], "phase") == 0, calls = strcmp(fields[at[KIND]], "calls") == 0;
        snprintf(row.name, sizeof row.name, "%s%s%s",
                 fields[at[phase   ? NUMBERS
                           : calls ? OPERATIONS
                                   : KIND]],
                 phase ? " " : "", phase ? fields[at[OPERATIONS]] : "");
        *ret_rows = memory_grow(*ret_rows, *ret_count, sizeof **ret_rows);
        (*ret_rows)[(*ret_count)++] = row;
    }
    text_clear(&text);
    return status;
}

static bool accuracy_is_narrow(const struct accuracy_row *rows, size_t count)
{
    bool narrow = count > 0;
    for (size_t i = 0; i < count; i++)
        narrow &= accuracy_judge(&rows[i].predicted, &rows[i].measured, strcmp(rows[i].name, "total") == 0).is_narrow;
    return narrow;
}

static void accuracy_put(struct lab_set *set, const char *what, const struct accuracy_time *time)
{
    char low[64], high[64], mean[64];
    snprintf(mean, sizeof mean, "%s_time", what);
    snprintf(low, sizeof low, "%s_low", what);
    snprintf(high, sizeof high, "%s_high", what);
    samples_time(&set->samples, mean, time->ns / 1e9);
    if (!isfinite(time->low_ns))
        return;
    samples_time(&set->samples, low, time->low_ns / 1e9);
    samples_time(&set->samples, high, time->high_ns / 1e9);
}

/* ---- the run ---- */

static void accuracy_begin_set(struct lab_set *set, const struct accuracy_program *program,
                               const struct accuracy_case *one)
{
    *set = (struct lab_set){.verdict = {.status = PL_OK, .rank = -1}};
    snprintf(set->label, sizeof set->label, "%s, %.100s", program->name, one->label);
    notes_add(&set->params, "program", program->name);
    notes_add(&set->params, "place", one->place);
    notes_add(&set->params, "mpiio", one->label);
}

/* A configuration that fails is a set that says why. */
static pl_status accuracy_write_coll(struct lab_run *run, const struct accuracy_program *program,
                                     const struct accuracy_case *one, struct pl_error *error)
{
    struct accuracy_row *rows = NULL;
    size_t count = 0;
    struct lab_set set;
    struct pl_error why = one->why;
    pl_status status = PL_OK, read = one->status == PL_OK ? accuracy_read(one->csv, &rows, &count, &why) : one->status;
    if (read != PL_OK) {
        accuracy_begin_set(&set, program, one);
        set.verdict = (struct coll_verdict){.status = read, .rank = 0};
        snprintf(set.verdict.text, sizeof set.verdict.text, "%s", why.text);
        status = lab_set_write_coll(run, run->world, &set, error);
        lab_set_clear(&set);
    }
    for (size_t i = 0; i < count && status == PL_OK && read == PL_OK; i++) {
        accuracy_begin_set(&set, program, one);
        notes_add(&set.params, "phase", rows[i].name);
        accuracy_put(&set, "predicted", &rows[i].predicted);
        accuracy_put(&set, "measured", &rows[i].measured);
        if (one->disturbed && strcmp(rows[i].name, "total") == 0) {
            char warning[128];
            snprintf(warning, sizeof warning, "others used the processors beside %d of %d runs and replays",
                     one->disturbed, one->tries);
            notes_add(&set.warnings, NULL, warning);
        }
        status = lab_set_write_coll(run, run->world, &set, error);
        lab_set_clear(&set);
    }
    free(rows);
    return status;
}

/* Others that keep more of the processors than this part busy disturb what is measured beside them. Below lies what the
 * kernel does for us in threads of its own, and what its clock of 10 ms leaves open. */
#define ACCURACY_OTHERS 0.05

/* What the one before has left to the file system to do is done: it would hit whoever comes next. And memory that is
 * free is touched: a virtual machine may have given it back to its host, and the first to use it again pays ten times
 * as much for it. */
static void accuracy_settle(const char *place)
{
    const int64_t most = INT64_C(1) << 30, available = environment_memory_available_bytes();
    const size_t bytes = (size_t)(available / 4 < most ? available / 4 : most);
    const int fd = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0) {
        syncfs(fd);
        close(fd);
    }
    void *memory = bytes ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0)
                         : MAP_FAILED;
    if (memory != MAP_FAILED)
        munmap(memory, bytes);
}

/* A run of the program or a replay. One that others disturbed is made once more, a second later, and that one
 * stands. */
static pl_status accuracy_measure(struct accuracy_work *work, const struct accuracy_program *program,
                                  struct accuracy_case *one, int64_t round, bool replay, struct pl_error *error)
{
    enum { TRIES = 2, PAUSE_S = 1 };
    const double most = ACCURACY_OTHERS * (double)sysconf(_SC_NPROCESSORS_ONLN);
    char path[PATH_MAX + 128];
    snprintf(path, sizeof path, "%s/%s.%d.%lld", work->folder, replay ? "replay" : "run", one->index, (long long)round);
    for (int try = 1;; try++) {
        accuracy_settle(one->place);
        const pl_status status = replay ? accuracy_replay(work, one, path, error)
                                        : accuracy_trace(work, program, one, path, error);
        one->tries++;
        if (status != PL_OK || work->others <= most || try == TRIES) {
            one->disturbed += status == PL_OK && work->others > most;
            return status;
        }
        remove_quietly(path);
        sleep(PAUSE_S);
    }
}

/* In every second round the replay comes first: what gets slower or faster with time hits both. */
static pl_status accuracy_round(struct accuracy_work *work, const struct accuracy_program *program,
                                struct accuracy_case *one, int64_t round, bool *ret_narrow, struct pl_error *error)
{
    struct accuracy_row *rows = NULL;
    size_t count = 0;
    pl_status status = PL_OK;
    for (int turn = 0; turn < 2 && status == PL_OK; turn++)
        status = accuracy_measure(work, program, one, round, (turn + round) % 2 != 0, error);
    if (status == PL_OK)
        status = accuracy_predict(work, one, round + 1, error);
    if (status == PL_OK)
        status = accuracy_read(one->csv, &rows, &count, error);
    *ret_narrow = status == PL_OK && round + 1 >= ROUNDS_LEAST && accuracy_is_narrow(rows, count);
    free(rows);
    return status;
}

/* Rounds go through all configurations, so that they are measured at the same time; those that are judged drop out. */
static void accuracy_rounds(struct lab_run *run, struct accuracy_work *work, const struct accuracy_program *program,
                            struct accuracy_case *cases, int count)
{
    const struct accuracy_options *options = run->job->own;
    const int64_t begin_ns = clock_read_ns(CLOCK_MONOTONIC);
    bool *narrow = memory_new((size_t)count, sizeof *narrow);
    for (int64_t round = 0; round < options->rounds; round++) {
        const double seconds = (double)(clock_read_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9;
        if (round > 0 && seconds > options->limit_s)
            break;
        for (int i = 0; i < count; i++)
            if (!cases[i].is_done && !narrow[i] && cases[i].status == PL_OK)
                cases[i].status = accuracy_round(work, program, &cases[i], round, &narrow[i], &cases[i].why);
    }
    free(narrow);
}

static bool accuracy_write_hints(const struct accuracy_case *one)
{
    FILE *file = fopen(one->romio_hints, "w");
    char *copy = memory_copy(one->hints), *rest = copy, *word;
    while (file && (word = strsep(&rest, " ,;")) != NULL)
        if (*word)
            fprintf(file, "%.*s %s\n", (int)strcspn(word, "="), word, strchr(word, '=') ? strchr(word, '=') + 1 : "");
    free(copy);
    return file && fclose(file) == 0;
}

/* Places, MPI-IOs and hints; the caller frees them. */
static struct accuracy_case *accuracy_make_cases(struct lab_run *run, const struct accuracy_work *work,
                                                 const struct accuracy_program *program)
{
    static const char *const mpiios[MPIIO_COUNT] = {"system", "piolet"};
    const struct accuracy_options *options = run->job->own;
    const struct option_texts *on = &run->job->common.on;
    const char *temporary = getenv("TMPDIR");
    struct accuracy_case *cases = memory_new((size_t)accuracy_cases(run->job), sizeof *cases);
    int count = 0;
    for (size_t i = 0; i < (on->count ? on->count : 1); i++)
        for (int m = 0; m < MPIIO_COUNT; m++)
            for (size_t h = 0; h < 1 + options->hints.count && (options->mpiios >> m & 1); h++) {
                struct accuracy_case *one = &cases[count];
                const char *place = on->count ? on->values[i] : temporary ? temporary : "/tmp";
                one->index = count++;
                if (!realpath(place, one->place)) /* children run elsewhere */
                    one->status = pl_fail_errno(&one->why, errno, "'%s'", place);
                one->mpiio = mpiios[m];
                one->hints = h > 0 ? options->hints.values[h - 1] : NULL;
                snprintf(one->label, sizeof one->label, "%s%s%.400s", mpiios[m], h > 0 ? " " : "",
                         h > 0 ? one->hints : "");
                snprintf(one->csv, sizeof one->csv, "%s/csv.%d", work->folder, one->index);
                snprintf(one->romio_hints, sizeof one->romio_hints, "%s/hints.%d", work->folder, one->index);
                if (one->hints && one->status == PL_OK && !accuracy_write_hints(one))
                    one->status = pl_fail_errno(&one->why, errno, "writing '%s'", one->romio_hints);
                struct lab_set set;
                accuracy_begin_set(&set, program, one);
                one->is_done = lab_is_measured_coll(run, TEST, &set.params);
                lab_set_clear(&set);
            }
    assert(count == accuracy_cases(run->job));
    return cases;
}

static pl_status accuracy_program_coll(struct lab_run *run, const struct accuracy_program *program,
                                       struct pl_error *error)
{
    const char *temporary = getenv("TMPDIR");
    struct accuracy_work *work = memory_new(1, sizeof *work);
    struct pl_error why = {.status = PL_OK};
    pl_status status = PL_OK, modelled = PL_OK;
    const int count = accuracy_cases(run->job);
    bool done = true;
    work->ranks = accuracy_ranks(run->job);
    snprintf(work->folder, sizeof work->folder, "%.4000s/piolet-predict.XXXXXX", temporary ? temporary : "/tmp");
    if (!process_self(work->piolet) || !engine_find("piolet-programs", work->programs))
        modelled = pl_fail(&why, PL_E_UNSUPPORTED, "piolet-programs is not there; build or install piolet as a whole");
    else if (!interrupt_mkdtemp(work->folder))
        modelled = pl_fail_errno(&why, errno, "making '%s'", work->folder);
    snprintf(work->log, sizeof work->log, "%s/log", work->folder);
    snprintf(work->trace, sizeof work->trace, "%s/trace", work->folder);
    snprintf(work->model, sizeof work->model, "%s/model", work->folder);
    struct accuracy_case *cases = accuracy_make_cases(run, work, program);
    for (int i = 0; i < count; i++)
        done &= cases[i].is_done;
    if (done) {
        lab_skip(run, 1);
    } else {
        lab_step(run, 1, "%s", program->name);
        if (modelled == PL_OK)
            modelled = accuracy_model(work, program, &why);
        if (modelled == PL_OK)
            accuracy_rounds(run, work, program, cases, count);
    }
    for (int i = 0; i < count && status == PL_OK; i++) {
        if (cases[i].is_done)
            continue;
        if (modelled == PL_E_INPUT) { /* no set: nothing can be measured of such a program */
            *error = why;
            status = pl_within(error, "%s", program->name);
            break;
        }
        if (modelled != PL_OK) {
            cases[i].status = modelled;
            cases[i].why = why;
        }
        status = accuracy_write_coll(run, program, &cases[i], error);
        if (modelled != PL_OK)
            break; /* the same for all configurations: said once */
    }
    remove_quietly(work->folder);
    interrupt_keep(work->folder);
    free(cases);
    free(work);
    return status;
}

/* The program of the command line; paths are made whole, since it runs elsewhere. */
static void accuracy_given(const struct lab_job *job, char path[PATH_MAX], struct accuracy_program *ret_program)
{
    const struct accuracy_options *options = job->own;
    const char *first = job->all.operands[0];
    const char *slash = strrchr(first, '/');
    *ret_program = (struct accuracy_program){.name = options->name ? options->name : slash ? slash + 1 : first};
    for (size_t i = 0; i < job->all.operand_count; i++)
        ret_program->words[i] = job->all.operands[i];
    if (slash && realpath(first, path))
        ret_program->words[0] = path;
}

static pl_status accuracy_run_coll(struct lab_run *run, struct pl_error *error)
{
    const struct lab_job *job = run->job;
    const int64_t steps = accuracy_programs(job);
    struct accuracy_program given;
    char path[PATH_MAX];
    assert(run->size == 1);
    lab_plan(run, steps, (double)steps);
    lab_block_begin(run, ACCURACY_CLASS, TEST);
    pl_status status = lab_block_head_coll(run, job->common.on.count ? job->common.on.values[0] : ".", error);
    for (int i = 0; i < PROGRAM_COUNT && status == PL_OK; i++)
        if (accuracy_is_asked(job, &PROGRAMS[i]))
            status = accuracy_program_coll(run, &PROGRAMS[i], error);
    if (status == PL_OK && job->all.operand_count > 0) {
        accuracy_given(job, path, &given);
        status = accuracy_program_coll(run, &given, error);
    }
    return lab_block_end_coll(run, status, error);
}

const struct bench bench_predict = {
    .name = "predict",
    .rows = ACCURACY_ROWS,
    .options_size = sizeof(struct accuracy_options),
    .takes = BENCH_ON_MANY | BENCH_NO_VERB | BENCH_OWN_RANKS,
    .classes = (const char *const[]){ACCURACY_CLASS, NULL},
    .operands = "[--] [PROGRAM [ARG...]]",
    .summary = "how far predicted times of phases are from measured ones",
    .details =
        "Traces a program once, replays its model on each place with each MPI-IO and runs the program there too, in "
        "turns, until the intervals are narrow enough to judge, and compares phase by phase. The program runs in an "
        "empty folder of each place, and should write there, by names without a path. Without one, those of --programs "
        "are taken. -n is the number of its ranks (4).",
    .example = "bench predict --on /scratch --on /project -n 4 -- ./app input",
    .output = "predict.out",
    .prepare = accuracy_prepare,
    .plan = accuracy_plan,
    .run_coll = accuracy_run_coll,
    .results = accuracy_results,
};
