/* What the user says of a configuration, and records in some words. */
#include "lab/facts/record.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char PREFIX[] = "config.";

pl_status record_give(struct record_given *given, const char *argument, struct pl_error *error)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
    const size_t length = strspn(argument, allowed);
    if (length == 0 || argument[length] != '=' || length >= RECORD_KEY_MAX)
        return pl_fail(error, PL_E_USAGE,
                       "'%s' is not KEY=VALUE; allowed in KEY: letters, digits, '_', '.', '-', at most %d of them",
                       argument, RECORD_KEY_MAX - 1);
    if (given->count == RECORD_GIVEN_MAX)
        return pl_fail(error, PL_E_USAGE, "'%s': more than %d facts are given", argument, RECORD_GIVEN_MAX);
    snprintf(given->pairs[given->count].key, RECORD_KEY_MAX, "%.*s", (int)length, argument);
    given->pairs[given->count++].value = argument + length + 1;
    return PL_OK;
}

struct filter {
    const struct record_given *given;
    record_put_fact *put;
    void *context;
};

static void put_unless_given(void *context, const char *key, const char *value)
{
    const struct filter *filter = context;
    for (int i = 0; i < filter->given->count; i++)
        if (strcmp(filter->given->pairs[i].key, key + strlen(PREFIX)) == 0)
            return;
    filter->put(filter->context, key, value);
}

pl_status record_all(const char *directory, const struct record_given *given, record_put_fact *put, void *context)
{
    static const struct record_given nothing = {.count = 0};
    struct filter filter = {.given = given ? given : &nothing, .put = put, .context = context};
    for (int i = 0; i < filter.given->count; i++) {
        char key[sizeof PREFIX + RECORD_KEY_MAX];
        snprintf(key, sizeof key, "%s%s", PREFIX, filter.given->pairs[i].key);
        put(context, key, filter.given->pairs[i].value);
    }
    for (int i = 0; i < filter.given->count; i++)
        put(context, "config.given", filter.given->pairs[i].key);
    return record_facts(directory, put_unless_given, &filter);
}

const char *record_words(const struct blockfile_block *block, char *text, size_t capacity)
{
    const char *type = blockfile_fact_of(block, "config.filesystem");
    const char *source = blockfile_fact_of(block, "config.source");
    const char *device = blockfile_fact_of(block, "config.device");
    const char *devices = blockfile_fact_of(block, "config.devices");
    const char *size = blockfile_fact_of(block, "config.size_bytes");
    char bytes[UNITS_TEXT_MAX], more[UNITS_TEXT_MAX + 16] = "";
    const bool shown = device && strncmp(device, "none", 4) != 0;
    if (shown && devices && strcmp(devices, "1") != 0)
        snprintf(more, sizeof more, ", %.8s devices in all", devices);
    else if (!shown && size)
        snprintf(more, sizeof more, ", %s", units_bytes(strtoll(size, NULL, 10), bytes));
    snprintf(text, capacity, "%s%s%s%s", type ? type : "unknown file system", shown || source ? " on " : "",
             shown    ? device
             : source ? source
                      : "",
             more);
    return text;
}
