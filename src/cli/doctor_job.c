/* The rules in an MPI job: of its own, or one that doctor_watch.c started. */
#include "cli/cli_target.h"
#include "cli/doctor_mpiio.h"
#include "mpi/job.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool engine_is_there(void)
{
    return dlsym(RTLD_DEFAULT, "piolet_mpiio_version") != NULL;
}

/* Becomes the same program once more, with our MPI-IO preloaded. */
static int become_engine(const struct cli_verb *verb, int argc, char **argv)
{
    static const char *const libraries[] = {"libpiolet-mpiio.so", NULL};
    static char list[CLI_PRELOAD_MAX];
    const char *before = getenv("LD_PRELOAD");
    char self[PATH_MAX];
    if (before && strstr(before, libraries[0])) {
        cli_complain(verb, "LD_PRELOAD holds %s, but that was not loaded", libraries[0]);
        return CLI_FAILED;
    }
    char **words = calloc((size_t)argc + 2, sizeof *words);
    int status = CLI_FAILED;
    if (words && cli_target_self(self) && cli_target_preload(verb, libraries, list)) {
        words[0] = self;
        memcpy(words + 1, argv, (size_t)argc * sizeof *words);
        setenv("LD_PRELOAD", list, 1);
        status = cli_target_exec(verb, self, words);
    }
    free(words);
    return status;
}

static void describe(struct doctor_report *report)
{
    char library[ENVIRONMENT_TEXT_MAX / 2];
    int version, subversion;
    MPI_Get_version(&version, &subversion);
    environment_mpi_library(library, sizeof library);
    snprintf(report->mpi, sizeof report->mpi, "%s (standard %d.%d)", library, version, subversion);
    environment_mpiio(report->mpiio);
}

/* A rank that hangs ends itself in the end, should the one who watches be gone. */
static void set_alarm(const struct doctor_request *request)
{
    enum { GRACE_S = 15 };
    if (request->progress)
        alarm((unsigned)request->limit_s + GRACE_S);
}

/* A job that is watched ends with the first rule that is broken: the MPI-IO may be out of step from there on, and the
 * next rule would be blamed. */
static void run_rules_coll(const struct doctor_request *request, MPI_Comm comm, const char *folder, FILE *progress,
                           struct doctor_report *report)
{
    const struct rule *rule;
    for (int i = request->first; (rule = rule_at(i)) && i < DOCTOR_RULES_MAX; i++) {
        if (request->rule && strcmp(request->rule, rule->name) != 0)
            continue;
        if (progress)
            doctor_tell(progress, "begin", rule->name, NULL);
        set_alarm(request);
        report->tried[i] = true;
        rule_run_coll(rule, comm, folder, &report->findings[i]);
        if (progress)
            doctor_tell(progress, "end", rule->name, &report->findings[i]);
        if (request->progress && report->findings[i].outcome == RULE_BROKEN)
            return;
    }
}

/* Rank 0 opens the progress file, or makes the folder; all know whether that worked, and its name. */
static bool prepare_coll(const struct cli_verb *verb, const struct doctor_request *request, MPI_Comm comm,
                         struct doctor_report *report, char folder[PATH_MAX], FILE **ret_progress)
{
    int rank, ready = 1;
    *ret_progress = NULL;
    folder[0] = '\0';
    MPI_Comm_rank(comm, &rank);
    if (rank == 0 && request->progress) {
        snprintf(folder, PATH_MAX, "%s", request->directory);
        ready = (*ret_progress = fopen(request->progress, "a")) != NULL;
        if (!ready)
            cli_complain(verb, "'%s': %s", request->progress, strerror(errno));
    } else if (rank == 0) {
        ready = doctor_folder_make(verb, request->directory, report, folder);
    }
    MPI_Bcast(&ready, 1, MPI_INT, 0, comm);
    MPI_Bcast(folder, PATH_MAX, MPI_CHAR, 0, comm);
    return ready;
}

static int run_coll(const struct cli_verb *verb, const struct doctor_request *request, struct doctor_report *report)
{
    char folder[PATH_MAX];
    FILE *progress = NULL;
    MPI_Comm comm;
    int rank;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &report->ranks);
    int status = CLI_USAGE;
    if (report->ranks > RULE_RANKS_MAX) {
        if (rank == 0)
            cli_complain(verb, "--mpiio runs on up to %d ranks, not on %d", RULE_RANKS_MAX, report->ranks);
    } else if (prepare_coll(verb, request, comm, report, folder, &progress)) {
        if (rank == 0)
            describe(report);
        if (progress) {
            doctor_tell(progress, "mpi", report->mpi, NULL);
            doctor_tell(progress, "mpiio", report->mpiio, NULL);
        }
        run_rules_coll(request, comm, folder, progress, report);
        if (progress) {
            doctor_tell(progress, "stop", "", NULL);
            fclose(progress);
        } else if (rank == 0) {
            doctor_folder_remove(folder);
        }
        status = CLI_OK;
    }
    MPI_Comm_free(&comm);
    return status;
}

int doctor_job_coll(const struct cli_verb *verb, const struct doctor_request *request, int argc, char **argv,
                    struct doctor_report *report)
{
    if (request->engine && !engine_is_there())
        return become_engine(verb, argc, argv);
    struct pl_error error;
    int rank, status = CLI_USAGE;
    set_alarm(request);
    const pl_status started = job_init_coll(&argc, &argv, &error);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (started == PL_OK)
        status = run_coll(verb, request, report);
    else if (job_speaks())
        cli_complain(verb, "%s", error.text);
    if (status == CLI_OK && !request->progress) {
        if (rank == 0)
            doctor_print(report, request->json);
        status = doctor_is_well(report) ? CLI_OK : CLI_FAILED;
    }
    job_finalize_coll();
    return status;
}
