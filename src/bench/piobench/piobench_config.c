/* Settings, as options and as lines of a block's head: one table row for each. */
#include "bench/piobench/piobench.h"

#include "base/notes.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 1000000, WORD_MAX = 512 };
static const int64_t BLOCK_MAX = INT64_C(1) << 30, FILE_MAX = INT64_C(1) << 50;

static pl_status refuse(struct pl_error *error, const char *key, const char *value, const char *allowed)
{
    return pl_fail(error, PL_E_USAGE, "--%s: '%s'; allowed: %s", key, value, allowed);
}

/* ---- lists ---- */

/* The next word of a list, cut at `separator`; false at the end. */
static bool next_word(const char **list, char separator, char word[WORD_MAX])
{
    if (!*list)
        return false;
    const char *end = strchr(*list, separator);
    const size_t length = end ? (size_t)(end - *list) : strlen(*list);
    snprintf(word, WORD_MAX, "%.*s", length < WORD_MAX ? (int)length : WORD_MAX - 1, *list);
    *list = end ? end + 1 : NULL;
    return true;
}

struct range {
    int64_t min, max, multiple;
    const char *allowed;
    bool counts; /* whole numbers of something: neither fractions nor k, m, g */
};

static bool parse_within(const char *word, const struct range *range, int64_t *ret_value)
{
    if (range->counts)
        return units_parse_int(word, range->min, range->max, ret_value);
    return units_parse_size(word, ret_value) && *ret_value >= range->min && *ret_value <= range->max &&
           *ret_value % range->multiple == 0;
}

static pl_status take_sizes(const char *key, const char *value, const struct range *range, int64_t *list, int *count,
                            struct pl_error *error)
{
    char word[WORD_MAX];
    int found = 0;
    for (const char *rest = value; next_word(&rest, ',', word);) {
        int64_t size;
        if (!parse_within(word, range, &size))
            return refuse(error, key, word, range->allowed);
        if (found == PIOBENCH_LIST_MAX)
            return refuse(error, key, value, "up to 32 values");
        for (int i = 0; i < found; i++)
            if (list[i] == size)
                return pl_fail(error, PL_E_USAGE, "--%s: '%s' stands there twice", key, word);
        list[found++] = size;
    }
    *count = found;
    return PL_OK;
}

static pl_status take_blocks(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    const struct range range = {8, BLOCK_MAX, PIOBENCH_ELEMENT, "multiples of 8 bytes up to 1g, as 64,1k,1m", false};
    return take_sizes(key, value, &range, config->blocks, &config->block_count, error);
}

static pl_status take_files(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    const struct range range = {8, FILE_MAX, PIOBENCH_ELEMENT, "multiples of 8 bytes, as 16m,1g", false};
    return take_sizes(key, value, &range, config->files, &config->file_count, error);
}

static pl_status take_ranks(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    const struct range range = {1, RANKS_MAX, 1, "numbers of ranks from 1 on, as 2,4,8", true};
    return take_sizes(key, value, &range, config->ranks, &config->rank_count, error);
}

static pl_status take_buffers(struct piobench_config *config, const char *key, const char *value,
                              struct pl_error *error)
{
    const struct range range = {1, INT32_MAX, 1, "sizes from 1 byte to 2147483647, as 64k,1m", false};
    return take_sizes(key, value, &range, config->buffers, &config->buffer_count, error);
}

static pl_status take_groups(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    const struct range range = {1, RANKS_MAX, 1, "ranks of a group from 1 on, as 1,2,4", true};
    return take_sizes(key, value, &range, config->groups, &config->group_count, error);
}

static pl_status take_dims(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    static const char allowed[] = "elements along 2 to 4 dimensions, as 256x256x128";
    char word[WORD_MAX];
    double product = 1;
    config->dim_count = 0;
    for (const char *rest = value; next_word(&rest, 'x', word);) {
        int64_t size;
        if (!units_parse_int(word, 1, FILE_MAX, &size) || config->dim_count == PIOLET_DIST_DIMS_MAX)
            return refuse(error, key, value, allowed);
        config->dims[config->dim_count++] = size;
        product *= (double)size;
    }
    if (config->dim_count < 2 || product * PIOBENCH_ELEMENT > (double)FILE_MAX)
        return refuse(error, key, value, allowed);
    return PL_OK;
}

/* ---- algorithms and hints ---- */

