/* From a constructor's arguments, as MPI_Type_get_contents gives them, to its typemap. Makes no call of MPI. */
#ifndef PIOLET_MPIIO_TYPEMAP_COMBINE_H
#define PIOLET_MPIIO_TYPEMAP_COMBINE_H

#include "mpiio/typemap/typemap.h"

/* Arguments of one constructor. `values` holds its integers, then its addresses, then its large counts: for all
 * constructors but subarray and darray that is the order of the arguments, whichever of the three kinds carries them
 * (int and MPI_Aint for the old functions, MPI_Count for those that end in _c). */
struct typemap_contents {
    int combiner;
    int64_t integers; /* how many of the values are integers */
    int64_t n_values, n_types;
    int64_t *values;
    struct typemap **maps; /* of the inner types */
};

/* Every combiner with inner types. Bounds are those that follow from the arguments; what MPI says of them wins. */
pl_status typemap_combine(const struct typemap_contents *contents, struct typemap **ret_map, struct pl_error *error);

/* One of the two combiners of structs, which are the only ones with more than one inner type. */
bool typemap_combines_struct(int combiner);

/* Of an array in C or Fortran order: the part of each dimension that is taken. */
pl_status typemap_subarray(const struct typemap_contents *contents, struct typemap **ret_map, struct pl_error *error);
pl_status typemap_darray(const struct typemap_contents *contents, struct typemap **ret_map, struct pl_error *error);

#endif
