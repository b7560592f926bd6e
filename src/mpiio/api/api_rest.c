/* What the engine cannot do yet: it says so. */
#include "mpiio/api/api_access.h"

#include "mpiio/api/api_system.h"

static int unsupported(const char *function, MPI_File fh)
{
    struct api api;
    if (fh == MPI_FILE_NULL)
        api_begin_free(&api, function);
    if (fh == MPI_FILE_NULL || api_begin(&api, function, fh))
        pl_fail(&api.error, PL_E_UNSUPPORTED, "not yet in this version");
    return api_end(&api);
}

#define AT(name, direction, ranks)
#define PLAIN(name, direction, where, ranks)

#define BODY(name, system_call)                                                                                        \
    {                                                                                                                  \
        struct file *file = handle_find(fh);                                                                           \
        if (file && file->is_system)                                                                                   \
            return api_end_system(file, api_system.system_call);                                                       \
        *request = MPI_REQUEST_NULL;                                                                                   \
        return unsupported("MPI_File_" #name, fh);                                                                     \
    }
#define SPLIT_BODY(name, system_call)                                                                                  \
    {                                                                                                                  \
        struct file *file = handle_find(fh);                                                                           \
        if (file && file->is_system)                                                                                   \
            return api_end_system(file, api_system.system_call);                                                       \
        return unsupported("MPI_File_" #name, fh);                                                                     \
    }
#define IAT_FUNCTION(name, count_type, direction)                                                                      \
    int MPI_File_##name(MPI_File fh, MPI_Offset offset, API_BUFFER_##direction buffer, count_type count,               \
                        MPI_Datatype type, MPI_Request *request)                                                       \
        BODY(name, File_##name(file->system, offset, buffer, count, type, request)) API_ALIAS(File_##name);
#define IPLAIN_FUNCTION(name, count_type, direction)                                                                   \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, count_type count, MPI_Datatype type,               \
                        MPI_Request *request) BODY(name, File_##name(file->system, buffer, count, type, request))      \
        API_ALIAS(File_##name);
#define BEGIN_AT_FUNCTION(name, count_type, direction)                                                                 \
    int MPI_File_##name(MPI_File fh, MPI_Offset offset, API_BUFFER_##direction buffer, count_type count,               \
                        MPI_Datatype type) SPLIT_BODY(name, File_##name(file->system, offset, buffer, count, type))    \
        API_ALIAS(File_##name);
#define BEGIN_PLAIN_FUNCTION(name, count_type, direction)                                                              \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, count_type count, MPI_Datatype type)               \
        SPLIT_BODY(name, File_##name(file->system, buffer, count, type)) API_ALIAS(File_##name);
#define END_FUNCTION(name, direction)                                                                                  \
    int MPI_File_##name(MPI_File fh, API_BUFFER_##direction buffer, MPI_Status *status)                                \
        SPLIT_BODY(name, File_##name(file->system, buffer, status)) API_ALIAS(File_##name);

#define IAT(name, direction, ranks)           IAT_FUNCTION(name, int, direction)
#define IPLAIN(name, direction, where, ranks) IPLAIN_FUNCTION(name, int, direction)
#define BEGIN_AT(name, direction)             BEGIN_AT_FUNCTION(name##_begin, int, direction) END_FUNCTION(name##_end, direction)
#define BEGIN_PLAIN(name, direction, where)                                                                            \
    BEGIN_PLAIN_FUNCTION(name##_begin, int, direction) END_FUNCTION(name##_end, direction)
#include "mpiio/api/api_access.def"
#undef IAT
#undef IPLAIN
#undef BEGIN_AT
#undef BEGIN_PLAIN

#if !PIOLET_IS_OPENMPI
#define IAT(name, direction, ranks)           IAT_FUNCTION(name##_c, MPI_Count, direction)
#define IPLAIN(name, direction, where, ranks) IPLAIN_FUNCTION(name##_c, MPI_Count, direction)
#define BEGIN_AT(name, direction)             BEGIN_AT_FUNCTION(name##_begin_c, MPI_Count, direction)
#define BEGIN_PLAIN(name, direction, where)   BEGIN_PLAIN_FUNCTION(name##_begin_c, MPI_Count, direction)
#include "mpiio/api/api_access.def"
#endif

int MPI_Register_datarep(const char *datarep, MPI_Datarep_conversion_function *read_conversion,
                         MPI_Datarep_conversion_function *write_conversion, MPI_Datarep_extent_function *extent,
                         void *extra_state)
{
    (void)datarep, (void)read_conversion, (void)write_conversion, (void)extent, (void)extra_state;
    return unsupported("MPI_Register_datarep", MPI_FILE_NULL);
}
API_ALIAS(Register_datarep);

#if !PIOLET_IS_OPENMPI
int MPI_Register_datarep_c(const char *datarep, MPI_Datarep_conversion_function_c *read_conversion,
                           MPI_Datarep_conversion_function_c *write_conversion, MPI_Datarep_extent_function *extent,
                           void *extra_state)
{
    (void)datarep, (void)read_conversion, (void)write_conversion, (void)extent, (void)extra_state;
    return unsupported("MPI_Register_datarep_c", MPI_FILE_NULL);
}
API_ALIAS(Register_datarep_c);
#endif
