/* Inside of data representations: for the files of this folder only. */
#ifndef PIOLET_ENGINE_DATAREP_CORE_H
#define PIOLET_ENGINE_DATAREP_CORE_H

#include "engine/datarep/datarep.h"
#include "engine/typemap/typemap.h"
#include "engine/typemap/typemap_visit.h"

/* ---- signatures ---- */
/* Signatures: the elements of a datatype in the order of its typemap, without their places.
 *
 * A signature is a typemap of another world: what counts bytes there counts elements here, and a displacement says
 * which kind an element is of. So the tree is as small as its constructors' arguments, neighbours of one kind are
 * joined, and references and cursors are those of typemaps (typemap_unref, typemap_cursor_next, typemap_shape()->size).
 * A kind is a small number whose meaning the data representation knows. Pure. */

enum {
    SIGNATURE_KINDS_MAX = 62,
    SIGNATURE_KIND_SHIFT = 57, /* so a run has fewer than 2^57 elements; longer ones give PL_E_TYPE */
};

/* All give a new reference. Children may be NULL where their count is 0. */
pl_status signature_run(int kind, int64_t elements, struct typemap **ret_signature, struct pl_error *error);
pl_status signature_repeat(struct typemap *child, int64_t count, struct typemap **ret_signature,
                           struct pl_error *error);
pl_status signature_list(int64_t n, const int64_t *counts, struct typemap *const *children,
                         struct typemap **ret_signature, struct pl_error *error);

/* The next elements of one kind, at most `limit`: their number and kind. See typemap_cursor_next. */
int64_t signature_next(struct typemap_cursor *cursor, int64_t limit, int *ret_kind);

/* ---- representations ---- */

enum datarep_family { DATAREP_NATIVE, DATAREP_EXTERNAL32, DATAREP_REGISTERED };

/* What an element takes on both sides. */
struct datarep_sizes {
    int64_t native, file;
};

struct datarep {
    enum datarep_family family;
    const char *name;
    /* registered: */
    struct datarep_functions functions;
    /* Its kinds of elements are pairs of sizes, found as types come along. Entries are only added, under a lock. */
    struct datarep_sizes *kinds; /* SIGNATURE_KINDS_MAX of them */
    struct datarep *next;        /* in the list of registered ones */
};

/* ---- datarep_decode.c: predefined types ---- */

/* The signature in external32 of a type without inner types. */
pl_status datarep_external32(MPI_Datatype type, int combiner, struct typemap **ret_signature, struct pl_error *error);

/* ---- datarep_decode.c ---- */

/* What is known of a type in a file; not for native. `made` gets references. */
pl_status datarep_made(const struct datarep *rep, MPI_Datatype type, struct typemap_made *ret_made,
                       struct pl_error *error);
struct datarep_sizes datarep_sizes(const struct datarep *rep, int number);

/* ---- datarep.c: what was made of a type ---- */

bool datarep_cache_find(const struct datarep *rep, MPI_Datatype type, struct typemap_made *ret_made);
/* Keeps what was made at the type. Without memory it is only not kept. */
void datarep_cache_keep(const struct datarep *rep, MPI_Datatype type, const struct typemap_made *made);

/* ---- datarep.c: functions of the program, whatever their language ---- */

enum datarep_direction { DATAREP_READ, DATAREP_WRITE };

bool datarep_has_conversion(const struct datarep *rep, enum datarep_direction direction);
/* Calls for `elements` elements of the (tiled) type from number `position` on. */
pl_status datarep_call(const struct datarep *rep, enum datarep_direction direction, void *buffer, MPI_Datatype type,
                       int64_t elements, int64_t position, void *file_bytes, struct pl_error *error);
/* How many elements one call can take. */
int64_t datarep_call_max(const struct datarep *rep, enum datarep_direction direction);
pl_status datarep_call_extent(const struct datarep *rep, MPI_Datatype type, int64_t *ret_extent,
                              struct pl_error *error);

#endif
