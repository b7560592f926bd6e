/* The command line around the test suite, shared by `piolet run` and the iot_* executables. */
#ifndef PIOLET_CLI_SUITE_SHELL_H
#define PIOLET_CLI_SUITE_SHELL_H

#include "cli/cli.h"
#include "measure/spec.h"

#include <stddef.h>

enum { SUITE_OVERRIDES_MAX = 64, SUITE_KEY_MAX = 300 };

struct suite_request {
    const struct cli_verb *verb; /* for messages */
    const char *class_name;      /* only tests of this class; NULL: all */
    const char *path;            /* keyword file */
    const char *json, *csv;      /* exports of what this run measured; NULL: none */
    const char *progress;        /* auto, always, never */
    bool overwrite;              /* test files that are there and not ours */
    struct spec_override overrides[SUITE_OVERRIDES_MAX];
    char override_keys[SUITE_OVERRIDES_MAX][SUITE_KEY_MAX];
    size_t override_count;
};

/* The options, and what they lead to; every rank calls. `class_name` NULL: all classes. */
extern const struct cli_option SUITE_OPTIONS[];
int suite_shell_main(const struct cli_verb *verb, const char *class_name, int argc, char **argv);

/* The plan and what it costs, for `ranks` ranks; nothing is run. */
int suite_shell_dry_run(const struct suite_request *request, int ranks);

/* Looks at the keyword file before anything is started, so that a mistake is one message and no launcher's besides. */
int suite_shell_check(const struct suite_request *request, int ranks);

/* Starts MPI, runs, prints a row for each parameter set. Every rank calls. */
int suite_shell_run_coll(const struct suite_request *request, int argc, char **argv);

/* The value of --progress: auto, always or never? */
pl_status suite_check_progress(const char *asked, struct pl_error *error);
/* Is progress to be printed, by that value? */
bool suite_wants_progress(const char *asked);

/* Refuses outputs that cannot be written, and exports into a file that the run reads or writes. */
pl_status suite_export_check(const struct suite_request *request, const struct spec *spec, struct pl_error *error);

/* Writes the blocks behind the first `blocks_before` of a block file as JSON and CSV, where asked for. */
pl_status suite_export(const struct suite_request *request, const char *output, size_t blocks_before,
                       struct pl_error *error);
/* Blocks in a file, 0 where there is none. */
size_t suite_export_count(const char *output);

/* The keywords of one test, or all tests with their summaries. */
int suite_shell_keywords(const struct suite_request *request, const char *testname);

#endif
