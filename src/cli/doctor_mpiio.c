#include "cli/doctor_mpiio.h"

#include "base/interrupt.h"
#include "base/remove.h"
#include "mpi/job.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the directory of the files ---- */

bool doctor_folder_make(const struct cli_verb *verb, const char *parent, struct doctor_report *report,
                        char ret_folder[PATH_MAX])
{
    *ret_folder = '\0';
    if (!realpath(parent ? parent : ".", report->directory)) {
        cli_complain(verb, "'%s': %s", parent ? parent : ".", strerror(errno));
        return false;
    }
    char folder[PATH_MAX + 32];
    snprintf(folder, sizeof folder, "%s/piolet-doctor.XXXXXX", report->directory);
    if (strlen(folder) >= PATH_MAX || !interrupt_mkdtemp(folder)) {
        cli_complain(verb, "cannot make a directory in '%s': %s", report->directory, strerror(errno));
        return false;
    }
    snprintf(ret_folder, PATH_MAX, "%.*s", PATH_MAX - 1, folder);
    return true;
}

void doctor_folder_remove(const char *folder)
{
    remove_quietly(folder);
    interrupt_keep(folder);
}

/* ---- the request ---- */

int doctor_mpiio(const struct cli_verb *verb, const struct doctor_request *request, int argc, char **argv)
{
    static struct doctor_report report;
    struct doctor_request filled = *request;
    if (request->rule && rule_find(request->rule) < 0)
        return cli_usage_error(verb, "--rule: '%s' is no rule; --list shows them all", request->rule);
    if (request->list) {
        doctor_list(request->json);
        return CLI_OK;
    }
    if (!filled.limit_s)
        filled.limit_s = DOCTOR_LIMIT_S;
    if (job_is_launched()) {
        if (!request->ranks)
            return doctor_job_coll(verb, &filled, argc, argv, &report);
        if (job_speaks())
            cli_usage_error(verb, "-n starts an MPI job, but this is one already; leave -n to mpiexec");
        return CLI_USAGE;
    }
    if (!filled.ranks)
        filled.ranks = DOCTOR_RANKS;
    const int status = doctor_watch(verb, &filled, &report);
    if (status != CLI_OK)
        return status;
    doctor_print(&report, request->json);
    return doctor_is_well(&report) ? CLI_OK : CLI_FAILED;
}