static pl_status take_hint(const char *key, const char *text, struct piobench_hint *hints, int *count,
                           struct pl_error *error)
{
    const char *equals = strchr(text, '=');
    const size_t name = equals ? (size_t)(equals - text) : 0;
    if (name == 0 || name >= PIOBENCH_HINT_TEXT_MAX || strlen(equals + 1) >= PIOBENCH_HINT_TEXT_MAX || !equals[1])
        return refuse(error, key, text, "HINT=VALUE, up to 63 characters each");
    if (*count == PIOBENCH_HINTS_MAX)
        return refuse(error, key, text, "up to 8 hints");
    snprintf(hints[*count].key, sizeof hints->key, "%.*s", (int)name, text);
    snprintf(hints[*count].value, sizeof hints->value, "%s", equals + 1);
    (*count)++;
    return PL_OK;
}

static pl_status take_common_hint(struct piobench_config *config, const char *key, const char *value,
                                  struct pl_error *error)
{
    return take_hint(key, value, config->hints, &config->hint_count, error);
}

static void make_label(struct piobench_contestant *contestant)
{
    int used = snprintf(contestant->label, sizeof contestant->label, "%s", contestant->algorithm->name);
    for (int i = 0; i < contestant->hint_count && used < (int)sizeof contestant->label; i++)
        used += snprintf(contestant->label + used, sizeof contestant->label - (size_t)used, ":%s=%s",
                         contestant->hints[i].key, contestant->hints[i].value);
}

static pl_status add_contestant(struct piobench_config *config, struct piobench_contestant contestant,
                                struct pl_error *error)
{
    make_label(&contestant);
    if (config->contestant_count == PIOBENCH_CONTESTANTS_MAX)
        return pl_fail(error, PL_E_USAGE, "--algorithms, --buffers and --groups: more than %d contestants",
                       PIOBENCH_CONTESTANTS_MAX);
    for (int i = 0; i < config->contestant_count; i++)
        if (strcmp(config->contestants[i].label, contestant.label) == 0)
            return pl_fail(error, PL_E_USAGE, "--algorithms: '%s' stands there twice", contestant.label);
    config->contestants[config->contestant_count++] = contestant;
    return PL_OK;
}

static pl_status refuse_algorithm(const char *key, const char *word, struct pl_error *error)
{
    struct text names = {0};
    for (const struct piobench_algorithm *row = PIOBENCH_ALGORITHMS; row->name; row++)
        text_format(&names, "%s, ", row->name);
    text_add(&names, "all; with hints of its own as NAME:HINT=VALUE");
    refuse(error, key, word, text_get(&names));
    text_clear(&names);
    return error->status;
}

static pl_status take_algorithm(struct piobench_config *config, const char *key, const char *word,
                                struct pl_error *error)
{
    const size_t length = strcspn(word, ":");
    struct piobench_contestant contestant = {.algorithm = piobench_algorithm_find(word, length)};
    if (!contestant.algorithm)
        return refuse_algorithm(key, word, error);
    char hint[WORD_MAX];
    for (const char *rest = word[length] ? word + length + 1 : NULL; next_word(&rest, ':', hint);) {
        if (contestant.algorithm->access == PIOBENCH_NAIVE)
            return refuse(error, key, word, "naive without hints: it is plain POSIX");
        if (take_hint(key, hint, contestant.hints, &contestant.hint_count, error) != PL_OK)
            return error->status;
    }
    return add_contestant(config, contestant, error);
}

static pl_status take_algorithms(struct piobench_config *config, const char *key, const char *value,
                                 struct pl_error *error)
{
    char word[WORD_MAX];
    config->contestant_count = 0;
    for (const char *rest = value; next_word(&rest, ',', word);) {
        if (strcmp(word, "all") != 0) {
            if (take_algorithm(config, key, word, error) != PL_OK)
                return error->status;
            continue;
        }
        for (const struct piobench_algorithm *row = PIOBENCH_ALGORITHMS; row->name; row++)
            if (add_contestant(config, (struct piobench_contestant){.algorithm = row}, error) != PL_OK)
                return error->status;
    }
    return PL_OK;
}

/* ---- the rest ---- */

static pl_status take_distribution(struct piobench_config *config, const char *key, const char *value,
                                   struct pl_error *error)
{
    if (config->distribution_count == PIOBENCH_LIST_MAX)
        return refuse(error, key, value, "up to 32 distributions");
    struct piobench_distribution *distribution = &config->distributions[config->distribution_count];
    char message[PIOLET_DIST_MESSAGE_MAX];
    if (piolet_dist_parse(value, &distribution->spec, message, sizeof message) != PIOLET_DIST_OK)
        return pl_fail(error, PL_E_USAGE, "--%s: %s", key, message);
    if (distribution->spec.transposed)
        return refuse(error, key, value, "distributions that are not transposed (piolet run has the test transpose)");
    piolet_dist_format(&distribution->spec, distribution->text, sizeof distribution->text);
    for (int i = 0; i < config->distribution_count; i++)
        if (strcmp(config->distributions[i].text, distribution->text) == 0)
            return pl_fail(error, PL_E_USAGE, "--%s: '%s' stands there twice", key, value);
    config->distribution_count++;
    return PL_OK;
}

