#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];
static pid_t owner;

static int remove_one(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)facts;
    (void)kind;
    (void)where;
    return remove(path);
}

static void remove_folder(void)
{
    if (getpid() == owner)
        nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void give_up(const char *what)
{
    perror(what);
    _exit(3);
}

const char *fuzz_folder(void)
{
    const char *parent = getenv("TMPDIR");
    if (*folder)
        return folder;
    if (!parent || !*parent)
        parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/piolet-fuzz.XXXXXX", parent);
    if (!mkdtemp(folder))
        give_up(folder);
    owner = getpid();
    atexit(remove_folder);
    return folder;
}

const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size)
{
    static char paths[4][320];
    static size_t next;
    char *path = NULL;
    char wanted[320];
    snprintf(wanted, sizeof wanted, "%s/%s", fuzz_folder(), name);
    for (size_t i = 0; i < 4; i++)
        if (strcmp(paths[i], wanted) == 0)
            path = paths[i];
    if (!path)
        path = strcpy(paths[next++ % 4], wanted);
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || close(fd) != 0)
        give_up(path);
    return path;
}

char *fuzz_text(const uint8_t *bytes, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        give_up("memory");
    if (size)
        memcpy(text, bytes, size);
    text[size] = '\0';
    return text;
}

FILE *fuzz_nowhere(void)
{
    static FILE *stream;
    if (!stream && !(stream = fopen("/dev/null", "we")))
        give_up("/dev/null");
    return stream;
}
