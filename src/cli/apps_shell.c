#include "cli/apps_shell.h"

#include "base/interrupt.h"
#include "base/path.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/cli_launch.h"
#include "cli/cli_outputs.h"
#include "cli/cli_wrap.h"
#include "cli/suite_shell.h"
#include "mpi/job.h"

#include <getopt.h>
#include <stdio.h>
#include <string.h>

/* ---- options ---- */

void apps_shell_init(struct apps_shell *shell, const struct cli_verb *verb)
{
    *shell = (struct apps_shell){.verb = verb, .progress = "auto"};
    shell->job = (struct apps_job){.output = "apps.out", .repeat = 1, .seed = 1};
}

int apps_shell_number(const struct apps_shell *shell, const char *name, const char *text, int64_t min, int64_t max,
                      int64_t *ret_value)
{
    if (units_parse_int(text, min, max, ret_value))
        return CLI_OK;
    return cli_usage_error(shell->verb, "--%s: '%s'; allowed: whole numbers from %lld to %lld", name, text,
                           (long long)min, (long long)max);
}

int apps_shell_choice(const struct apps_shell *shell, const char *name, const char *text, const char *const *words,
                      int *ret_index)
{
    struct text allowed = {0};
    for (int i = 0; words[i]; i++) {
        if (strcmp(words[i], text) == 0) {
            *ret_index = i;
            text_clear(&allowed);
            return CLI_OK;
        }
        text_format(&allowed, "%s%s", i > 0 ? ", " : "", words[i]);
    }
    cli_usage_error(shell->verb, "--%s: '%s'; allowed: %s", name, text, text_get(&allowed));
    text_clear(&allowed);
    return CLI_USAGE;
}

static int take_hint(struct apps_shell *shell, const char *argument)
{
    const char *equals = strchr(argument, '=');
    if (!equals || equals == argument || equals - argument >= APPS_SHELL_KEY_MAX)
        return cli_usage_error(shell->verb, "--hint: '%s' is not KEY=VALUE", argument);
    char *key = shell->hint_keys[shell->job.hint_count]; /* no more of them than inputs */
    snprintf(key, APPS_SHELL_KEY_MAX, "%.*s", (int)(equals - argument), argument);
    shell->hints[shell->job.hint_count++] = (struct apps_pair){key, equals + 1};
    return CLI_OK;
}

static int note_input(struct apps_shell *shell, int option, const char *argument)
{
    if (shell->job.input_count == APPS_SHELL_PAIRS_MAX)
        return cli_usage_error(shell->verb, "more than %d options", APPS_SHELL_PAIRS_MAX);
    const struct cli_option *row = shell->verb->options;
    while (row->id != option)
        row++;
    shell->inputs[shell->job.input_count++] = (struct apps_pair){row->name, argument ? argument : "true"};
    return CLI_OK;
}

static int take_seed(struct apps_shell *shell, const char *argument)
{
    int64_t seed = 0;
    const int status = apps_shell_number(shell, "seed", argument, 0, INT64_MAX, &seed);
    shell->job.seed = (uint64_t)seed;
    return status;
}

static int take_progress(struct apps_shell *shell, const char *argument)
{
    struct pl_error error;
    shell->progress = argument;
    return suite_check_progress(argument, &error) == PL_OK ? CLI_OK : cli_usage_error(shell->verb, "%s", error.text);
}

int apps_shell_take(struct apps_shell *shell, int option, const char *argument)
{
    if (note_input(shell, option, argument) != CLI_OK)
        return CLI_USAGE;
    switch (option) {
    case APPS_OPT_FILE:
        shell->job.file = argument;
        break;
    case APPS_OPT_OUTPUT:
        shell->job.output = argument;
        break;
    case APPS_OPT_JSON:
        shell->json = argument;
        break;
    case APPS_OPT_CSV:
        shell->csv = argument;
        break;
    case APPS_OPT_KEEP:
        shell->job.keep = true;
        break;
    case APPS_OPT_OVERWRITE:
        shell->job.overwrite = true;
        break;
    case APPS_OPT_DRY_RUN:
        shell->dry_run = true;
        break;
    case APPS_OPT_RANKS:
        return (shell->ranks = cli_launch_ranks(shell->verb, argument)) ? CLI_OK : CLI_USAGE;
    case APPS_OPT_REPEAT:
        return apps_shell_number(shell, "repeat", argument, 1, 1000000, &shell->job.repeat);
    case APPS_OPT_HINT:
        return take_hint(shell, argument);
    case APPS_OPT_SEED:
        return take_seed(shell, argument);
    case APPS_OPT_PROGRESS:
        return take_progress(shell, argument);
    default:
        break;
    }
    return CLI_OK;
}

