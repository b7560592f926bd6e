/* What a datatype occupies: which bytes, in which order. One core for memory types, etypes and filetypes.
 *
 * A typemap is an immutable tree, shared by reference counts. Three kinds of nodes are enough for every constructor of
 * MPI:
 *   dense   length bytes side by side
 *   repeat  count copies of one child, each stride bytes behind the one before
 *   list    n children (or n dense pieces), each at a displacement of its own
 * The size of the tree is that of the constructor's arguments, not of what it describes: a vector of 2^40 pieces is
 * two nodes. Neighbouring bytes are joined while the tree is built, so that a contiguous type is one dense node.
 *
 * Positions count bytes of data (0 = the first byte of the type's first copy), displacements count bytes of memory or
 * file. A typemap is used as endless copies, each `extent` bytes behind the one before. Everything here is pure: no
 * MPI, no clock; typemap_of() makes typemaps of MPI datatypes. */
#ifndef PIOLET_ENGINE_TYPEMAP_TYPEMAP_H
#define PIOLET_ENGINE_TYPEMAP_TYPEMAP_H

#include "base/status.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct typemap;

/* What one needs to know of a typemap without walking it. */
struct typemap_shape {
    int64_t size;       /* bytes of data in one copy */
    int64_t lb, extent; /* as MPI_Type_get_extent says, resized bounds included; extent may be negative or 0 */
    int64_t true_lb, true_extent; /* of the data alone; 0 where size is 0 */
    /* Contiguous pieces of one copy, and bytes of the longest: exact, in the order of the type and joined where one
     * begins at the end of the one before, across nodes as well (what the cursor gives, without joining of copies). */
    int64_t pieces, largest;
    bool dense;    /* one copy is one piece (or nothing) */
    bool tiles;    /* dense, and endless copies are one piece: extent == size */
    bool monotone; /* endless copies never go back: displacements ascend and nothing overlaps. Exact. */
    /* Displacements of pieces never descend, but pieces may overlap or repeat (legal for reading). True for every type
     * whose basic elements are in ascending order, copies included. (MPI asks it of a filetype's one copy only: see
     * the shape of typemap_resized(map, true_lb, true_extent) where copies interleave.) */
    bool ascending;
};

/* All constructors give a new reference in *ret_map, and take none from their arguments. Overflow of 64 bits gives
 * PL_E_TYPE, missing memory PL_E_NOMEM. */
pl_status typemap_dense(int64_t bytes, struct typemap **ret_map, struct pl_error *error);
pl_status typemap_repeat(struct typemap *child, int64_t count, int64_t stride, struct typemap **ret_map,
                         struct pl_error *error);
/* Block i: counts[i] copies of children[i] (its own extent apart), the first displaced by displacements[i]. */
pl_status typemap_list(int64_t n, const int64_t *displacements, const int64_t *counts, struct typemap *const *children,
                       struct typemap **ret_map, struct pl_error *error);
/* The same with one child for all blocks. */
pl_status typemap_indexed(int64_t n, const int64_t *displacements, const int64_t *counts, struct typemap *child,
                          struct typemap **ret_map, struct pl_error *error);
/* The same data with bounds of the caller's choice. */
pl_status typemap_resized(struct typemap *map, int64_t lb, int64_t extent, struct typemap **ret_map,
                          struct pl_error *error);

struct typemap *typemap_ref(struct typemap *map);
void typemap_unref(struct typemap *map); /* accepts NULL */
void typemap_keep(struct typemap *map);  /* lives for ever from now on: references cost nothing any more */
const struct typemap_shape *typemap_shape(const struct typemap *map);

/* Displacement of the byte at `position`. size must not be 0; position ≥ 0. One that 64 bits cannot hold becomes
 * INT64_MAX (or INT64_MIN), for the cursor as well: who takes positions from outside checks them first. */
int64_t typemap_displacement(const struct typemap *map, int64_t position);

/* How many bytes of data of the endless copies lie before `displacement`. For ascending, non-overlapping maps
 * (monotone) of size > 0 only. O(depth × log n). 0 for what lies before the first byte. */
int64_t typemap_position(const struct typemap *map, int64_t displacement);

/* Walks through the data in order, piece by piece. */
struct typemap_cursor {
    const struct typemap *map;
    int64_t position; /* of the next byte that typemap_cursor_next() gives */
    void *state;      /* its place in the tree: owned by the cursor */
};

/* Holds no reference: the map must outlive the cursor. Fails only for want of memory. */
pl_status typemap_cursor_init(struct typemap_cursor *cursor, const struct typemap *map, struct pl_error *error);
void typemap_cursor_clear(struct typemap_cursor *cursor); /* accepts {0} */
void typemap_cursor_seek(struct typemap_cursor *cursor, int64_t position);

/* The next piece: at most `limit` (> 0) bytes that lie side by side, joined across nodes and copies where they touch.
 * Returns its length (0 only where the map's size is 0) and where it is; moves behind it. Amortised O(1). */
int64_t typemap_cursor_next(struct typemap_cursor *cursor, int64_t limit, int64_t *ret_displacement);

/* Equal pieces at equal distances. */
struct typemap_run {
    int64_t displacement, length; /* of the first piece */
    int64_t stride;               /* from one piece's displacement to the next one's */
    int64_t count;
};

/* The next pieces as one run: exactly those that typemap_cursor_next() would give one after the other with what is left
 * of `limit`. Returns their bytes, length × count (0 only where the map's size is 0), and moves behind them. A piece
 * that the limit cuts is a run of its own. A repeat of dense bytes is one run whatever its count, and so are copies of
 * one piece. Amortised O(1) for a run. */
int64_t typemap_cursor_run(struct typemap_cursor *cursor, int64_t limit, struct typemap_run *ret_run);

/* ---- of MPI datatypes ---- */
/* From an MPI datatype to its typemap. */

/* A new reference to the typemap of `type`. Kept as an attribute of the datatype, so that the second call for a type
 * only looks it up; it goes when the type is freed and its last user has let go. Thread-safe. */
pl_status typemap_of(MPI_Datatype type, struct typemap **ret_map, struct pl_error *error);

#endif
