/* piolet doctor --mpiio: the rules of bench/mpiio on the MPI-IO in force.
 *
 * Outside of MPI, doctor_watch.c starts jobs that run the rules (doctor_job.c) and tell through a file how far they
 * are: a rule that hangs or crashes costs one job, not the rest. Inside of MPI the rules run in this job. */
#ifndef PIOLET_CLI_DOCTOR_MPIIO_H
#define PIOLET_CLI_DOCTOR_MPIIO_H

#include "bench/mpiio/rule.h"
#include "cli/cli.h"
#include "measure/environment.h"

#include <stdio.h>

enum { DOCTOR_RULES_MAX = 256, DOCTOR_LIMIT_S = 20, DOCTOR_LIMIT_MAX_S = 3600, DOCTOR_RANKS = 4 };

struct doctor_request {
    bool mpiio, engine, list, json;
    int ranks;             /* 0: -n was not given */
    int limit_s;           /* for each rule; 0: not given */
    const char *directory; /* where files go; NULL: the current directory */
    const char *rule;      /* only this one; NULL: all */
    /* Of a job that doctor_watch.c started; else NULL and 0. */
    const char *progress; /* the file that it writes to */
    int first;            /* the index of its first rule */
};

/* What is known of the rules so far; on every rank the same. */
struct doctor_report {
    char mpi[ENVIRONMENT_TEXT_MAX], mpiio[ENVIRONMENT_TEXT_MAX];
    char directory[PATH_MAX];
    int ranks;
    bool tried[DOCTOR_RULES_MAX]; /* by index of the rule */
    struct rule_finding findings[DOCTOR_RULES_MAX];
};

/* Checks the request and does it; returns an exit status. argv is that of the verb. */
int doctor_mpiio(const struct cli_verb *verb, const struct doctor_request *request, int argc, char **argv);

/* Every rank of a job calls: fills the report, and the progress file where there is one. */
int doctor_job_coll(const struct cli_verb *verb, const struct doctor_request *request, int argc, char **argv,
                    struct doctor_report *report);

/* Outside of MPI: jobs with a limit of time. */
int doctor_watch(const struct cli_verb *verb, const struct doctor_request *request, struct doctor_report *report);

/* A directory of our own in `parent` (NULL: the current one), whose full name goes to `report`; a message if it fails.
 */
bool doctor_folder_make(const struct cli_verb *verb, const char *parent, struct doctor_report *report,
                        char ret_folder[PATH_MAX]);
void doctor_folder_remove(const char *folder);

/* ---- doctor_report.c ---- */

void doctor_list(bool json);
void doctor_print(const struct doctor_report *report, bool json);
bool doctor_is_well(const struct doctor_report *report);

/* Lines of the progress file. */
void doctor_tell(FILE *progress, const char *word, const char *first, const struct rule_finding *finding);
/* Takes such a line into the report. "begin" gives the index of the rule, "stop" -2 (the job is at its end, though
 * rules may be left), anything else -1. */
enum { DOCTOR_NOTHING = -1, DOCTOR_STOP = -2 };
int doctor_hear(struct doctor_report *report, char *line);

#endif
