/* Files of rules: through the MPI-IO in force, and beside it. */
#include "bench/rules/rule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- through MPI-IO ---- */

bool rule_open_coll(struct rule_context *test, int amode, MPI_File *ret_file)
{
    return rule_open_with_coll(test, amode, MPI_INFO_NULL, ret_file);
}

bool rule_open_with_coll(struct rule_context *test, int amode, MPI_Info info, MPI_File *ret_file)
{
    *ret_file = MPI_FILE_NULL;
    const int code = MPI_File_open(test->comm, test->path, amode, info, ret_file);
    int mine = code == MPI_SUCCESS, all = 0;
    rule_fine(test, code, "MPI_File_open");
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, test->comm);
    if (all)
        MPI_File_set_errhandler(*ret_file, MPI_ERRORS_RETURN);
    return all;
}

void rule_close_coll(struct rule_context *test, MPI_File *file)
{
    rule_fine(test, MPI_File_close(file), "MPI_File_close");
}

void rule_view_coll(struct rule_context *test, MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                    MPI_Datatype filetype)
{
    DO(MPI_File_set_view(file, displacement, etype, filetype, "native", MPI_INFO_NULL));
}

void rule_echo(struct rule_context *test, MPI_File file, MPI_Offset offset, const void *data, void *found, int count,
               MPI_Datatype type, size_t bytes)
{
    DO(MPI_File_write_at(file, offset, data, count, type, MPI_STATUS_IGNORE));
    DO(MPI_File_read_at(file, offset, found, count, type, MPI_STATUS_IGNORE));
    rule_bytes(test, "what was read back", found, data, bytes);
}

void rule_settle_coll(struct rule_context *test, MPI_File file)
{
    DO(MPI_File_sync(file));
    MPI_Barrier(test->comm);
    DO(MPI_File_sync(file));
}

/* ---- beside it ---- */

static bool write_all(int fd, const char *data, size_t bytes)
{
    while (bytes > 0) {
        const ssize_t moved = write(fd, data, bytes);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            return false;
        data += moved;
        bytes -= (size_t)moved;
    }
    return true;
}

static size_t read_all(int fd, char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        const ssize_t moved = read(fd, data + done, bytes - done);
        if (moved < 0 && errno == EINTR)
            continue;
        if (moved <= 0)
            break;
        done += (size_t)moved;
    }
    return done;
}

static void file_put(struct rule_context *test, const void *data, size_t bytes)
{
    char *content = malloc(bytes + 1);
    const int fd = open(test->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (content && data)
        memcpy(content, data, bytes);
    else if (content)
        memset(content, '.', bytes);
    if (fd < 0 || !content || !write_all(fd, content, bytes))
        rule_break(test, "the directory takes a file of %zu bytes\n%s", bytes, strerror(errno));
    if (fd >= 0)
        close(fd);
    free(content);
}

void rule_put_coll(struct rule_context *test, const void *data, size_t bytes)
{
    MPI_Barrier(test->comm);
    if (test->rank == 0)
        file_put(test, data, bytes);
    MPI_Barrier(test->comm);
}

static void file_compare(struct rule_context *test, const void *wanted, size_t bytes)
{
    char *found = malloc(bytes + 1);
    const int fd = open(test->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || !found) {
        rule_break(test, "the file is there\n%s", strerror(errno));
    } else {
        struct stat info = {.st_size = -1};
        const size_t got = read_all(fd, found, bytes + 1);
        fstat(fd, &info);
        rule_bytes(test, "the file", found, wanted, got < bytes ? got : bytes);
        rule_same(test, "the size of the file in bytes", info.st_size, (int64_t)bytes);
    }
    if (fd >= 0)
        close(fd);
    free(found);
}

void rule_file_coll(struct rule_context *test, const void *wanted, size_t bytes)
{
    MPI_Barrier(test->comm);
    if (test->rank == 0)
        file_compare(test, wanted, bytes);
    MPI_Barrier(test->comm);
}

int64_t rule_size_coll(struct rule_context *test)
{
    struct stat info;
    int64_t bytes = -1;
    MPI_Barrier(test->comm);
    if (test->rank == 0 && stat(test->path, &info) == 0)
        bytes = info.st_size;
    MPI_Bcast(&bytes, 1, MPI_INT64_T, 0, test->comm);
    return bytes;
}

/* ---- content ---- */

char rule_letter(int rank, int i)
{
    return (char)('A' + (5 * rank + i) % 26);
}

void rule_letters(char *data, int rank, int bytes)
{
    for (int i = 0; i < bytes; i++)
        data[i] = rule_letter(rank, i);
}
