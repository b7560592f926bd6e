/* All rules on the MPI-IO in force: `piolet doctor --mpiio`.
 *
 * Outside of MPI, rules_watch.c starts jobs that run the rules (rules_job.c) and tell through a file how far they are:
 * a rule that hangs or crashes costs one job, not the rest. Inside of MPI the rules run in this job. */
#ifndef PIOLET_RULES_RULES_H
#define PIOLET_RULES_RULES_H

#include "base/progress.h"
#include "bench/rules/rule.h"
#include "lab/facts/environment.h"

#include <stdio.h>

/* Exit statuses, as those of verbs. */
enum { RULES_OK, RULES_FAILED, RULES_USAGE };

enum { RULES_MAX = 256, RULES_LIMIT_MAX_S = 3600, RULES_RANKS = 4 };

struct rules_request {
    bool mpiio, engine, list, json;
    int64_t ranks;         /* 0: -n was not given */
    double limit_s;        /* for each rule */
    const char *directory; /* where files go; NULL: the current directory */
    const char *rule;      /* only this one; NULL: all */
    void (*complain)(const char *format, ...) __attribute__((format(printf, 1, 2)));
    /* Starts `words` as a verb of this program on so many ranks, and returns its exit status. */
    int (*launch)(int ranks, int count, char **words);
    /* Of a job that rules_watch.c started; else NULL and 0. */
    const char *progress; /* the file that it writes to */
    int first;            /* the index of its first rule */
};

/* What is known of the rules so far; on every rank the same. */
struct rules_report {
    char mpi[ENVIRONMENT_TEXT_MAX], mpiio[ENVIRONMENT_TEXT_MAX];
    char directory[PATH_MAX];
    int ranks;
    bool tried[RULES_MAX]; /* by index of the rule */
    struct rule_finding findings[RULES_MAX];
};

/* Every rank of a job calls: fills the report, and the progress file where there is one. */
int rules_job_coll(const struct rules_request *request, int argc, char **argv, struct rules_report *report);

/* Outside of MPI: jobs with a limit of time. */
int rules_watch(const struct rules_request *request, struct rules_report *report);

/* A directory of our own in that of the request, whose full name goes to `report`; a message if it fails. */
bool rules_folder_make(const struct rules_request *request, struct rules_report *report, char ret_folder[PATH_MAX]);
void rules_folder_remove(const char *folder);

/* How far the rules are, at most once a second: most take no time. One process tells. */
void rules_progress_begin(struct progress *progress, bool tells);
void rules_progress_tell(struct progress *progress, const struct rules_request *request, int rule);

/* ---- rules_report.c ---- */

void rules_list(bool json);
void rules_print(const struct rules_report *report, bool json);
bool rules_is_well(const struct rules_report *report);

/* Lines of the progress file. */
void rules_tell(FILE *progress, const char *word, const char *first, const struct rule_finding *finding);
/* Takes such a line into the report. "begin" gives the index of the rule, "stop" -2 (the job is at its end, though
 * rules may be left), anything else -1. */
enum { RULES_NOTHING = -1, RULES_STOP = -2 };
int rules_hear(struct rules_report *report, char *line);

#endif
