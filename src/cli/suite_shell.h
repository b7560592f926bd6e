/* The command line around the test suite, shared by `piolet run` and the iot_* executables. */
#ifndef PIOLET_CLI_SUITE_SHELL_H
#define PIOLET_CLI_SUITE_SHELL_H

#include "cli/cli.h"
#include "measure/spec.h"

enum { SUITE_OVERRIDES_MAX = 64 };

struct suite_request {
    const struct cli_verb *verb; /* for messages */
    const char *class_name;      /* only tests of this class; NULL: all */
    const char *path;            /* keyword file */
    const char *output;          /* NULL: as the keyword file says */
    const char *json, *csv;      /* exports of what this run measured; NULL: none */
    const char *progress;        /* auto, always, never */
    struct spec_override overrides[SUITE_OVERRIDES_MAX];
    size_t override_count;
};

/* The plan and what it costs, for `ranks` ranks; nothing is run. */
int suite_shell_dry_run(const struct suite_request *request, int ranks);

/* Starts MPI, runs, prints a row for each parameter set. Every rank calls. */
int suite_shell_run_coll(const struct suite_request *request, int argc, char **argv);

/* The keywords of one test, or all tests with their summaries. */
int suite_shell_keywords(const struct suite_request *request, const char *testname);

#endif
