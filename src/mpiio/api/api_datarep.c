/* Data representations of the program's own. */
#include "mpiio/api/api.h"
#include "mpiio/datarep/datarep.h"

static int register_datarep(const char *function, const char *name, const struct datarep_functions *functions)
{
    struct api api;
    api_begin_free(&api, function);
    if (api_wants_pointer(&api, name, "the name of the data representation") == PL_OK)
        datarep_register(name, functions, &api.error);
    return api_end(&api);
}

int MPI_Register_datarep(const char *name, MPI_Datarep_conversion_function *read,
                         MPI_Datarep_conversion_function *write, MPI_Datarep_extent_function *extent, void *extra_state)
{
    const struct datarep_functions functions = {.c = {.read = read == MPI_CONVERSION_FN_NULL ? NULL : read,
                                                      .write = write == MPI_CONVERSION_FN_NULL ? NULL : write},
                                                .extent = extent,
                                                .extra_state = extra_state};
    return register_datarep("MPI_Register_datarep", name, &functions);
}
API_ALIAS(Register_datarep);

#if !PIOLET_IS_OPENMPI
int MPI_Register_datarep_c(const char *name, MPI_Datarep_conversion_function_c *read,
                           MPI_Datarep_conversion_function_c *write, MPI_Datarep_extent_function *extent,
                           void *extra_state)
{
    const struct datarep_functions functions = {.c_large = {.read = read == MPI_CONVERSION_FN_NULL_C ? NULL : read,
                                                            .write = write == MPI_CONVERSION_FN_NULL_C ? NULL : write},
                                                .extent = extent,
                                                .extra_state = extra_state};
    return register_datarep("MPI_Register_datarep_c", name, &functions);
}
API_ALIAS(Register_datarep_c);
#endif
