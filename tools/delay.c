/* A file system far away: what lies in FOLDER appears at POINT, where every request that reaches the file system takes
 * time, and is counted. tools/places mounts it.
 *
 *     delay FOLDER POINT LATENCY_US BYTES_A_SECOND PARALLEL DIRECT
 *
 * A request takes LATENCY_US, and its bytes at BYTES_A_SECOND (0: at once); so many streams as there are requests under
 * way run beside each other, PARALLEL of them at most (0: all). Latency is waited for in parallel also where streams
 * are few, as on a network. DIRECT 1: the kernel keeps no pages; 0: it caches reads until the file is opened again.
 *
 * POINT/.delay, which no listing shows, holds the counters as lines "NAME NUMBER"; writing to it sets them to 0. */
#define FUSE_USE_VERSION 314
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fuse.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static const char COUNTERS[] = "/.delay";

enum { REQUEST_BYTES = 1 << 20, REQUESTS = 256 };

static struct {
    int folder; /* descriptor */
    int64_t latency_ns, bytes_per_s;
    int parallel;
    bool direct;
} far;

/* ---- counters ---- */

enum delay_counter { READS, READ_BYTES, WRITES, WRITTEN_BYTES, SYNCS, OPENS, OTHERS, UNALIGNED, COUNTERS_END };

static const char *const NAMES[COUNTERS_END] = {
    [READS] = "reads",
    [READ_BYTES] = "read_bytes",
    [WRITES] = "writes",
    [WRITTEN_BYTES] = "written_bytes",
    [SYNCS] = "syncs",
    [OPENS] = "opens",
    [OTHERS] = "others", /* names, sizes, locks */
    [UNALIGNED] = "unaligned_writes" /* that begin or end inside of a page */};

static atomic_int_least64_t counted[COUNTERS_END];
static atomic_int under_way, most_under_way; /* requests that move data */

static void delay_count(enum delay_counter what, int64_t number)
{
    atomic_fetch_add_explicit(&counted[what], number, memory_order_relaxed);
}

static void delay_forget_counters(void)
{
    for (int i = 0; i < COUNTERS_END; i++)
        atomic_store(&counted[i], 0);
    atomic_store(&most_under_way, atomic_load(&under_way));
}

static int delay_print_counters(char *text, size_t size)
{
    int length = 0;
    for (int i = 0; i < COUNTERS_END; i++)
        length += snprintf(text + length, size - (size_t)length, "%s %" PRIdLEAST64 "\n", NAMES[i],
                           atomic_load(&counted[i]));
    return length + snprintf(text + length, size - (size_t)length, "most_in_flight %d\n", atomic_load(&most_under_way));
}

/* ---- time ---- */

static pthread_mutex_t streams_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t stream_free = PTHREAD_COND_INITIALIZER;
static int streams;

static void delay_wait_ns(int64_t ns)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (until.tv_nsec + ns) / 1000000000;
    until.tv_nsec = (until.tv_nsec + ns) % 1000000000;
    while (ns > 0 && clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        ;
}

static void delay_take_stream(void)
{
    pthread_mutex_lock(&streams_lock);
    while (far.parallel > 0 && streams >= far.parallel)
        pthread_cond_wait(&stream_free, &streams_lock);
    streams++;
    pthread_mutex_unlock(&streams_lock);
}

static void delay_give_stream(void)
{
    pthread_mutex_lock(&streams_lock);
    streams--;
    pthread_cond_signal(&stream_free);
    pthread_mutex_unlock(&streams_lock);
}

/* A request about names, sizes or descriptors. */
static void delay_small(enum delay_counter what)
{
    delay_count(what, 1);
    delay_wait_ns(far.latency_ns);
}

static void delay_data(int64_t bytes)
{
    const int now = atomic_fetch_add(&under_way, 1) + 1;
    int most = atomic_load(&most_under_way);
    while (now > most && !atomic_compare_exchange_weak(&most_under_way, &most, now))
        ;
    delay_wait_ns(far.latency_ns);
    if (far.bytes_per_s > 0) {
        delay_take_stream();
        delay_wait_ns(bytes * 1000000000 / far.bytes_per_s);
        delay_give_stream();
    }
    atomic_fetch_sub(&under_way, 1);
}

/* ---- names ---- */

static int delay_result(int result)
{
    return result < 0 ? -errno : result;
}

/* A path below the folder: "/a/b" is "a/b", "/" is ".". */
static const char *delay_name(const char *path)
{
    return path[1] ? path + 1 : ".";
}

static bool delay_is_counters(const char *path)
{
    return strcmp(path, COUNTERS) == 0;
}

static int delay_getattr(const char *path, struct stat *ret_info, struct fuse_file_info *info)
{
    if (delay_is_counters(path)) {
        memset(ret_info, 0, sizeof *ret_info);
        ret_info->st_mode = S_IFREG | 0666;
        ret_info->st_nlink = 1;
        ret_info->st_size = 4096; /* what is read tells how much there is */
        return 0;
    }
    delay_small(OTHERS);
    if (info && info->fh)
        return delay_result(fstat((int)info->fh, ret_info));
    return delay_result(fstatat(far.folder, delay_name(path), ret_info, AT_SYMLINK_NOFOLLOW));
}

