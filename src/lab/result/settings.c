#include "lab/result/settings.h"

#include "base/units.h"

#include <stdbool.h>
#include <string.h>

static bool settings_has_key(const char *key, const char *const *keys)
{
    for (; keys && *keys; keys++)
        if (strcmp(*keys, key) == 0)
            return true;
    return false;
}

/* Parameters that say nothing where they have this value; NULL: whatever it is. */
static bool settings_is_usual(const struct blockfile_pair *param)
{
    static const struct blockfile_pair usual[] = {
        {"layout", "strided"}, {"fuzzy", "0"},       {"phases", "both"},   {"preallocate", "true"}, {"check", NULL},
        {"blocks", NULL},      {"tail_bytes", NULL}, {"repetition", NULL}, {"compute_ms", "0"},
    };
    for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
        if (strcmp(param->key, usual[i].key) == 0)
            return !usual[i].value || strcmp(param->value, usual[i].value) == 0;
    return false;
}

void settings_add_bytes(struct text *text, long long bytes)
{
    static const struct {
        long long decimal, binary;
    } sizes[] = {{1, 1}, {1000, 1 << 10}, {1000000, 1 << 20}, {1000000000, 1 << 30}};
    size_t i = bytes > 0 ? sizeof sizes / sizeof sizes[0] - 1 : 0;
    while (bytes % sizes[i].decimal != 0 && bytes % sizes[i].binary != 0)
        i--;
    if (bytes % sizes[i].decimal == 0)
        text_format(text, "%lld %s", bytes / sizes[i].decimal, UNITS_DECIMAL[i]);
    else
        text_format(text, "%lld %s", bytes / sizes[i].binary, UNITS_BINARY[i]);
}

static void settings_add_param(struct text *text, const struct blockfile_pair *param)
{
    const char *key = param->key;
    const size_t length = strlen(key);
    int64_t bytes;
    if (text->length)
        text_add(text, ", ");
    if (strcmp(key, "collective") == 0) {
        text_add(text, strcmp(param->value, "true") == 0 ? "collective" : "independent");
    } else if (length > 6 && strcmp(key + length - 6, "_bytes") == 0 &&
               units_parse_int(param->value, 0, INT64_MAX, &bytes)) {
        if (strcmp(key, "filesize_bytes") == 0 || strcmp(key, "blocksize_bytes") == 0)
            text_format(text, "%.*s ", (int)(length - 10), key); /* file, block */
        else
            text_format(text, "%.*s ", (int)(length - 6), key);
        settings_add_bytes(text, bytes);
    } else {
        text_format(text, "%s %s", key, param->value);
    }
}

void settings_of_keys(const struct blockfile_set *set, const char *const *keys, struct text *text)
{
    for (size_t i = 0; i < set->param_count; i++)
        if (settings_has_key(set->params[i].key, keys))
            settings_add_param(text, &set->params[i]);
}

void settings_of_set(const struct blockfile_set *set, const char *const *without, struct text *text)
{
    for (size_t i = 0; i < set->param_count; i++)
        if (!settings_is_usual(&set->params[i]) && !settings_has_key(set->params[i].key, without))
            settings_add_param(text, &set->params[i]);
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used)
            text_format(text, "%s%s=%s", text->length ? ", " : "", set->hints[i].key, set->hints[i].value);
}
