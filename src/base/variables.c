#include "base/variables.h"

#include "base/units.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum variable_kind { FLAG, NUMBER, SIZE, WORDS, OWN, INNER };

static const struct variable {
    const char *name;
    enum variable_kind kind;
    int64_t least, most;
    const char *allowed;
} VARIABLES[] = {
#define VARIABLE(name, kind, least, most, allowed) {name, kind, least, most, allowed},
#include "base/variables.def"
#undef VARIABLE
};
enum { COUNT = sizeof VARIABLES / sizeof VARIABLES[0], NAME_MAX_BYTES = 64 };

/* ---- names ---- */

/* Letters to add, take away or change, at most `NAME_MAX_BYTES` of each word looked at. */
static int distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    int row[NAME_MAX_BYTES + 1];
    if (n > NAME_MAX_BYTES || m > NAME_MAX_BYTES)
        return NAME_MAX_BYTES;
    for (size_t j = 0; j <= m; j++)
        row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int before = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            const int changed = before + (a[i - 1] != b[j - 1]);
            before = row[j];
            const int shorter = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
            row[j] = changed < shorter ? changed : shorter;
        }
    }
    return row[m];
}

const char *variables_nearest(const char *word, const char *const *names)
{
    int least = 1 + (int)strlen(word) / 4; /* what is further away is another word */
    const char *nearest = NULL;
    for (; *names; names++) {
        const int here = distance(word, *names);
        if (here <= least) {
            nearest = *names;
            least = here - 1;
        }
    }
    return nearest;
}

static const char *meant(const char *name)
{
    const char *names[COUNT + 1];
    int count = 0;
    for (int i = 0; i < COUNT; i++)
        if (VARIABLES[i].kind != INNER)
            names[count++] = VARIABLES[i].name;
    names[count] = NULL;
    return variables_nearest(name, names);
}

/* ---- values ---- */

static bool is_word_of(const char *value, const char *allowed)
{
    const size_t length = strlen(value);
    for (const char *word = allowed; *word; word += strspn(word, ", ")) {
        const size_t this = strcspn(word, ",");
        if (this == length && strncmp(word, value, length) == 0)
            return true;
        word += this;
    }
    return false;
}

static bool is_allowed(const struct variable *variable, const char *value)
{
    int64_t number;
    if (!*value) /* as if it were not set */
        return true;
    switch (variable->kind) {
    case FLAG: /* whoever reads it compares with "1": neither "01" nor "+1" switches anything on */
        return strcmp(value, "0") == 0 || strcmp(value, "1") == 0;
    case NUMBER:
        return units_parse_int(value, variable->least, variable->most, &number);
    case SIZE:
        return units_parse_size(value, &number) && number >= variable->least && number <= variable->most;
    case WORDS:
        return is_word_of(value, variable->allowed);
    default:
        return true;
    }
}

static void check_one(const char *name, const char *value, struct text *lines)
{
    const struct variable *variable = NULL;
    for (int i = 0; i < COUNT && !variable; i++)
        if (strcmp(VARIABLES[i].name, name) == 0)
            variable = &VARIABLES[i];
    if (variable && is_allowed(variable, value))
        return;
    text_add_visible(lines, name);
    if (variable) {
        text_add(lines, " is '");
        text_add_visible(lines, value);
        text_format(lines, "'; allowed: %s\n", variable->allowed);
        return;
    }
    const char *near = meant(name);
    text_format(lines, " is no variable of piolet's%s%s%s\n", near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
}

void variables_check(char *const *environment, struct text *lines)
{
    static const char OURS[] = "PIOLET_", TESTS[] = "PIOLET_TEST_";
    for (; environment && *environment; environment++) {
        if (strncmp(*environment, OURS, sizeof OURS - 1) != 0 || strncmp(*environment, TESTS, sizeof TESTS - 1) == 0)
            continue;
        char *name = text_dup(*environment), *equals = name ? strchr(name, '=') : NULL;
        if (equals) {
            *equals = '\0';
            check_one(name, equals + 1, lines);
        }
        free(name);
    }
}