/* ---- what fits together ---- */

/* Is `path` the test file, or that of a rank (FILE.3)? */
static bool is_test_file(const char *path, const char *file)
{
    const size_t length = strlen(file);
    if (path_same(path, file))
        return true;
    return strncmp(path, file, length) == 0 && path[length] == '.' && path[length + 1] != '\0' &&
           strspn(path + length + 1, "0123456789") == strlen(path + length + 1);
}

static int check_places(const struct apps_shell *shell)
{
    const struct {
        const char *option, *path;
    } places[] = {{"--output", shell->job.output}, {"--json", shell->json}, {"--csv", shell->csv}};
    const struct cli_outputs outputs = {.results = shell->job.output, .json = shell->json, .csv = shell->csv};
    struct pl_error error;
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        if (places[i].path && is_test_file(places[i].path, shell->job.file))
            return cli_usage_error(shell->verb, "%s: '%s' is where a test file will be; allowed: another file",
                                   places[i].option, places[i].path);
    }
    return cli_outputs_check(&outputs, &error) == PL_OK ? CLI_OK : cli_usage_error(shell->verb, "%s", error.text);
}

static pl_status make_kernel(const struct apps_shell *shell, const struct apps_shell_app *app, int ranks, bool speaks,
                             struct apps_kernel *ret_kernel)
{
    struct pl_error error;
    const pl_status status = app->make(app->options, ranks, ret_kernel, &error);
    if (status != PL_OK && speaks)
        cli_complain(shell->verb, "%s", error.text);
    return status;
}

/* ---- the plan ---- */

static int dry_run(const struct apps_shell *shell, const struct apps_shell_app *app)
{
    struct apps_kernel kernel;
    char text[3][UNITS_TEXT_MAX];
    const int ranks = shell->ranks ? shell->ranks : 1;
    if (make_kernel(shell, app, ranks, true, &kernel) != PL_OK)
        return CLI_USAGE;
    app->print_plan(&kernel, ranks);
    const struct apps_cost *cost = &kernel.cost;
    struct text line = {0};
    text_format(&line,
                "In all, %lld time%s: %lld bytes written by %lld requests, %lld read by %lld; files of %s, memory of a "
                "rank up to %s, results about %s appended to '%s'. Nothing was run.",
                (long long)shell->job.repeat, shell->job.repeat == 1 ? "" : "s", (long long)cost->write_bytes,
                (long long)cost->write_requests, (long long)cost->read_bytes, (long long)cost->read_requests,
                units_bytes(cost->file_bytes, text[0]), units_bytes(cost->memory_bytes, text[1]),
                units_bytes(shell->job.repeat * (7 * (cost->write_requests + cost->read_requests) + 2000), text[2]),
                shell->job.output);
    putchar('\n');
    cli_wrap(text_get(&line), 0, 0);
    text_clear(&line);
    app->clear(&kernel);
    return CLI_OK;
}

/* ---- the run ---- */

struct watcher {
    const struct apps_shell *shell;
    bool progress;
    double told_s; /* when the last line was printed */
    bool header_printed;
};

static void print_progress(void *context, int64_t repetition, int64_t done, int64_t total, double elapsed_s)
{
    struct watcher *watcher = context;
    if (!watcher->progress || (elapsed_s - watcher->told_s < 1 && done > 1))
        return;
    char left[UNITS_TEXT_MAX];
    watcher->told_s = elapsed_s;
    fprintf(stderr, "[%lld/%lld] %lld of %lld; about %s left\n", (long long)repetition,
            (long long)watcher->shell->job.repeat, (long long)done, (long long)total,
            units_duration(elapsed_s * (double)(total - done) / (double)done, left));
}

