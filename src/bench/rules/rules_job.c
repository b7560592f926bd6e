/* The rules in an MPI job: of its own, or one that rules_watch.c started. */
#include "base/interrupt.h"
#include "base/path.h"
#include "bench/rules/rules.h"
#include "mpi/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the directory of the files ---- */

bool rules_folder_make(const struct rules_request *request, struct rules_report *report, char ret_folder[PATH_MAX])
{
    const char *parent = request->directory;
    *ret_folder = '\0';
    if (!realpath(parent ? parent : ".", report->directory)) {
        request->complain("'%s': %s", parent ? parent : ".", strerror(errno));
        return false;
    }
    char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/piolet-doctor.XXXXXX", report->directory);
    if (strlen(folder) >= PATH_MAX || !interrupt_mkdtemp(folder)) {
        request->complain("cannot make a directory in '%s': %s", report->directory, strerror(errno));
        return false;
    }
    snprintf(ret_folder, PATH_MAX, "%.*s", PATH_MAX - 1, folder);
    return true;
}

void rules_folder_remove(const char *folder)
{
    remove_quietly(folder);
    interrupt_keep(folder);
}

/* ---- the job ---- */

void rules_progress_begin(struct progress *progress, bool tells)
{
    progress_begin(progress, tells ? PROGRESS_AUTO : PROGRESS_NEVER, 1, 1);
    progress_step(progress, "rules", 1);
}

void rules_progress_tell(struct progress *progress, const struct rules_request *request, int rule)
{
    int count = rule + 1;
    while (rule_at(count))
        count++;
    progress_part(progress, rule_at(rule)->name, request->rule ? 0 : (double)rule / count);
}

static void rules_describe(struct rules_report *report)
{
    char library[ENVIRONMENT_TEXT_MAX / 2];
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    environment_mpi_library(library, sizeof library);
    snprintf(report->mpi, sizeof report->mpi, "%s (standard %d.%d)", library, version, subversion);
    environment_mpiio(report->mpiio);
}

/* A rank that hangs ends itself in the end, should the one who watches be gone. */
static void rules_set_alarm(const struct rules_request *request)
{
    enum { GRACE_S = 15 };
    if (request->progress)
        alarm((unsigned)request->limit_s + GRACE_S);
}

/* A job that is watched ends with the first rule that is broken: the MPI-IO may be out of step from there on, and the
 * next rule would be blamed. */
static void rules_run_all_coll(const struct rules_request *request, MPI_Comm comm, const char *folder, FILE *progress,
                               struct rules_report *report)
{
    const struct rule *rule;
    struct progress told;
    int rank;
    MPI_Comm_rank(comm, &rank);
    rules_progress_begin(&told, rank == 0 && !request->progress); /* else rules_watch.c tells */
    for (int i = request->first; (rule = rule_at(i)) && i < RULES_MAX; i++) {
        if (request->rule && strcmp(request->rule, rule->name) != 0)
            continue;
        if (progress)
            rules_tell(progress, "begin", rule->name, NULL);
        rules_progress_tell(&told, request, i);
        rules_set_alarm(request);
        report->tried[i] = true;
        rule_run_coll(rule, comm, folder, &report->findings[i]);
        if (progress)
            rules_tell(progress, "end", rule->name, &report->findings[i]);
        if (request->progress && report->findings[i].outcome == RULE_BROKEN)
            return;
    }
}

/* Rank 0 opens the progress file, or makes the folder; all know whether that worked, and its name. */
static bool rules_prepare_coll(const struct rules_request *request, MPI_Comm comm, struct rules_report *report,
                               char folder[PATH_MAX], FILE **ret_progress)
{
    int rank, ready = 1;
    *ret_progress = NULL;
    folder[0] = '\0';
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && request->progress) {
        snprintf(folder, PATH_MAX, "%s", request->directory);
        ready = (*ret_progress = fopen(request->progress, "a")) != NULL;
        if (!ready)
            request->complain("'%s': %s", request->progress, strerror(errno));
    } else if (rank == 0) {
        ready = rules_folder_make(request, report, folder);
    }
    MPI_Bcast(&ready, 1, MPI_INT, 0, comm);
    MPI_Bcast(folder, PATH_MAX, MPI_CHAR, 0, comm);
    return ready;
}

static int rules_run_coll(const struct rules_request *request, struct rules_report *report)
{
    char folder[PATH_MAX];
    FILE *progress = NULL;
    MPI_Comm comm;
    int rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &report->ranks);
    int status = RULES_USAGE;
    if (report->ranks > RULE_RANKS_MAX) {
        if (rank == 0)
            request->complain("--mpiio runs on up to %d ranks, not on %d", RULE_RANKS_MAX, report->ranks);
    } else if (rules_prepare_coll(request, comm, report, folder, &progress)) {
        if (rank == 0)
            rules_describe(report);
        if (progress) {
            rules_tell(progress, "mpi", report->mpi, NULL);
            rules_tell(progress, "mpiio", report->mpiio, NULL);
        }
        rules_run_all_coll(request, comm, folder, progress, report);
        if (progress) {
            rules_tell(progress, "stop", "", NULL);
            fclose(progress);
        } else if (rank == 0) {
            rules_folder_remove(folder);
        }
        status = RULES_OK;
    }
    MPI_Comm_free(&comm);
    return status;
}

int rules_job_coll(const struct rules_request *request, int argc, char **argv, struct rules_report *report)
{
    struct pl_error error;
    int rank, status = RULES_USAGE;
    rules_set_alarm(request);
    const pl_status started = job_init_coll(&argc, &argv, &error);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (started == PL_OK)
        status = rules_run_coll(request, report);
    else if (job_speaks())
        request->complain("%s", error.text);
    if (status == RULES_OK && !request->progress) {
        if (rank == 0)
            rules_print(report, request->json);
        status = rules_is_well(report) ? RULES_OK : RULES_FAILED;
    }
    job_finalize_coll();
    return status;
}
