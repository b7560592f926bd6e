/* Making the auxiliary processes. */
#include "base/units.h"
#include "mpi/launcher.h"
#include "mpiio/aux/aux_core.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char why_not[PL_ERROR_TEXT_MAX] = "PIOLET_AUXILIARY is not set";

const char *aux_why_not(void)
{
    return aux_group_any() ? NULL : why_not;
}

static void say(const char *words)
{
    snprintf(why_not, sizeof why_not, "%s", words);
}

/* ---- a process ---- */

/* The process is a grandchild: the program neither gets a signal of its end nor finds it when it waits for children of
 * its own. */
static bool make_process(struct aux_group *group, int number)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before); /* the program's handlers must not run in the child */
    const pid_t child = fork();
    if (child == 0) {
        const pid_t grandchild = fork();
        if (grandchild == 0)
            aux_serve(group, number);
        _exit(grandchild < 0 ? EXIT_FAILURE : EXIT_SUCCESS);
    }
    int status = 0;
    pid_t ended = -1;
    while (child > 0 && (ended = waitpid(child, &status, 0)) < 0 && errno == EINTR)
        continue;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return child > 0 && (ended < 0 || status == 0); /* no status where the program ignores SIGCHLD */
}

static bool has_begun(const struct aux_queue *queue)
{
    enum { NAPS = 10000 };
    const struct timespec nap = {.tv_nsec = 1000000};
    for (int i = 0; i < NAPS && !atomic_load(&queue->begun); i++)
        nanosleep(&nap, NULL);
    return atomic_load(&queue->begun);
}

static void make_group(int processes, int64_t bytes_each)
{
    struct pl_error error;
    struct aux_group *group = aux_group_new(processes, bytes_each, &error);
    if (!group) {
        say(error.text);
        return;
    }
    for (int i = 0; i < processes; i++)
        if (!make_process(group, i) || !has_begun(&group->shared->queue[i])) {
            say("a process could not be made");
            aux_group_drop(group); /* those that were made end by it */
            return;
        }
    aux_group_enter(group);
}

/* ---- from the environment ---- */

void aux_start(void)
{
    const char *count_text = getenv("PIOLET_AUXILIARY"), *bytes_text = getenv("PIOLET_AUXILIARY_BYTES");
    const int64_t least = 1 << 20, most = INT64_C(1) << 34;
    int64_t count = 0, bytes = 64 << 20;
    if (!count_text || !*count_text)
        return;
    const int rank = launcher_local_rank();
    if (!units_parse_int(count_text, 0, AUX_PROCESSES_MAX, &count))
        snprintf(why_not, sizeof why_not, "PIOLET_AUXILIARY is '%.40s'; allowed: 0 to %d", count_text,
                 AUX_PROCESSES_MAX);
    else if (bytes_text && *bytes_text && (!units_parse_size(bytes_text, &bytes) || bytes < least || bytes > most))
        snprintf(why_not, sizeof why_not, "PIOLET_AUXILIARY_BYTES is '%.40s'; allowed: 1m to 16g", bytes_text);
    else if (count == 0)
        say("PIOLET_AUXILIARY is 0");
    else if (rank < 0)
        say("the launcher does not tell which rank is the first of its node");
    else if (rank > 0)
        say("the first rank of the node has none to offer");
    else
        make_group((int)count, bytes);
}

void aux_stop(void)
{
    aux_group_leave_all();
}