static int delay_readdir(const char *path, void *buffer, fuse_fill_dir_t fill, off_t offset,
                         struct fuse_file_info *info, enum fuse_readdir_flags flags)
{
    (void)offset, (void)info, (void)flags;
    delay_small(OTHERS);
    const int descriptor = openat(far.folder, delay_name(path), O_RDONLY | O_DIRECTORY);
    DIR *folder = descriptor < 0 ? NULL : fdopendir(descriptor);
    if (!folder)
        return -errno;
    for (const struct dirent *entry; (entry = readdir(folder));)
        if (fill(buffer, entry->d_name, NULL, 0, 0))
            break;
    closedir(folder);
    return 0;
}

static int delay_mkdir(const char *path, mode_t mode)
{
    delay_small(OTHERS);
    return delay_result(mkdirat(far.folder, delay_name(path), mode));
}

static int delay_unlink(const char *path)
{
    delay_small(OTHERS);
    return delay_result(unlinkat(far.folder, delay_name(path), 0));
}

static int delay_rmdir(const char *path)
{
    delay_small(OTHERS);
    return delay_result(unlinkat(far.folder, delay_name(path), AT_REMOVEDIR));
}

static int delay_rename(const char *from, const char *to, unsigned flags)
{
    delay_small(OTHERS);
    return delay_result(renameat2(far.folder, delay_name(from), far.folder, delay_name(to), flags));
}

static int delay_symlink(const char *target, const char *path)
{
    delay_small(OTHERS);
    return delay_result(symlinkat(target, far.folder, delay_name(path)));
}

static int delay_readlink(const char *path, char *buffer, size_t size)
{
    delay_small(OTHERS);
    const ssize_t length = readlinkat(far.folder, delay_name(path), buffer, size - 1);
    if (length < 0)
        return -errno;
    buffer[length] = '\0';
    return 0;
}

static int delay_link(const char *from, const char *to)
{
    delay_small(OTHERS);
    return delay_result(linkat(far.folder, delay_name(from), far.folder, delay_name(to), 0));
}

static int delay_chmod(const char *path, mode_t mode, struct fuse_file_info *info)
{
    (void)info;
    delay_small(OTHERS);
    return delay_result(fchmodat(far.folder, delay_name(path), mode, 0));
}

static int delay_chown(const char *path, uid_t user, gid_t group, struct fuse_file_info *info)
{
    (void)info;
    delay_small(OTHERS);
    return delay_result(fchownat(far.folder, delay_name(path), user, group, AT_SYMLINK_NOFOLLOW));
}

static int delay_utimens(const char *path, const struct timespec times[2], struct fuse_file_info *info)
{
    (void)info;
    delay_small(OTHERS);
    return delay_result(utimensat(far.folder, delay_name(path), times, AT_SYMLINK_NOFOLLOW));
}

static int delay_statfs(const char *path, struct statvfs *ret_info)
{
    (void)path;
    delay_small(OTHERS);
    return delay_result(fstatvfs(far.folder, ret_info));
}

/* ---- files ---- */

static int delay_open_as(const char *path, int flags, mode_t mode, struct fuse_file_info *info)
{
    info->fh = 0;
    if (delay_is_counters(path)) {
        info->direct_io = 1;
        return 0;
    }
    delay_small(OPENS);
    /* The kernel has found the place of appended data, and reads pages that are written in parts. */
    flags &= ~(O_APPEND | O_DIRECT);
    if ((flags & O_ACCMODE) == O_WRONLY)
        flags = (flags & ~O_ACCMODE) | O_RDWR;
    int descriptor = openat(far.folder, delay_name(path), flags, mode);
    if (descriptor < 0 && errno == EACCES && (info->flags & O_ACCMODE) == O_WRONLY)
        descriptor = openat(far.folder, delay_name(path), info->flags & ~(O_APPEND | O_DIRECT), mode);
    if (descriptor < 0)
        return -errno;
    info->fh = (uint64_t)descriptor;
    info->direct_io = far.direct;
    return 0;
}

static int delay_open(const char *path, struct fuse_file_info *info)
{
    return delay_open_as(path, info->flags, 0, info);
}

static int delay_create(const char *path, mode_t mode, struct fuse_file_info *info)
{
    return delay_is_counters(path) ? -EEXIST : delay_open_as(path, info->flags | O_CREAT, mode, info);
}

static int delay_release(const char *path, struct fuse_file_info *info)
{
    (void)path; /* nobody waits for it */
    return info->fh ? delay_result(close((int)info->fh)) : 0;
}

