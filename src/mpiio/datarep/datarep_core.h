/* Inside of data representations: for the files of this folder only. */
#ifndef PIOLET_MPIIO_DATAREP_CORE_H
#define PIOLET_MPIIO_DATAREP_CORE_H

#include "mpiio/datarep/datarep.h"
#include "mpiio/datarep/datarep_signature.h"
#include "mpiio/typemap/typemap_visit.h"

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

/* ---- datarep_named.c ---- */

/* The signature in external32 of a type without inner types. */
pl_status datarep_external32(MPI_Datatype type, int combiner, struct typemap **ret_signature, struct pl_error *error);

/* ---- datarep_decode.c ---- */

/* What is known of a type in a file; not for native. `made` gets references. */
pl_status datarep_made(const struct datarep *rep, MPI_Datatype type, struct typemap_made *ret_made,
                       struct pl_error *error);
struct datarep_sizes datarep_sizes(const struct datarep *rep, int number);

/* ---- datarep_cache.c ---- */

bool datarep_cache_find(const struct datarep *rep, MPI_Datatype type, struct typemap_made *ret_made);
/* Keeps what was made at the type. Without memory it is only not kept. */
void datarep_cache_keep(const struct datarep *rep, MPI_Datatype type, const struct typemap_made *made);

/* ---- datarep_call.c: functions of the program, whatever their language ---- */

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
