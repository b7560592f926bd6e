/* The thread that samples, and its samples' way into the block file. */
#include "lab/facts/devices.h"

#include "base/clock.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { NS_PER_S = 1000000000, STATS_CHUNK = 1 << 14 };

struct track {
    struct devices_sample *samples; /* owned */
    size_t count, capacity;
    struct devices_counters last;
    bool known; /* `last` holds a reading */
};

struct devices {
    struct devices_list list;
    struct track tracks[DEVICES_MAX];
    int64_t period_ns, real_zero_ns, steady_zero_ns;
    int fd;           /* of /proc/diskstats */
    struct text text; /* what was read from it */
    pthread_t thread;
    pthread_mutex_t mutex; /* guards `ending` */
    pthread_cond_t wake;
    bool running, ending;
};

/* ---- one sample ---- */

static bool read_stats(struct devices *devices)
{
    char chunk[STATS_CHUNK];
    off_t at = 0;
    ssize_t got;
    devices->text.length = 0;
    while ((got = pread(devices->fd, chunk, sizeof chunk, at)) > 0) {
        text_append(&devices->text, chunk, (size_t)got);
        at += got;
    }
    return got == 0 && at > 0 && !devices->text.failed;
}

/* A sample that finds no memory is left out: its counts are part of the next one. */
static void add_sample(struct track *track, int64_t at_ns, const struct devices_counters *now)
{
    if (track->known && track->count == track->capacity) {
        const size_t capacity = track->capacity ? 2 * track->capacity : 64;
        struct devices_sample *more = realloc(track->samples, capacity * sizeof *more);
        if (!more)
            return;
        track->samples = more;
        track->capacity = capacity;
    }
    if (track->known)
        track->samples[track->count++] = (struct devices_sample){.at_ns = at_ns,
                                                                 .counted = devices_difference(&track->last, now)};
    track->last = *now;
    track->known = true;
}

static void take_sample(struct devices *devices)
{
    struct devices_counters now;
    if (!read_stats(devices))
        return;
    const int64_t at_ns = clock_read_ns(CLOCK_MONOTONIC) - devices->steady_zero_ns + devices->real_zero_ns;
    for (int i = 0; i < devices->list.count; i++)
        if (devices_parse_text(text_get(&devices->text), devices->list.names[i], &now))
            add_sample(&devices->tracks[i], at_ns, &now);
}

/* ---- the thread ---- */

static struct timespec time_of(int64_t steady_ns)
{
    return (struct timespec){.tv_sec = steady_ns / NS_PER_S, .tv_nsec = steady_ns % NS_PER_S};
}

static void *sample_until_stopped(void *context)
{
    struct devices *devices = context;
    int64_t next_ns = devices->steady_zero_ns;
    pthread_mutex_lock(&devices->mutex);
    while (!devices->ending) {
        const int64_t now_ns = clock_read_ns(CLOCK_MONOTONIC);
        while (next_ns <= now_ns) /* a machine that was busy elsewhere leaves samples out */
            next_ns += devices->period_ns;
        const struct timespec until = time_of(next_ns);
        if (pthread_cond_timedwait(&devices->wake, &devices->mutex, &until) != ETIMEDOUT)
            continue;
        pthread_mutex_unlock(&devices->mutex);
        take_sample(devices);
        pthread_mutex_lock(&devices->mutex);
    }
    pthread_mutex_unlock(&devices->mutex);
    return NULL;
}

/* Signals are for the program's own threads. */
static int start_thread(struct devices *devices)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const int failed = pthread_create(&devices->thread, NULL, sample_until_stopped, devices);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static pl_status devices_begin(struct devices *devices, struct pl_error *error)
{
    devices->fd = open("/proc/diskstats", O_RDONLY | O_CLOEXEC);
    if (devices->fd < 0) { /* in a container: a fact, too */
        snprintf(devices->list.why, sizeof devices->list.why, "/proc/diskstats: %s", strerror(errno));
        devices->list.count = 0;
        return PL_OK;
    }
    take_sample(devices);
    const int failed = start_thread(devices);
    devices->running = failed == 0;
    return failed ? pl_fail_errno(error, failed, "starting the thread that samples devices") : PL_OK;
}

