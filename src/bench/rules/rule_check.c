/* What rules expect, and the words on what they see in its place. */
#include "bench/rules/rule.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void rule_break(struct rule_context *test, const char *format, ...)
{
    if (test->broken)
        return;
    char text[2 * RULE_WORDS_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    char *line = strchr(text, '\n');
    if (line)
        *line++ = '\0';
    test->broken = true;
    snprintf(test->expected, sizeof test->expected, "%.*s", RULE_WORDS_MAX - 1, text);
    snprintf(test->seen, sizeof test->seen, "%.*s", RULE_WORDS_MAX - 1, line ? line : "");
}

/* ---- calls ---- */

#define CLASS(name)                                                                                                    \
    {                                                                                                                  \
        name, #name                                                                                                    \
    }
static const struct {
    int class;
    const char *name;
} CLASSES[] = {
    CLASS(MPI_SUCCESS),
    CLASS(MPI_ERR_ACCESS),
    CLASS(MPI_ERR_AMODE),
    CLASS(MPI_ERR_ARG),
    CLASS(MPI_ERR_BAD_FILE),
    CLASS(MPI_ERR_BUFFER),
    CLASS(MPI_ERR_CONVERSION),
    CLASS(MPI_ERR_COUNT),
    CLASS(MPI_ERR_DUP_DATAREP),
    CLASS(MPI_ERR_FILE),
    CLASS(MPI_ERR_FILE_EXISTS),
    CLASS(MPI_ERR_INTERN),
    CLASS(MPI_ERR_IO),
    CLASS(MPI_ERR_NO_SPACE),
    CLASS(MPI_ERR_NO_SUCH_FILE),
    CLASS(MPI_ERR_NOT_SAME),
    CLASS(MPI_ERR_OTHER),
    CLASS(MPI_ERR_READ_ONLY),
    CLASS(MPI_ERR_TYPE),
    CLASS(MPI_ERR_UNKNOWN),
    CLASS(MPI_ERR_UNSUPPORTED_DATAREP),
    CLASS(MPI_ERR_UNSUPPORTED_OPERATION),
};
#undef CLASS

static const char *class_name(int code)
{
    int class = MPI_ERR_UNKNOWN;
    MPI_Error_class(code, &class);
    for (size_t i = 0; i < sizeof CLASSES / sizeof CLASSES[0]; i++)
        if (CLASSES[i].class == class)
            return CLASSES[i].name;
    return "another error class";
}

/* The MPI's own words, in one line. */
static void words_of(int code, char words[MPI_MAX_ERROR_STRING + 1])
{
    int length = 0;
    memset(words, 0, MPI_MAX_ERROR_STRING + 1);
    MPI_Error_string(code, words, &length);
    for (char *c = words; *c; c++)
        if (iscntrl((unsigned char)*c))
            *c = ' ';
}

static int name_length(const char *what)
{
    return strncmp(what, "MPI_", 4) == 0 ? (int)strcspn(what, "(") : (int)strlen(what);
}

void rule_fine(struct rule_context *test, int code, const char *what)
{
    char words[MPI_MAX_ERROR_STRING + 1];
    if (code == MPI_SUCCESS || test->broken)
        return;
    words_of(code, words);
    rule_break(test, "%.*s succeeds\n%s (%.200s)", name_length(what), what, class_name(code), words);
}

void rule_refused(struct rule_context *test, int code, const char *what)
{
    if (code == MPI_SUCCESS)
        rule_break(test, "an error from %.*s\nMPI_SUCCESS", name_length(what), what);
}

void rule_class(struct rule_context *test, int code, int class, const char *what)
{
    int seen = MPI_SUCCESS;
    char words[MPI_MAX_ERROR_STRING + 1] = "";
    MPI_Error_class(code, &seen);
    if (seen == class)
        return;
    words_of(code, words);
    rule_break(test, "%s from %.*s\n%s (%.200s)", class_name(class), name_length(what), what, class_name(code), words);
}

/* ---- values ---- */

void rule_same(struct rule_context *test, const char *what, int64_t seen, int64_t wanted)
{
    if (seen != wanted)
        rule_break(test, "%s is %" PRId64 "\n%" PRId64, what, wanted, seen);
}

void rule_true(struct rule_context *test, bool holds, const char *what)
{
    if (!holds)
        rule_break(test, "%s\nthat is not so", what);
}

void rule_count(struct rule_context *test, const char *what, const MPI_Status *status, MPI_Datatype type, int wanted)
{
    int count = -1;
    MPI_Get_count(status, type, &count);
    if (count == wanted)
        return;
    if (count == MPI_UNDEFINED)
        rule_break(test, "MPI_Get_count after %s gives %d\nMPI_UNDEFINED", what, wanted);
    else if (wanted == MPI_UNDEFINED)
        rule_break(test, "MPI_Get_count after %s gives MPI_UNDEFINED\n%d", what, count);
    else
        rule_break(test, "MPI_Get_count after %s gives %d\n%d", what, wanted, count);
}

/* A letter as it is, another byte as a number. */
static const char *byte_words(unsigned char byte, char words[8])
{
    snprintf(words, 8, isgraph(byte) ? "'%c'" : "0x%02x", byte);
    return words;
}

void rule_bytes(struct rule_context *test, const char *what, const void *seen, const void *wanted, size_t bytes)
{
    const unsigned char *a = seen, *b = wanted;
    size_t first = 0, wrong = 0;
    for (size_t i = bytes; i-- > 0;)
        if (a[i] != b[i]) {
            first = i;
            wrong++;
        }
    char one[8], other[8];
    if (wrong)
        rule_break(test, "%s: byte %zu of %zu is %s\n%s; %zu bytes are wrong", what, first, bytes,
                   byte_words(b[first], one), byte_words(a[first], other), wrong);
}