static int delay_read(const char *path, char *buffer, size_t size, off_t offset, struct fuse_file_info *info)
{
    if (delay_is_counters(path)) {
        char text[1024];
        const int length = delay_print_counters(text, sizeof text);
        const size_t rest = offset < length ? (size_t)(length - offset) : 0;
        memcpy(buffer, text + (rest ? offset : 0), size < rest ? size : rest);
        return (int)(size < rest ? size : rest);
    }
    delay_count(READS, 1);
    delay_count(READ_BYTES, (int64_t)size);
    delay_data((int64_t)size);
    return delay_result((int)pread((int)info->fh, buffer, size, offset));
}

static int delay_write(const char *path, const char *data, size_t size, off_t offset, struct fuse_file_info *info)
{
    enum { PAGE = 4096 };
    if (delay_is_counters(path)) {
        delay_forget_counters();
        return (int)size;
    }
    delay_count(WRITES, 1);
    delay_count(WRITTEN_BYTES, (int64_t)size);
    delay_count(UNALIGNED, offset % PAGE != 0 || (offset + (off_t)size) % PAGE != 0);
    delay_data((int64_t)size);
    return delay_result((int)pwrite((int)info->fh, data, size, offset));
}

static int delay_truncate(const char *path, off_t size, struct fuse_file_info *info)
{
    if (delay_is_counters(path))
        return 0;
    delay_small(OTHERS);
    if (info && info->fh)
        return delay_result(ftruncate((int)info->fh, size));
    const int descriptor = openat(far.folder, delay_name(path), O_WRONLY);
    if (descriptor < 0)
        return -errno;
    const int result = delay_result(ftruncate(descriptor, size));
    close(descriptor);
    return result;
}

static int delay_fsync(const char *path, int data_only, struct fuse_file_info *info)
{
    (void)data_only;
    if (delay_is_counters(path))
        return 0;
    delay_small(SYNCS); /* the folder's own device is not what is played here */
    (void)info;
    return 0;
}

static int delay_fallocate(const char *path, int mode, off_t offset, off_t length, struct fuse_file_info *info)
{
    if (delay_is_counters(path))
        return -EOPNOTSUPP;
    delay_small(OTHERS);
    return delay_result(fallocate((int)info->fh, mode, offset, length));
}

static off_t delay_lseek(const char *path, off_t offset, int whence, struct fuse_file_info *info)
{
    if (delay_is_counters(path))
        return -EINVAL;
    delay_small(OTHERS);
    const off_t found = lseek((int)info->fh, offset, whence);
    return found < 0 ? -errno : found;
}

static void *delay_init(struct fuse_conn_info *connection, struct fuse_config *config)
{
    connection->max_write = REQUEST_BYTES; /* max_read is an option of the mount */
    connection->max_readahead = connection->max_read = REQUEST_BYTES;
    connection->max_background = REQUESTS;
    connection->congestion_threshold = REQUESTS;
    config->use_ino = 0;
    config->attr_timeout = config->entry_timeout = 1;
    return NULL;
}

static const struct fuse_operations OPERATIONS = {
    .init = delay_init,
    .getattr = delay_getattr,
    .readdir = delay_readdir,
    .mkdir = delay_mkdir,
    .unlink = delay_unlink,
    .rmdir = delay_rmdir,
    .rename = delay_rename,
    .symlink = delay_symlink,
    .readlink = delay_readlink,
    .link = delay_link,
    .chmod = delay_chmod,
    .chown = delay_chown,
    .utimens = delay_utimens,
    .statfs = delay_statfs,
    .open = delay_open,
    .create = delay_create,
    .release = delay_release,
    .read = delay_read,
    .write = delay_write,
    .truncate = delay_truncate,
    .fsync = delay_fsync,
    .fallocate = delay_fallocate,
    .lseek = delay_lseek,
};

static bool delay_number(const char *word, int64_t *ret_number)
{
    char *end;
    errno = 0;
    *ret_number = strtoll(word, &end, 10);
    return errno == 0 && end != word && !*end && *ret_number >= 0;
}

int main(int argc, char **argv)
{
    int64_t numbers[4];
    bool wrong = argc != 7;
    for (int i = 0; i < 4 && !wrong; i++)
        wrong = !delay_number(argv[3 + i], &numbers[i]);
    if (wrong) {
        fprintf(stderr, "usage: delay FOLDER POINT LATENCY_US BYTES_A_SECOND PARALLEL DIRECT\n");
        return 2;
    }
    far.folder = open(argv[1], O_RDONLY | O_DIRECTORY);
    if (far.folder < 0) {
        fprintf(stderr, "delay: '%s': %s\n", argv[1], strerror(errno));
        return 1;
    }
    far.latency_ns = numbers[0] * 1000;
    far.bytes_per_s = numbers[1];
    far.parallel = (int)numbers[2];
    far.direct = numbers[3] != 0;
    umask(0);
    char threads[128];
    snprintf(threads, sizeof threads,
             "allow_other,default_permissions,max_threads=%d,max_read=%d,fsname=delay,subtype=delay", REQUESTS,
             REQUEST_BYTES);
    char *words[] = {argv[0], argv[2], "-o", threads, NULL};
    return fuse_main(4, words, &OPERATIONS, NULL);
}
