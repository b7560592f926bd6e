/* What the memory control groups leave, read from trees of files like those of the kernel.
 * proves: GPFS-6
 * It would fail if a limit of a group above were overlooked, if pages of file caches counted as used, if a container's
 * view of the hierarchy were taken for the whole, or if a machine without groups were taken for one without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/limits.h"

static char root[] = "/tmp/piolet-cgroup-XXXXXX";

/* Writes root/PATH, and the folders above it. */
static void put(const char *path, const char *text)
{
    char whole[512];
    snprintf(whole, sizeof whole, "%s/%s", root, path);
    for (char *slash = strchr(whole + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(whole, 0700);
        *slash = '/';
    }
    FILE *stream = fopen(whole, "w");
    assert_non_null(stream);
    fputs(text, stream);
    fclose(stream);
}

/* A group of version 1. */
static void put_group(const char *folder, const char *limit, const char *usage)
{
    char path[256];
    snprintf(path, sizeof path, "%s/memory.limit_in_bytes", folder);
    put(path, limit);
    snprintf(path, sizeof path, "%s/memory.usage_in_bytes", folder);
    put(path, usage);
}

static int tree_new(void **state)
{
    (void)state;
    strcpy(root + strlen(root) - 6, "XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int tree_remove(void **state)
{
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command); /* NOLINT(cert-env33-c) */
}

static const char MOUNTS[] = "30 23 0:27 / / rw - ext4 /dev/vda rw\n"
                             "34 31 0:31 / /cg/cpuset rw,relatime - cgroup cgroup rw,cpuset\n"
                             "35 31 0:32 / /cg/memory rw,relatime shared:3 - cgroup cgroup rw,memory\n"
                             "41 31 0:38 / /cg/unified rw,relatime - cgroup2 cgroup2 rw\n";

static void nothing_known(void **state)
{
    (void)state;
    assert_true(cgroup_memory_left_below(root) == UINT64_MAX);
    put("proc/meminfo", "MemTotal: 4000 kB\nMemFree: 10 kB\nMemAvailable:    3000 kB\n");
    assert_int_equal(cgroup_memory_left_below(root), 3000 * 1024);
    put("proc/self/mountinfo", MOUNTS);
    put("proc/self/cgroup", "4:memory:/job/step\n0::/job\n"); /* groups without files: not readable from here */
    assert_int_equal(cgroup_memory_left_below(root), 3000 * 1024);
}

static void version_1_walks_up(void **state)
{
    (void)state;
    put("proc/self/mountinfo", MOUNTS);
    put("proc/self/cgroup", "5:cpuset:/other\n4:hugetlb,memory:/job/step\n0::/\n");
    put_group("cg/memory/job/step", "9223372036854771712\n", "5000\n");
    assert_true(cgroup_memory_left_below(root) == UINT64_MAX);
    put_group("cg/memory/job", "1000000\n", "900000\n");
    assert_int_equal(cgroup_memory_left_below(root), 100000);
    put("cg/memory/job/memory.stat", "inactive_file 1\ntotal_inactive_file 200000\ntotal_active_file 50000\n");
    assert_int_equal(cgroup_memory_left_below(root), 350000);
    put("cg/memory/job/step/memory.limit_in_bytes", "6000\n");
    assert_int_equal(cgroup_memory_left_below(root), 1000);
    put_group("cg/memory", "50\n", "51\n"); /* the top: used beyond its limit */
    assert_int_equal(cgroup_memory_left_below(root), 0);
}

static void version_2_walks_up(void **state)
{
    (void)state;
    put("proc/self/mountinfo", MOUNTS);
    put("proc/self/cgroup", "0::/slice/job.scope\n");
    put("cg/unified/slice/job.scope/memory.max", "max\n");
    put("cg/unified/slice/job.scope/memory.high", "max\n");
    put("cg/unified/slice/job.scope/memory.current", "7000\n");
    assert_true(cgroup_memory_left_below(root) == UINT64_MAX);
    put("cg/unified/slice/job.scope/memory.high", "8000\n"); /* beyond it, everything crawls */
    assert_int_equal(cgroup_memory_left_below(root), 1000);
    put("cg/unified/slice/memory.max", "9000\n");
    put("cg/unified/slice/memory.current", "8900\n");
    assert_int_equal(cgroup_memory_left_below(root), 100);
    put("cg/unified/slice/memory.stat", "anon 8000\nfile 900\ninactive_file 300\nactive_file 60\n");
    assert_int_equal(cgroup_memory_left_below(root), 460);
}

/* Inside a container: the mount shows the part from its own group on, and the path may be the one outside. */
static void containers(void **state)
{
    (void)state;
    put("proc/self/mountinfo", "35 31 0:32 /docker/abc /cg/memory ro - cgroup cgroup rw,memory\n");
    put_group("cg/memory", "5000\n", "1000\n");
    put_group("cg/memory/in", "3000\n", "500\n");
    put("proc/self/cgroup", "4:memory:/docker/abc\n");
    assert_int_equal(cgroup_memory_left_below(root), 4000);
    put("proc/self/cgroup", "4:memory:/docker/abc/in\n");
    assert_int_equal(cgroup_memory_left_below(root), 2500);
    put("proc/self/cgroup", "4:memory:/docker/abcd\n");
    assert_int_equal(cgroup_memory_left_below(root), 4000);
    put("proc/self/cgroup", "4:memory:/../elsewhere\n");
    assert_int_equal(cgroup_memory_left_below(root), 4000);
    put("proc/self/cgroup", "no line of this kind\n4:memory\n");
    assert_true(cgroup_memory_left_below(root) == UINT64_MAX);
}

static void this_machine(void **state)
{
    (void)state;
    assert_true(cgroup_memory_left() > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(nothing_known, tree_new, tree_remove),
        cmocka_unit_test_setup_teardown(version_1_walks_up, tree_new, tree_remove),
        cmocka_unit_test_setup_teardown(version_2_walks_up, tree_new, tree_remove),
        cmocka_unit_test_setup_teardown(containers, tree_new, tree_remove),
        cmocka_unit_test(this_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
