#include "bench/beffio/beffio_config.h"

#include "base/interrupt.h"
#include "base/units.h"
#include "bench/beffio/beffio_pattern.h"
#include "bench/beffio/beffio_schedule.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- texts of the settings ---- */

bool beffio_parse_time(const char *text, double *ret_s)
{
    static const struct {
        char suffix;
        double seconds;
    } units[] = {{'s', 1}, {'m', 60}, {'h', 3600}};
    const size_t length = strlen(text);
    double scale = 1;
    char number[32];
    if (length == 0 || length >= sizeof number)
        return false;
    snprintf(number, sizeof number, "%s", text);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (text[length - 1] == units[i].suffix) {
            scale = units[i].seconds;
            number[length - 1] = '\0';
        }
    double value;
    if (!units_parse_number(number, &value))
        return false;
    *ret_s = value * scale;
    return true;
}

static pl_status set_time(struct beffio_config *config, const char *value, struct pl_error *error)
{
    double seconds;
    if (!beffio_parse_time(value, &seconds) || seconds < 0.5 || seconds > 1e6)
        return pl_fail(error, PL_E_INPUT, "'%s'; allowed: 0.5 to 1000000 seconds, as 30, 20s, 15m or 1h", value);
    config->time_s = seconds;
    return PL_OK;
}

static void time_text(const struct beffio_config *config, struct text *out)
{
    text_format(out, "%.9g", config->time_s);
}

static pl_status set_count(const char *value, int least, int *ret_count, struct pl_error *error)
{
    int64_t number;
    if (!units_parse_int(value, least, 1000000, &number))
        return pl_fail(error, PL_E_INPUT, "'%s'; allowed: %d to 1000000", value, least);
    *ret_count = (int)number;
    return PL_OK;
}

static pl_status set_ranks(struct beffio_config *config, const char *value, struct pl_error *error)
{
    return set_count(value, 0, &config->ranks, error);
}

static void ranks_text(const struct beffio_config *config, struct text *out)
{
    text_format(out, "%d", config->ranks);
}

static pl_status set_per_node(struct beffio_config *config, const char *value, struct pl_error *error)
{
    return set_count(value, 0, &config->per_node, error);
}

static void per_node_text(const struct beffio_config *config, struct text *out)
{
    text_format(out, "%d", config->per_node);
}

static pl_status set_partitions(struct beffio_config *config, const char *value, struct pl_error *error)
{
    char *copy = text_dup(value), *rest = copy, *word;
    pl_status status = copy ? PL_OK : pl_fail_errno(error, ENOMEM, "reading partitions");
    int count = 0;
    while (status == PL_OK && (word = strsep(&rest, ",")) != NULL && *value) {
        int64_t number = 0;
        bool fits = count < BEFFIO_PARTITIONS_MAX && units_parse_int(word, 1, 1000000, &number);
        for (int i = 0; i < count && fits; i++)
            fits = config->partitions[i] != number;
        if (!fits)
            status = pl_fail(error, PL_E_INPUT, "'%s'; allowed: up to %d different numbers of processes, as 2,4,8",
                             value, BEFFIO_PARTITIONS_MAX);
        else
            config->partitions[count++] = (int)number;
    }
    free(copy);
    config->partition_count = count;
    return status;
}

static void partitions_text(const struct beffio_config *config, struct text *out)
{
    for (int i = 0; i < config->partition_count; i++)
        text_format(out, "%s%d", i ? "," : "", config->partitions[i]);
}

static pl_status set_memory(struct beffio_config *config, const char *value, struct pl_error *error)
{
    if (units_parse_size(value, &config->node_memory_bytes) && beffio_mpart(config->node_memory_bytes) / 8 <= INT_MAX)
        return PL_OK;
    return pl_fail(error, PL_E_INPUT, "'%s'; allowed: a size such as 16g, up to 2047g (M_PART is 1/128 of it)", value);
}

static void memory_text(const struct beffio_config *config, struct text *out)
{
    text_format(out, "%" PRId64, config->node_memory_bytes);
}

