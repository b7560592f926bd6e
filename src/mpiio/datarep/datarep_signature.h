/* Signatures: the elements of a datatype in the order of its typemap, without their places.
 *
 * A signature is a typemap of another world: what counts bytes there counts elements here, and a displacement says
 * which kind an element is of. So the tree is as small as its constructors' arguments, neighbours of one kind are
 * joined, and references and cursors are those of typemaps (typemap_unref, typemap_cursor_next, typemap_shape()->size).
 * A kind is a small number whose meaning the data representation knows. Pure. */
#ifndef PIOLET_MPIIO_DATAREP_SIGNATURE_H
#define PIOLET_MPIIO_DATAREP_SIGNATURE_H

#include "mpiio/typemap/typemap.h"

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

#endif