struct devices *devices_start(const char *directory, int64_t period_ns, struct pl_error *error)
{
    struct devices *devices = calloc(1, sizeof *devices);
    pthread_condattr_t attributes;
    if (!devices) {
        pl_fail(error, PL_E_NOMEM, "not enough memory for samples of devices");
        return NULL;
    }
    devices->fd = -1;
    devices->period_ns = period_ns > 0 ? period_ns : NS_PER_S;
    devices->real_zero_ns = clock_read_ns(CLOCK_REALTIME);
    devices->steady_zero_ns = clock_read_ns(CLOCK_MONOTONIC);
    pthread_mutex_init(&devices->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&devices->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    pl_status status = devices_behind(directory, &devices->list, error);
    if (status == PL_OK && devices->list.count > 0)
        status = devices_begin(devices, error);
    if (status != PL_OK) {
        devices_free(devices);
        return NULL;
    }
    return devices;
}

void devices_stop(struct devices *devices)
{
    if (!devices || !devices->running)
        return;
    pthread_mutex_lock(&devices->mutex);
    devices->ending = true;
    pthread_cond_signal(&devices->wake);
    pthread_mutex_unlock(&devices->mutex);
    pthread_join(devices->thread, NULL);
    devices->running = false;
    take_sample(devices);
}

void devices_free(struct devices *devices)
{
    if (!devices)
        return;
    devices_stop(devices);
    for (int i = 0; i < DEVICES_MAX; i++)
        free(devices->tracks[i].samples);
    if (devices->fd >= 0)
        close(devices->fd);
    text_clear(&devices->text);
    pthread_cond_destroy(&devices->wake);
    pthread_mutex_destroy(&devices->mutex);
    free(devices);
}

const struct devices_list *devices_of(const struct devices *devices)
{
    return &devices->list;
}

const struct devices_sample *devices_samples(const struct devices *devices, int device, size_t *ret_count)
{
    *ret_count = devices->tracks[device].count;
    return devices->tracks[device].samples;
}

/* ---- towards the block file ---- */

/* One series of a field of the samples, by its offset; `shift` is taken from each number. */
static void put_series(struct blockfile_writer *writer, const struct track *track, const char *key, const char *unit,
                       size_t offset, int64_t shift)
{
    blockfile_series(writer, 0, key, unit, (int64_t)track->count);
    for (size_t i = 0; i < track->count; i++) {
        int64_t value;
        memcpy(&value, (const char *)&track->samples[i] + offset, sizeof value);
        value -= shift;
        blockfile_values(writer, &value, 1);
    }
}

static void put_track(struct blockfile_writer *writer, const struct track *track, int64_t start_ns)
{
    static const struct {
        const char *key, *unit;
        size_t offset;
    } rows[] = {
#define ROW(key, unit, field) {key, unit, offsetof(struct devices_sample, counted.field)}
        ROW("read", "B", read_bytes),
        ROW("written", "B", written_bytes),
        ROW("reads", "count", reads),
        ROW("writes", "count", writes),
        ROW("busy", "ns", busy_ns),
        ROW("queue", "ns", queue_ns),
        ROW("read_wait", "ns", read_wait_ns),
        ROW("write_wait", "ns", write_wait_ns),
        ROW("read_merges", "count", read_merges),
        ROW("write_merges", "count", write_merges),
#undef ROW
    };
    put_series(writer, track, "at", "ns", offsetof(struct devices_sample, at_ns), start_ns);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        put_series(writer, track, rows[i].key, rows[i].unit, rows[i].offset, 0);
}

pl_status devices_write(const struct devices *devices, struct blockfile_writer *writer, int64_t start_ns,
                        int repetition, struct pl_error *error)
{
    pl_status status = PL_OK;
    for (int i = 0; i < devices->list.count && status == PL_OK; i++) {
        blockfile_set(writer);
        blockfile_param(writer, "kind", "device");
        blockfile_param(writer, "device", "%s", devices->list.names[i]);
        if (repetition > 0)
            blockfile_param(writer, "repetition", "%d", repetition);
        blockfile_param(writer, "period_ns", "%lld", (long long)devices->period_ns);
        blockfile_param(writer, "begin_ns", "%lld", (long long)(devices->real_zero_ns - start_ns));
        put_track(writer, &devices->tracks[i], start_ns);
        status = blockfile_end_set(writer, error);
    }
    return status;
}