static pl_status add_path(struct beffio_config *config, const char *value, struct pl_error *error)
{
    if (config->path_count == BEFFIO_PATHS_MAX)
        return pl_fail(error, PL_E_INPUT, "'%s' is one too many; allowed: %d folders", value, BEFFIO_PATHS_MAX);
    char *real = realpath(value, NULL);
    if (!real)
        return pl_fail_errno(error, errno, "looking at folder '%s'", value);
    config->paths[config->path_count++] = real;
    return PL_OK;
}

static void drop_paths(struct beffio_config *config)
{
    for (int i = 0; i < config->path_count; i++)
        free(config->paths[i]);
    config->path_count = 0;
}

/* Several are lines of one text. */
static pl_status set_paths(struct beffio_config *config, const char *value, struct pl_error *error)
{
    drop_paths(config);
    char *copy = text_dup(value), *rest = copy, *line;
    pl_status status = copy ? PL_OK : pl_fail_errno(error, ENOMEM, "reading paths");
    while (status == PL_OK && (line = strsep(&rest, "\n")) != NULL)
        status = add_path(config, line, error);
    free(copy);
    return status;
}

static void paths_text(const struct beffio_config *config, struct text *out)
{
    for (int i = 0; i < config->path_count; i++)
        text_format(out, "%s%s", i ? "\n" : "", config->paths[i]);
}

static pl_status set_order(struct beffio_config *config, const char *value, struct pl_error *error)
{
    config->order_2_0 = strcmp(value, "2.0") == 0;
    if (config->order_2_0 || strcmp(value, "document") == 0)
        return PL_OK;
    return pl_fail(error, PL_E_INPUT, "'%s'; allowed: document or 2.0", value);
}

static void order_text(const struct beffio_config *config, struct text *out)
{
    text_add(out, config->order_2_0 ? "2.0" : "document");
}

static pl_status set_flag(const char *value, bool *ret_flag, struct pl_error *error)
{
    *ret_flag = strcmp(value, "true") == 0;
    if (*ret_flag || strcmp(value, "false") == 0)
        return PL_OK;
    return pl_fail(error, PL_E_INPUT, "'%s'; allowed: true or false", value);
}

#define FLAG_SETTING(name)                                                                                             \
    static pl_status set_##name(struct beffio_config *config, const char *value, struct pl_error *error)               \
    {                                                                                                                  \
        return set_flag(value, &config->name, error);                                                                  \
    }                                                                                                                  \
    static void name##_text(const struct beffio_config *config, struct text *out)                                      \
    {                                                                                                                  \
        text_add(out, config->name ? "true" : "false");                                                                \
    }
FLAG_SETTING(random)
FLAG_SETTING(cold)
FLAG_SETTING(keep)

static pl_status set_seed(struct beffio_config *config, const char *value, struct pl_error *error)
{
    if (units_parse_int(value, -1, INT64_C(1) << 53, &config->seed))
        return PL_OK;
    return pl_fail(error, PL_E_INPUT, "'%s'; allowed: 0 to 2^53", value);
}

static void seed_text(const struct beffio_config *config, struct text *out)
{
    text_format(out, "%" PRId64, config->seed);
}

static pl_status set_hints(struct beffio_config *config, const char *value, struct pl_error *error)
{
    return beffio_hints_parse("hints", value, &config->hints, error);
}

static void hints_text(const struct beffio_config *config, struct text *out)
{
    beffio_hints_text(&config->hints, out);
}

/* ---- the table ---- */

static const struct {
    const char *name;
    pl_status (*set)(struct beffio_config *config, const char *value, struct pl_error *error);
    void (*text)(const struct beffio_config *config, struct text *out);
} SETTINGS[BEFFIO_SETTINGS] = {
    {"time", set_time, time_text},
    {"ranks", set_ranks, ranks_text},
    {"partitions", set_partitions, partitions_text},
    {"per-node", set_per_node, per_node_text},
    {"memory-node", set_memory, memory_text},
    {"path", set_paths, paths_text},
    {"order", set_order, order_text},
    {"random", set_random, random_text},
    {"cold", set_cold, cold_text},
    {"keep", set_keep, keep_text},
    {"seed", set_seed, seed_text},
    {"hints", set_hints, hints_text},
};

void beffio_config_init(struct beffio_config *config)
{
    *config = (struct beffio_config){.time_s = BEFFIO_OFFICIAL_S, .seed = -1};
}

