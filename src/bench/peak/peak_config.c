/* The settings: from words to numbers, with what is allowed. */
#include "bench/peak/peak.h"

#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX = 64, LIMIT_MAX_S = 7 * 86400 };

const char *const PEAK_DIRECT_NAMES[4] = {"auto", "yes", "no"};

static const double LIMIT_S = 900, QUICK_LIMIT_S = 5;
static const int64_t QUICK_SIZE = INT64_C(64) << 20, REQUEST_MAX = INT64_C(1) << 30;

void peak_config_init(struct peak_config *config)
{
    *config = (struct peak_config){.stride = 17, .files = -1, .seed = 1};
}

/* ---- words ---- */

/* The next word of a list; false at its end. "" for words that are too long. */
static bool next_word(const char **list, char word[WORD_MAX])
{
    if (!**list)
        return false;
    const size_t length = strcspn(*list, ",");
    snprintf(word, WORD_MAX, "%.*s", length < WORD_MAX ? (int)length : 0, *list);
    *list += length + ((*list)[length] == ',');
    return true;
}

static int find_word(const char *const *words, const char *word)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(words[i], word) == 0)
            return i;
    return -1;
}

/* Seconds, or a number with s, m or h. */
static bool parse_seconds(const char *text, double *ret_seconds)
{
    char number[WORD_MAX];
    const size_t length = strlen(text);
    if (length == 0 || length >= sizeof number)
        return false;
    memcpy(number, text, length + 1);
    const char unit = number[length - 1];
    if (unit == 's' || unit == 'm' || unit == 'h')
        number[length - 1] = '\0';
    if (!units_parse_number(number, ret_seconds))
        return false;
    *ret_seconds *= unit == 'm' ? 60 : unit == 'h' ? 3600 : 1;
    return *ret_seconds >= 1 && *ret_seconds <= LIMIT_MAX_S;
}

/* ---- lists ---- */

static int descending(const void *a, const void *b)
{
    const int64_t left = *(const int64_t *)a, right = *(const int64_t *)b;
    return (left < right) - (left > right);
}

static pl_status take_requests(struct peak_config *config, const char *list, struct pl_error *error)
{
    char word[WORD_MAX];
    int count = 0;
    for (const char *at = list; next_word(&at, word);) {
        int64_t bytes = 0;
        if (!units_parse_size(word, &bytes) || bytes < PEAK_REQUEST_UNIT || bytes > REQUEST_MAX ||
            bytes % PEAK_REQUEST_UNIT != 0)
            return pl_fail(error, PL_E_USAGE,
                           "--requests: '%s' in '%s'; allowed: multiples of 512 bytes up to 1g, as 4k,64k,1m", word,
                           list);
        if (count == PEAK_REQUESTS_MAX)
            return pl_fail(error, PL_E_USAGE, "--requests: '%s' has more than %d sizes", list, PEAK_REQUESTS_MAX);
        bool known = false;
        for (int i = 0; i < count; i++)
            known |= config->requests[i] == bytes;
        if (!known)
            config->requests[count++] = bytes;
    }
    if (count == 0)
        return pl_fail(error, PL_E_USAGE, "--requests: no size is given; allowed: sizes, as 4k,64k,1m");
    config->request_count = count;
    qsort(config->requests, (size_t)count, sizeof config->requests[0], descending);
    return PL_OK;
}

static pl_status take_access(struct peak_config *config, const char *list, struct pl_error *error)
{
    char word[WORD_MAX];
    memset(config->access, 0, sizeof config->access);
    bool any = false;
    for (const char *at = list; next_word(&at, word); any = true) {
        const int access = find_word(PEAK_ACCESS_NAMES, word);
        if (access < 0)
            return pl_fail(error, PL_E_USAGE, "--access: '%s' in '%s'; allowed: sequential, strided, random", word,
                           list);
        config->access[access] = true;
    }
    return any ? PL_OK : pl_fail(error, PL_E_USAGE, "--access: none is given; allowed: sequential, strided, random");
}

/* ---- settings ---- */

