/* Starts jobs that run the rules, and ends those that hang: what they found is in a file. */
#include "base/clock.h"
#include "base/interrupt.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/progress.h"
#include "bench/rules/rules.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { START_S = 60, END_S = 5 };
static const double NAP_S = 0.02;

struct rules_watch {
    const struct rules_request *request;
    struct rules_report *report;
    char folder[PATH_MAX];
    char progress[PATH_MAX + 16], log[PATH_MAX + 16];
    FILE *stream; /* of the progress file */
    struct process job;
    int rule;       /* the index of the rule under way; -1: none */
    int next;       /* the index of the rule to begin with when this job fails */
    bool stopped;   /* the job came to its end */
    double since_s; /* of the last line */
    struct progress told;
};

/* ---- a job ---- */

static void rules_watch_become_job(void *context)
{
    const struct rules_watch *watch = context;
    const struct rules_request *request = watch->request;
    char limit[16];
    const char *words[16];
    int count = 0;
    snprintf(limit, sizeof limit, "%g", request->limit_s);
    words[count++] = "doctor";
    words[count++] = "--mpiio";
    if (request->engine)
        words[count++] = "--engine";
    if (request->rule) {
        words[count++] = "--rule";
        words[count++] = request->rule;
    }
    words[count++] = "--limit";
    words[count++] = limit;
    words[count++] = "--on";
    words[count++] = watch->folder;
    words[count++] = "--";
    words[count++] = watch->progress;
    words[count++] = rule_at(watch->next)->name;
    const int null = open("/dev/null", O_RDONLY);
    const int log = open(watch->log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0666);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
    interrupt_start("doctor");
    interrupt_be_silent();
    _exit(request->launch((int)request->ranks, count, (char **)words));
}

static bool rules_watch_start_job(struct rules_watch *watch)
{
    watch->rule = -1;
    watch->stopped = false;
    watch->since_s = clock_now_s();
    watch->job.is_piolet = true;
    if (process_start(&watch->job, true, rules_watch_become_job, watch))
        return true;
    watch->request->complain("cannot start a process: %s", strerror(errno));
    return false;
}

/* One that came to its end is left some seconds for MPI_Finalize. */
static void rules_watch_end_job(struct rules_watch *watch)
{
    const double until = clock_now_s() + (watch->stopped ? END_S : 0);
    while (!process_ended(&watch->job) && clock_now_s() < until && !process_signal())
        process_wait(NAP_S);
    if (!process_ended(&watch->job))
        process_end(&watch->job);
}

/* ---- what it tells ---- */

static void rules_watch_hear(struct rules_watch *watch)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    clearerr(watch->stream);
    long place = ftell(watch->stream);
    while ((length = getline(&line, &room, watch->stream)) > 0 && line[length - 1] == '\n') {
        const int heard = rules_hear(watch->report, line);
        watch->since_s = clock_now_s();
        watch->stopped |= heard == RULES_STOP;
        if (heard >= 0) {
            watch->rule = heard;
            watch->next = heard + 1;
            rules_progress_tell(&watch->told, watch->request, heard);
        } else if (watch->rule >= 0 && watch->report->tried[watch->rule]) {
            watch->rule = -1;
        }
        place = ftell(watch->stream);
    }
    fseek(watch->stream, place, SEEK_SET); /* half a line: the rest will come */
    free(line);
}

/* Until the job ended, or is longer silent than it may be; true: silent. */
static bool rules_watch_follow(struct rules_watch *watch)
{
    for (;;) {
        const bool ended = process_ended(&watch->job);
        rules_watch_hear(watch);
        const double limit_s = watch->rule >= 0 || watch->request->limit_s > START_S ? watch->request->limit_s
                                                                                     : START_S;
        if (ended || watch->stopped || process_signal())
            return false;
        if (clock_now_s() - watch->since_s > limit_s)
            return true;
        process_wait(NAP_S);
    }
}

/* The first line of the job's output that says anything. */
static void rules_watch_first_words(const struct rules_watch *watch, char *ret_words, size_t room)
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

static void rules_watch_note_failure(const struct rules_watch *watch, bool hangs)
{
    char words[RULE_WORDS_MAX / 2];
    struct rule_finding *finding = &watch->report->findings[watch->rule];
    watch->report->tried[watch->rule] = true;
    finding->outcome = hangs ? RULE_HANGS : RULE_CRASHES;
    snprintf(finding->expected, sizeof finding->expected, "the rule runs to its end");
    rules_watch_first_words(watch, words, sizeof words);
    if (hangs)
        snprintf(finding->seen, sizeof finding->seen, "not done after %g s", watch->request->limit_s);
    else
        snprintf(finding->seen, sizeof finding->seen, "the job ended with status %d%s", watch->job.status, words);
}

/* The job came to nothing: its own words say why. */
static int rules_watch_give_up(const struct rules_watch *watch)
{
    char line[512];
    FILE *log = fopen(watch->log, "r");
    watch->request->complain("the rules could not be run; the MPI job said:");
    for (int i = 0; log && i < 20 && fgets(line, sizeof line, log); i++)
        fprintf(stderr, "  %s", line);
    if (log)
        fclose(log);
    return RULES_FAILED;
}

/* Jobs, each from where the one before came to; returns an exit status. */
static int rules_watch_run_jobs(struct rules_watch *watch)
{
    while (rule_at(watch->next)) {
        const int before = watch->next;
        if (!rules_watch_start_job(watch))
            return RULES_FAILED;
        const bool silent = rules_watch_follow(watch);
        rules_watch_end_job(watch);
        if (process_signal())
            return interrupt_end(process_signal());
        if (watch->rule >= 0)
            rules_watch_note_failure(watch, silent);
        else if (watch->next == before)
            return rules_watch_give_up(watch);
        if (watch->request->rule)
            break;
    }
    return RULES_OK;
}

static bool rules_watch_prepare(struct rules_watch *watch)
{
    if (!rules_folder_make(watch->request, watch->report, watch->folder))
        return false;
    snprintf(watch->progress, sizeof watch->progress, "%s/.progress", watch->folder);
    snprintf(watch->log, sizeof watch->log, "%s/.log", watch->folder);
    watch->stream = fopen(watch->progress, "w+");
    if (!watch->stream)
        watch->request->complain("'%s': %s", watch->progress, strerror(errno));
    return watch->stream;
}

int rules_watch(const struct rules_request *request, struct rules_report *report)
{
    struct rules_watch *watch = memory_new(1, sizeof *watch);
    int status = RULES_FAILED;
    *watch = (struct rules_watch){.request = request, .report = report, .rule = -1};
    if (request->rule)
        watch->next = rule_find(request->rule);
    rules_progress_begin(&watch->told, true);
    report->ranks = (int)request->ranks;
    process_take_signals();
    if (rules_watch_prepare(watch))
        status = rules_watch_run_jobs(watch);
    if (watch->stream)
        fclose(watch->stream);
    if (*watch->folder)
        rules_folder_remove(watch->folder);
    free(watch);
    return status;
}