static pl_status take_file(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    if (!*value || strlen(value) >= sizeof config->file)
        return refuse(error, key, value, "a file name of up to 4095 bytes");
    snprintf(config->file, sizeof config->file, "%s", value);
    return PL_OK;
}

static pl_status take_ops(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    char word[WORD_MAX];
    config->writes = config->reads = false;
    for (const char *rest = value; next_word(&rest, ',', word);) {
        if (strcmp(word, "write") != 0 && strcmp(word, "read") != 0)
            return refuse(error, key, word, "write, read, or both with a comma");
        config->writes |= word[0] == 'w';
        config->reads |= word[0] == 'r';
    }
    return PL_OK;
}

static pl_status take_check(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    static const char *const words[] = {"first", "all", "none"};
    for (int i = 0; i < 3; i++)
        if (strcmp(value, words[i]) == 0) {
            config->check = (enum piobench_check)i;
            return PL_OK;
        }
    return refuse(error, key, value, "first, all, none");
}

static pl_status take_trials(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    int64_t *slot = strcmp(key, "trials") == 0 ? &config->trials : &config->max_trials;
    return units_parse_int(value, 1, PIOBENCH_TRIALS_MAX, slot) ? PL_OK : refuse(error, key, value, "1 to 200");
}

static pl_status take_width(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    char number[32];
    const size_t length = strlen(value);
    const bool percent = length > 1 && value[length - 1] == '%';
    snprintf(number, sizeof number, "%.*s", (int)(length - percent), value);
    if (length >= sizeof number || !units_parse_number(number, &config->width) || config->width <= 0 ||
        config->width > 100)
        return refuse(error, key, value, "a part of the mean above 0% and up to 100%, as 5%");
    config->width /= 100;
    return PL_OK;
}

static pl_status take_seed(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    return units_parse_int(value, 0, INT64_MAX, &config->seed) ? PL_OK
                                                               : refuse(error, key, value, "a whole number from 0 on");
}

static pl_status take_switch(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    (void)value;
    (void)error;
    config->sync |= strcmp(key, "sync") == 0;
    config->cold |= strcmp(key, "cold") == 0;
    config->direct |= strcmp(key, "direct") == 0;
    config->fresh |= strcmp(key, "fresh") == 0;
    config->keep |= strcmp(key, "keep") == 0;
    return PL_OK;
}

static pl_status take_mpis(struct piobench_config *config, const char *key, const char *value, struct pl_error *error)
{
    static const char *const known[] = {"mpich", "openmpi", "openmpi-romio"};
    char word[WORD_MAX];
    config->mpi_count = 0;
    for (const char *rest = value; next_word(&rest, ',', word);) {
        bool is_known = false;
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
            is_known |= strcmp(word, known[i]) == 0;
        if (!is_known || config->mpi_count == (int)(sizeof known / sizeof known[0]))
            return refuse(error, key, word, "mpich, openmpi, openmpi-romio, each once");
        for (int i = 0; i < config->mpi_count; i++)
            if (strcmp(config->mpis[i], word) == 0)
                return pl_fail(error, PL_E_USAGE, "--%s: '%s' stands there twice", key, word);
        snprintf(config->mpis[config->mpi_count++], PIOBENCH_MPI_MAX, "%.*s", PIOBENCH_MPI_MAX - 1, word);
    }
    return PL_OK;
}

typedef pl_status setter(struct piobench_config *config, const char *key, const char *value, struct pl_error *error);

static const struct {
    const char *key;
    setter *set;
} SETTINGS[] = {
    {"file", take_file},
    {"distribution", take_distribution},
    {"algorithms", take_algorithms},
    {"blocks", take_blocks},
    {"sizes", take_files},
    {"ranks", take_ranks},
    {"dims", take_dims},
    {"ops", take_ops},
    {"buffers", take_buffers},
    {"groups", take_groups},
    {"hint", take_common_hint},
    {"sync", take_switch},
    {"cold", take_switch},
    {"direct", take_switch},
    {"fresh", take_switch},
    {"keep", take_switch},
    {"check", take_check},
    {"trials", take_trials},
    {"max-trials", take_trials},
    {"width", take_width},
    {"seed", take_seed},
    {"mpis", take_mpis},
};

