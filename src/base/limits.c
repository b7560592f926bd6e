/* What this process may use. */
#include "base/limits.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/* ---- address space ---- */

static bool address_space_limit_of(int resource, uint64_t *ret_bytes)
{
    struct rlimit limit;
    *ret_bytes = UINT64_MAX;
    if (getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *ret_bytes = limit.rlim_cur;
    return true;
}

/* Pages of all maps, and of those that count as data. No stream: it would take memory. */
static bool address_space_pages_in_use(unsigned long long *ret_all, unsigned long long *ret_data)
{
    char text[256];
    const int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    const ssize_t length = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
    if (fd >= 0)
        close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    return sscanf(text, "%llu %*u %*u %*u %*u %llu", ret_all, ret_data) == 2; /* NOLINT(cert-err34-c) */
}

static uint64_t address_space_left_of(uint64_t limit, uint64_t used)
{
    return limit == UINT64_MAX ? limit : limit - (used < limit ? used : limit);
}

uint64_t address_space_left(void)
{
    uint64_t all_most, data_most;
    unsigned long long all = 0, data = 0;
    const bool limits_all = address_space_limit_of(RLIMIT_AS, &all_most),
               limits_data = address_space_limit_of(RLIMIT_DATA, &data_most);
    if (!limits_all && !limits_data)
        return UINT64_MAX;
    const int before = errno;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    const bool known = address_space_pages_in_use(&all, &data);
    errno = before;
    if (!known)
        return UINT64_MAX;
    const uint64_t left = address_space_left_of(all_most, all * page),
                   left_data = address_space_left_of(data_most, data * page);
    return left < left_data ? left : left_data;
}

bool address_space_is_accounted(void)
{
    char text[4] = "";
    const int before = errno, fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
    const bool strict = fd >= 0 && read(fd, text, sizeof text - 1) > 0 && text[0] == '2';
    if (fd >= 0)
        close(fd);
    errno = before;
    return strict;
}

/* ---- size of files ---- */

bool size_limit_bytes(unsigned long long *ret_bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return false;
    *ret_bytes = limit.rlim_cur;
    return true;
}

static atomic_bool limited; /* asking the system costs a third of a small write: it is asked when a file is opened */

void size_limit_look(void)
{
    unsigned long long bytes;
    atomic_store(&limited, size_limit_bytes(&bytes));
}

void size_limit_enter(struct size_limit *limit)
{
    limit->held = false;
    if (!atomic_load_explicit(&limited, memory_order_relaxed))
        return;
    sigset_t signals, pending;
    sigemptyset(&signals);
    sigaddset(&signals, SIGXFSZ);
    limit->held = pthread_sigmask(SIG_BLOCK, &signals, &limit->before) == 0;
    limit->was_pending = sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 1;
}

void size_limit_leave(const struct size_limit *limit, bool passed)
{
    if (!limit->held)
        return;
    if (passed && !limit->was_pending) { /* one that the program was to get already stays */
        sigset_t signals;
        sigemptyset(&signals);
        sigaddset(&signals, SIGXFSZ);
        const struct timespec at_once = {0};
        while (sigtimedwait(&signals, NULL, &at_once) < 0 && errno == EINTR)
            continue;
    }
    pthread_sigmask(SIG_SETMASK, &limit->before, NULL);
}

int size_limit_truncate(int fd, off_t bytes)
{
    struct size_limit limit;
    size_limit_look();
    size_limit_enter(&limit);
    const int outcome = ftruncate(fd, bytes), code = errno;
    size_limit_leave(&limit, outcome != 0 && code == EFBIG);
    errno = code;
    return outcome;
}

/* ---- memory of the control group ---- */

/* The names of a version's files. A number at or above NO_LIMIT is version 1's way to say that there is none. */
struct version {
    const char *mount_type;
    const char *limits[2];
    const char *usage;
    const char *cache[2]; /* keys of memory.stat: file pages that can be given back */
};
static const struct version VERSION_1 = {
    "cgroup", {"memory.limit_in_bytes", NULL}, "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};
static const struct version VERSION_2 = {
    "cgroup2", {"memory.max", "memory.high"}, "memory.current", {"inactive_file", "active_file"}};
static const uint64_t NO_LIMIT = 1ULL << 60;

static uint64_t cgroup_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static FILE *cgroup_open_below(const char *folder, const char *name)
{
    char path[PATH_MAX];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    return length > 0 && (size_t)length < sizeof path ? fopen(path, "re") : NULL;
}

/* False where the file is not there, or holds a word such as "max". */
static bool cgroup_read_number(const char *folder, const char *name, uint64_t *ret_number)
{
    FILE *stream = name ? cgroup_open_below(folder, name) : NULL;
    if (!stream)
        return false;
    char text[64] = "", *end = text;
    if (fgets(text, sizeof text, stream)) {
        errno = 0;
        *ret_number = strtoull(text, &end, 10);
    }
    fclose(stream);
    return end != text && text[0] != '-' && errno == 0;
}

/* The sum of lines "KEY NUMBER" or "KEY: NUMBER" with one of two keys. */
static uint64_t cgroup_sum_of(FILE *stream, const char *first, const char *second)
{
    uint64_t sum = 0;
    char line[256], key[128];
    unsigned long long number;
    while (stream && fgets(line, sizeof line, stream))
        if (sscanf(line, "%127[^: ]%*[: ]%llu", key, &number) == 2 && (!strcmp(key, first) || !strcmp(key, second)))
            sum += number;
    if (stream)
        fclose(stream);
    return sum;
}

static uint64_t cgroup_left_in_group(const struct version *version, const char *folder)
{
    uint64_t limit = UINT64_MAX, used = 0, number;
    for (int i = 0; i < 2; i++)
        if (cgroup_read_number(folder, version->limits[i], &number))
            limit = cgroup_least(limit, number);
    if (limit >= NO_LIMIT || !cgroup_read_number(folder, version->usage, &used))
        return UINT64_MAX;
    const uint64_t cache = cgroup_sum_of(cgroup_open_below(folder, "memory.stat"), version->cache[0],
                                         version->cache[1]);
    used -= cgroup_least(cache, used);
    return limit - cgroup_least(used, limit);
}

/* The group `path` below the mount at `point`, and all groups above it. */
static uint64_t cgroup_left_in_groups(const struct version *version, const char *point, const char *path)
{
    char folder[PATH_MAX];
    const size_t top = strlen(point);
    const int length = snprintf(folder, sizeof folder, "%s%s", point, strcmp(path, "/") ? path : "");
    if (length <= 0 || (size_t)length >= sizeof folder)
        return UINT64_MAX;
    uint64_t left = UINT64_MAX;
    for (;;) {
        left = cgroup_least(left, cgroup_left_in_group(version, folder));
        char *slash = strrchr(folder, '/');
        if (strlen(folder) <= top || !slash || (size_t)(slash - folder) < top)
            return left;
        *slash = '\0';
    }
}

/* Whether a line of /proc/self/cgroup, "NUMBER:CONTROLLERS:PATH", names the group that counts memory. */
static bool cgroup_names_group(const struct version *version, const char *line, char ret_path[PATH_MAX])
{
    const char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!path)
        return false;
    const size_t length = (size_t)(path - controllers - 1);
    bool found = version == &VERSION_2 && length == 0 && !strncmp(line, "0:", 2);
    for (const char *at = controllers + 1; version == &VERSION_1 && at < path; at += strcspn(at, ",:") + 1)
        found |= strcspn(at, ",:") == 6 && !strncmp(at, "memory", 6);
    if (found)
        snprintf(ret_path, PATH_MAX, "%.*s", (int)strcspn(path + 1, "\n"), path + 1);
    return found;
}

static bool cgroup_own_group(const struct version *version, const char *root, char ret_path[PATH_MAX])
{
    FILE *stream = cgroup_open_below(root, "proc/self/cgroup");
    char *line = NULL;
    size_t capacity = 0;
    bool found = false;
    while (stream && !found && getline(&line, &capacity, stream) > 0)
        found = cgroup_names_group(version, line, ret_path);
    free(line);
    if (stream)
        fclose(stream);
    return found;
}

/* From a line of mountinfo: which part of the hierarchy is mounted, and where. */
static bool cgroup_names_mount(const struct version *version, const char *line, char ret_top[PATH_MAX],
                               char ret_point[PATH_MAX])
{
    char type[64];
    int options = 0;
    const char *dash = strstr(line, " - ");
    return dash && sscanf(dash, " - %63s %*s %n", type, &options) == 1 && options > 0 &&
           !strcmp(type, version->mount_type) && (version == &VERSION_2 || strstr(dash + options, "memory")) &&
           sscanf(line, "%*s %*s %*s %4095s %4095s", ret_top, ret_point) == 2;
}

/* The path below the mount: a container sees the part below its own group only, and may know its group by the path
 * outside or by the path inside. What lies outside of the mount cannot be looked at. */
static const char *cgroup_path_below(const char *path, const char *top)
{
    const size_t length = strlen(top);
    if (!strncmp(path, "/..", 3))
        return "/";
    if (!strcmp(top, "/"))
        return path;
    if (!strncmp(path, top, length) && (path[length] == '/' || path[length] == '\0'))
        return path[length] ? path + length : "/";
    return "/";
}

static uint64_t cgroup_left_by(const struct version *version, const char *root)
{
    char path[PATH_MAX], top[PATH_MAX], point[PATH_MAX], folder[PATH_MAX];
    FILE *stream = cgroup_own_group(version, root, path) ? cgroup_open_below(root, "proc/self/mountinfo") : NULL;
    if (!stream)
        return UINT64_MAX;
    uint64_t left = UINT64_MAX;
    char *line = NULL;
    size_t capacity = 0;
    while (getline(&line, &capacity, stream) > 0) {
        if (!cgroup_names_mount(version, line, top, point))
            continue;
        const int length = snprintf(folder, sizeof folder, "%s%s", root, point);
        if (length > 0 && (size_t)length < sizeof folder)
            left = cgroup_least(left, cgroup_left_in_groups(version, folder, cgroup_path_below(path, top)));
    }
    free(line);
    fclose(stream);
    return left;
}

uint64_t cgroup_memory_left_below(const char *root)
{
    const int before = errno;
    uint64_t left = cgroup_least(cgroup_left_by(&VERSION_1, root), cgroup_left_by(&VERSION_2, root));
    const uint64_t machine_kib = cgroup_sum_of(cgroup_open_below(root, "proc/meminfo"), "MemAvailable", "");
    if (machine_kib > 0)
        left = cgroup_least(left, machine_kib * 1024);
    errno = before;
    return left;
}

/* A quarter of a millisecond: several times what opening a file takes else. So a program that opens many
 * asks the system only now and then. Two threads may ask at once, and find the same. */
uint64_t cgroup_memory_left(void)
{
    static const int64_t VALID_NS = 100000000;
    static _Atomic uint64_t known;
    static _Atomic int64_t known_until;
    const int64_t now = clock_read_ns(CLOCK_MONOTONIC_COARSE);
    if (now < atomic_load(&known_until))
        return atomic_load(&known);
    const uint64_t left = cgroup_memory_left_below("");
    atomic_store(&known, left);
    atomic_store(&known_until, now + VALID_NS);
    return left;
}
