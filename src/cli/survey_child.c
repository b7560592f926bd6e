/* A step of a survey as a process group of its own. */
#include "cli/survey.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { END_S = 5, TICK_NS = 500000000 };

/* The signals are blocked and waited for: none is lost between two looks, and no handler interrupts a call. */
static sigset_t waited_for, before;

void survey_signals_take(void)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD};
    sigemptyset(&waited_for);
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        sigaddset(&waited_for, numbers[i]);
    sigprocmask(SIG_BLOCK, &waited_for, &before);
}

/* The number of a signal that ends a survey, or 0 after half a second without one, or when a child ended. */
static int wait_signal(long nanoseconds)
{
    const struct timespec tick = {.tv_nsec = nanoseconds};
    const int number = sigtimedwait(&waited_for, NULL, &tick);
    return number > 0 && number != SIGCHLD ? number : 0;
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Does not return. */
static void become(const struct survey_command *command, const char *log)
{
    const int null = open("/dev/null", O_RDONLY);
    const int file = open(log, O_WRONLY | O_CREAT | O_EXCL | O_APPEND, 0666);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (null < 0 || file < 0)
        _exit(CLI_FAILED);
    dup2(null, STDIN_FILENO);
    dup2(file, STDOUT_FILENO);
    dup2(file, STDERR_FILENO);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    signal(SIGHUP, SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    execv(command->words[0], command->words);
    dprintf(STDERR_FILENO, "%s: %s\n", command->words[0], strerror(errno));
    _exit(CLI_FAILED);
}

static bool has_ended(pid_t *child, int *status)
{
    if (*child > 0 && waitpid(*child, status, WNOHANG) == *child)
        *child = 0;
    return *child == 0;
}

/* The launcher ends its ranks when it is asked to, and gets some seconds for that; then all go that are left. */
static void end_child(pid_t *child, int *status)
{
    const pid_t group = *child;
    kill(*child, SIGTERM);
    for (const double until = now_s() + END_S; !has_ended(child, status) && now_s() < until;)
        wait_signal(TICK_NS / 10);
    kill(-group, SIGKILL);
    while (!has_ended(child, status))
        wait_signal(TICK_NS / 10);
}

struct survey_outcome survey_child_run(const struct survey_command *command, const char *log, double limit_s,
                                       void (*tick)(void *context, double elapsed_s), void *context)
{
    struct survey_outcome outcome = {.end = SURVEY_NOT_STARTED};
    const double began = now_s();
    int status = 0;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        become(command, log);
    if (child < 0)
        return outcome;
    outcome.end = SURVEY_WELL;
    while (!has_ended(&child, &status)) {
        const double elapsed = now_s() - began;
        tick(context, elapsed);
        const int number = wait_signal(TICK_NS);
        if (number || elapsed > limit_s) {
            outcome.end = number ? SURVEY_INTERRUPTED : SURVEY_TOO_LONG;
            end_child(&child, &status);
        }
    }
    outcome.seconds = now_s() - began;
    outcome.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    if (outcome.end == SURVEY_WELL && outcome.status != 0)
        outcome.end = SURVEY_FAILED;
    return outcome;
}
