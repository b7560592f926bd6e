/* Devices behind a directory, their counters, mounts and configuration records, from fixed texts and made-up trees.
 * proves: PHASE-14 PHASE-15
 * It would fail if a column of diskstats were taken for another, a counter that ran over gave a jump, a rate differed
 * from what iostat -x shows, a partition's disk or a member of a RAID were missed, a covered mount were taken, a given
 * fact lost against a detected one, or if the sampler lost counts or its end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "lab/facts/devices.h"
#include "lab/facts/mount.h"
#include "lab/facts/record.h"

/* ---- counters ---- */

static const char STATS[] = "   8       0 sda 10 1 80 5 20 2 160 40 3 30 50 0 0 0 0 0 0\n"
                            "   8       1 sda1 9 1 72 5 20 2 160 40 0 30 45\n"
                            "not a line\n"
                            " 259       0 nvme0n1 1 0 8 1 2 0 16 3 0 2 4\n";

static void columns(void **state)
{
    (void)state;
    struct devices_counters c;
    assert_true(devices_parse_text(STATS, "sda", &c));
    assert_int_equal(c.reads, 10);
    assert_int_equal(c.read_merges, 1);
    assert_int_equal(c.read_bytes, 80 * 512);
    assert_int_equal(c.read_wait_ns, 5000000);
    assert_int_equal(c.writes, 20);
    assert_int_equal(c.write_merges, 2);
    assert_int_equal(c.written_bytes, 160 * 512);
    assert_int_equal(c.write_wait_ns, 40000000);
    assert_int_equal(c.busy_ns, 30000000);
    assert_int_equal(c.queue_ns, 50000000);
    assert_true(devices_parse_text(STATS, "sda1", &c));
    assert_int_equal(c.reads, 9);
    assert_true(devices_parse_text(STATS, "nvme0n1", &c));
    assert_false(devices_parse_text(STATS, "sd", &c));
    assert_false(devices_parse_text("", "sda", &c));
}

static void rates(void **state)
{
    (void)state;
    const struct devices_counters before = {.reads = 100, .busy_ns = INT64_C(4294967290) * 1000000};
    const struct devices_counters after = {.reads = 150,
                                           .read_bytes = 50 * 4096,
                                           .read_wait_ns = 100000000,
                                           .writes = 25,
                                           .written_bytes = 25 * 65536,
                                           .write_wait_ns = 50000000,
                                           .queue_ns = 1000000000,
                                           .busy_ns = 244000000}; /* ran over 32 bits of milliseconds */
    const struct devices_counters d = devices_difference(&before, &after);
    assert_int_equal(d.reads, 50);
    assert_int_equal(d.busy_ns, 250000000);
    const struct devices_rates r = devices_rates(&d, 500000000);
    assert_float_equal(r.reads_per_s, 100, 1e-3);
    assert_float_equal(r.writes_per_s, 50, 1e-3);
    assert_float_equal(r.read_bytes_per_s, 100 * 4096, 1e-3);
    assert_float_equal(r.read_wait_ms, 2, 1e-3);
    assert_float_equal(r.write_wait_ms, 2, 1e-3);
    assert_float_equal(r.wait_ms, 2, 1e-3);
    assert_float_equal(r.write_request_bytes, 65536, 1e-3);
    assert_float_equal(r.queue_length, 2, 1e-3);
    assert_float_equal(r.busy_percent, 50, 1e-3);
    const struct devices_counters none = {0};
    assert_float_equal(devices_rates(&none, 0).wait_ms, 0, 1e-3);
}

/* ---- a made-up /sys ---- */

static char sys_root[64];

static void make(const char *path)
{
    char command[256];
    snprintf(command, sizeof command, "mkdir -p '%s/%s'", sys_root, path);
    assert_int_equal(system(command), 0);
}

static void make_link(const char *target, const char *name)
{
    char link[256];
    snprintf(link, sizeof link, "%s/class/block/%s", sys_root, name);
    assert_int_equal(symlink(target, link), 0);
}

static void trees(void **state)
{
    (void)state;
    struct devices_list list = {0};
    char path[256];
    snprintf(sys_root, sizeof sys_root, "/tmp/piolet-sys.%d", (int)getpid());
    make("class/block");
    make("devices/sda/sda1/partition");
    make("devices/sdb/sdb2/partition");
    make("devices/md0/slaves/sda1");
    make("devices/md0/slaves/sdb2");
    make("devices/dm-0/slaves/md0");
    make("fs/btrfs/1234/devices/dm-0");
    make("fs/btrfs/features");
    make_link("../../devices/sda", "sda");
    make_link("../../devices/sdb", "sdb");
    make_link("../../devices/sda/sda1", "sda1");
    make_link("../../devices/sdb/sdb2", "sdb2");
    make_link("../../devices/md0", "md0");
    make_link("../../devices/dm-0", "dm-0");
    devices_add(&list, sys_root, "dm-0");
    devices_add(&list, sys_root, "sda1"); /* known already */
    devices_add(&list, sys_root, "sdx");  /* not there */
    assert_int_equal(list.count, 6);
    assert_string_equal(list.names[0], "dm-0");
    assert_string_equal(list.names[1], "md0");
    int found = 0;
    for (int i = 2; i < list.count; i++)
        found += strcmp(list.names[i], "sda") == 0 || strcmp(list.names[i], "sdb") == 0;
    assert_int_equal(found, 2);
    assert_true(devices_btrfs(sys_root, "dm-0", path, sizeof path));
    assert_non_null(strstr(path, "/fs/btrfs/1234"));
    assert_false(devices_btrfs(sys_root, "md0", path, sizeof path));
    snprintf(path, sizeof path, "rm -r '%s'", sys_root);
    assert_int_equal(system(path), 0);
}

