/* What was asked for, and the cells that follow: all combinations of the parameters. */
#include "bench/gpfs/gpfs.h"

#include "base/notes.h"
#include "base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void gpfs_config_init(struct gpfs_config *config, const struct gpfs_benchmark *benchmark)
{
    *config = (struct gpfs_config){.benchmark = benchmark, .reps = 7, .seed = 1, .file = "gpfs.dat"};
}

void gpfs_config_clear(struct gpfs_config *config)
{
    text_clear(&config->inputs);
}

/* ---- values ---- */

static pl_status fail_value(enum gpfs_key key, const char *word, struct pl_error *error)
{
    const struct gpfs_key_row *row = &GPFS_KEY_ROWS[key];
    if (row->kind != GPFS_KIND_WORD)
        return pl_fail(error, PL_E_USAGE, "--%s: '%.64s'; allowed: %lld to %lld%s", row->name, word,
                       (long long)row->least, (long long)row->most,
                       row->kind == GPFS_KIND_SIZE ? " bytes, with k, m or g for powers of 1024" : "");
    struct text words = {0};
    for (const char *allowed = row->allowed; *allowed; allowed += strlen(allowed) + 1)
        text_format(&words, "%s%s", words.length ? ", " : "", allowed);
    pl_fail(error, PL_E_USAGE, "--%s: '%.64s'; allowed: %s", row->name, word, text_get(&words));
    text_clear(&words);
    return PL_E_USAGE;
}

bool gpfs_key_parse(enum gpfs_key key, const char *word, int64_t *ret_value)
{
    const struct gpfs_key_row *row = &GPFS_KEY_ROWS[key];
    if (row->kind == GPFS_KIND_NUMBER)
        return units_parse_int(word, row->least, row->most, ret_value);
    if (row->kind == GPFS_KIND_SIZE)
        return units_parse_size(word, ret_value) && *ret_value >= row->least && *ret_value <= row->most;
    *ret_value = 0;
    for (const char *allowed = row->allowed; *allowed; allowed += strlen(allowed) + 1, ++*ret_value)
        if (strcmp(allowed, word) == 0)
            return true;
    return false;
}

static pl_status add_value(struct gpfs_config *config, enum gpfs_key key, const char *word, struct pl_error *error)
{
    struct gpfs_values *list = &config->keys[key];
    int64_t value;
    if (!gpfs_key_parse(key, word, &value))
        return fail_value(key, word, error);
    for (int i = 0; i < list->count; i++)
        if (list->values[i] == value)
            return pl_fail(error, PL_E_USAGE, "--%s: '%s' stands there twice", GPFS_KEY_ROWS[key].name, word);
    if (list->count == GPFS_LIST_MAX)
        return pl_fail(error, PL_E_USAGE, "--%s: allowed: up to %d values", GPFS_KEY_ROWS[key].name, GPFS_LIST_MAX);
    list->values[list->count++] = value;
    return PL_OK;
}

static pl_status add_contestant(struct gpfs_config *config, const char *word, struct pl_error *error)
{
    struct gpfs_contestant *next = &config->contestants[config->contestant_count];
    if (config->contestant_count == GPFS_CONTESTANTS_MAX)
        return pl_fail(error, PL_E_USAGE, "--contestants: allowed: up to %d", GPFS_CONTESTANTS_MAX);
    if (gpfs_contestant_parse(word, next, error) != PL_OK)
        return error->status;
    for (int i = 0; i < config->contestant_count; i++)
        if (strcmp(config->contestants[i].name, next->name) == 0)
            return pl_fail(error, PL_E_USAGE, "--contestants: '%s' stands there twice", word);
    config->contestant_count++;
    return PL_OK;
}

