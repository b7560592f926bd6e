#include "cli/cli_contest.h"

#include "base/interrupt.h"
#include "base/text.h"
#include "base/units.h"
#include "cli/suite_shell.h"
#include "mpi/job.h"

#include <stdio.h>

/* ---- the command line ---- */

const char *cli_contest_option(const struct cli_contest *contest, int id)
{
    for (const struct cli_option *option = contest->verb->options; option->id; option++)
        if (option->id == id)
            return option->name;
    return "";
}

pl_status cli_contest_take(struct cli_contest *contest, int id, const char *value, struct pl_error *error)
{
    if (id == CONTEST_PROGRESS && suite_check_progress(value, error) != PL_OK)
        return error->status;
    contest->output = id == CONTEST_OUTPUT || id == CONTEST_RESUME ? value : contest->output;
    contest->resume |= id == CONTEST_RESUME;
    contest->dry_run |= id == CONTEST_DRY_RUN;
    contest->overwrite |= id == CONTEST_OVERWRITE;
    contest->json = id == CONTEST_JSON ? value : contest->json;
    contest->csv = id == CONTEST_CSV ? value : contest->csv;
    contest->progress = id == CONTEST_PROGRESS ? value : contest->progress;
    return PL_OK;
}

int cli_contest_refuse(const struct cli_contest *contest, const struct pl_error *error)
{
    if (job_speaks())
        cli_usage_error(contest->verb, "%s", error->text);
    return CLI_USAGE;
}

pl_status cli_contest_check_ranks(int64_t asked, int size, struct pl_error *error)
{
    return asked <= size ? PL_OK
                         : pl_fail(error, PL_E_USAGE, "--ranks: %lld, but this MPI job has %d", (long long)asked, size);
}

void cli_contest_tell_resume(const struct cli_contest *contest)
{
    struct text go_on = {0};
    text_format(&go_on, "piolet %s --resume ", contest->verb->name);
    text_add_word(&go_on, contest->output);
    interrupt_results(contest->output, text_get(&go_on));
    text_clear(&go_on);
}

/* ---- the run ---- */

int cli_contest_run_coll(const struct cli_contest *contest, int thread_level, int (*run_coll)(void *request),
                         void *request)
{
    struct pl_error error;
    int argc = contest->argc;
    char **argv = contest->argv;
    int exit_status = CLI_USAGE;
    if (job_init_thread_coll(&argc, &argv, thread_level, &error) == PL_OK)
        exit_status = run_coll(request);
    else if (job_speaks())
        cli_complain(contest->verb, "%s", error.text);
    job_finalize_coll();
    return exit_status;
}

void cli_contest_tell_begin(int number, int cells, const char *cell, double left_s)
{
    char left[UNITS_TEXT_MAX] = "";
    if (left_s >= 0)
        units_duration(left_s, left);
    fprintf(stderr, "[%d/%d] %s%s%s%s\n", number, cells, cell, *left ? "; about " : "", left, *left ? " left" : "");
}

void cli_contest_tell_failed(const struct cli_contest *contest, const char *cell, const char *contestant,
                             const struct coll_verdict *verdict)
{
    cli_complain(contest->verb, "%s: %s: rank %d: %s", cell, contestant ? contestant : "nothing can be measured",
                 verdict->rank, verdict->text);
}

int cli_contest_export(const struct cli_contest *contest, size_t blocks_before)
{
    const struct suite_request export = {.verb = contest->verb, .json = contest->json, .csv = contest->csv};
    struct pl_error error;
    if ((!contest->json && !contest->csv) || suite_export(&export, contest->output, blocks_before, &error) == PL_OK)
        return CLI_OK;
    cli_complain(contest->verb, "%s", error.text);
    return CLI_FAILED;
}
