/* What all ranks of a file do together besides moving data: opening and closing, views, hints, sizes, modes,
 * strategies. */
#ifndef PIOLET_ENGINE_CONTROL_CONTROL_H
#define PIOLET_ENGINE_CONTROL_CONTROL_H

#include "engine/file/file.h"
#include "mpi/agree.h"

/* MPI_File_open without its handles: every rank of `comm` calls it; fails on all or none. `own`: what was wrong with
 * the arguments here. With the hint piolet_impl=system only `is_system` is set up. */
pl_status control_open_coll(MPI_Comm comm, const char *name, int amode, MPI_Info info, const struct pl_error *own,
                            struct file *file, struct pl_error *error);

/* Puts the hints in force, after they have changed; the same on all ranks. */
void control_take_values(struct file *file);

/* Closes in any case; what failed is told. */
pl_status control_close_coll(struct file *file, struct pl_error *error);

/* All ranks' outcomes: the same answer on each. `values` as in agree.h, one fewer of them; the agreement itself stays
 * in *agree. It also finds out whether anybody has a late failure to tell. */
pl_status control_agree_coll(struct file *file, struct agree *agree, const int64_t *values, int count,
                             struct pl_error *error);

/* The last thing that a synchronising call does, where it has gone well on all ranks: those that have not heard of a
 * late failure get it as their error, though what the call had to do is done. Ranks meet only where there is one. */
pl_status control_tell_late_coll(struct file *file, struct pl_error *error);

/* Sets the view on all ranks, resets both pointers, takes hints where any rank brings some, chooses the strategies.
 * Takes over the reference to `view`, which is NULL where `error` tells why this rank has none. */
pl_status control_set_view_coll(struct file *file, struct view *view, MPI_Info info, struct pl_error *error);

pl_status control_set_size_coll(struct file *file, int64_t bytes, struct pl_error *error);
pl_status control_preallocate_coll(struct file *file, int64_t bytes, struct pl_error *error);
pl_status control_set_atomicity_coll(struct file *file, bool atomic, struct pl_error *error);
pl_status control_sync_coll(struct file *file, struct pl_error *error);
pl_status control_set_info_coll(struct file *file, MPI_Info info, struct pl_error *error);
pl_status control_seek_shared_coll(struct file *file, int64_t offset, int whence, struct pl_error *error);

/* Where an offset leads, in etypes, in the sense of MPI_File_seek; `current` is the pointer that moves. */
pl_status control_seek_target(struct file *file, const struct view *view, int64_t offset, int whence, int64_t current,
                              int64_t *ret_target, struct pl_error *error);

/* Rejects the hint piolet_strategy where no strategy has that name; `keep` holds then, or the default (NULL). */
void control_check_strategy(struct hints *hints, const char *keep);

/* Chooses the strategies of both directions; the facts are the same on all ranks. */
struct strategy_facts;
void control_choose(struct file *file, const struct strategy_facts *facts);
/* Puts the hint piolet_strategy to a row of the table, the same on all ranks. */
pl_status control_set_strategy_coll(struct file *file, const char *name, struct pl_error *error);

/* ---- control_open.c: what auxiliary processes store later ---- */

/* At open, before the ranks agree: where this process knows of any, it introduces the file and tells the others of its
 * node at `place` (PEERS_OFFER_BYTES of its segment). True: it did. */
bool control_offer_auxiliary(struct file *file, void *place);
/* After it, where any rank did. */
void control_join_auxiliary_coll(struct file *file, const void *place);
/* Before the storage is closed: everything is stored, and the processes have closed the file. */
void control_close_auxiliary(struct file *file);

/* ---- parts of the file as memory ---- */

/* Local: what each rank of this node may have mapped. The least of all ranks holds, by control_map_apply(). */
int64_t control_map_budget(struct file *file);
void control_map_apply(struct file *file, int64_t bytes);

/* For MPI_File_get_info. */
struct control_map_state {
    const char *effective, *why; /* the hint piolet_map as it is in force, and the reason */
    int64_t rank_bytes, node_bytes;
};
void control_map_describe(struct file *file, struct control_map_state *ret_state);

/* ---- control_partition.c ---- */

/* piolet_partition_…: `count` agents, NULL for all ranks in turn; part_bytes 0: one block. */
pl_status control_partition_coll(struct file *file, bool on, struct pl_error *error);
pl_status control_partition_map_coll(struct file *file, int64_t part_bytes, int count, const int *agents,
                                     struct pl_error *error);

#endif