void beffio_config_clear(struct beffio_config *config)
{
    drop_paths(config);
    beffio_hints_clear(&config->hints);
}

static int find_setting(const char *name)
{
    int i = 0;
    while (i < BEFFIO_SETTINGS && strcmp(SETTINGS[i].name, name) != 0)
        i++;
    return i;
}

pl_status beffio_config_set(struct beffio_config *config, const char *name, const char *value, struct pl_error *error)
{
    const int i = find_setting(name);
    if (i == BEFFIO_SETTINGS)
        return pl_fail(error, PL_E_INPUT, "'%s' is not a setting of b_eff_io", name);
    const bool again = SETTINGS[i].set == set_paths && config->given[i];
    const pl_status status = again ? add_path(config, value, error) : SETTINGS[i].set(config, value, error);
    if (status != PL_OK)
        return pl_within(error, "%s", name);
    config->given[i] = true;
    return PL_OK;
}

const char *beffio_setting_name(int index)
{
    return SETTINGS[index].name;
}

void beffio_setting_text(const struct beffio_config *config, int index, struct text *out)
{
    SETTINGS[index].text(config, out);
}

/* ---- resuming and checking ---- */

static pl_status resume_one(struct beffio_config *config, int index, const char *before, struct pl_error *error)
{
    if (!config->given[index]) {
        const pl_status status = SETTINGS[index].set(config, before, error);
        return status == PL_OK ? PL_OK : pl_within(error, "%s of the run to resume", SETTINGS[index].name);
    }
    struct text now = {0};
    SETTINGS[index].text(config, &now);
    const bool same = strcmp(text_get(&now), before) == 0;
    if (!same)
        pl_fail(error, PL_E_INPUT, "%s: '%.200s', but the run to resume has '%.200s'; allowed: the same, or no %s",
                SETTINGS[index].name, text_get(&now), before, SETTINGS[index].name);
    text_clear(&now);
    return same ? PL_OK : error->status;
}

bool beffio_setting_was_given(const struct blockfile_block *block, int index)
{
    for (size_t i = 0; i < block->fact_count; i++)
        if (strcmp(block->facts[i].key, "given") == 0 && strcmp(block->facts[i].value, SETTINGS[index].name) == 0)
            return true;
    return false;
}

pl_status beffio_config_resume(struct beffio_config *config, const struct blockfile_block *block,
                               struct pl_error *error)
{
    for (int i = 0; i < BEFFIO_SETTINGS; i++) {
        const char *before = blockfile_input_of(block, SETTINGS[i].name);
        if (!before)
            return pl_fail(error, PL_E_INPUT, "the run to resume does not say its %s", SETTINGS[i].name);
        if (resume_one(config, i, before, error) != PL_OK)
            return error->status;
        config->given[i] = beffio_setting_was_given(block, i);
    }
    return PL_OK;
}

static pl_status check_path(const char *path, struct pl_error *error)
{
    char probe[PATH_MAX];
    if (snprintf(probe, sizeof probe, "%s/piolet-beffio-XXXXXX", path) >= (int)sizeof probe)
        return pl_fail_errno(error, ENAMETOOLONG, "using '%s'", path);
    const int fd = interrupt_mkstemp(probe);
    if (fd < 0)
        return pl_fail_errno(error, errno, "making a file in '%s'", path);
    close(fd);
    const pl_status status = unlink(probe) == 0 ? PL_OK : pl_fail_errno(error, errno, "removing '%s'", probe);
    interrupt_keep(probe);
    return status;
}

pl_status beffio_config_check(const struct beffio_config *config, struct pl_error *error)
{
    if (beffio_mpart(config->node_memory_bytes) / 8 > INT_MAX) /* found, not given */
        return pl_fail(error, PL_E_INPUT, "memory-node: M_PART would be beyond 16 GB; allowed: up to 2047g");
    for (int i = 0; i < config->partition_count; i++)
        if (config->ranks && config->partitions[i] > config->ranks)
            return pl_fail(error, PL_E_INPUT, "partitions: %d processes, but the job has only %d ranks",
                           config->partitions[i], config->ranks);
    for (int i = 0; i < config->path_count; i++)
        if (check_path(config->paths[i], error) != PL_OK)
            return pl_within(error, "path");
    return PL_OK;
}
