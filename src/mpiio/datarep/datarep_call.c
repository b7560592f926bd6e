/* Calls of the functions that a program registered. */
#include "mpi/real.h"
#include "mpiio/datarep/datarep_core.h"

#include <limits.h>

bool datarep_has_conversion(const struct datarep *rep, enum datarep_direction direction)
{
    const struct datarep_functions *functions = &rep->functions;
    return direction == DATAREP_READ ? functions->c.read || functions->c_large.read || functions->fortran.read
                                     : functions->c.write || functions->c_large.write || functions->fortran.write;
}

int64_t datarep_call_max(const struct datarep *rep, enum datarep_direction direction)
{
    const bool is_large = direction == DATAREP_READ ? rep->functions.c_large.read : rep->functions.c_large.write;
    return is_large ? INT64_MAX : INT_MAX;
}

/* Open MPI has a table of handles for Fortran; MPICH's handles are integers already, and there it is a macro. */
static MPI_Fint fortran_handle(MPI_Datatype type)
{
#if PIOLET_IS_OPENMPI
    return real.Type_c2f(type);
#else
    return MPI_Type_c2f(type);
#endif
}

static pl_status check_answer(const struct datarep *rep, const char *what, int code, struct pl_error *error)
{
    char text[MPI_MAX_ERROR_STRING] = "";
    int length = 0;
    if (code == MPI_SUCCESS)
        return PL_OK;
    if (real.Error_string(code, text, &length) != MPI_SUCCESS)
        text[0] = '\0';
    return pl_fail(error, PL_E_CONVERSION, "the %s function of data representation '%s' failed with code %d%s%.200s",
                   what, rep->name, code, text[0] ? ": " : "", text);
}

pl_status datarep_call(const struct datarep *rep, enum datarep_direction direction, void *buffer, MPI_Datatype type,
                       int64_t elements, int64_t position, void *file_bytes, struct pl_error *error)
{
    const struct datarep_functions *functions = &rep->functions;
    const bool reads = direction == DATAREP_READ;
    MPI_Datarep_conversion_function *c = reads ? functions->c.read : functions->c.write;
    datarep_conversion_large *c_large = reads ? functions->c_large.read : functions->c_large.write;
    datarep_conversion_fortran *fortran = reads ? functions->fortran.read : functions->fortran.write;
    int code = MPI_SUCCESS;
    if (c_large) {
        code = c_large(buffer, type, elements, file_bytes, position, functions->extra_state);
    } else if (c) {
        code = c(buffer, type, (int)elements, file_bytes, position, functions->extra_state);
    } else if (fortran) {
        MPI_Fint handle = fortran_handle(type), count = (MPI_Fint)elements, ierror = MPI_SUCCESS;
        MPI_Offset at = position;
        MPI_Aint extra_state = (MPI_Aint)functions->extra_state;
        fortran(buffer, &handle, &count, file_bytes, &at, &extra_state, &ierror);
        code = ierror;
    }
    return check_answer(rep, reads ? "read conversion" : "write conversion", code, error);
}

pl_status datarep_call_extent(const struct datarep *rep, MPI_Datatype type, int64_t *ret_extent, struct pl_error *error)
{
    const struct datarep_functions *functions = &rep->functions;
    MPI_Aint extent = 0;
    int code;
    if (functions->extent) {
        code = functions->extent(type, &extent, functions->extra_state);
    } else {
        MPI_Fint handle = fortran_handle(type), ierror = MPI_SUCCESS;
        MPI_Aint extra_state = (MPI_Aint)functions->extra_state;
        functions->fortran.extent(&handle, &extent, &extra_state, &ierror);
        code = ierror;
    }
    const pl_status status = check_answer(rep, "extent", code, error);
    if (!status && extent <= 0)
        return pl_fail(error, PL_E_CONVERSION, "the extent function of data representation '%s' gives %lld bytes",
                       rep->name, (long long)extent);
    if (!status)
        *ret_extent = extent;
    return status;
}
