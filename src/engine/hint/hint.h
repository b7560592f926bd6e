/* Hints: what a program says of its I/O when it opens a file. Rows of one table (hint.def) feed the parser,
 * MPI_File_get_info, `piolet hints` and the manual.
 *
 * A hint comes, with rising weight, from its default, from a file named by ROMIO_HINTS ("name value" lines), from the
 * environment (PIOLET_HINTS="name=value name=value", PIOLET_MAP for one of them), from the program's MPI_Info. A value
 * that is not allowed is rejected: the hint keeps what it had, and its origin says so. Unknown names are ignored, as
 * MPI demands. */
#ifndef PIOLET_ENGINE_HINT_HINT_H
#define PIOLET_ENGINE_HINT_HINT_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum hint_switch { HINT_DISABLE, HINT_ENABLE, HINT_AUTOMATIC };
enum hint_impl { HINT_IMPL_PIOLET, HINT_IMPL_SYSTEM };

enum { HINT_TEXT_MAX = 256 };

/* The values in force, in the order of hint.def. */
struct hint_values {
    int64_t impl;      /* enum hint_impl */
    char strategy[32]; /* piolet_strategy: auto, or a row of the strategy table */
    int64_t cb_nodes;  /* 0: as many as fit */
    int64_t cb_buffer_size;
    int64_t cb_read, cb_write; /* enum hint_switch; romio_cb_read, romio_cb_write */
    int64_t ds_read, ds_write; /* romio_ds_read, romio_ds_write */
    int64_t ind_rd_buffer_size, ind_wr_buffer_size;
    int64_t striping_unit; /* domains are aligned to it; 0: 64 KiB */
    int64_t striping_factor;
    int64_t file_perm;      /* for open(2); -1: not given, 0666 */
    int64_t largeblock;     /* IBM_largeblock_io: collective access becomes independent */
    int64_t io_buffer_size; /* IBM_io_buffer_size: stripe and buffer of an agent; 0: 16 blocks */
    int64_t cb_block_size;  /* 0: as fits */
    int64_t group_size;     /* ranks that access at once; 0: one for each node */
    int64_t window_size;
    int64_t access_ranges; /* blocks that irregular reads access at once, fetched ahead; 0: none */
    int64_t map;           /* enum hint_switch, but for HINT_ENABLE: piolet_map */
};

enum hint_origin { HINT_DEFAULT, HINT_FILE, HINT_ENVIRONMENT, HINT_INFO };

struct hints; /* values, and where each comes from */

/* Local: defaults, ROMIO_HINTS, PIOLET_HINTS, then `info` (may be MPI_INFO_NULL; its keys "origin:…" are passed by, so
 * that what MPI_File_get_info gave may be used again). Fails only for want of memory, or where MPI cannot read `info`.
 */
pl_status hints_new(MPI_Info info, struct hints **ret_hints, struct pl_error *error);
/* All ranks get the hints of rank 0, origins included. */
void hints_share_coll(struct hints *hints, MPI_Comm comm);
void hints_free(struct hints *hints); /* accepts NULL */
const struct hint_values *hints_values(const struct hints *hints);

/* MPI_File_set_info: takes what may change while the file is open; the rest is noted as rejected, unless it is what is
 * in force anyway. All or nothing: after a failure the hints are as before. */
pl_status hints_update(struct hints *hints, MPI_Info info, struct pl_error *error);

/* A new MPI_Info with every hint in force, and for each a key "origin:NAME": default, file, environment, info, or
 * "rejected 'VALUE': allowed: … (kept: ORIGIN)". A hint without a value (file_perm, unless given) has no key NAME, and
 * those of which the engine makes no use have keys only when the program gave them. "origin:ROMIO_HINTS" and
 * "origin:PIOLET_HINTS" tell of the file and the variable, where there are such. Values that the engine found out
 * itself are added by its caller. */
pl_status hints_to_info(const struct hints *hints, MPI_Info *ret_info, struct pl_error *error);

/* A number that is equal on two ranks whose hints in force are equal (file_perm and impl included). */
uint64_t hints_digest(const struct hints *hints);

/* The table, for `piolet hints`: row `index` as text, NULL behind the last. */
struct hint_row {
    const char *name, *default_text, *allowed, *help;
    bool changeable; /* by MPI_File_set_info */
};
const struct hint_row *hint_row_at(int index);

/* What is below makes no MPI call. */

/* Defaults, ROMIO_HINTS, PIOLET_HINTS. */
pl_status hints_new_local(struct hints **ret_hints, struct pl_error *error);

/* One hint. False where no hint has this name; a value that is not allowed is noted as rejected. */
bool hints_set(struct hints *hints, const char *name, const char *value, enum hint_origin origin);

/* From here on the file is open: hints_set() changes only what may change. Each call begins a new set of hints. */
void hints_begin_update(struct hints *hints);

/* For a value that only the engine can judge, as the name of a strategy: notes it as rejected and puts `keep` in force,
 * or the default (NULL). `allowed` says what would have been right. */
void hints_reject(struct hints *hints, const char *name, const char *keep, const char *allowed);

/* The text in force, "" where there is none, NULL where no hint has this name. Sizes are plain decimal numbers. */
const char *hints_get(const struct hints *hints, const char *name);

/* Has something that was given for this name come to nothing? A value was rejected, or, for "ROMIO_HINTS" and
 * "PIOLET_HINTS", what they name or hold was ignored. */
bool hints_went_wrong(const struct hints *hints, const char *name);

/* Writes what hints_to_info() gives for "origin:NAME"; false where there is no such key. */
bool hints_origin(const struct hints *hints, const char *name, char ret_text[HINT_TEXT_MAX]);

#endif
