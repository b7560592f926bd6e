/* piolet report FILE...: one HTML page out of results and models. No MPI. */
#include "cli/cli.h"

#include "base/clock.h"
#include "base/output.h"
#include "cli/cli_target.h"
#include "page/page.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_report;

struct report_values {
    const char *output, *title;
    bool plain;
};

#define AT(member) OPTION_AT(struct report_values, member)
static const struct option_row ROWS[] = {
    {.name = "output",
     .letter = 'o',
     .type = OPTION_TEXT,
     .argument = "FILE|-",
     .initial = "report.html",
     AT(output),
     .more = "A page that is there is replaced when the new one is whole.",
     .help = "where to write the page; - is standard output"},
    {.name = "title", .type = OPTION_TEXT, .initial = "Parallel I/O report", AT(title), .help = "what stands above it"},
    {.name = "plain",
     .type = OPTION_FLAG,
     AT(plain),
     .more = "As 'piolet analyze' makes them.",
     .help = "tables and SVG plots, without scripts"},
    {0}};
#undef AT

static void report_tell_troubles(const struct report *report)
{
    for (size_t i = 0; i < report->file_count; i++) {
        const struct page_file *file = &report->files[i];
        if (file->trouble[0])
            cli_complain(&cli_verb_report, "warning: %s", file->trouble);
        if (file->blocks.warning_count)
            cli_complain(&cli_verb_report, "warning: %s%s", file->blocks.warnings[0],
                         file->blocks.warning_count > 1 ? " (and more, see the page)" : "");
    }
}

static pl_status report_write(struct report *report, const struct report_values *command, FILE *stream,
                              struct pl_error *error)
{
    char template[PATH_MAX];
    if (command->plain)
        return page_write_plain(report, stream, error);
    if (!cli_target_shared("report.html", template)) {
        cli_complain(&cli_verb_report,
                     "note: this build has no '%s' (it is made where Node.js and npm are), so the page has tables and "
                     "plain plots only",
                     template);
        return page_write_plain(report, stream, error);
    }
    return page_write_page(report, template, stream, error);
}

static pl_status report_write_output(struct report *report, const struct report_values *command, struct pl_error *error)
{
    FILE *stream;
    if (output_open(command->output, &stream, error) != PL_OK)
        return error->status;
    const pl_status status = report_write(report, command, stream, error);
    return status == PL_OK ? output_commit(error) : status;
}

static int report_act(void *target, const struct cli_line *line)
{
    const struct report_values *values = target;
    const struct options *options = line->options;
    struct report report;
    struct pl_error error;
    if (options->operand_count == 0)
        return cli_usage_error(&cli_verb_report, "which FILE? (block files and model files, at least one)");
    for (size_t i = 0; i < options->operand_count; i++)
        output_reads(options->operands[i]);
    if (output_check(values->output, &error) != PL_OK)
        return cli_usage_error(&cli_verb_report, "--output: %s", error.text);
    char made[CLOCK_STAMP_MAX];
    if (page_open(options->operands, options->operand_count, &report, &error) != PL_OK) {
        cli_complain(&cli_verb_report, "%s", error.text);
        return CLI_USAGE;
    }
    report.title = values->title;
    report.made = clock_stamp(made);
    report_tell_troubles(&report);
    const pl_status status = report_write_output(&report, values, &error);
    page_close(&report);
    if (status == PL_OK)
        return CLI_OK;
    cli_complain(&cli_verb_report, "%s", error.text);
    return CLI_FAILED;
}

const struct cli_verb cli_verb_report = {
    .name = "report",
    .summary = "one HTML page with charts out of results and models",
    .synopsis = "[OPTION]... FILE...",
    .details = "FILE is a block file that a benchmark wrote, or a model that 'piolet model'\n"
               "made; any mix of them, of one system or of several. The page needs no network\n"
               "and no server.",
    .rows = ROWS,
    .values_size = sizeof(struct report_values),
    .act = report_act,
};
