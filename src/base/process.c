#include "base/process.h"

#include "base/clock.h"
#include "base/interrupt.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
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

bool process_is_supervised(void)
{
    return getenv(SUPERVISED) != NULL;
}

void process_forget(void)
{
    unsetenv(SUPERVISED);
}

/* Processes whose parents end become ours, and not those of process 1: none is lost sight of. */
void process_take_signals(void)
{
    if (taken)
        return;
    interrupt_take(&waited_for);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    taken = true;
}

static void process_be_child(pid_t parent, bool own_group, process_become *become, void *context)
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

bool process_start(struct process *child, bool own_group, process_become *become, void *context)
{
    const pid_t parent = getpid();
    process_take_signals();
    fflush(NULL);
    *child = (struct process){.is_piolet = child->is_piolet};
    child->pid = fork();
    if (child->pid == 0)
        process_be_child(parent, own_group, become, context);
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

bool process_ended(struct process *child)
{
    int status = 0;
    if (child->pid > 0 && waitpid(child->pid, &status, WNOHANG) == child->pid) {
        child->pid = 0;
        child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return child->pid == 0;
}

int process_wait(double seconds)
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

int process_signal(void)
{
    return first_signal;
}

/* ---- the end ---- */

static bool process_is_cleaner(const char *process)
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

static pid_t process_parent_of(const char *process)
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
static void process_kill_left(bool cleaners_too)
{
    DIR *processes = opendir("/proc");
    const pid_t me = getpid();
    for (const struct dirent *entry; processes && (entry = readdir(processes));)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && process_parent_of(entry->d_name) == me &&
            (cleaners_too || !process_is_cleaner(entry->d_name)))
            kill((pid_t)strtol(entry->d_name, NULL, 10), SIGKILL);
    if (processes)
        closedir(processes);
}

static void process_sweep(void)
{
    for (const double until = clock_now_s() + SWEEP_S;;) {
        pid_t ended;
        while ((ended = waitpid(-1, NULL, WNOHANG)) > 0)
            ;
        if (ended < 0)
            return; /* no child is left */
        process_kill_left(clock_now_s() > until);
        process_wait(LOOK_S);
    }
}

void process_end(struct process *child)
{
    const double until = clock_now_s() + (child->is_piolet ? PIOLET_S : LAUNCHER_S);
    bool again = false;
    if (!process_ended(child))
        kill(child->pid, SIGTERM);
    while (!process_ended(child) && clock_now_s() < until && !again)
        again = process_wait(LOOK_S) != 0;
    if (child->pid > 0)
        kill(child->pid, SIGKILL);
    while (!process_ended(child))
        process_wait(LOOK_S);
    if (child->group)
        kill(-child->group, SIGKILL);
    process_sweep();
}

enum { LONG_S = 60 };

void process_follow_program(struct process *child)
{
    while (!process_ended(child)) {
        const int number = process_wait(LONG_S);
        if (number && !from_terminal) /* MPICH's mpiexec dies of SIGHUP, and leaves its ranks alone */
            kill(child->pid, number == SIGHUP ? SIGTERM : number);
    }
    if (first_signal)
        process_sweep();
}

void process_follow(struct process *child)
{
    while (!process_ended(child))
        if (process_wait(LONG_S))
            process_end(child);
}

/* ---- short helpers ---- */

static pl_status process_spawn(const char *const *words, const int streams[3], char **environment, pid_t *ret_pid,
                               struct pl_error *error)
{
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    for (int i = 0; i < 3; i++)
        if (streams[i] >= 0)
            posix_spawn_file_actions_adddup2(&actions, streams[i], i);
        else
            posix_spawn_file_actions_addopen(&actions, i, "/dev/null", i == 0 ? O_RDONLY : O_WRONLY, 0);
    const int failed = posix_spawnp(ret_pid, words[0], &actions, NULL, (char *const *)words, environment);
    posix_spawn_file_actions_destroy(&actions);
    if (failed == ENOENT)
        return pl_fail(error, PL_E_UNSUPPORTED, "there is no program %s", words[0]);
    return failed ? pl_fail_errno(error, failed, "starting %s", words[0]) : PL_OK;
}

static pl_status process_reap(const char *name, pid_t pid, struct pl_error *error)
{
    int status = 0;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return pl_fail_errno(error, errno, "waiting for %s", name);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? PL_OK : pl_fail(error, PL_E_SYSTEM, "%s failed", name);
}

pl_status process_run(const char *const *words, int in, int out, int err, struct pl_error *error)
{
    pid_t pid;
    const pl_status status = process_spawn(words, (const int[]){in, out, err}, environ, &pid, error);
    return status == PL_OK ? process_reap(words[0], pid, error) : status;
}

/* The environment without one variable; the caller frees the list, not its texts. NULL: no memory. */
static char **process_environment_without(const char *name)
{
    const size_t length = strlen(name);
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (strncmp(environ[i], name, length) != 0 || environ[i][length] != '=')
            copy[kept++] = environ[i];
    return copy;
}

/* Until the end; what cannot be read is not there. */
static void process_read_all(int fd, struct text *output)
{
    char bytes[4096];
    ssize_t count;
    while ((count = read(fd, bytes, sizeof bytes)) > 0 || (count < 0 && errno == EINTR))
        if (count > 0)
            text_append(output, bytes, (size_t)count);
}

pl_status process_read(const char *const *words, const char *without, struct text *output, struct pl_error *error)
{
    int ends[2];
    pid_t pid;
    char **environment = process_environment_without(without);
    if (!environment)
        return pl_fail(error, PL_E_NOMEM, "starting %s", words[0]);
    if (pipe2(ends, O_CLOEXEC) != 0) {
        free(environment);
        return pl_fail_errno(error, errno, "starting %s", words[0]);
    }
    pl_status status = process_spawn(words, (const int[]){-1, ends[1], -1}, environment, &pid, error);
    free(environment);
    close(ends[1]);
    if (status == PL_OK) {
        process_read_all(ends[0], output); /* before it is waited for: a pipe holds 64 KiB */
        status = process_reap(words[0], pid, error);
    }
    close(ends[0]);
    return status;
}

bool process_self(char ret_path[PATH_MAX])
{
    const ssize_t length = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);
    ret_path[length < 0 ? 0 : length] = '\0';
    return length > 0;
}
