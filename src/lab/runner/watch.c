#include "lab/runner/watch.h"
#include "base/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

/* A machine whose run queue is longer than this part of its cores has work of somebody else. The load is an average
 * over a minute: our own earlier work is in it, so the bound is generous. */
static const double BUSY_LOAD_PER_CORE = 0.75;

static double watch_load(void)
{
    double load = 0;
    return getloadavg(&load, 1) == 1 ? load : -1;
}

static bool watch_read_cpu(struct watch_counters *counters)
{
    FILE *stream = fopen("/proc/stat", "re");
    unsigned long long user, nice, system, idle, wait, irq, soft, steal;
    const bool ok = stream && fscanf(stream, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &user, &nice, &system,
                                     &idle, &wait, &irq, &soft, &steal) == 8;
    if (stream)
        fclose(stream);
    if (!ok)
        return false;
    const double tick_s = 1.0 / (double)sysconf(_SC_CLK_TCK);
    counters->busy_s = (double)(user + nice + system + irq + soft) * tick_s;
    counters->steal_s = (double)steal * tick_s;
    return true;
}

/* Sectors of 512 bytes, read and written, of the device with these numbers. */
static double watch_read_device(const char *device)
{
    FILE *stream = *device ? fopen("/proc/diskstats", "re") : NULL;
    double bytes = 0;
    char line[512];
    while (stream && fgets(line, sizeof line, stream)) {
        unsigned major_number, minor_number;
        unsigned long long read_sectors, written_sectors;
        char numbers[64];
        if (sscanf(line, "%u %u %*s %*u %*u %llu %*u %*u %*u %llu", &major_number, &minor_number, &read_sectors,
                   &written_sectors) != 4)
            continue;
        snprintf(numbers, sizeof numbers, "%u:%u", major_number, minor_number);
        if (strcmp(numbers, device) == 0)
            bytes = 512.0 * ((double)read_sectors + (double)written_sectors);
    }
    if (stream)
        fclose(stream);
    return bytes;
}

static struct watch_counters watch_read(const struct watch *watch)
{
    struct watch_counters counters = {0};
    counters.seconds = clock_now_s();
    counters.known = watch_read_cpu(&counters);
    counters.moved_bytes = watch_read_device(watch->device);
    return counters;
}

void watch_begin(struct watch *watch, const char *path)
{
    struct stat info;
    *watch = (struct watch){.cores = (int)sysconf(_SC_NPROCESSORS_ONLN)};
    if (path && stat(path, &info) == 0 && major(info.st_dev) != 0)
        snprintf(watch->device, sizeof watch->device, "%u:%u", major(info.st_dev), minor(info.st_dev));
    watch->begin = watch_read(watch);
}

struct watch_report watch_look(const struct watch *watch)
{
    const struct watch_counters now = watch_read(watch), *before = &watch->begin;
    const double seconds = now.seconds - before->seconds;
    struct watch_report report = {.known = now.known && before->known && seconds > 0, .load = watch_load()};
    if (!report.known)
        return report;
    report.busy_cores = (now.busy_s - before->busy_s) / seconds;
    report.steal = (now.steal_s - before->steal_s) / (seconds * watch->cores);
    report.device_bytes_per_s = (now.moved_bytes - before->moved_bytes) / seconds;
    return report;
}

bool watch_is_busy(struct text *why)
{
    const double load = watch_load();
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    if (load < 0 || load <= BUSY_LOAD_PER_CORE * (double)cores + 0.5)
        return false;
    text_format(why, "the machine is busy: load %.1f on %ld core%s", load, cores, cores == 1 ? "" : "s");
    return true;
}

void watch_facts(struct blockfile_writer *writer)
{
    const double load = watch_load();
    if (load >= 0)
        blockfile_fact(writer, "machine_load", "%.2f", load);
}
