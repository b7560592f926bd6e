/* A survey: the product's own verbs, one after the other, and what they found.
 *
 *   survey_plan.c     the steps, as rows of one table and those of the benchmarks; the keyword files that they run:
 * pure survey_run.c      the folder of results, one step after the other as a process, the page survey_summary.c  the
 * few numbers that the terminal shows, from the block files */
#ifndef PIOLET_SURVEY_H
#define PIOLET_SURVEY_H

#include "base/status.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum survey_form { SURVEY_QUICK, SURVEY_DEFAULT, SURVEY_FULL, SURVEY_FORMS };

enum survey_part {
    SURVEY_LIMITS,
    SURVEY_CURVES,
    SURVEY_KERNELS,
    SURVEY_STRATEGIES,
    SURVEY_BEFF,
    SURVEY_BEFFIO,
    SURVEY_APP,
    SURVEY_BENCHES, /* benchmarks that have a row of their own (struct bench, .survey) */
    SURVEY_PARTS
};

struct survey_request {
    void (*complain)(const char *text);
    void (*clear_line)(void); /* of progress on a terminal */
    enum survey_form form;
    bool without[SURVEY_PARTS];
    int ranks;
    const char *directory; /* of the test files; NULL: in the results */
    const char *output;    /* of the results; NULL: results/TIME */
    bool dry_run;
};

/* Everything that words of a command may name. */
struct survey_places {
    char self[PATH_MAX];
    char out[PATH_MAX];  /* the results */
    char work[PATH_MAX]; /* the test files; removed at the end */
    int ranks, square;   /* square: a number of ranks for programs that need such a one */
};

/* An exit status. */
int survey_run(const struct survey_request *request);

/* ---- steps ---- */

struct survey_step {
    const char *name; /* of its files: NAME.txt is what it prints */
    const char *title;
    enum survey_part part;
    const char *verb;
    /* Behind "piolet VERB": words separated by blanks, with {n}, {square}, {out}, {work} and {self}. A word that begins
     * with '?' is left out unless the file behind its '=' is there. NULL: not in this form. */
    const char *words[SURVEY_FORMS];
    double seconds[SURVEY_FORMS]; /* on 2 ranks of an idle machine and a laptop's disk, rather too many than too few */
    const char *needs;            /* a file of the results that an earlier step made; NULL: none */
};

/* Those of the table, then one for each benchmark that has a row; ends with {0}. */
const struct survey_step *survey_steps(void);

bool survey_step_wanted(const struct survey_step *step, const struct survey_request *request);

/* A command: words[0] is this program; ends with NULL. */
struct survey_command {
    char **words; /* owned, as each of them */
    size_t count;
};
void survey_command_add(struct survey_command *command, const char *word);
void survey_command_clear(struct survey_command *command);
/* As a shell would take it. */
void survey_command_text(const struct survey_command *command, struct text *text);
void survey_step_command(const struct survey_step *step, const struct survey_request *request,
                         const struct survey_places *places, struct survey_command *ret_command);

/* The keyword files of the steps `curves` and `kernels`. */
void survey_curves(const struct survey_request *request, struct text *text);
void survey_kernels(const struct survey_request *request, struct text *text);

/* ---- the end ---- */

/* What the block files in the folder say, in 80 columns. */
pl_status survey_summary(const char *folder, FILE *stream, struct pl_error *error);

/* The rates of one test at one file and block size: medians over its repetitions, in MB/s; NaN: not measured. Writing
 * takes until the data are on the device, unlike in other tables. */
struct survey_rate {
    double file_bytes, block_bytes;
    double write, read;
    int repetitions, failed;
};

struct blockfile;
struct survey_rates {
    struct survey_rate *list; /* owned; by file size, then block size */
    size_t count;
};
pl_status survey_rates_of(struct blockfile *file, size_t block, struct survey_rates *ret_rates, struct pl_error *error);
void survey_rates_clear(struct survey_rates *rates);

#endif
