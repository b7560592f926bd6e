/* Goes through an MPI datatype from the inside out, and lets the caller make of it what he wants: its layout in memory
 * (typemap_of()), or in a file of some data representation (datarep/datarep_decode.c). */
#ifndef PIOLET_ENGINE_TYPEMAP_VISIT_H
#define PIOLET_ENGINE_TYPEMAP_VISIT_H

#include "engine/typemap/typemap.h"

#include <mpi.h>

/* ---- constructors ---- */
/* From a constructor's arguments, as MPI_Type_get_contents gives them, to its typemap. Makes no call of MPI. */

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

/* ---- visiting a datatype ---- */

/* What decides a type's bounds where it is a member of a struct: the strongest among the members. */
enum typemap_bounding {
    TYPEMAP_NOTHING, /* the type is empty, and has no bounds to give */
    TYPEMAP_DATA,    /* its data */
    TYPEMAP_MARKERS, /* bounds of the program's choice, of the type or of one inside of it: resized, arrays */
};

/* What was made of one type: references of the holder's. */
struct typemap_made {
    struct typemap *map;
    /* Only where the maker makes them: */
    struct typemap *signature; /* see datarep/datarep_core.h; else NULL */
    enum typemap_bounding bounding;
};

struct typemap_made typemap_made_ref(const struct typemap_made *made);
void typemap_made_clear(struct typemap_made *made); /* accepts {0} */

struct typemap_maker {
    const void *owner; /* tells apart what different makers make of predefined types */
    /* What is known of a type already; false where nothing is. Not asked about types that `leaf` made something of. */
    bool (*find)(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made);
    /* A type without inner types; kept by the caller (typemap_leaf_…). */
    pl_status (*leaf)(const struct typemap_maker *maker, MPI_Datatype type, int combiner, struct typemap_made *ret_made,
                      struct pl_error *error);
    /* made->map is what the constructor's arguments give; may be replaced, and the rest added. Optional. */
    pl_status (*complete)(const struct typemap_maker *maker, const struct typemap_contents *contents,
                          const struct typemap_made *inner, struct typemap_made *made, struct pl_error *error);
    /* Ends the work on a type with inner types, such as by keeping what was made. The caller clears it on failure. */
    pl_status (*settle)(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *made,
                        struct pl_error *error);
};

pl_status typemap_visit(const struct typemap_maker *maker, MPI_Datatype type, struct typemap_made *ret_made,
                        struct pl_error *error);

/* ---- predefined types. Without memory, something is only not kept ---- */

bool typemap_leaf_find(const void *owner, MPI_Datatype type, struct typemap_made *ret_made);
void typemap_leaf_keep(const void *owner, MPI_Datatype type, const struct typemap_made *made);

/* What is kept at a datatype as an attribute of ours; NULL: nothing. *keyval is made with the two functions when it is
 * first needed, and stays MPI_KEYVAL_INVALID where MPI makes none. Under the caller's lock. */
void *typemap_attribute(MPI_Datatype type, MPI_Type_copy_attr_function *copy, MPI_Type_delete_attr_function *drop,
                        int *keyval);

/* PL_E_TYPE and words where the code is not MPI_SUCCESS. */
pl_status typemap_check(int code, const char *name, struct pl_error *error);

#endif
