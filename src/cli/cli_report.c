/* piolet report FILE...: one HTML page out of results and models. No MPI. */
#include "cli/cli.h"

#include "cli/cli_target.h"
#include "report/report.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

extern const struct cli_verb cli_verb_report;

enum { OUTPUT = 1, TITLE, PLAIN };

struct command {
    const char *output, *title;
    bool plain;
};

static int parse(struct command *command, int argc, char **argv)
{
    const char *argument;
    int option;
    while ((option = cli_next(&cli_verb_report, argc, argv, &argument)) > CLI_END) {
        if (option == OUTPUT)
            command->output = argument;
        else if (option == TITLE)
            command->title = argument;
        else
            command->plain = true;
    }
    if (option != CLI_END)
        return CLI_USAGE;
    if (optind == argc)
        return cli_usage_error(&cli_verb_report, "which FILE? (block files and model files, at least one)");
    if (!*command->output)
        return cli_usage_error(&cli_verb_report, "--output '' names no file");
    return CLI_OK;
}

static void tell_troubles(const struct report *report)
{
    for (size_t i = 0; i < report->file_count; i++) {
        const struct report_file *file = &report->files[i];
        if (file->trouble[0])
            cli_complain(&cli_verb_report, "warning: %s", file->trouble);
        if (file->blocks.warning_count)
            cli_complain(&cli_verb_report, "warning: %s%s", file->blocks.warnings[0],
                         file->blocks.warning_count > 1 ? " (and more, see the page)" : "");
    }
}

static pl_status write_report(struct report *report, const struct command *command, FILE *stream,
                              struct pl_error *error)
{
    char template[PATH_MAX];
    if (command->plain)
        return report_write_plain(report, stream, error);
    if (!cli_target_shared("report.html", template)) {
        cli_complain(&cli_verb_report,
                     "note: this build has no '%s' (it is made where Node.js and npm are), so the page has tables and "
                     "plain plots only",
                     template);
        return report_write_plain(report, stream, error);
    }
    return report_write_page(report, template, stream, error);
}

/* A device, a pipe or a link stays what it is: the page is written into it. */
static bool is_replaced(const char *path)
{
    struct stat found;
    return lstat(path, &found) != 0 || S_ISREG(found.st_mode);
}

/* An option's slip must not cost results. */
static const char *input_that_is_output(const struct command *command, char **paths, int count)
{
    struct stat output, input;
    if (strcmp(command->output, "-") == 0 || stat(command->output, &output) != 0)
        return NULL;
    for (int i = 0; i < count; i++)
        if (stat(paths[i], &input) == 0 && input.st_dev == output.st_dev && input.st_ino == output.st_ino)
            return paths[i];
    return NULL;
}

/* A file is written under a name beside it and replaced when all is there: a page is whole or as it was. */
static int write_output(struct report *report, const struct command *command)
{
    char name[PATH_MAX], part[32] = "";
    struct pl_error error;
    const bool standard = strcmp(command->output, "-") == 0, replaced = !standard && is_replaced(command->output);
    if (replaced)
        snprintf(part, sizeof part, ".%ld.part", (long)getpid());
    if (snprintf(name, sizeof name, "%s%s", command->output, part) >= PATH_MAX)
        return cli_usage_error(&cli_verb_report, "--output: the name is too long");
    FILE *stream = standard ? stdout : fopen(name, "w");
    if (!stream) {
        cli_complain(&cli_verb_report, "cannot write '%s': %s", command->output, strerror(errno));
        return CLI_FAILED;
    }
    pl_status status = write_report(report, command, stream, &error);
    int cause = cli_stream_errno(stream);
    if (!standard && fclose(stream) != 0 && !cause)
        cause = errno;
    if (status == PL_OK && !cause && replaced && rename(name, command->output) != 0)
        cause = errno;
    if (status == PL_OK && cause)
        status = pl_fail_errno(&error, cause, "cannot write '%s'", command->output);
    if (status == PL_OK)
        return CLI_OK;
    if (replaced)
        unlink(name);
    cli_complain(&cli_verb_report, "%s", error.text);
    return CLI_FAILED;
}

static int report_run(int argc, char **argv)
{
    struct command command = {.output = "report.html", .title = "Parallel I/O report"};
    const int wrong = parse(&command, argc, argv);
    if (wrong)
        return wrong;
    const char *input = input_that_is_output(&command, argv + optind, argc - optind);
    if (input)
        return cli_usage_error(&cli_verb_report, "--output: the page would replace '%s', one of its files", input);
    struct report report;
    struct pl_error error;
    char made[64];
    const time_t now = time(NULL);
    struct tm parts;
    if (report_open((const char *const *)argv + optind, (size_t)(argc - optind), &report, &error) != PL_OK) {
        cli_complain(&cli_verb_report, "%s", error.text);
        return CLI_USAGE;
    }
    strftime(made, sizeof made, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &parts));
    report.title = command.title;
    report.made = made;
    tell_troubles(&report);
    const int status = write_output(&report, &command);
    report_close(&report);
    return status;
}

const struct cli_verb cli_verb_report = {
    .name = "report",
    .summary = "one HTML page with charts out of results and models",
    .synopsis = "[OPTION]... FILE...",
    .details = "FILE is a block file that a benchmark wrote, or a model that 'piolet model' made; any\n"
               "mix of them, of one system or of several. The page needs no network and no server.",
    .options = (const struct cli_option[]){{OUTPUT, "output", 'o', "FILE",
                                            "where to write the page (report.html); - is standard\n"
                                            "output"},
                                           {TITLE, "title", 0, "TEXT", "what stands above it"},
                                           {PLAIN, "plain", 0, NULL, "tables and SVG plots, without scripts"},
                                           {0}},
    .run = report_run,
};
