/* A step of a survey as a process group of its own. */
#include "cli/cli_child.h"
#include "cli/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double TICK_S = 0.5;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

struct step {
    const struct survey_command *command;
    const char *log;
};

static void become_step(void *context)
{
    const struct step *step = context;
    const int null = open("/dev/null", O_RDONLY);
    const int file = open(step->log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
    if (null < 0 || file < 0)
        _exit(CLI_FAILED);
    dup2(null, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    execv(step->command->words[0], step->command->words);
    dprintf(STDERR_FILENO, "%s: %s\n", step->command->words[0], strerror(errno));
    _exit(CLI_FAILED);
}

struct survey_outcome survey_child_run(const struct survey_command *command, const char *log, double limit_s,
                                       void (*tick)(void *context, double elapsed_s), void *context)
{
    struct survey_outcome outcome = {.end = SURVEY_NOT_STARTED};
    struct cli_child child = {.is_piolet = true};
    struct step step = {command, log};
    const double began = now_s();
    if (!cli_child_start(&child, true, become_step, &step))
        return outcome;
    outcome.end = SURVEY_WELL;
    while (!cli_child_ended(&child)) {
        const double elapsed = now_s() - began;
        tick(context, elapsed);
        const int number = cli_child_wait(TICK_S);
        if (number || elapsed > limit_s) {
            outcome.end = number ? SURVEY_INTERRUPTED : SURVEY_TOO_LONG;
            cli_child_end(&child);
        }
    }
    outcome.seconds = now_s() - began;
    outcome.status = child.status;
    if (outcome.end == SURVEY_WELL && outcome.status != 0)
        outcome.end = SURVEY_FAILED;
    return outcome;
}
