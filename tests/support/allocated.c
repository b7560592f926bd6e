/* allocated FILE...: of each file its name, size, and the ranges of bytes that are data and no hole, as the file system
 * tells them: a.dat 40000 0-8192 36864-40000. Names without the sum that a replay puts behind them. */
#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The replay's files are called NAME-0123456789abcdef. */
static int allocated_shown(const char *name)
{
    const size_t length = strlen(name);
    if (length > 17 && name[length - 17] == '-' && strspn(name + length - 16, "0123456789abcdef") == 16)
        return (int)length - 17;
    return (int)length;
}

static int allocated_print(const char *path)
{
    struct stat info;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const int fd = open(path, O_RDONLY);
    if (fd < 0 || fstat(fd, &info) != 0 || fsync(fd) != 0) { /* a delayed write has no place yet */
        perror(path);
        return 1;
    }
    for (int i = 0; i < allocated_shown(name); i++) /* as the replay spells it */
        putchar(isalnum((unsigned char)name[i]) || (i > 0 && strchr("._-", name[i])) ? name[i] : '_');
    printf(" %lld", (long long)info.st_size);
    for (off_t at = 0, data; at < info.st_size && (data = lseek(fd, at, SEEK_DATA)) >= 0;) {
        at = lseek(fd, data, SEEK_HOLE);
        printf(" %lld-%lld", (long long)data, (long long)at);
    }
    printf("\n");
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++)
        status |= allocated_print(argv[i]);
    return status;
}