/* Takes a list apart; `key` GPFS_KEYS: of contestants. A later list takes the place of an earlier one. */
static pl_status set_list(struct gpfs_config *config, enum gpfs_key key, const char *list, struct pl_error *error)
{
    char *copy = text_dup(list);
    if (!copy)
        return pl_fail(error, PL_E_NOMEM, "not enough memory");
    if (key == GPFS_KEYS)
        config->contestant_count = 0;
    else
        config->keys[key].count = 0;
    pl_status status = PL_OK;
    char *at = copy;
    for (char *word; status == PL_OK && (word = strsep(&at, ",")) != NULL;)
        status = key == GPFS_KEYS ? add_contestant(config, word, error) : add_value(config, key, word, error);
    free(copy);
    return status;
}

/* ---- settings ---- */

static pl_status fail_foreign(const struct gpfs_config *config, const char *name, struct pl_error *error)
{
    struct text names = {0};
    for (int key = 0; key < GPFS_KEYS; key++)
        if (config->benchmark->defaults[key])
            text_format(&names, "%s--%s", names.length ? ", " : "", GPFS_KEY_ROWS[key].name);
    pl_fail(error, PL_E_USAGE, "--%s is no parameter of '%s', which has %s", name, config->benchmark->name,
            text_get(&names));
    text_clear(&names);
    return PL_E_USAGE;
}

static pl_status set_number(const char *name, const char *value, int64_t least, int64_t most, int64_t *ret_number,
                            struct pl_error *error)
{
    if (units_parse_int(value, least, most, ret_number))
        return PL_OK;
    return pl_fail(error, PL_E_USAGE, "--%s: '%.64s'; allowed: %lld to %lld", name, value, (long long)least,
                   (long long)most);
}

static pl_status set_file(struct gpfs_config *config, const char *value, struct pl_error *error)
{
    if (!*value || strlen(value) >= sizeof config->file)
        return pl_fail(error, PL_E_USAGE, "--file: allowed: a name of 1 to %d characters", GPFS_PATH_MAX - 1);
    snprintf(config->file, sizeof config->file, "%s", value);
    return PL_OK;
}

static pl_status set_one(struct gpfs_config *config, const char *name, const char *value, struct pl_error *error)
{
    for (int key = 0; key < GPFS_KEYS; key++)
        if (strcmp(GPFS_KEY_ROWS[key].name, name) == 0)
            return config->benchmark->defaults[key] ? set_list(config, (enum gpfs_key)key, value, error)
                                                    : fail_foreign(config, name, error);
    if (strcmp(name, "contestants") == 0)
        return set_list(config, GPFS_KEYS, value, error);
    if (strcmp(name, "reps") == 0)
        return set_number(name, value, 1, GPFS_REPS_MAX, &config->reps, error);
    if (strcmp(name, "seed") == 0)
        return set_number(name, value, 0, INT64_MAX, &config->seed, error);
    if (strcmp(name, "file") == 0)
        return set_file(config, value, error);
    if (strcmp(name, "keep") != 0)
        return pl_fail(error, PL_E_USAGE, "'%s' is no setting", name);
    config->keep = true;
    return PL_OK;
}

pl_status gpfs_config_set(struct gpfs_config *config, const char *key, const char *value, struct pl_error *error)
{
    if (set_one(config, key, value, error) != PL_OK)
        return error->status;
    notes_add(&config->inputs, key, value);
    return config->inputs.failed ? pl_fail(error, PL_E_NOMEM, "not enough memory") : PL_OK;
}

pl_status gpfs_config_finish(struct gpfs_config *config, int default_ranks, struct pl_error *error)
{
    struct gpfs_values *ranks = &config->keys[GPFS_RANKS];
    if (ranks->count == 0)
        *ranks = (struct gpfs_values){.values = {default_ranks}, .count = 1};
    for (int key = 0; key < GPFS_KEYS; key++) {
        const char *list = config->benchmark->defaults[key];
        if (list && config->keys[key].count == 0 && set_list(config, (enum gpfs_key)key, list, error) != PL_OK)
            return error->status;
    }
    return config->contestant_count ? PL_OK : set_list(config, GPFS_KEYS, config->benchmark->contestants, error);
}

