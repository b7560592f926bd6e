/* What a run of b_eff_io was asked to do, as settings that have a name and a canonical text.
 *
 * The texts are the `input` lines of the results. A run that is resumed takes them from there, and a setting that was
 * given again must say the same. */
#ifndef PIOLET_BENCH_BEFFIO_CONFIG_H
#define PIOLET_BENCH_BEFFIO_CONFIG_H

#include "base/blockfile.h"
#include "base/status.h"
#include "base/text.h"
#include "bench/beffio/beffio_hint.h"

#include <stdbool.h>
#include <stdint.h>

enum { BEFFIO_PARTITIONS_MAX = 64, BEFFIO_PATHS_MAX = 16, BEFFIO_SETTINGS = 12 };

struct beffio_config {
    double time_s;                         /* T, for one partition */
    int ranks;                             /* of the whole job; 0: not known yet */
    int partitions[BEFFIO_PARTITIONS_MAX]; /* processes */
    int partition_count;                   /* 0: one, of all ranks */
    int per_node;                          /* processes that a partition takes of each node; 0: all */
    int64_t node_memory_bytes;             /* 0: as found */
    char *paths[BEFFIO_PATHS_MAX];         /* owned; folders */
    int path_count;
    bool order_2_0;
    bool random;  /* also the random pattern type */
    bool cold;    /* write back and drop caches before rewriting and reading */
    bool keep;    /* the files */
    int64_t seed; /* -1: to be drawn */
    struct beffio_hints hints;
    bool given[BEFFIO_SETTINGS]; /* by the user, not by default */
};

/* The defaults: 15 minutes, one partition of all ranks, in the current folder. */
void beffio_config_init(struct beffio_config *config);
void beffio_config_clear(struct beffio_config *config);

/* Sets one setting from text. PL_E_INPUT: not allowed, and what is. Unknown names are refused too. A path adds. */
pl_status beffio_config_set(struct beffio_config *config, const char *name, const char *value, struct pl_error *error);

/* Name and canonical text of a setting, and whether a run's head says that it was given. `index` < BEFFIO_SETTINGS. */
const char *beffio_setting_name(int index);
void beffio_setting_text(const struct beffio_config *config, int index, struct text *out);
bool beffio_setting_was_given(const struct blockfile_block *block, int index);

/* Takes what was not given from an earlier run's head; fails where what was given differs from it. */
pl_status beffio_config_resume(struct beffio_config *config, const struct blockfile_block *block,
                               struct pl_error *error);

/* What several settings say together, and whether files can be made in the folders. Local; touches the folders only by
 * a file that it removes at once. */
pl_status beffio_config_check(const struct beffio_config *config, struct pl_error *error);

/* A time as "30", "20s", "15m", "1h": in seconds. */
bool beffio_parse_time(const char *text, double *ret_s);

#endif
