/* A file on POSIX storage, as one rank has it open. No MPI, thread-safe, nothing cached.
 *
 * storage_read() and storage_write() deal with all that a system call may do: short transfers, EINTR, EAGAIN, the
 * limit of 2 GiB for a call. Messages say what was done, with which file and bytes, and why it failed. */
#ifndef PIOLET_ENGINE_STORAGE_STORAGE_H
#define PIOLET_ENGINE_STORAGE_STORAGE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

struct storage;

/* The calls of a backend: as the system calls, but they return -errno. A backend is one file and one line in
 * storage.def. */
struct storage_backend {
    const char *name;
    int (*open)(const char *path, int flags, mode_t mode); /* a descriptor */
    int (*close)(int fd);
    ssize_t (*readv)(int fd, const struct iovec *pieces, int count, int64_t offset);
    ssize_t (*writev)(int fd, const struct iovec *pieces, int count, int64_t offset);
    int (*sync)(int fd);
    int (*truncate)(int fd, int64_t bytes);
    int (*allocate)(int fd, int64_t offset, int64_t bytes);
    int (*size)(int fd, int64_t *ret_bytes, int64_t *ret_block_bytes);
    int (*unlink)(const char *path);
    int (*lock)(int fd, short kind, int64_t offset, int64_t bytes,
                bool wait);                  /* F_RDLCK, F_WRLCK, F_UNLCK; bytes 0: to the end */
    int64_t (*hole)(int fd, int64_t offset); /* the first one from there on; the end of the file is one */
    /* mmap(2), shared. NULL: nothing is ever mapped (storage_map.h). */
    int (*map)(int fd, bool write, int64_t offset, size_t bytes, void **ret_memory);
};

extern const struct storage_backend *const STORAGE_BACKENDS[]; /* ends with NULL */

/* The path behind a prefix that names a kind of file system ("ufs:", "nfs:", "piolet:", …); else `name` itself. */
const char *storage_path(const char *name);

/* flags and mode as for open(2); O_CLOEXEC is added, and O_APPEND taken away: with it Linux would ignore the offset of
 * every write. A directory is refused. The backend is `posix`, or `faulty` while a fault plan is active. `path` has no
 * prefix any more. */
pl_status storage_open(const char *path, int flags, mode_t mode, struct storage **ret_storage, struct pl_error *error);
pl_status storage_close(struct storage *storage, struct pl_error *error); /* frees it in any case; accepts NULL */
pl_status storage_unlink(const char *path, struct pl_error *error);
const char *storage_name(const struct storage *storage);
void storage_call(struct storage *storage, const char *name); /* messages name it so from now on, if there is memory */
int storage_descriptor(const struct storage *storage);
int64_t storage_block_bytes(const struct storage *storage); /* st_blksize, at least 512 */

/* Reads until `bytes` are there or the file ends: *ret_done < bytes only at its end. After an error *ret_done bytes
 * are right. ret_done may be NULL in all four. */
pl_status storage_read(struct storage *storage, int64_t offset, void *buffer, int64_t bytes, int64_t *ret_done,
                       struct pl_error *error);
/* PL_OK only when all is written. *ret_done: how much was, also after an error. */
pl_status storage_write(struct storage *storage, int64_t offset, const void *buffer, int64_t bytes, int64_t *ret_done,
                        struct pl_error *error);
/* The same for one range of the file and many of memory, any number of pieces (chopped to IOV_MAX). The list is
 * changed. */
pl_status storage_readv(struct storage *storage, int64_t offset, struct iovec *pieces, int64_t count, int64_t *ret_done,
                        struct pl_error *error);
pl_status storage_writev(struct storage *storage, int64_t offset, struct iovec *pieces, int64_t count,
                         int64_t *ret_done, struct pl_error *error);

pl_status storage_sync(struct storage *storage, struct pl_error *error);
pl_status storage_size(struct storage *storage, int64_t *ret_bytes, struct pl_error *error);
pl_status storage_truncate(struct storage *storage, int64_t bytes, struct pl_error *error);
/* Reserves room for the first `bytes` bytes without changing data; the file is at least that long afterwards. Where the
 * file system cannot, the room is made by rewriting what is there and writing zeros behind the end. */
pl_status storage_allocate(struct storage *storage, int64_t bytes, struct pl_error *error);

/* Span locks: between processes, and between threads that use the same storage; there, spans that overlap exclude each
 * other even if both are shared. Nobody waits: *ret_locked tells, and the caller asks again, letting MPI progress
 * between. bytes 0: to the largest offset, as in fcntl(2), so an access of no bytes must not ask. A span is unlocked as
 * it was locked. STORAGE_SHARED needs a file opened for reading, STORAGE_EXCLUSIVE one opened for writing. Where the
 * file system has no locks: PL_E_UNSUPPORTED. */
enum storage_lock { STORAGE_SHARED, STORAGE_EXCLUSIVE };
pl_status storage_try_lock(struct storage *storage, enum storage_lock kind, int64_t offset, int64_t bytes,
                           bool *ret_locked, struct pl_error *error);
pl_status storage_unlock(struct storage *storage, int64_t offset, int64_t bytes, struct pl_error *error);

/* ---- the page cache ---- */
/* What may be said to the system of a file's pages in memory. Nothing here can fail: where the system does not know, it
 * does nothing. */

enum storage_cached { STORAGE_NOT_CACHED, STORAGE_CACHED, STORAGE_UNKNOWN };

/* Are the first and the last byte in memory? (Cheap: looks at no others.) Behind the end of the file: STORAGE_CACHED.
 */
enum storage_cached storage_is_cached(struct storage *storage, int64_t offset, int64_t bytes);
/* Begins to fetch them; does not wait. False: the system takes no such advice. */
bool storage_fetch(struct storage *storage, int64_t offset, int64_t bytes);
/* Takes the pages that hold them and were not changed out of memory; false: the system takes no such advice. */
bool storage_release(struct storage *storage, int64_t offset, int64_t bytes);

#endif
