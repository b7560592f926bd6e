#include "base/interrupt.h"

#include "base/output.h"
#include "base/path.h"
#include "base/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SLOTS = 1024, LINE_MAX_BYTES = 2 * PATH_MAX + 512, LINKS_MAX = 16 };

static const int ENDING[] = {SIGINT, SIGTERM, SIGHUP};
enum { ENDINGS = sizeof ENDING / sizeof ENDING[0] };

/* Flags apart from names: looking for one touches no page of the names. */
struct board {
    atomic_int used[SLOTS];
    char name[SLOTS][PATH_MAX]; /* as it was registered */
    char path[SLOTS][PATH_MAX]; /* what it leads to */
};

static struct board *board; /* shared with the cleaner; NULL: no memory for it */
static const char *program = "piolet";
static pid_t owner; /* a child of ours that has not become another program yet has our handlers too */
static pid_t cleaner;
static bool silent;
static struct sigaction at_start[ENDINGS];
static volatile sig_atomic_t noted, held;

static struct {
    char path[PATH_MAX];  /* "": none */
    char *shown, *go_on;  /* what a terminal may get; NULL: no memory, or nothing to say */
    int64_t bytes_before; /* -1: there was none */
} results;

/* ---- what to remove ---- */

/* At the end there is no time for it, and a link may lead to where nothing is yet. */
static bool interrupt_follow_links(const char *name, char path[PATH_MAX])
{
    char target[PATH_MAX], next[PATH_MAX];
    if (snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
        return false;
    for (int i = 0; i < LINKS_MAX; i++) {
        const ssize_t length = readlink(path, target, sizeof target - 1);
        if (length < 0)
            return true;
        target[length] = '\0';
        const char *slash = target[0] == '/' ? NULL : strrchr(path, '/');
        if (snprintf(next, sizeof next, "%.*s%s", slash ? (int)(slash - path) + 1 : 0, path, target) >= PATH_MAX)
            return false;
        memcpy(path, next, sizeof next);
    }
    return false;
}

static int interrupt_slot_of(const char *path)
{
    for (int i = 0; board && i < SLOTS; i++)
        if (atomic_load(&board->used[i]) && strcmp(board->name[i], path) == 0)
            return i;
    return -1;
}

void interrupt_remove(const char *path)
{
    if (!board || getpid() != owner || interrupt_slot_of(path) >= 0 || strlen(path) >= PATH_MAX)
        return;
    for (int i = 0; i < SLOTS; i++)
        if (!atomic_load(&board->used[i])) {
            strcpy(board->name[i], path);
            if (interrupt_follow_links(path, board->path[i]))
                atomic_store(&board->used[i], 1); /* last: a handler sees the whole name or none */
            return;
        }
    assert(!"more test files at a time than the list of interrupt.c holds");
}

void interrupt_keep(const char *path)
{
    const int slot = interrupt_slot_of(path);
    if (slot >= 0)
        atomic_store(&board->used[slot], 0);
}

char *interrupt_mkdtemp(char *name)
{
    interrupt_hold();
    char *made = mkdtemp(name);
    if (made)
        interrupt_remove(made);
    interrupt_release();
    return made;
}

int interrupt_mkstemp(char *name)
{
    interrupt_hold();
    const int fd = mkstemp(name);
    if (fd >= 0)
        interrupt_remove(name);
    interrupt_release();
    return fd;
}

static bool interrupt_is_listed(void)
{
    for (int i = 0; board && i < SLOTS; i++)
        if (atomic_load(&board->used[i]))
            return true;
    return false;
}

/* In a handler, and in the cleaner. */
static void interrupt_remove_listed(void)
{
    for (int i = 0; board && i < SLOTS; i++)
        if (atomic_load(&board->used[i]))
            remove_quietly(board->path[i]);
}

/* ---- what is kept ---- */

static char *interrupt_visible(const char *string)
{
    struct text text = {0};
    text_add_visible(&text, string);
    char *copy = text.failed ? NULL : text_dup(text_get(&text));
    text_clear(&text);
    return copy;
}

void interrupt_results(const char *path, const char *go_on)
{
    struct stat info;
    if (results.path[0] || !path || snprintf(results.path, sizeof results.path, "%s", path) >= PATH_MAX)
        return;
    results.bytes_before = stat(path, &info) == 0 ? info.st_size : -1;
    results.shown = interrupt_visible(path);
    results.go_on = go_on ? interrupt_visible(go_on) : NULL;
}

/* Is there a whole set behind what was there before? */
static bool interrupt_has_set(int fd, int64_t offset)
{
    static const char mark[] = "\nend-set ";
    enum { OVERLAP = sizeof mark - 2 };
    char buffer[16384];
    size_t kept = 0;
    ssize_t got;
    while ((got = pread(fd, buffer + kept, sizeof buffer - kept, (off_t)offset)) > 0) {
        const size_t length = kept + (size_t)got;
        if (memmem(buffer, length, mark, sizeof mark - 1))
            return true;
        kept = length < OVERLAP ? length : OVERLAP;
        memmove(buffer, buffer + length - kept, kept);
        offset += got;
    }
    return false;
}

static bool interrupt_has_results(void)
{
    struct stat info;
    const int fd = open(results.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    bool has = false;
    if (fd >= 0 && fstat(fd, &info) == 0)
        has = S_ISDIR(info.st_mode) ? results.bytes_before >= 0 || rmdir(results.path) != 0 /* it is not empty */
                                    : interrupt_has_set(fd, results.bytes_before > 0 ? results.bytes_before : 0);
    if (fd >= 0)
        close(fd);
    return has;
}

/* Only what may be called in a handler: no printf. */
static void interrupt_add(char *line, size_t *length, const char *words)
{
    for (; *words && *length < LINE_MAX_BYTES - 1; words++)
        line[(*length)++] = *words;
}

static void interrupt_tell(void)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    char line[LINE_MAX_BYTES];
    size_t length = 0;
    if (silent || atomic_flag_test_and_set(&told))
        return;
    const bool kept = results.path[0] && interrupt_has_results();
    if (results.path[0] && !kept && results.bytes_before < 0)
        remove_quietly(results.path); /* the head of a block without a set */
    interrupt_add(line, &length, program);
    interrupt_add(line, &length, ": interrupted; ");
    if (kept) {
        interrupt_add(line, &length, "what was measured is kept in '");
        interrupt_add(line, &length, results.shown ? results.shown : "?");
        interrupt_add(line, &length, "'");
    } else {
        interrupt_add(line, &length,
                      results.path[0] ? "nothing was measured yet" : "what was not finished is not kept");
    }
    if (kept && results.go_on) {
        interrupt_add(line, &length, "; go on with: ");
        interrupt_add(line, &length, results.go_on);
    }
    line[length++] = '\n';
    if (write(STDERR_FILENO, line, length) < 0)
        return; /* nobody is there to read it */
}

int interrupt_end(int number)
{
    output_discard();
    interrupt_remove_listed();
    interrupt_tell();
    return 128 + number;
}

/* ---- signals ---- */

/* A shell starts what stands in the background of a script with SIGINT ignored: Ctrl-C is not meant for it, but `kill
 * -INT` is. Under nohup SIGHUP stays ignored. */
bool interrupt_counts(const siginfo_t *info)
{
    for (int i = 0; i < ENDINGS; i++)
        if (info->si_signo == ENDING[i])
            return at_start[i].sa_handler != SIG_IGN || (info->si_signo == SIGINT && info->si_code != SI_KERNEL);
    return false;
}

/* A launcher forgets what is in its pipes once a rank has ended, as MPICH's does after SIGTERM: all ranks stay for the
 * moment in which the line is passed on. */
static void interrupt_end_now(int number)
{
    const int status = interrupt_end(number);
    if (cleaner > 0)
        nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
    _exit(status);
}

static void interrupt_on_signal(int number, siginfo_t *info, void *context)
{
    (void)context;
    const int error = errno;
    if (getpid() != owner)
        _exit(128 + number);
    if (!interrupt_counts(info))
        return;
    if (!noted)
        noted = number;
    if (!held)
        interrupt_end_now(number);
    errno = error;
}

static void interrupt_set_of(sigset_t *set)
{
    sigemptyset(set);
    for (int i = 0; i < ENDINGS; i++)
        sigaddset(set, ENDING[i]);
}

void interrupt_start(const char *name)
{
    struct sigaction action = {.sa_sigaction = interrupt_on_signal, .sa_flags = SA_SIGINFO | SA_RESTART};
    program = name;
    owner = getpid();
    void *memory = mmap(NULL, sizeof *board, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    board = memory == MAP_FAILED ? NULL : memory;
    interrupt_set_of(&action.sa_mask);
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(ENDING[i], NULL, &at_start[i]);
        if (at_start[i].sa_handler != SIG_IGN || ENDING[i] == SIGINT)
            sigaction(ENDING[i], &action, NULL);
    }
}

void interrupt_be_silent(void)
{
    silent = true;
}

void interrupt_hold(void)
{
    held++;
}

void interrupt_release(void)
{
    assert(held > 0);
    held--;
    if (!held && noted)
        interrupt_end_now(noted);
}

int interrupt_noted(void)
{
    return noted;
}

void interrupt_take(sigset_t *ret_waited_for)
{
    signal(SIGCHLD, SIG_DFL); /* ignored, children would vanish without a status */
    interrupt_set_of(ret_waited_for);
    sigaddset(ret_waited_for, SIGCHLD);
    sigprocmask(SIG_BLOCK, ret_waited_for, NULL);
}

void interrupt_restore(void)
{
    sigset_t set;
    if (!owner)
        return; /* nothing was changed */
    for (int i = 0; i < ENDINGS; i++)
        sigaction(ENDING[i], &at_start[i], NULL);
    interrupt_set_of(&set);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* ---- the cleaner ---- */

/* Nothing of the rank stays open in it: a launcher waits for the ends of its pipes. */
static void interrupt_close_all(void)
{
    if (syscall(SYS_close_range, 0U, ~0U, 0U) == 0)
        return;
    for (int fd = 0; fd < 1024; fd++) /* an old kernel; what MPI needs is among the first */
        close(fd);
}

static void interrupt_be_cleaner(pid_t rank)
{
    enum { LOOK_S = 10 }; /* should the signal not come */
    sigset_t set;
    setsid(); /* a launcher kills groups of processes */
    prctl(PR_SET_NAME, INTERRUPT_CLEANER_NAME);
    interrupt_close_all();
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    prctl(PR_SET_PDEATHSIG, SIGUSR1);
    while (getppid() == rank)
        sigtimedwait(&set, NULL, &(struct timespec){.tv_sec = LOOK_S});
    interrupt_remove_listed();
    _exit(0);
}

void interrupt_cleaner_start(void)
{
    sigset_t all, before;
    const pid_t rank = getpid();
    if (!board || cleaner > 0 || rank != owner)
        return;
    fflush(NULL);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    cleaner = fork();
    if (cleaner == 0)
        interrupt_be_cleaner(rank);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

void interrupt_cleaner_stop(void)
{
    if (cleaner <= 0 || interrupt_is_listed())
        return;
    kill(cleaner, SIGKILL);
    while (waitpid(cleaner, NULL, 0) < 0 && errno == EINTR)
        ;
    cleaner = 0;
}
