/* Hints from outside of the program: the file that ROMIO_HINTS names, PIOLET_HINTS, and PIOLET_MAP. */
#include "base/variables.h"
#include "mpi/launcher.h"
#include "mpiio/hint/hint_core.h"
#include "mpiio/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES_MAX = 65536, NAME_SHOWN = 120 };

/* The file's text, NUL-terminated, in a buffer of FILE_BYTES_MAX; else 0 < errno. A FIFO must not make us wait. */
static int slurp(const char *path, char *buffer)
{
    const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return errno;
    struct stat facts;
    int trouble = fstat(fd, &facts) != 0 ? errno : 0;
    if (!trouble && !S_ISREG(facts.st_mode))
        trouble = S_ISDIR(facts.st_mode) ? EISDIR : EINVAL;
    if (!trouble && facts.st_size >= FILE_BYTES_MAX)
        trouble = EFBIG;
    size_t used = 0;
    while (!trouble && used < FILE_BYTES_MAX - 1) {
        const ssize_t got = read(fd, buffer + used, FILE_BYTES_MAX - 1 - used);
        if (got == 0)
            break;
        if (got > 0)
            used += (size_t)got;
        else if (errno != EINTR)
            trouble = errno;
    }
    buffer[used] = '\0';
    close(fd);
    return trouble;
}

/* "name value"; what follows # is a comment. */
static void take_line(struct hints *hints, char *line)
{
    static const char blanks[] = " \t\r";
    line[strcspn(line, "#")] = '\0';
    char *name = line + strspn(line, blanks);
    char *value = name + strcspn(name, blanks);
    if (*value)
        *value++ = '\0';
    value += strspn(value, blanks);
    size_t length = strlen(value);
    while (length > 0 && strchr(blanks, value[length - 1]))
        value[--length] = '\0';
    char origin[HINT_TEXT_MAX];
    if (*name && *value && !(hints_origin(hints, name, origin) && strcmp(origin, "file") == 0))
        hints_set(hints, name, value, HINT_FILE); /* the first line of a name holds, as in ROMIO */
}

static pl_status take_file(struct hints *hints, const char *path, struct pl_error *error)
{
    char *buffer = mem_alloc(FILE_BYTES_MAX);
    if (!buffer)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for hints");
    const int trouble = slurp(path, buffer);
    if (trouble) {
        snprintf(hints->file_note, sizeof hints->file_note, "ignored: '%.*s': %s", NAME_SHOWN, path, strerror(trouble));
    } else {
        char *rest = NULL;
        for (char *line = strtok_r(buffer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            take_line(hints, line);
        snprintf(hints->file_note, sizeof hints->file_note, "read '%.*s'", NAME_SHOWN, path);
    }
    mem_free(buffer);
    return PL_OK;
}

/* Nobody but the user of piolet writes this variable, so that an unknown name in it is worth a word. */
static void note_environment(struct hints *hints, const char *token, const char *what)
{
    if (!*hints->environment_note)
        snprintf(hints->environment_note, sizeof hints->environment_note, "ignored '%.*s': %s", NAME_SHOWN, token,
                 what);
}

static void note_unknown(struct hints *hints, const char *name)
{
    enum { ROWS_MAX = 100 };
    const char *names[ROWS_MAX + 1];
    char what[96];
    int count = 0;
    while (count < ROWS_MAX && hint_row_at(count)) {
        names[count] = hint_row_at(count)->name;
        count++;
    }
    names[count] = NULL;
    const char *near = variables_nearest(name, names);
    snprintf(what, sizeof what, "no hint has this name%s%s%s", near ? "; did you mean " : "", near ? near : "",
             near ? "?" : "");
    note_environment(hints, name, what);
}

static void take_token(struct hints *hints, char *token)
{
    char *equals = strchr(token, '=');
    if (!equals) {
        note_environment(hints, token, "allowed: name=value, with blanks or ; between");
        return;
    }
    *equals = '\0';
    if (!hints_set(hints, token, equals + 1, HINT_ENVIRONMENT))
        note_unknown(hints, token);
}

static pl_status take_variable(struct hints *hints, const char *text, struct pl_error *error)
{
    char *copy = mem_strdup(text);
    if (!copy)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for hints");
    static const char between[] = " \t\n;"; /* no commas: values may be lists */
    char *rest = NULL;
    for (char *token = strtok_r(copy, between, &rest); token; token = strtok_r(NULL, between, &rest))
        take_token(hints, token);
    mem_free(copy);
    return PL_OK;
}

/* The hint piolet_map. One process of the job says what is wrong, once. */
static void take_map(struct hints *hints, const char *value)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    struct hint_parsed parsed;
    hints_set(hints, "piolet_map", value, HINT_ENVIRONMENT);
    if (hint_parse(&HINT_ENTRIES[HINT_INDEX_piolet_map], value, &parsed) || !job_speaks() ||
        atomic_flag_test_and_set(&told))
        return;
    fprintf(stderr, "piolet: PIOLET_MAP is '%.*s'; allowed: %s; piolet_map stays '%s'\n", NAME_SHOWN, value,
            HINT_ENTRIES[HINT_INDEX_piolet_map].row.allowed, hints_get(hints, "piolet_map"));
}

pl_status hint_environment(struct hints *hints, struct pl_error *error)
{
    const char *path = getenv("ROMIO_HINTS"), *text = getenv("PIOLET_HINTS"), *map = getenv("PIOLET_MAP");
    pl_status status = PL_OK;
    if (path && *path)
        status = take_file(hints, path, error);
    if (status == PL_OK && text && *text)
        status = take_variable(hints, text, error);
    if (status == PL_OK && map && *map)
        take_map(hints, map);
    return status;
}
