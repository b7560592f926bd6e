/* Fortran: all functions reach ours through the MPI's own bindings, which call C, but for those that take functions
 * of the program: the bindings keep those to themselves. Compilers spell a name in several ways; `use mpi_f08` has
 * names of its own, with the same arguments in memory. */
#include "mpi/real.h"
#include "mpiio/api/api.h"
#include "mpiio/datarep/datarep.h"
#include "mpiio/error/error_handler.h"

#include <dlfcn.h>
#include <string.h>

#define FORTRAN_ALIAS(target, name) extern __typeof__(target) name __attribute__((alias(#target)))

static void set_ierror(MPI_Fint *ierror, int code)
{
    if (ierror) /* optional in mpi_f08 */
        *ierror = code;
}

/* ---- error handlers ---- */

typedef void file_handler(MPI_Fint *file, MPI_Fint *code, ...);
void mpi_file_create_errhandler_(file_handler *function, MPI_Fint *handler, MPI_Fint *ierror);

void mpi_file_create_errhandler_(file_handler *function, MPI_Fint *handler, MPI_Fint *ierror)
{
    struct api api;
    MPI_Errhandler made;
    api_begin_free(&api, "MPI_File_create_errhandler");
    if (error_handler_create((struct error_function){.fortran = function}, &made, &api.error) == PL_OK) {
#if PIOLET_IS_OPENMPI
        *handler = real.Errhandler_c2f(made);
#else
        *handler = (MPI_Fint)made;
#endif
    }
    set_ierror(ierror, api_end(&api));
}
FORTRAN_ALIAS(mpi_file_create_errhandler_, mpi_file_create_errhandler);
FORTRAN_ALIAS(mpi_file_create_errhandler_, mpi_file_create_errhandler__);
FORTRAN_ALIAS(mpi_file_create_errhandler_, MPI_FILE_CREATE_ERRHANDLER);
FORTRAN_ALIAS(mpi_file_create_errhandler_, mpi_file_create_errhandler_f08_);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler_);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler__);
FORTRAN_ALIAS(mpi_file_create_errhandler_, PMPI_FILE_CREATE_ERRHANDLER);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpi_file_create_errhandler_f08_);
FORTRAN_ALIAS(mpi_file_create_errhandler_, pmpir_file_create_errhandler_f08_);

/* ---- data representations ---- */

/* MPI_CONVERSION_FN_NULL is a subroutine there. */
static datarep_conversion_fortran *conversion(datarep_conversion_fortran *function)
{
    static const char *const nulls[] = {"mpi_conversion_fn_null_",
                                        "mpi_conversion_fn_null",
                                        "mpi_conversion_fn_null__",
                                        "MPI_CONVERSION_FN_NULL",
                                        "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null",
                                        "__mpi_f08_callbacks_MOD_mpi_conversion_fn_null_c"};
    for (size_t i = 0; i < sizeof nulls / sizeof nulls[0]; i++) {
        void *address = dlsym(RTLD_DEFAULT, nulls[i]);
        if (address && memcmp(&address, &function, sizeof address) == 0)
            return NULL;
    }
    return function;
}

void mpi_register_datarep_(const char *name, datarep_conversion_fortran *read, datarep_conversion_fortran *write,
                           datarep_extent_fortran *extent, MPI_Aint *extra_state, MPI_Fint *ierror, size_t length);

void mpi_register_datarep_(const char *name, datarep_conversion_fortran *read, datarep_conversion_fortran *write,
                           datarep_extent_fortran *extent, MPI_Aint *extra_state, MPI_Fint *ierror, size_t length)
{
    struct api api;
    char text[MPI_MAX_DATAREP_STRING + 2];
    api_begin_free(&api, "MPI_Register_datarep");
    while (length > 0 && name[length - 1] == ' ')
        length--;
    if (length >= sizeof text)
        length = sizeof text - 1; /* too long: refused below */
    memcpy(text, name, length);
    text[length] = '\0';
    void *state = NULL;
    memcpy(&state, extra_state, sizeof *extra_state);
    const struct datarep_functions functions = {
        .fortran = {.read = conversion(read), .write = conversion(write), .extent = extent}, .extra_state = state};
    datarep_register(text, &functions, &api.error);
    set_ierror(ierror, api_end(&api));
}
FORTRAN_ALIAS(mpi_register_datarep_, mpi_register_datarep);
FORTRAN_ALIAS(mpi_register_datarep_, mpi_register_datarep__);
FORTRAN_ALIAS(mpi_register_datarep_, MPI_REGISTER_DATAREP);
FORTRAN_ALIAS(mpi_register_datarep_, mpi_register_datarep_f08_);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep_);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep__);
FORTRAN_ALIAS(mpi_register_datarep_, PMPI_REGISTER_DATAREP);
FORTRAN_ALIAS(mpi_register_datarep_, pmpi_register_datarep_f08_);
FORTRAN_ALIAS(mpi_register_datarep_, pmpir_register_datarep_f08_);