int64_t gpfs_config_most_ranks(const struct gpfs_config *config)
{
    int64_t most = 0;
    for (int i = 0; i < config->keys[GPFS_RANKS].count; i++)
        most = config->keys[GPFS_RANKS].values[i] > most ? config->keys[GPFS_RANKS].values[i] : most;
    return most;
}

bool gpfs_config_needs_engine(const struct gpfs_config *config)
{
    for (int i = 0; i < config->contestant_count; i++)
        if (config->contestants[i].access == GPFS_ENGINE)
            return true;
    return false;
}

/* ---- cells ---- */

static int64_t count_cells(const struct gpfs_config *config)
{
    int64_t count = 1;
    for (int key = 0; key < GPFS_KEYS && count <= GPFS_CELLS_MAX; key++)
        count *= config->keys[key].count ? config->keys[key].count : 1;
    return count;
}

/* The cell of a number in mixed base: the last key varies fastest. */
static struct gpfs_cell cell_of(const struct gpfs_config *config, int64_t number)
{
    struct gpfs_cell cell = {.benchmark = config->benchmark};
    for (int key = GPFS_KEYS - 1; key >= 0; key--) {
        const struct gpfs_values *list = &config->keys[key];
        if (list->count == 0)
            continue;
        cell.value[key] = list->values[number % list->count];
        number /= list->count;
    }
    cell.ranks = (int)cell.value[GPFS_RANKS];
    cell.writes = cell.value[GPFS_OP] == GPFS_WRITE;
    cell.fresh = cell.writes && config->benchmark->kind == GPFS_DISCONTIGUOUS;
    return cell;
}

pl_status gpfs_cells_make(const struct gpfs_config *config, struct gpfs_cells *ret_cells, struct pl_error *error)
{
    const int64_t count = count_cells(config);
    if (count > GPFS_CELLS_MAX)
        return pl_fail(error, PL_E_USAGE, "the lists have more than %d combinations; allowed: fewer", GPFS_CELLS_MAX);
    struct gpfs_cells cells = {.cells = calloc((size_t)count, sizeof *cells.cells), .count = (int)count};
    if (!cells.cells)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for %lld combinations", (long long)count);
    for (int c = 0; c < cells.count; c++) {
        cells.cells[c] = cell_of(config, c);
        if (gpfs_plan_size(&cells.cells[c], error) != PL_OK) {
            gpfs_cells_clear(&cells);
            return error->status;
        }
    }
    *ret_cells = cells;
    return PL_OK;
}

void gpfs_cells_clear(struct gpfs_cells *cells)
{
    free(cells->cells);
    *cells = (struct gpfs_cells){0};
}

const char *gpfs_cell_text(const struct gpfs_cell *cell, char text[GPFS_CELL_TEXT_MAX])
{
    char word[GPFS_LABEL_MAX], bytes[UNITS_TEXT_MAX];
    size_t at = (size_t)snprintf(text, GPFS_CELL_TEXT_MAX, "%s, %d rank%s", gpfs_key_text(GPFS_OP, !cell->writes, word),
                                 cell->ranks, cell->ranks == 1 ? "" : "s");
    for (int key = 0; key < GPFS_OP && at < GPFS_CELL_TEXT_MAX; key++) {
        const struct gpfs_key_row *row = &GPFS_KEY_ROWS[key];
        if (!cell->benchmark->defaults[key] || key == GPFS_RANKS || (key == GPFS_BUFFER && cell->value[key] == 0))
            continue;
        at += (size_t)snprintf(text + at, GPFS_CELL_TEXT_MAX - at, ", %s %s", row->name,
                               row->kind == GPFS_KIND_SIZE ? units_binary(cell->value[key], bytes)
                                                           : gpfs_key_text((enum gpfs_key)key, cell->value[key], word));
    }
    return text;
}
