#include "bench/peak/peak.h"

#include "base/interrupt.h"
#include "base/units.h"
#include "lab/facts/devices.h"
#include "lab/facts/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char DROP_CACHES[] = "/proc/sys/vm/drop_caches";
enum { PAGE = 4096 };

static void peak_warn(struct peak_target *target, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void peak_warn(struct peak_target *target, const char *format, ...)
{
    if (target->warning_count == PEAK_WARNINGS_MAX)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(target->warnings[target->warning_count++], PEAK_WARNING_MAX, format, args);
    va_end(args);
}

/* ---- size ---- */

static pl_status peak_choose_size(struct peak_target *target, const struct peak_config *config, struct pl_error *error)
{
    char size[UNITS_TEXT_MAX], room[UNITS_TEXT_MAX];
    const int64_t twice = 2 * environment_memory_bytes();
    target->size_bytes = config->size_bytes ? config->size_bytes : twice;
    target->is_small = target->size_bytes < twice;
    if (target->fs.total_bytes == 0 || target->size_bytes <= target->fs.free_bytes) /* some do not tell */
        return PL_OK;
    units_bytes(target->size_bytes, size);
    units_bytes(target->fs.free_bytes, room);
    if (config->size_bytes)
        return pl_fail(error, PL_E_SPACE, "'%s': --size asks for %s, but %s are free", target->directory, size, room);
    return pl_fail(
        error, PL_E_SPACE,
        "'%s': the file would have %s (2 x memory), but %s are free; allowed: a smaller one by --size, which "
        "needs direct I/O or --drop-caches",
        target->directory, size, room);
}

/* ---- direct I/O ---- */

/* 0, or the errno of a small direct write. */
static int peak_try_direct(const char *directory, int64_t request_bytes)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/piolet-peak-probe.%d", directory, (int)getpid());
    interrupt_remove(path);
    const int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_DIRECT | O_CLOEXEC, 0600);
    int failed = fd < 0 ? errno : 0;
    if (fd < 0 && failed == EINVAL)
        unlink(path); /* some make the file before they refuse */
    if (fd < 0) {
        interrupt_keep(path);
        return failed;
    }
    void *buffer = aligned_alloc(PAGE, (size_t)(request_bytes + PAGE - 1) / PAGE * PAGE);
    if (!buffer)
        failed = ENOMEM;
    else if (pwrite(fd, memset(buffer, 1, (size_t)request_bytes), (size_t)request_bytes, 0) != request_bytes)
        failed = errno ? errno : EIO;
    free(buffer);
    close(fd);
    unlink(path);
    interrupt_keep(path);
    return failed;
}

static pl_status peak_refuse_memory(const struct peak_target *target, const struct peak_config *config,
                                    struct pl_error *error)
{
    const char *option = config->direct == PEAK_DIRECT_YES ? "--direct yes" : "--drop-caches";
    return pl_fail(
        error, PL_E_UNSUPPORTED,
        "'%s': %s has no effect on %s, which is memory only; allowed: --direct auto or no, with a warning in "
        "the results",
        target->directory, option, target->fs.type);
}

static pl_status peak_refuse_cached(const struct peak_target *target, const struct peak_config *config, int failed,
                                    struct pl_error *error)
{
    char size[UNITS_TEXT_MAX];
    if (config->direct == PEAK_DIRECT_YES)
        return pl_fail_errno(error, failed, "'%s': --direct yes: %s does not offer direct I/O with these requests",
                             target->directory, target->fs.type);
    return pl_fail(error, PL_E_USAGE,
                   "'%s': a file of %s is less than 2 x memory and would be measured in the cache%s; allowed: "
                   "%s--drop-caches, or a larger --size",
                   target->directory, units_binary(target->size_bytes, size),
                   config->direct == PEAK_DIRECT_NO ? "" : ", since direct I/O does not work there",
                   config->direct == PEAK_DIRECT_NO ? "--direct yes, " : "");
}

