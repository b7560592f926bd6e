#include "cli/replay_shell.h"

#include "base/units.h"
#include "cli/cli_engine.h"
#include "cli/cli_wrap.h"
#include "cli/suite_shell.h"
#include "mpi/coll.h"
#include "mpi/job.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is read ---- */

pl_status replay_shell_hint(struct replay_shell *shell, const char *text, struct pl_error *error)
{
    size_t count = shell->job.hint_count;
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || strlen(text) > MPI_MAX_INFO_VAL || equals - text > MPI_MAX_INFO_KEY)
        return pl_fail(error, PL_E_USAGE, "hint '%s': allowed: KEY=VALUE", text);
    if (count == REPLAY_SHELL_HINTS)
        return pl_fail(error, PL_E_USAGE, "more than %d hints", REPLAY_SHELL_HINTS);
    char *copy = text_dup(text);
    if (!copy)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    copy[equals - text] = '\0';
    shell->hint_texts[count] = copy;
    shell->hints[count] = (struct replay_pair){copy, copy + (equals - text) + 1};
    shell->job.hint_count++;
    return PL_OK;
}

/* Lines KEY=VALUE or KEY VALUE; # begins a comment. */
pl_status replay_shell_hints(struct replay_shell *shell, const char *path, struct pl_error *error)
{
    struct text text = {0};
    pl_status status = text_read_file(path, &text, error);
    char *rest = NULL;
    for (char *line = status == PL_OK && text.data ? strtok_r(text.data, "\n", &rest) : NULL; line && status == PL_OK;
         line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t");
        char *end = line + strcspn(line, "#");
        while (end > line && isspace((unsigned char)end[-1]))
            end--;
        *end = '\0';
        char *blank = line + strcspn(line, " \t=");
        if (*blank && *blank != '=') {
            const char *value = blank + strspn(blank, " \t");
            memmove(blank + 1, value, strlen(value) + 1);
            *blank = '=';
        }
        if (*line && replay_shell_hint(shell, line, error) != PL_OK)
            status = pl_within(error, "%s", path);
    }
    text_clear(&text);
    return status;
}

pl_status replay_shell_load(struct replay_shell *shell, struct pl_error *error)
{
    struct text text = {0};
    pl_status status = text_read_file(shell->job.model_path, &text, error);
    if (status == PL_OK)
        status = model_read(shell->job.model_path, text_get(&text), &shell->model, error);
    text_clear(&text);
    if (status != PL_OK)
        return status;
    status = replay_plan_make(&shell->model, shell->phases, shell->phase_count, &shell->plan, error);
    if (status == PL_E_USAGE)
        return status;
    if (status != PL_OK)
        return pl_within(error, "%s", shell->job.model_path);
    shell->job.plan = &shell->plan;
    shell->job.hints = shell->hints;
    replay_model_hash(&shell->model, shell->job.model_hash);
    return PL_OK;
}

void replay_shell_clear(struct replay_shell *shell)
{
    replay_plan_clear(&shell->plan);
    model_clear(&shell->model);
    for (size_t i = 0; i < shell->job.hint_count; i++)
        free(shell->hint_texts[i]);
    shell->job.hint_count = 0;
}

/* ---- the plan ---- */

static void name_unit(const struct replay_unit *unit, char *name, size_t size)
{
    const struct model_step *step = unit->step;
    int loops = 0;
    while (step->kind == MODEL_LOOP && step->count == 1 && loops++ < 64)
        step = &step->body[0];
    if (unit->phase)
        snprintf(name, size, "phase %d %s%s", unit->step->phase,
                 step->kind == MODEL_CALL ? step->operation : "mixed operations",
                 unit->phase->metadata ? " (metadata)" : "");
    else
        snprintf(name, size, "%s", unit->step->operation);
}

void replay_shell_print_plan(const struct replay_shell *shell)
{
    const struct model_facts *facts = &shell->plan.facts;
    char written[UNITS_TEXT_MAX], read[UNITS_TEXT_MAX], weight[UNITS_TEXT_MAX];
    printf("%s on %" PRId64 " ranks\n\n", shell->model.program, shell->model.ranks);
    printf("%-40s %10s %12s\n", "", "times", "bytes each");
    for (int i = 0; i < shell->plan.unit_count; i++) {
        const struct replay_unit *unit = &shell->plan.units[i];
        char name[64];
        if (!unit->selected)
            continue;
        name_unit(unit, name, sizeof name);
        printf("%-40s %10" PRId64 " %12s\n", name, unit->count,
               unit->phase ? units_bytes(unit->phase->read_bytes + unit->phase->written_bytes, weight) : "-");
    }
    printf("\n%s written and %s read in all, on:\n", units_bytes(facts->written_bytes, written),
           units_bytes(facts->read_bytes, read));
    for (int i = 0; i < shell->place_count; i++)
        printf("  %s\n", shell->places[i]);
    printf("Nothing was run.\n");
}

/* ---- the run ---- */

struct watcher {
    const struct replay_shell *shell;
    bool progress, header_printed;
    double told_s;
    double total_ns, calls_ns; /* of all; of the calls outside of phases */
};

