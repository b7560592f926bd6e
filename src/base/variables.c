#include "base/variables.h"

#include "base/units.h"

#include <ctype.h>
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

/* Letters to add, take away, change or swap to get from one word to the other; capital or not is the same. */
static int variables_distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    int rows[3][NAME_MAX_BYTES + 1], *row = rows[0], *before = rows[1], *before_that = rows[2];
    if (n > NAME_MAX_BYTES || m > NAME_MAX_BYTES)
        return INT_MAX;
    for (size_t i = 0; i <= n; i++) {
        for (size_t j = 0; j <= m; j++) {
            row[j] = (int)(i + j);
            if (i == 0 || j == 0)
                continue;
            const bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            row[j] = before[j - 1] + !same;
            row[j] = before[j] + 1 < row[j] ? before[j] + 1 : row[j];
            row[j] = row[j - 1] + 1 < row[j] ? row[j - 1] + 1 : row[j];
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && before_that[j - 2] + 1 < row[j])
                row[j] = before_that[j - 2] + 1;
        }
        int *const free_row = before_that;
        before_that = before;
        before = row;
        row = free_row;
    }
    return before[m];
}

const char *variables_nearest(const char *word, const char *const *names)
{
    const int third = (int)strlen(word) / 3;
    int least = third < 1 ? 1 : third > 4 ? 4 : third; /* what is further away is another word */
    const char *nearest = NULL;
    for (; *names; names++) {
        const int here = variables_distance(word, *names);
        if (here <= least) {
            nearest = *names;
            least = here - 1;
        }
    }
    return nearest;
}

static const char *variables_meant(const char *name)
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

static bool variables_is_word_of(const char *value, const char *allowed)
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

static bool variables_is_allowed(const struct variable *variable, const char *value)
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
        return variables_is_word_of(value, variable->allowed);
    default:
        return true;
    }
}

static void variables_check_one(const char *name, const char *value, struct text *lines)
{
    const struct variable *variable = NULL;
    for (int i = 0; i < COUNT && !variable; i++)
        if (strcmp(VARIABLES[i].name, name) == 0)
            variable = &VARIABLES[i];
    if (variable && variables_is_allowed(variable, value))
        return;
    text_add_visible(lines, name);
    if (variable) {
        text_add(lines, " is '");
        text_add_visible(lines, value);
        text_format(lines, "'; allowed: %s\n", variable->allowed);
        return;
    }
    const char *near = variables_meant(name);
    text_format(lines, " is no variable of piolet's%s%s%s\n", near ? "; did you mean " : "", near ? near : "",
                near ? "?" : "");
}

void variables_check(char *const *environment, struct text *lines)
{
    static const char OURS[] = "PIOLET_", TESTS[] = "PIOLET_TEST_", OPTIONS[] = "PIOLET_OPT_"; /* base/option.h */
    for (; environment && *environment; environment++) {
        if (strncmp(*environment, OURS, sizeof OURS - 1) != 0 || strncmp(*environment, TESTS, sizeof TESTS - 1) == 0 ||
            strncmp(*environment, OPTIONS, sizeof OPTIONS - 1) == 0)
            continue;
        char *name = text_dup(*environment), *equals = name ? strchr(name, '=') : NULL;
        if (equals) {
            *equals = '\0';
            variables_check_one(name, equals + 1, lines);
        }
        free(name);
    }
}