static void print_rows(void *context, int64_t repetition, const struct apps_row *rows, int count,
                       const struct coll_verdict *verdict)
{
    struct watcher *watcher = context;
    watcher->told_s = 0;
    if (verdict->status != PL_OK) {
        cli_complain(watcher->shell->verb, "run %lld failed: rank %d: %s", (long long)repetition, verdict->rank,
                     verdict->text);
        return;
    }
    if (!watcher->header_printed)
        printf("%-4s %-5s %10s %10s %10s %10s %10s %10s\n", "run", "phase", "requests", "bytes", "mean s", "min s",
               "max s", "MB/s");
    watcher->header_printed = true;
    for (int i = 0; i < count; i++) {
        char bytes[UNITS_TEXT_MAX];
        printf("%-4lld %-5s %10lld %10s %10.4f %10.4f %10.4f %10.1f\n", (long long)repetition, rows[i].key,
               (long long)rows[i].requests, units_bytes(rows[i].bytes, bytes), rows[i].mean_s, rows[i].min_s,
               rows[i].max_s, rows[i].rate_mb_per_s);
    }
    fflush(stdout);
}

static int run_kernel_coll(const struct apps_shell *shell, const struct apps_kernel *kernel, int rank)
{
    struct watcher watcher = {.shell = shell, .progress = suite_wants_progress(shell->progress)};
    const struct apps_observer observer = {.context = &watcher, .progress = print_progress, .end = print_rows};
    const struct suite_request exports = {.verb = shell->verb, .json = shell->json, .csv = shell->csv};
    const bool is_exported = rank == 0 && (shell->json || shell->csv);
    const size_t before = is_exported ? suite_export_count(shell->job.output) : 0;
    int64_t failed = 0;
    struct pl_error error;
    pl_status status = apps_run_coll(MPI_COMM_WORLD, &shell->job, kernel, &observer, &failed, &error);
    if (status == PL_OK && is_exported)
        status = suite_export(&exports, shell->job.output, before, &error);
    if (rank == 0 && status != PL_OK)
        cli_complain(shell->verb, "%s", error.text);
    else if (rank == 0)
        printf("results: %s\n", shell->job.output);
    return status == PL_OK && failed == 0 ? CLI_OK : CLI_FAILED;
}

static int run_coll(const struct apps_shell *shell, const struct apps_shell_app *app, int argc, char **argv)
{
    struct pl_error error;
    struct apps_kernel kernel;
    int rank, ranks, exit_status = CLI_USAGE;
    if (job_init_coll(&argc, &argv, &error) != PL_OK) {
        if (job_speaks())
            cli_complain(shell->verb, "%s", error.text);
        job_finalize_coll();
        return CLI_USAGE;
    }
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct coll_verdict verdict;
    const pl_status made = make_kernel(shell, app, ranks, rank == 0, &kernel);
    pl_status status = coll_agree_coll(MPI_COMM_WORLD, made, &error, &verdict);
    if (status == PL_OK) {
        status = apps_file_take(&shell->job, kernel.own_files, rank, ranks, &error);
        status = coll_agree_coll(MPI_COMM_WORLD, status, &error, &verdict);
        if (status != PL_OK && rank == 0)
            cli_complain(shell->verb, "%s", error.text);
    }
    if (status == PL_OK)
        exit_status = run_kernel_coll(shell, &kernel, rank);
    if (made == PL_OK)
        app->clear(&kernel);
    job_finalize_coll();
    return exit_status;
}

int apps_shell_main(struct apps_shell *shell, const struct apps_shell_app *app, int argc, char **argv)
{
    if (optind < argc)
        return cli_usage_error(shell->verb, "'%s': there are only options here", argv[optind]);
    if (!shell->job.file || !shell->job.file[0])
        return cli_usage_error(shell->verb, "--file is missing: the test file");
    if (check_places(shell) != CLI_OK)
        return CLI_USAGE;
    shell->job.hints = shell->hints;
    shell->job.inputs = shell->inputs;
    if (shell->dry_run)
        return dry_run(shell, app);
    interrupt_results(shell->job.output, NULL);
    if (!shell->ranks || cli_launch_is_child())
        return run_coll(shell, app, argc, argv);
    struct apps_kernel kernel;
    if (make_kernel(shell, app, shell->ranks, true, &kernel) != PL_OK)
        return CLI_USAGE;
    struct pl_error error;
    const pl_status status = apps_file_check(&shell->job, kernel.own_files, shell->ranks, &error);
    app->clear(&kernel);
    return status == PL_OK ? cli_launch(shell->verb, shell->ranks, argc, argv)
                           : cli_usage_error(shell->verb, "%s", error.text);
}