/* A file of 2 x memory needs neither; a smaller one needs direct I/O or dropped caches. */
static pl_status peak_choose_direct(struct peak_target *target, const struct peak_config *config, bool probe,
                                    struct pl_error *error)
{
    const bool asked = config->direct == PEAK_DIRECT_YES;
    if (target->in_memory && (asked || config->drop_caches))
        return peak_refuse_memory(target, config, error);
    if (target->in_memory) {
        peak_warn(target, "%s is memory only: these are rates of memory, not of a device", target->fs.type);
        return PL_OK;
    }
    const bool wanted = asked || (config->direct == PEAK_DIRECT_AUTO && target->is_small && !config->drop_caches);
    const int failed = wanted && probe
                           ? peak_try_direct(target->fs.directory, config->requests[config->request_count - 1])
                           : 0;
    target->direct = wanted && failed == 0;
    if (failed && failed != EINVAL && failed != EOPNOTSUPP)
        return pl_fail_errno(error, failed, "'%s': a file cannot be made there", target->directory);
    if ((asked && failed) || (target->is_small && !target->direct && !config->drop_caches))
        return peak_refuse_cached(target, config, failed, error);
    return PL_OK;
}

/* ---- devices ---- */

/* A loop device keeps its file in the page cache of the file system below, unless it was set up with direct I/O. */
static void peak_look_at_loop(struct peak_target *target, const char *device)
{
    char path[PATH_MAX], text[16];
    snprintf(path, sizeof path, "/sys/class/block/%s/loop/dio", device);
    if (strcmp(devices_read_text(path, text, sizeof text), "0") == 0)
        peak_warn(target, "%s caches its file: what was just written may be read from memory", device);
}

static void peak_look_at_devices(struct peak_target *target)
{
    struct pl_error ignored;
    struct devices_list *list = malloc(sizeof *list);
    target->local = target->in_memory;
    if (list && devices_behind(target->fs.directory, list, &ignored) == PL_OK) {
        target->local |= list->count > 0;
        for (int i = 0; i < list->count; i++)
            peak_look_at_loop(target, list->names[i]);
    }
    free(list);
    if (!target->local)
        peak_warn(target, "%s: caches of its servers are not dropped, and no device is seen", target->fs.type);
}

pl_status peak_target_look(const struct peak_config *config, const char *directory, bool probe,
                           struct peak_target *ret_target, struct pl_error *error)
{
    struct stat info;
    *ret_target = (struct peak_target){.directory = directory};
    if (stat(directory, &info) != 0)
        return pl_fail_errno(error, errno, "looking at directory '%s'", directory);
    if (!S_ISDIR(info.st_mode))
        return pl_fail(error, PL_E_BAD_FILE, "'%s' is not a directory", directory);
    if (environment_filesystem(directory, &ret_target->fs, error) != PL_OK)
        return error->status;
    if (access(directory, W_OK | X_OK) != 0)
        return pl_fail_errno(error, errno, "files cannot be made in '%s'", directory);
    if (config->drop_caches && access(DROP_CACHES, W_OK) != 0)
        return pl_fail_errno(error, errno, "--drop-caches writes to %s, which needs root", DROP_CACHES);
    ret_target->in_memory = place_in_memory(directory) != NULL;
    peak_look_at_devices(ret_target);
    const pl_status status = peak_choose_size(ret_target, config, error);
    return status == PL_OK ? peak_choose_direct(ret_target, config, probe, error) : status;
}

pl_status peak_target_drop_caches(struct pl_error *error)
{
    sync(); /* dirty pages stay */
    const int fd = open(DROP_CACHES, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, "3\n", 2) != 2) {
        pl_fail_errno(error, errno, "writing to %s", DROP_CACHES);
        if (fd >= 0)
            close(fd);
        return error->status;
    }
    close(fd);
    return PL_OK;
}