static pl_status take_direct(struct peak_config *config, const char *value, struct pl_error *error)
{
    const int index = find_word(PEAK_DIRECT_NAMES, value);
    if (index < 0)
        return pl_fail(error, PL_E_USAGE, "--direct: '%s'; allowed: auto, yes, no", value);
    config->direct = (enum peak_direct)index;
    return PL_OK;
}

static pl_status take_number(const char *name, const char *value, int64_t min, int64_t max, int64_t *ret_value,
                             struct pl_error *error)
{
    if (units_parse_int(value, min, max, ret_value))
        return PL_OK;
    return pl_fail(error, PL_E_USAGE, "--%s: '%s'; allowed: whole numbers from %lld to %lld", name, value,
                   (long long)min, (long long)max);
}

pl_status peak_config_set(struct peak_config *config, const char *name, const char *value, struct pl_error *error)
{
    pl_status status = PL_OK;
    int64_t seed = 0;
    if (strcmp(name, "size") == 0 && (!units_parse_size(value, &config->size_bytes) || config->size_bytes == 0))
        return pl_fail(error, PL_E_USAGE, "--size: '%s'; allowed: a size above 0, as 512m or 64g", value);
    if (strcmp(name, "limit") == 0 && !parse_seconds(value, &config->limit_s))
        return pl_fail(error, PL_E_USAGE, "--limit: '%s'; allowed: 1 second to 7 days, as 90, 90s, 5m or 1h", value);
    if (strcmp(name, "requests") == 0)
        return take_requests(config, value, error);
    if (strcmp(name, "access") == 0)
        return take_access(config, value, error);
    if (strcmp(name, "direct") == 0)
        return take_direct(config, value, error);
    if (strcmp(name, "info") == 0 && record_give(&config->given, value, error) != PL_OK)
        return pl_within(error, "--info");
    if (strcmp(name, "stride") == 0)
        return take_number(name, value, 2, 1 << 20, &config->stride, error);
    if (strcmp(name, "files") == 0)
        return take_number(name, value, 0, PEAK_FILES_MAX, &config->files, error);
    if (strcmp(name, "seed") == 0) {
        status = take_number(name, value, 0, INT64_MAX, &seed, error);
        config->seed = (uint64_t)seed;
    }
    config->io_node = strcmp(name, "io-node") == 0 ? value : config->io_node;
    config->drop_caches |= strcmp(name, "drop-caches") == 0;
    config->quick |= strcmp(name, "quick") == 0;
    return status;
}

pl_status peak_config_add_dir(struct peak_config *config, const char *directory, struct pl_error *error)
{
    if (config->dir_count == PEAK_DIRS_MAX)
        return pl_fail(error, PL_E_USAGE, "'%s': more than %d directories", directory, PEAK_DIRS_MAX);
    for (int i = 0; i < config->dir_count; i++)
        if (strcmp(config->dirs[i], directory) == 0)
            return pl_fail(error, PL_E_USAGE, "'%s' is given twice; allowed: each I/O node once", directory);
    config->dirs[config->dir_count++] = directory;
    return PL_OK;
}

pl_status peak_config_finish(struct peak_config *config, struct pl_error *error)
{
    bool any = false;
    if (config->dir_count == 0)
        return pl_fail(error, PL_E_USAGE, "a directory is missing: that whose storage is to be measured");
    if (config->drop_caches && config->direct == PEAK_DIRECT_YES)
        return pl_fail(error, PL_E_USAGE, "--drop-caches and --direct yes: one of them is enough");
    for (int i = 0; i < PEAK_ACCESSES; i++)
        any |= config->access[i];
    for (int i = 0; i < PEAK_ACCESSES && !any; i++)
        config->access[i] = true;
    if (config->request_count == 0)
        take_requests(config, config->quick ? "4k,64k,1m" : "4k,64k,1m,16m", error);
    if (config->quick && config->size_bytes == 0)
        config->size_bytes = QUICK_SIZE;
    if (config->limit_s == 0)
        config->limit_s = config->quick ? QUICK_LIMIT_S : LIMIT_S;
    if (config->files < 0)
        config->files = config->quick ? 100 : 1000;
    return PL_OK;
}