static void print_progress(void *context, int64_t repetition, const struct replay_unit *unit, double elapsed_s)
{
    struct watcher *watcher = context;
    char name[64] = "", elapsed[UNITS_TEXT_MAX];
    if (!watcher->progress || (elapsed_s >= watcher->told_s && elapsed_s - watcher->told_s < 1))
        return;
    watcher->told_s = elapsed_s;
    if (unit)
        name_unit(unit, name, sizeof name);
    fprintf(stderr, "[%" PRId64 "/%" PRId64 "] %s: %s after %s\n", repetition, watcher->shell->job.repeat,
            watcher->shell->job.directory, name, units_duration(elapsed_s, elapsed));
}

static void print_row(void *context, const struct replay_row *row)
{
    struct watcher *watcher = context;
    const struct model_phase_facts *phase = row->unit->phase;
    char name[64], done[48], time[UNITS_TEXT_MAX], range[16] = "-", rate[32] = "-";
    watcher->total_ns += row->total_ns;
    if (!phase) {
        watcher->calls_ns += row->total_ns;
        return;
    }
    if (!watcher->header_printed)
        printf("%-32s %15s %10s %7s %10s\n", "", "executed", "time", "+-", "MB/s");
    watcher->header_printed = true;
    name_unit(row->unit, name, sizeof name);
    snprintf(done, sizeof done, "%" PRId64 "/%" PRId64, row->executed, row->unit->count);
    if (row->executed < row->unit->count && row->total_ns > 0)
        snprintf(range, sizeof range, "%.1f %%", 100 * (row->high_ns - row->total_ns) / row->total_ns);
    snprintf(rate, sizeof rate, "%.1f",
             units_rate_mb_per_s((double)(phase->read_bytes + phase->written_bytes) * (double)row->unit->count,
                                 row->total_ns));
    printf("%-32.32s %15s %10s %7s %10s\n", name, done, units_ns(row->total_ns, time), range, rate);
    fflush(stdout);
}

static void print_note(void *context, const char *text)
{
    const struct watcher *watcher = context;
    cli_complain(watcher->shell->verb, "note: %s", text);
}

static int replay_on_coll(struct replay_shell *shell, int rank)
{
    struct watcher watcher = {.shell = shell, .progress = suite_wants_progress(shell->progress)};
    const struct replay_observer observer = {&watcher, print_progress, print_row, print_note};
    struct pl_error error;
    struct text label = {0};
    char time[UNITS_TEXT_MAX];
    replay_label(&shell->job, &label);
    if (rank == 0)
        printf("%s\n", text_get(&label));
    text_clear(&label);
    const pl_status status = replay_run_coll(MPI_COMM_WORLD, &shell->job, &observer, &error);
    if (rank == 0 && status != PL_OK)
        cli_complain(shell->verb, "%s", error.text);
    else if (rank == 0) {
        const double repeat = (double)shell->job.repeat;
        printf("%-32s %15s %10s\n", "calls outside of phases", "", units_ns(watcher.calls_ns / repeat, time));
        printf("%-32s %15s %10s\n\n", shell->job.repeat > 1 ? "all, in the mean" : "all", "",
               units_ns(watcher.total_ns / repeat, time));
    }
    return status == PL_OK ? CLI_OK : status == PL_E_FORMAT ? CLI_USAGE : CLI_FAILED;
}

static int run_places_coll(struct replay_shell *shell, int rank)
{
    const struct suite_request exports = {.verb = shell->verb, .json = shell->json, .csv = shell->csv};
    const bool is_exported = rank == 0 && (shell->json || shell->csv);
    const size_t before = is_exported ? suite_export_count(shell->job.output) : 0;
    struct pl_error error;
    int worst = CLI_OK;
    for (int i = 0; i < shell->place_count; i++) {
        shell->job.directory = shell->places[i];
        const int status = replay_on_coll(shell, rank);
        worst = worst == CLI_OK ? status : worst;
    }
    if (is_exported && worst != CLI_USAGE && suite_export(&exports, shell->job.output, before, &error) != PL_OK) {
        cli_complain(shell->verb, "%s", error.text);
        worst = CLI_FAILED;
    }
    if (rank == 0 && worst != CLI_USAGE)
        printf("results: %s\n", shell->job.output);
    return worst;
}

int replay_shell_run_coll(struct replay_shell *shell, int argc, char **argv)
{
    struct pl_error error;
    int rank, ranks, exit_status = CLI_USAGE;
    if (job_init_coll(&argc, &argv, &error) != PL_OK) {
        if (job_speaks())
            cli_complain(shell->verb, "%s", error.text);
        job_finalize_coll();
        return CLI_USAGE;
    }
    shell->job.start_wait_ns = job_meet_coll();
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    shell->job.mpiio = cli_engine_is_there() ? "piolet" : "system";
    if (ranks == shell->model.ranks)
        exit_status = run_places_coll(shell, rank);
    else if (rank == 0)
        cli_complain(shell->verb, "'%s' is of %" PRId64 " ranks, and these are %d; allowed: as many as the program had",
                     shell->job.model_path, shell->model.ranks, ranks);
    job_finalize_coll();
    return exit_status;
}
