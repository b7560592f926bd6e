/* Data representations: how data lie in a file, in the place of how they lie in memory (MPI-4.0, 14.5).
 *
 *   native, internal   as in memory
 *   external32         big-endian and of fixed sizes, whatever the machine: the table of 14.5.2
 *   registered         by the program, with functions of its own (MPI_Register_datarep)
 *
 * A file's etype and filetype describe bytes of the file, so their typemaps come from datarep_typemap(). The data of an
 * access go through datarep_encode() before the bytes are written, and through datarep_decode() after they were read.
 * Everything here is local and thread-safe. */
#ifndef PIOLET_ENGINE_DATAREP_DATAREP_H
#define PIOLET_ENGINE_DATAREP_DATAREP_H

#include "base/status.h"
#include "engine/typemap/typemap.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct datarep; /* immutable, and lives for ever: one may keep the pointer */

/* PL_E_DATAREP where nobody knows the name. */
pl_status datarep_find(const char *name, const struct datarep **ret_rep, struct pl_error *error);
const char *datarep_name(const struct datarep *rep);
bool datarep_is_native(const struct datarep *rep);     /* native, internal: no conversion */
bool datarep_is_registered(const struct datarep *rep); /* its functions are the program's */

/* MPI_Datarep_conversion_function_c, which Open MPI does not have yet. */
typedef int datarep_conversion_large(void *userbuf, MPI_Datatype datatype, MPI_Count count, void *filebuf,
                                     MPI_Offset position, void *extra_state);
/* The same as Fortran's compilers call them: everything by reference. */
typedef void datarep_conversion_fortran(void *userbuf, MPI_Fint *datatype, MPI_Fint *count, void *filebuf,
                                        MPI_Offset *position, MPI_Aint *extra_state, MPI_Fint *ierror);
typedef void datarep_extent_fortran(MPI_Fint *datatype, MPI_Aint *extent, MPI_Aint *extra_state, MPI_Fint *ierror);

/* What a program registers. Conversions are given in one of the three kinds; one that is NULL in all of them is
 * MPI_CONVERSION_FN_NULL: data go that way as they are in memory. (In Fortran that constant is a subroutine: whoever
 * binds Fortran compares addresses.) */
struct datarep_functions {
    struct {
        MPI_Datarep_conversion_function *read, *write;
    } c;
    struct {
        datarep_conversion_large *read, *write;
    } c_large;
    MPI_Datarep_extent_function *extent; /* of C, both kinds */
    struct {
        datarep_conversion_fortran *read, *write;
        datarep_extent_fortran *extent;
    } fortran;
    void *extra_state; /* of Fortran: the value of EXTRA_STATE; its functions get the address of a copy */
};

/* MPI_Register_datarep, and _c. PL_E_DUP_DATAREP where the name is known already; PL_E_ARG for a name that is empty or
 * does not fit MPI_MAX_DATAREP_STRING characters with its end, and where there is not exactly one extent function. */
pl_status datarep_register(const char *name, const struct datarep_functions *functions, struct pl_error *error);

/* The typemap of a datatype as it lies in a file of this representation: for etypes and filetypes. Its leaves have the
 * representation's sizes. What a constructor counts in elements is scaled by the extents in the file; displacements and
 * bounds that the program gave in bytes stay as they are. Nothing is aligned: a struct's extent ends with its data.
 * A new reference; kept at the datatype, so that the second call only looks it up. native: as typemap_of(). */
pl_status datarep_typemap(const struct datarep *rep, MPI_Datatype type, struct typemap **ret_map,
                          struct pl_error *error);

/* Bytes of data of one item in the file, and what MPI_File_get_type_extent says. */
pl_status datarep_size(const struct datarep *rep, MPI_Datatype type, int64_t *ret_bytes, struct pl_error *error);
pl_status datarep_extent(const struct datarep *rep, MPI_Datatype type, int64_t *ret_extent, struct pl_error *error);

/* Whole items from memory into `file_bytes`: count × datarep_size() bytes without gaps, in the order of the typemap.
 * Where a value does not fit the file's type, the nearest that does is stored, everything else is converted all the
 * same, and the status is PL_E_CONVERSION (the engine then writes nothing). */
pl_status datarep_encode(const struct datarep *rep, const void *buffer, int64_t count, MPI_Datatype type,
                         char *file_bytes, struct pl_error *error);

/* Back: `bytes` bytes of `count` items, which may end in the middle of an item or of an element. Delivers whole
 * elements only. *ret_native, valid with PL_E_CONVERSION as well: bytes of data in memory that were delivered, which is
 * what MPI_Get_elements and MPI_Get_count should see. native: delivers every byte. */
pl_status datarep_decode(const struct datarep *rep, void *buffer, int64_t count, MPI_Datatype type,
                         const char *file_bytes, int64_t bytes, int64_t *ret_native, struct pl_error *error);

#endif
