#include "mpiio/view/view_type.h"

#include "mpi/real.h"
#include "mpiio/error/error.h"

#include <stdbool.h>

static bool is_derived(MPI_Datatype type)
{
    int combiner = MPI_COMBINER_NAMED;
#if PIOLET_IS_OPENMPI
    int numbers[3];
    real.Type_get_envelope(type, &numbers[0], &numbers[1], &numbers[2], &combiner);
#else
    MPI_Count numbers[4];
    real.Type_get_envelope_c(type, &numbers[0], &numbers[1], &numbers[2], &numbers[3], &combiner);
#endif
    return combiner != MPI_COMBINER_NAMED;
}

pl_status view_type_keep(MPI_Datatype type, MPI_Datatype *ret_type, struct pl_error *error)
{
    *ret_type = type;
    const int code = is_derived(type) ? real.Type_dup(type, ret_type) : MPI_SUCCESS;
    return code == MPI_SUCCESS ? PL_OK : error_from_mpi(code, "duplicating a datatype", error);
}

void view_type_drop(MPI_Datatype *type)
{
    int finalized = 0;
    real.Finalized(&finalized);
    if (*type != MPI_DATATYPE_NULL && !finalized && is_derived(*type))
        real.Type_free(type);
}