pl_status piobench_config_set(struct piobench_config *config, const char *key, const char *value,
                              struct pl_error *error)
{
    for (size_t i = 0; i < sizeof SETTINGS / sizeof SETTINGS[0]; i++) {
        if (strcmp(SETTINGS[i].key, key) != 0)
            continue;
        if (SETTINGS[i].set(config, key, value, error) != PL_OK)
            return error->status;
        notes_add(&config->inputs, key, value);
        return config->inputs.failed ? pl_fail(error, PL_E_NOMEM, "not enough memory") : PL_OK;
    }
    return pl_fail(error, PL_E_USAGE, "'%s' is not a setting of piobench", key);
}

/* ---- the whole ---- */

void piobench_config_init(struct piobench_config *config)
{
    *config = (struct piobench_config){
        .file = "piobench.dat", .writes = true, .reads = true, .trials = 3, .max_trials = 10, .width = 0.05, .seed = 1};
}

void piobench_config_clear(struct piobench_config *config)
{
    text_clear(&config->inputs);
}

/* Gives each contestant that `hint_of` has a hint for one variant for each value, in its place. */
static pl_status expand(struct piobench_config *config, const char *(*hint_of)(const struct piobench_algorithm *row),
                        const int64_t *values, int count, struct pl_error *error)
{
    struct piobench_contestant *before = malloc(sizeof config->contestants);
    const int before_count = config->contestant_count;
    if (!before)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    memcpy(before, config->contestants, sizeof config->contestants);
    config->contestant_count = 0;
    pl_status status = PL_OK;
    for (int i = 0; i < before_count && status == PL_OK; i++) {
        const char *hint = hint_of(before[i].algorithm);
        if (!hint)
            status = add_contestant(config, before[i], error);
        for (int v = 0; hint && v < count && status == PL_OK; v++) {
            struct piobench_contestant variant = before[i];
            char text[2 * PIOBENCH_HINT_TEXT_MAX];
            snprintf(text, sizeof text, "%s=%lld", hint, (long long)values[v]);
            status = take_hint("algorithms", text, variant.hints, &variant.hint_count, error);
            if (status == PL_OK)
                status = add_contestant(config, variant, error);
        }
    }
    free(before);
    return status;
}

static const char *buffer_hint(const struct piobench_algorithm *row)
{
    return row->buffer_hint;
}

static const char *group_hint(const struct piobench_algorithm *row)
{
    return strcmp(row->name, "node_grouping") == 0 ? "piolet_group_size" : NULL;
}

static pl_status set_defaults(struct piobench_config *config, int default_ranks, struct pl_error *error)
{
    static const char *const distributions[] = {"BLOCK",          "BALANCED", "CYCLIC",   "BLOCK,BLOCK,BLOCK",
                                                "multipartition", "random",   "broadcast"};
    const bool all = config->distribution_count == 0;
    pl_status status = PL_OK;
    for (size_t i = 0; all && i < sizeof distributions / sizeof distributions[0] && status == PL_OK; i++)
        status = take_distribution(config, "distribution", distributions[i], error);
    if (config->contestant_count == 0 && status == PL_OK)
        status = take_algorithms(config, "algorithms", "all", error);
    if (config->block_count == 0 && status == PL_OK)
        status = take_blocks(config, "blocks", "64,256,1k,4k,16k,64k,256k,1m", error);
    if (config->file_count == 0 && status == PL_OK)
        status = take_files(config, "sizes", "16m", error);
    if (config->rank_count == 0)
        config->ranks[config->rank_count++] = default_ranks;
    return status;
}

pl_status piobench_config_finish(struct piobench_config *config, int default_ranks, struct pl_error *error)
{
    if (set_defaults(config, default_ranks, error) != PL_OK)
        return error->status;
    if (config->max_trials < config->trials)
        return pl_fail(error, PL_E_USAGE, "--max-trials: %lld is less than --trials, %lld",
                       (long long)config->max_trials, (long long)config->trials);
    if (config->trials < 2 && config->max_trials > config->trials)
        return pl_fail(error, PL_E_USAGE, "--trials: 1 gives no interval; allowed: 2 and more, or --max-trials 1 too");
    if (config->buffer_count && expand(config, buffer_hint, config->buffers, config->buffer_count, error) != PL_OK)
        return error->status;
    if (config->group_count && expand(config, group_hint, config->groups, config->group_count, error) != PL_OK)
        return error->status;
    return PL_OK;
}

int64_t piobench_config_most_ranks(const struct piobench_config *config)
{
    int64_t most = 0;
    for (int i = 0; i < config->rank_count; i++)
        most = config->ranks[i] > most ? config->ranks[i] : most;
    return most;
}

bool piobench_config_needs_engine(const struct piobench_config *config)
{
    if (config->contestant_count == 0) /* none named stands for all */
        return true;
    for (int i = 0; i < config->contestant_count; i++)
        if (config->contestants[i].algorithm->strategy)
            return true;
    return false;
}
