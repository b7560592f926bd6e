#include "bench/beffio/beffio_hint.h"

#include "base/output.h"
#include "base/units.h"
#include "bench/beffio/beffio_pattern.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const SCOPES[] = {"all", "type", "pattern"};

void beffio_hints_clear(struct beffio_hints *hints)
{
    for (size_t i = 0; i < hints->count; i++) {
        free(hints->list[i].key);
        free(hints->list[i].value);
    }
    free(hints->list);
    *hints = (struct beffio_hints){0};
}

static pl_status add(struct beffio_hints *hints, struct beffio_hint hint, struct pl_error *error)
{
    struct beffio_hint *grown = realloc(hints->list, (hints->count + 1) * sizeof *grown);
    if (grown)
        hints->list = grown;
    hint.key = text_dup(hint.key);
    hint.value = text_dup(hint.value);
    if (!grown || !hint.key || !hint.value) {
        free(hint.key);
        free(hint.value);
        return pl_fail_errno(error, ENOMEM, "keeping hints");
    }
    hints->list[hints->count++] = hint;
    return PL_OK;
}

static char *next_word(char **rest)
{
    char *word;
    while ((word = strsep(rest, " \t")) != NULL && !*word)
        ;
    return word;
}

static pl_status parse_line(const char *name, int line, char *text, struct beffio_hints *hints, struct pl_error *error)
{
    char *rest = text;
    const char *scope = next_word(&rest);
    if (!scope || scope[0] == '#')
        return PL_OK;
    struct beffio_hint hint = {.number = -1};
    while (hint.scope <= BEFFIO_PATTERN && strcmp(scope, SCOPES[hint.scope]) != 0)
        hint.scope++;
    if (hint.scope > BEFFIO_PATTERN)
        return pl_fail(error, PL_E_INPUT, "%s:%d: '%s'; allowed: all, type N or pattern N, then a hint and its value",
                       name, line, scope);
    if (hint.scope != BEFFIO_ALL) {
        const int64_t most = (hint.scope == BEFFIO_TYPE ? BEFFIO_TYPES_ALL : BEFFIO_PATTERNS_ALL) - 1;
        const char *number = next_word(&rest);
        int64_t value;
        if (!number || !units_parse_int(number, 0, most, &value))
            return pl_fail(error, PL_E_INPUT, "%s:%d: '%s' is not a number behind '%s'; allowed: 0 to %d", name, line,
                           number ? number : "", scope, (int)most);
        hint.number = (int)value;
    }
    hint.key = next_word(&rest);
    if (!hint.key || !rest || strlen(hint.key) > 255)
        return pl_fail(error, PL_E_INPUT, "%s:%d: a hint and its value must stand behind '%s'", name, line, scope);
    hint.value = rest + strspn(rest, " \t");
    return add(hints, hint, error);
}

pl_status beffio_hints_parse(const char *name, const char *lines, struct beffio_hints *ret_hints,
                             struct pl_error *error)
{
    beffio_hints_clear(ret_hints);
    char *copy = text_dup(lines), *rest = copy, *line;
    pl_status status = copy ? PL_OK : pl_fail_errno(error, ENOMEM, "reading hints");
    for (int number = 1; status == PL_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        for (size_t length = strlen(line); length && strchr(" \t\r", line[length - 1]);)
            line[--length] = '\0';
        status = parse_line(name, number, line, ret_hints, error);
    }
    free(copy);
    return status;
}

pl_status beffio_hints_load(const char *path, struct text *ret_lines, struct pl_error *error)
{
    output_reads(path);
    FILE *stream = fopen(path, "re");
    if (!stream)
        return pl_fail_errno(error, errno, "opening '%s'", path);
    char buffer[4096];
    size_t got;
    while ((got = fread(buffer, 1, sizeof buffer, stream)) > 0)
        text_append(ret_lines, buffer, got);
    const int failed = ferror(stream) ? EIO : ret_lines->failed ? ENOMEM : 0;
    fclose(stream);
    if (failed)
        return pl_fail_errno(error, failed, "reading '%s'", path);
    if (strlen(text_get(ret_lines)) != ret_lines->length)
        return pl_fail(error, PL_E_INPUT, "'%s' is not text", path);
    return PL_OK;
}

void beffio_hints_text(const struct beffio_hints *hints, struct text *out)
{
    for (size_t i = 0; i < hints->count; i++) {
        const struct beffio_hint *hint = &hints->list[i];
        text_format(out, "%s%s", i ? "\n" : "", SCOPES[hint->scope]);
        if (hint->scope != BEFFIO_ALL)
            text_format(out, " %d", hint->number);
        text_format(out, " %s %s", hint->key, hint->value);
    }
}

static bool concerns(const struct beffio_hint *hint, int type, int pattern)
{
    return hint->scope == BEFFIO_ALL || (hint->scope == BEFFIO_TYPE && hint->number == type) ||
           (hint->scope == BEFFIO_PATTERN && hint->number == pattern);
}

const char *beffio_hint_value(const struct beffio_hints *hints, int type, int pattern, const char *key)
{
    const struct beffio_hint *best = NULL;
    for (size_t i = 0; i < hints->count; i++) {
        const struct beffio_hint *hint = &hints->list[i];
        if (concerns(hint, type, pattern) && strcmp(hint->key, key) == 0 && (!best || hint->scope >= best->scope))
            best = hint;
    }
    return best ? best->value : NULL;
}

bool beffio_hints_own(const struct beffio_hints *hints, int pattern)
{
    for (size_t i = 0; i < hints->count; i++)
        if (hints->list[i].scope == BEFFIO_PATTERN && hints->list[i].number == pattern)
            return true;
    return false;
}
