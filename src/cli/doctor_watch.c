/* Starts jobs that run the rules, and ends those that hang: what they found is in a file. */
#include "base/interrupt.h"
#include "cli/cli_child.h"
#include "cli/cli_launch.h"
#include "cli/cli_target.h"
#include "cli/doctor_mpiio.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START_S = 60, END_S = 5 };
static const double NAP_S = 0.02;

struct watch {
    const struct cli_verb *verb;
    const struct doctor_request *request;
    struct doctor_report *report;
    char folder[PATH_MAX];
    char progress[PATH_MAX + 16], log[PATH_MAX + 16];
    FILE *stream; /* of the progress file */
    struct cli_child job;
    int rule;       /* the index of the rule under way; -1: none */
    int next;       /* the index of the rule to begin with when this job fails */
    bool stopped;   /* the job came to its end */
    double since_s; /* of the last line */
};

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* ---- a job ---- */

static void become_job(void *context)
{
    const struct watch *watch = context;
    const struct doctor_request *request = watch->request;
    char limit[16];
    const char *words[16];
    int count = 0;
    snprintf(limit, sizeof limit, "%d", request->limit_s);
    words[count++] = watch->verb->name;
    words[count++] = "--mpiio";
    if (request->engine)
        words[count++] = "--engine";
    if (request->rule) {
        words[count++] = "--rule";
        words[count++] = request->rule;
    }
    words[count++] = "--limit";
    words[count++] = limit;
    words[count++] = "--dir";
    words[count++] = watch->folder;
    words[count++] = "--";
    words[count++] = watch->progress;
    words[count++] = rule_at(watch->next)->name;
    const int null = open("/dev/null", O_RDONLY);
    const int log = open(watch->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    interrupt_start(watch->verb->name);
    interrupt_be_silent();
    _exit(cli_launch(watch->verb, request->ranks, count, (char **)words));
}

static bool start_job(struct watch *watch)
{
    watch->rule = -1;
    watch->stopped = false;
    watch->since_s = now_s();
    watch->job.is_piolet = true;
    if (cli_child_start(&watch->job, true, become_job, watch))
        return true;
    cli_complain(watch->verb, "cannot start a process: %s", strerror(errno));
    return false;
}

/* One that came to its end is left some seconds for MPI_Finalize. */
static void end_job(struct watch *watch)
{
    const double until = now_s() + (watch->stopped ? END_S : 0);
    while (!cli_child_ended(&watch->job) && now_s() < until && !cli_child_signal())
        cli_child_wait(NAP_S);
    if (!cli_child_ended(&watch->job))
        cli_child_end(&watch->job);
}

/* ---- what it tells ---- */

static void hear(struct watch *watch)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    clearerr(watch->stream);
    long place = ftell(watch->stream);
    while ((length = getline(&line, &room, watch->stream)) > 0 && line[length - 1] == '\n') {
        const int heard = doctor_hear(watch->report, line);
        watch->since_s = now_s();
        watch->stopped |= heard == DOCTOR_STOP;
        if (heard >= 0) {
            watch->rule = heard;
            watch->next = heard + 1;
        } else if (watch->rule >= 0 && watch->report->tried[watch->rule]) {
            watch->rule = -1;
        }
        place = ftell(watch->stream);
    }
    fseek(watch->stream, place, SEEK_SET); /* half a line: the rest will come */
    free(line);
}

/* Until the job ended, or is longer silent than it may be; true: silent. */
static bool follow(struct watch *watch)
{
    for (;;) {
        const bool ended = cli_child_ended(&watch->job);
        hear(watch);
        const int limit_s = watch->rule >= 0 || watch->request->limit_s > START_S ? watch->request->limit_s : START_S;
        if (ended || watch->stopped || cli_child_signal())
            return false;
        if (now_s() - watch->since_s > limit_s)
            return true;
        cli_child_wait(NAP_S);
    }
}

/* The first line of the job's output that says anything. */
static void first_words(const struct watch *watch, char *ret_words, size_t room)
{
    char line[512];
    FILE *log = fopen(watch->log, "r");
    *ret_words = '\0';
    while (log && !*ret_words && fgets(line, sizeof line, log)) {
        line[strcspn(line, "\n")] = '\0';
        const char *begin = line + strcspn(line, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz/[(");
        if (*begin)
            snprintf(ret_words, room, ": %s", begin);
    }
    if (log)
        fclose(log);
}

static void note_failure(const struct watch *watch, bool hangs)
{
    char words[RULE_WORDS_MAX / 2];
    struct rule_finding *finding = &watch->report->findings[watch->rule];
    watch->report->tried[watch->rule] = true;
    finding->outcome = hangs ? RULE_HANGS : RULE_CRASHES;
    snprintf(finding->expected, sizeof finding->expected, "the rule runs to its end");
    first_words(watch, words, sizeof words);
    if (hangs)
        snprintf(finding->seen, sizeof finding->seen, "not done after %d s", watch->request->limit_s);
    else
        snprintf(finding->seen, sizeof finding->seen, "the job ended with status %d%s", watch->job.status, words);
}

/* The job came to nothing: its own words say why. */
static int give_up(const struct watch *watch)
{
    char line[512];
    FILE *log = fopen(watch->log, "r");
    cli_complain(watch->verb, "the rules could not be run; the MPI job said:");
    for (int i = 0; log && i < 20 && fgets(line, sizeof line, log); i++)
        fprintf(stderr, "  %s", line);
    if (log)
        fclose(log);
    return CLI_FAILED;
}

/* Jobs, each from where the one before came to; returns an exit status. */
static int run_jobs(struct watch *watch)
{
    while (rule_at(watch->next)) {
        const int before = watch->next;
        if (!start_job(watch))
            return CLI_FAILED;
        const bool silent = follow(watch);
        end_job(watch);
        if (cli_child_signal())
            return interrupt_end(cli_child_signal());
        if (watch->rule >= 0)
            note_failure(watch, silent);
        else if (watch->next == before)
            return give_up(watch);
        if (watch->request->rule)
            break;
    }
    return CLI_OK;
}

static bool prepare(struct watch *watch)
{
    static const char *const libraries[] = {"libpiolet-mpiio.so", NULL};
    static char list[CLI_PRELOAD_MAX];
    if (watch->request->engine && !cli_target_preload(watch->verb, libraries, list))
        return false;
    if (!doctor_folder_make(watch->verb, watch->request->directory, watch->report, watch->folder))
        return false;
    snprintf(watch->progress, sizeof watch->progress, "%s/.progress", watch->folder);
    snprintf(watch->log, sizeof watch->log, "%s/.log", watch->folder);
    watch->stream = fopen(watch->progress, "w+");
    if (!watch->stream)
        cli_complain(watch->verb, "'%s': %s", watch->progress, strerror(errno));
    return watch->stream;
}

int doctor_watch(const struct cli_verb *verb, const struct doctor_request *request, struct doctor_report *report)
{
    struct watch *watch = calloc(1, sizeof *watch);
    int status = CLI_FAILED;
    if (!watch) {
        cli_complain(verb, "not enough memory");
        return CLI_FAILED;
    }
    *watch = (struct watch){.verb = verb, .request = request, .report = report, .rule = -1};
    if (request->rule)
        watch->next = rule_find(request->rule);
    report->ranks = request->ranks;
    cli_child_take_signals();
    if (prepare(watch))
        status = run_jobs(watch);
    if (watch->stream)
        fclose(watch->stream);
    if (*watch->folder)
        doctor_folder_remove(watch->folder);
    free(watch);
    return status;
}
