/* From a hint's text to its value, and the texts that come from outside of the program. */
#include "base/units.h"
#include "base/variables.h"
#include "engine/hint/hint_core.h"
#include "engine/mem.h"
#include "mpi/launcher.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

struct word {
    const char *name;
    int64_t value;
};

static const struct word SWITCHES[] = {
    {"disable", HINT_DISABLE}, {"enable", HINT_ENABLE}, {"automatic", HINT_AUTOMATIC}, {NULL, 0}};
static const struct word MAPS[] = {{"disable", HINT_DISABLE}, {"automatic", HINT_AUTOMATIC}, {NULL, 0}};
static const struct word TRUTHS[] = {{"false", 0}, {"true", 1}, {NULL, 0}};
static const struct word IMPLS[] = {{"piolet", HINT_IMPL_PIOLET}, {"system", HINT_IMPL_SYSTEM}, {NULL, 0}};
static const struct word STYLES[] = {{"read_once", 0},    {"write_once", 0}, {"read_mostly", 0},
                                     {"write_mostly", 0}, {"sequential", 0}, {"reverse_sequential", 0},
                                     {"random", 0},       {NULL, 0}};

/* In any mixture of small and capital letters, as ROMIO's programs have both. */
static const struct word *word_find(const struct word *words, const char *text, size_t length)
{
    for (const struct word *word = words; word->name; word++)
        if (strlen(word->name) == length && strncasecmp(word->name, text, length) == 0)
            return word;
    return NULL;
}

static bool parse_word(const struct word *words, const char *text, struct hint_parsed *parsed)
{
    const struct word *word = word_find(words, text, strlen(text));
    if (!word)
        return false;
    parsed->number = word->value;
    snprintf(parsed->text, sizeof parsed->text, "%s", word->name);
    return true;
}

static bool hint_parse_number(const struct hint_entry *entry, const char *text, struct hint_parsed *parsed)
{
    const bool is_number = entry->kind == HINT_KIND_SIZE
                               ? units_parse_size(text, &parsed->number)
                               : units_parse_int(text, entry->least, entry->most, &parsed->number);
    if (!is_number || parsed->number < entry->least || parsed->number > entry->most)
        return false;
    snprintf(parsed->text, sizeof parsed->text, "%" PRId64, parsed->number);
    return true;
}

static bool parse_octal(const struct hint_entry *entry, const char *text, struct hint_parsed *parsed)
{
    parsed->number = 0;
    for (const char *c = text; *c; c++) {
        if (*c < '0' || *c > '7')
            return false;
        parsed->number = parsed->number * 8 + (*c - '0');
        if (parsed->number > entry->most)
            return false;
    }
    snprintf(parsed->text, sizeof parsed->text, "%s", text);
    return *text != '\0';
}

static bool parse_name(const char *text, struct hint_parsed *parsed)
{
    size_t length = 0;
    for (; text[length]; length++)
        if (!isalnum((unsigned char)text[length]) && text[length] != '_')
            return false;
    if (length == 0 || length >= sizeof((struct hint_values *)0)->strategy)
        return false;
    memcpy(parsed->text, text, length + 1);
    return true;
}

static bool parse_styles(const char *text, struct hint_parsed *parsed)
{
    snprintf(parsed->text, sizeof parsed->text, "%s", text);
    for (;;) {
        text += strspn(text, " ");
        size_t length = strcspn(text, ",");
        const char *comma = text + length;
        while (length > 0 && text[length - 1] == ' ')
            length--;
        if (!word_find(STYLES, text, length))
            return false;
        if (!*comma)
            return true;
        text = comma + 1;
    }
}

/* Blanks around a value are not part of it: Fortran programs bring some. */
static bool hint_parse_trimmed(const char *text, char ret_text[HINT_TEXT_MAX])
{
    text += strspn(text, " \t");
    size_t length = strlen(text);
    while (length > 0 && (text[length - 1] == ' ' || text[length - 1] == '\t'))
        length--;
    if (length == 0 || length >= HINT_TEXT_MAX)
        return false;
    memcpy(ret_text, text, length);
    ret_text[length] = '\0';
    return true;
}

bool hint_parse(const struct hint_entry *entry, const char *text, struct hint_parsed *ret_parsed)
{
    char value[HINT_TEXT_MAX];
    if (!hint_parse_trimmed(text, value))
        return false;
    *ret_parsed = (struct hint_parsed){.number = 0};
    switch (entry->kind) {
    case HINT_KIND_NUMBER:
    case HINT_KIND_SIZE:
        return hint_parse_number(entry, value, ret_parsed);
    case HINT_KIND_SWITCH:
        return parse_word(SWITCHES, value, ret_parsed);
    case HINT_KIND_TRUTH:
        return parse_word(TRUTHS, value, ret_parsed);
    case HINT_KIND_MAP:
        return parse_word(MAPS, value, ret_parsed);
    case HINT_KIND_IMPL:
        return parse_word(IMPLS, value, ret_parsed);
    case HINT_KIND_OCTAL:
        return parse_octal(entry, value, ret_parsed);
    case HINT_KIND_WORD:
        return parse_name(value, ret_parsed);
    case HINT_KIND_STYLE:
        return parse_styles(value, ret_parsed);
    case HINT_KIND_TEXT:
        memcpy(ret_parsed->text, value, sizeof value);
        return true;
    }
    assert(!"a kind without a parser");
    return false;
}

/* ---- The environment --------------------------------------------------------------------------------------------- */

/* Hints from outside of the program: the file that ROMIO_HINTS names, PIOLET_HINTS, and PIOLET_MAP. */

enum { FILE_BYTES_MAX = 65536, NAME_SHOWN = 120 };

/* The file's text, NUL-terminated, in a buffer of FILE_BYTES_MAX; else 0 < errno. A FIFO must not make us wait. */
static int hint_environment_slurp(const char *path, char *buffer)
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
static void hint_environment_take_line(struct hints *hints, char *line)
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
    if (*name && *value && !hint_comes_from(hints, name, HINT_FILE))
        hints_set(hints, name, value, HINT_FILE); /* the first line of a name holds, as in ROMIO */
}

static pl_status hint_environment_take_file(struct hints *hints, const char *path, struct pl_error *error)
{
    char *buffer = mem_alloc(FILE_BYTES_MAX);
    if (!buffer)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for hints");
    const int trouble = hint_environment_slurp(path, buffer);
    hints->file_ignored = trouble != 0;
    if (trouble) {
        snprintf(hints->file_note, sizeof hints->file_note, "ignored: '%.*s': %s", NAME_SHOWN, path, strerror(trouble));
    } else {
        char *rest = NULL;
        for (char *line = strtok_r(buffer, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
            hint_environment_take_line(hints, line);
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
        status = hint_environment_take_file(hints, path, error);
    if (status == PL_OK && text && *text)
        status = take_variable(hints, text, error);
    if (status == PL_OK && map && *map)
        take_map(hints, map);
    return status;
}
