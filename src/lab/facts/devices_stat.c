/* From the text of /proc/diskstats to the columns of `iostat -x`. Pure. */
#include "lab/facts/devices.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SECTOR_BYTES = 512, NS_PER_MS = 1000000 }; /* the unit of the file, whatever the device's sectors are */

bool devices_parse(const char *line, char ret_name[DEVICES_NAME_MAX], struct devices_counters *ret_counters)
{
    int64_t read_sectors, written_sectors, read_ms, write_ms, busy_ms, queue_ms;
    struct devices_counters *c = ret_counters;
    const int count = sscanf(line,
                             "%*u %*u %47s %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64 " %" SCNd64
                             " %" SCNd64 " %" SCNd64 " %*s %" SCNd64 " %" SCNd64,
                             ret_name, &c->reads, &c->read_merges, &read_sectors, &read_ms, &c->writes,
                             &c->write_merges, &written_sectors, &write_ms, &busy_ms, &queue_ms);
    if (count != 11)
        return false;
    c->read_bytes = read_sectors * SECTOR_BYTES;
    c->written_bytes = written_sectors * SECTOR_BYTES;
    c->read_wait_ns = read_ms * NS_PER_MS;
    c->write_wait_ns = write_ms * NS_PER_MS;
    c->busy_ns = busy_ms * NS_PER_MS;
    c->queue_ns = queue_ms * NS_PER_MS;
    return true;
}

bool devices_parse_text(const char *text, const char *name, struct devices_counters *ret_counters)
{
    for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
        char found[DEVICES_NAME_MAX];
        if (devices_parse(line, found, ret_counters) && strcmp(found, name) == 0)
            return true;
    }
    return false;
}

/* Times in milliseconds are 32 bits wide in some kernels; `unit` is what one step of the counter is worth here. */
static int64_t devices_stat_counted(int64_t before, int64_t after, int64_t unit)
{
    const int64_t range = (INT64_C(1) << 32) * unit;
    if (after >= before)
        return after - before;
    return before < range ? after - before + range : 0;
}

struct devices_counters devices_difference(const struct devices_counters *before, const struct devices_counters *after)
{
    return (struct devices_counters){
        .reads = devices_stat_counted(before->reads, after->reads, 1),
        .read_merges = devices_stat_counted(before->read_merges, after->read_merges, 1),
        .read_bytes = devices_stat_counted(before->read_bytes, after->read_bytes, SECTOR_BYTES),
        .read_wait_ns = devices_stat_counted(before->read_wait_ns, after->read_wait_ns, NS_PER_MS),
        .writes = devices_stat_counted(before->writes, after->writes, 1),
        .write_merges = devices_stat_counted(before->write_merges, after->write_merges, 1),
        .written_bytes = devices_stat_counted(before->written_bytes, after->written_bytes, SECTOR_BYTES),
        .write_wait_ns = devices_stat_counted(before->write_wait_ns, after->write_wait_ns, NS_PER_MS),
        .busy_ns = devices_stat_counted(before->busy_ns, after->busy_ns, NS_PER_MS),
        .queue_ns = devices_stat_counted(before->queue_ns, after->queue_ns, NS_PER_MS),
    };
}

static double devices_stat_per(int64_t sum, int64_t count)
{
    return count > 0 ? (double)sum / (double)count : 0;
}

struct devices_rates devices_rates(const struct devices_counters *difference, int64_t interval_ns)
{
    const struct devices_counters *d = difference;
    const double second = devices_stat_per(1000000000, interval_ns), ms = 1.0 / NS_PER_MS;
    const double busy = devices_stat_per(100 * d->busy_ns, interval_ns);
    return (struct devices_rates){
        .reads_per_s = (double)d->reads * second,
        .writes_per_s = (double)d->writes * second,
        .read_merges_per_s = (double)d->read_merges * second,
        .write_merges_per_s = (double)d->write_merges * second,
        .read_bytes_per_s = (double)d->read_bytes * second,
        .written_bytes_per_s = (double)d->written_bytes * second,
        .read_wait_ms = devices_stat_per(d->read_wait_ns, d->reads) * ms,
        .write_wait_ms = devices_stat_per(d->write_wait_ns, d->writes) * ms,
        .wait_ms = devices_stat_per(d->read_wait_ns + d->write_wait_ns, d->reads + d->writes) * ms,
        .read_request_bytes = devices_stat_per(d->read_bytes, d->reads),
        .write_request_bytes = devices_stat_per(d->written_bytes, d->writes),
        .queue_length = devices_stat_per(d->queue_ns, interval_ns),
        .busy_percent = busy < 100 ? busy : 100, /* the kernel counts in ticks, and may count one too many */
    };
}
