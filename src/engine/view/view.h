/* A view: which bytes of the file a rank sees, and in which unit it counts. Immutable and shared by reference counts,
 * since operations that are under way go on using theirs after a new one was set. */
#ifndef PIOLET_ENGINE_VIEW_VIEW_H
#define PIOLET_ENGINE_VIEW_VIEW_H

#include "base/status.h"
#include "engine/datarep/datarep.h"
#include "engine/typemap/typemap.h"

#include <mpi.h>
#include <stdbool.h>

struct view {
    int64_t generation;   /* how many views the file had before */
    int64_t displacement; /* bytes */
    struct typemap *filetype;
    int64_t etype_size, etype_extent;
    bool contiguous;                            /* all bytes from the displacement on */
    MPI_Datatype etype_handle, filetype_handle; /* duplicates of ours, or predefined types */
    const struct datarep *representation;       /* sizes, displacements and positions are those of the file */
};

/* What every file begins with: bytes, from 0 on. */
pl_status view_new_bytes(struct view **ret_view, struct pl_error *error);
/* `writable`: the file may be written through it, so that nothing may overlap. */
pl_status view_new(int64_t displacement, MPI_Datatype etype, MPI_Datatype filetype, const struct datarep *rep,
                   bool writable, struct view **ret_view, struct pl_error *error);
struct view *view_ref(struct view *view);
void view_unref(struct view *view); /* accepts NULL */

/* Duplicates for the program, as MPI_File_get_view gives them: predefined types as themselves. */
pl_status view_types(const struct view *view, MPI_Datatype *ret_etype, MPI_Datatype *ret_filetype,
                     struct pl_error *error);

/* Absolute byte in the file of the data byte at `position` (bytes of data from the view's beginning). */
int64_t view_byte(const struct view *view, int64_t position);

/* How many bytes of the view's data lie before byte `byte` of the file. */
int64_t view_position(const struct view *view, int64_t byte);

/* Would position + bytes leave the 64 bits of a file? */
bool view_fits(const struct view *view, int64_t position, int64_t bytes);

/* ---- types of a view ---- */
/* Handles of datatypes that outlive the program's own. */

/* A duplicate of a derived type; predefined types as themselves. */
pl_status view_type_keep(MPI_Datatype type, MPI_Datatype *ret_type, struct pl_error *error);
void view_type_drop(MPI_Datatype *type); /* accepts MPI_DATATYPE_NULL, and does nothing after MPI_Finalize */

#endif