/* ---- mounts ---- */

static void mounts(void **state)
{
    (void)state;
    struct mount mount;
    char name[] = "/tmp/piolet-mounts.XXXXXX", value[64];
    const int fd = mkstemp(name);
    static const char text[] = "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n"
                               "2 1 0:40 / /data rw,noatime shared:1 - nfs4 server:/export rw,vers=4.2,addr=10.0.0.7\n"
                               "3 1 0:41 / /a\\040b rw - fuse.glusterfs host:/vol rw,user_id=0\n"
                               "4 1 0:42 / /data rw - tmpfs none rw,size=1k\n"
                               "broken\n";
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    assert_true(mount_find(name, "/data/x", &mount));
    assert_string_equal(mount.type, "tmpfs"); /* covers the other one */
    assert_true(mount_find(name, "/database", &mount));
    assert_string_equal(mount.source, "/dev/sda1");
    assert_string_equal(mount.options, "rw,relatime,errors=remount-ro");
    assert_true(mount_find(name, "/a b", &mount));
    assert_string_equal(mount.type, "fuse.glusterfs");
    assert_true(mount_parse(strchr(text, '\n') + 1, &mount));
    assert_true(mount_option(&mount, "addr", value, sizeof value));
    assert_string_equal(value, "10.0.0.7");
    assert_false(mount_option(&mount, "add", value, sizeof value));
    unlink(name);
}

/* ---- records ---- */

struct seen {
    int hosts, filesystems, networks;
    char filesystem[64];
};

static void note(void *context, const char *key, const char *value)
{
    struct seen *seen = context;
    assert_int_equal(strncmp(key, "config.", 7), 0);
    seen->hosts += strcmp(key, "config.host") == 0;
    seen->networks += strcmp(key, "config.network") == 0;
    if (strcmp(key, "config.filesystem") == 0 && seen->filesystems++ == 0)
        snprintf(seen->filesystem, sizeof seen->filesystem, "%s", value);
}

static void records(void **state)
{
    (void)state;
    struct record_given given = {.count = 0};
    struct pl_error error;
    struct seen seen = {0};
    assert_int_equal(record_give(&given, "filesystem=lustre, 18 OSS", &error), PL_OK);
    assert_int_equal(record_give(&given, "no equals", &error), PL_E_USAGE);
    assert_int_equal(record_give(&given, "=x", &error), PL_E_USAGE);
    assert_int_equal(record_all("/tmp", &given, note, &seen), PL_OK);
    assert_string_equal(seen.filesystem, "lustre, 18 OSS");
    assert_int_equal(seen.filesystems, 1);
    assert_int_equal(seen.hosts, 1);
    assert_int_not_equal(record_facts("/nowhere/at/all", note, &seen), PL_OK);
    struct blockfile_pair facts[] = {{(char *)"config.filesystem", (char *)"ext4"},
                                     {(char *)"config.device", (char *)"sda 1 TB"},
                                     {(char *)"config.devices", (char *)"3"}};
    struct blockfile_block block = {.facts = facts, .fact_count = 2};
    char words[80];
    assert_string_equal(record_words(&block, words, sizeof words), "ext4 on sda 1 TB");
    block.fact_count = 3;
    assert_string_equal(record_words(&block, words, sizeof words), "ext4 on sda 1 TB, 3 devices in all");
}

/* ---- the sampler ---- */

static void samples(void **state)
{
    (void)state;
    struct pl_error error;
    size_t count;
    assert_null(devices_start("/nowhere/at/all", 1000000, &error));
    struct devices *none = devices_start("/proc", 1000000, &error);
    assert_non_null(none);
    assert_int_equal(devices_of(none)->count, 0);
    assert_true(devices_of(none)->why[0]);
    devices_free(none);
    struct devices *devices = devices_start("/", 5000000, &error);
    assert_non_null(devices);
    const struct timespec wait = {.tv_nsec = 40000000};
    nanosleep(&wait, NULL);
    devices_stop(devices);
    devices_stop(devices);
    for (int i = 0; i < devices_of(devices)->count; i++) {
        const struct devices_sample *all = devices_samples(devices, i, &count);
        assert_true(count > 0); /* the last one is always taken */
        for (size_t k = 1; k < count; k++)
            assert_true(all[k].at_ns > all[k - 1].at_ns && all[k].counted.busy_ns >= 0);
    }
    devices_free(devices);
    devices_free(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(columns), cmocka_unit_test(rates),   cmocka_unit_test(trees),
                                       cmocka_unit_test(mounts),  cmocka_unit_test(records), cmocka_unit_test(samples)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
