#include "cli/cli_child.h"

#include "base/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SUPERVISED "PIOLET_SUPERVISED"

/* mpiexec of Open MPI asks its ranks after one second and kills them after two; a piolet needs the time of its own
 * mpiexec and cleaners. */
enum { LAUNCHER_S = 6, PIOLET_S = 20, SWEEP_S = 10 };
static const double LOOK_S = 0.02;

static sigset_t waited_for;
static bool taken;
static int first_signal;
static bool from_terminal; /* the last one */

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

bool cli_child_is_supervised(void)
{
    return getenv(SUPERVISED) != NULL;
}

void cli_child_forget(void)
{
    unsetenv(SUPERVISED);
}

/* Processes whose parents end become ours, and not those of process 1: none is lost sight of. */
void cli_child_take_signals(void)
{
    if (taken)
        return;
    interrupt_take(&waited_for);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    taken = true;
}

static void be_child(pid_t parent, bool own_group, cli_become *become, void *context)
{
    if (own_group)
        setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent)
        _exit(128 + SIGTERM);
    interrupt_restore();
    taken = false; /* should it go on as this program, and start children of its own */
    first_signal = 0;
    setenv(SUPERVISED, "1", 1);
    become(context);
    _exit(127);
}

bool cli_child_start(struct cli_child *child, bool own_group, cli_become *become, void *context)
{
    const pid_t parent = getpid();
    cli_child_take_signals();
    fflush(NULL);
    *child = (struct cli_child){.is_piolet = child->is_piolet};
    child->pid = fork();
    if (child->pid == 0)
        be_child(parent, own_group, become, context);
    if (child->pid < 0) {
        child->pid = 0;
        return false;
    }
    if (own_group) {
        setpgid(child->pid, child->pid); /* here too: whoever is first */
        child->group = child->pid;
    }
    return true;
}

bool cli_child_ended(struct cli_child *child)
{
    int status = 0;
    if (child->pid > 0 && waitpid(child->pid, &status, WNOHANG) == child->pid) {
        child->pid = 0;
        child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return child->pid == 0;
}

int cli_child_wait(double seconds)
{
    const struct timespec time = {.tv_sec = (time_t)seconds,
                                  .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    siginfo_t info;
    if (sigtimedwait(&waited_for, &info, &time) <= 0 || !interrupt_counts(&info))
        return 0;
    if (!first_signal)
        first_signal = info.si_signo;
    from_terminal = info.si_code == SI_KERNEL;
    return info.si_signo;
}

int cli_child_signal(void)
{
    return first_signal;
}

/* ---- the end ---- */

static bool is_cleaner(const char *process)
{
    char path[300], name[32] = "";
    snprintf(path, sizeof path, "/proc/%s/comm", process);
    FILE *stream = fopen(path, "re");
    if (stream && fgets(name, sizeof name, stream))
        name[strcspn(name, "\n")] = '\0';
    if (stream)
        fclose(stream);
    return strcmp(name, INTERRUPT_CLEANER_NAME) == 0;
}

static pid_t parent_of(const char *process)
{
    char path[300], line[512];
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", process);
    FILE *stream = fopen(path, "re");
    const char *end = stream && fgets(line, sizeof line, stream) ? strrchr(line, ')') : NULL;
    if (!end || sscanf(end, ") %*c %d", &parent) != 1)
        parent = 0;
    if (stream)
        fclose(stream);
    return parent;
}

/* Children of ours, which are those that others left. Cleaners are waited for: they remove what killed ranks leave. */
static void kill_left(bool cleaners_too)
{
    DIR *processes = opendir("/proc");
    const pid_t me = getpid();
    for (const struct dirent *entry; processes && (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && parent_of(entry->d_name) == me &&
            (cleaners_too || !is_cleaner(entry->d_name)))
            kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
    if (processes)
        closedir(processes);
}

static void sweep(void)
{
    for (const double until = now_s() + SWEEP_S;;) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (ended < 0)
            return; /* no child is left */
        kill_left(now_s() > until);
        cli_child_wait(LOOK_S);
    }
}

void cli_child_end(struct cli_child *child)
{
    const double until = now_s() + (child->is_piolet ? PIOLET_S : LAUNCHER_S);
    bool again = false;
    if (!cli_child_ended(child))
        kill(child->pid, SIGTERM);
    while (!cli_child_ended(child) && now_s() < until && !again)
        again = cli_child_wait(LOOK_S) != 0;
    if (child->pid > 0)
        kill(child->pid, SIGKILL);
    while (!cli_child_ended(child))
        cli_child_wait(LOOK_S);
    if (child->group)
        kill(-child->group, SIGKILL);
    sweep();
}

enum { LONG_S = 60 };

void cli_child_follow_program(struct cli_child *child)
{
    while (!cli_child_ended(child)) {
        const int number = cli_child_wait(LONG_S);
        if (number && !from_terminal) /* MPICH's mpiexec dies of SIGHUP, and leaves its ranks alone */
            kill(child->pid, number == SIGHUP ? SIGTERM : number);
    }
    if (first_signal)
        sweep();
}

void cli_child_follow(struct cli_child *child)
{
    while (!cli_child_ended(child))
        if (cli_child_wait(LONG_S))
            cli_child_end(child);
}
