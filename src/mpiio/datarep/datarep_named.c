/* Predefined datatypes in external32: the table of MPI-4.0, 14.5.2. */
#include "mpi/real.h"
#include "mpiio/datarep/datarep_core.h"
#include "mpiio/datarep/datarep_element.h"

#include <float.h>
#include <stddef.h>

/* long double of this compiler */
#if LDBL_MANT_DIG == 64
#define DATAREP_LONG_DOUBLE DATAREP_EXTENDED
#else
#define DATAREP_LONG_DOUBLE DATAREP_FLOAT
#endif

struct named {
    MPI_Datatype type;
    int class, file_bytes, parts; /* as struct datarep_kind has them */
};

/* The size in memory comes from MPI: Fortran's default types depend on how the program was compiled. */
static pl_status sign(const struct named *named, int64_t native_bytes, int64_t elements, struct typemap **ret_signature,
                      struct pl_error *error)
{
    const int kind = datarep_kind_find((enum datarep_class)named->class, native_bytes, named->file_bytes, named->parts);
    if (kind == DATAREP_KIND_NONE)
        return pl_fail(error, PL_E_TYPE,
                       "no conversion to external32 for a datatype of %lld bytes in memory and %d in "
                       "the file",
                       (long long)native_bytes, named->file_bytes);
    return signature_run(kind, elements, ret_signature, error);
}

/* ---- Single values ----------------------------------------------------------------------------------------------- */

static bool find_in(const struct named *table, size_t n, MPI_Datatype type, struct named *ret)
{
    for (size_t i = 0; i < n; i++)
        if (type == table[i].type) {
            *ret = table[i];
            return true;
        }
    return false;
}

/* Some MPIs have MPI_DATATYPE_NULL in the place of a type that they lack: that one never comes here. */
static bool find_single(MPI_Datatype type, struct named *ret)
{
    const struct named table[] = {
#define NAMED(name, class, file_bytes, parts) {name, DATAREP_##class, file_bytes, parts},
#include "mpiio/datarep/datarep_named.def"
#undef NAMED
    };
    return find_in(table, sizeof table / sizeof table[0], type, ret);
}

/* ---- Two values in one type -------------------------------------------------------------------------------------- */

/* Two of the same kind, side by side. */
static bool find_double(MPI_Datatype type, struct named *ret)
{
    const struct named table[] = {
        {MPI_2INT, DATAREP_SIGNED, 4, 1},    {MPI_2INTEGER, DATAREP_SIGNED, 4, 1},
        {MPI_2REAL, DATAREP_FLOAT, 4, 1},    {MPI_2DOUBLE_PRECISION, DATAREP_FLOAT, 8, 1},
#ifdef MPI_2COMPLEX
        {MPI_2COMPLEX, DATAREP_FLOAT, 8, 2}, {MPI_2DOUBLE_COMPLEX, DATAREP_FLOAT, 16, 2},
#endif
    };
    return find_in(table, sizeof table / sizeof table[0], type, ret);
}

/* A value with an int behind it. */
static bool find_pair(MPI_Datatype type, struct named *ret)
{
    const struct named table[] = {
        {MPI_FLOAT_INT, DATAREP_FLOAT, 4, 1},
        {MPI_DOUBLE_INT, DATAREP_FLOAT, 8, 1},
        {MPI_LONG_INT, DATAREP_SIGNED, 4, 1},
        {MPI_SHORT_INT, DATAREP_SIGNED, 2, 1},
        {MPI_LONG_DOUBLE_INT, DATAREP_LONG_DOUBLE, 16, 1},
    };
    return find_in(table, sizeof table / sizeof table[0], type, ret);
}

static pl_status sign_pair(const struct named *first, int64_t native_bytes, struct typemap **ret_signature,
                           struct pl_error *error)
{
    const struct named second = {.class = DATAREP_SIGNED, .file_bytes = 4, .parts = 1};
    struct typemap *both[2] = {0};
    pl_status status = sign(first, native_bytes - (int64_t)sizeof(int), 1, &both[0], error);
    if (!status)
        status = sign(&second, sizeof(int), 1, &both[1], error);
    if (!status)
        status = signature_list(2, (const int64_t[]){1, 1}, both, ret_signature, error);
    typemap_unref(both[0]);
    typemap_unref(both[1]);
    return status;
}

/* ---- MPI_Type_create_f90_* --------------------------------------------------------------------------------------- */

/* Their sizes in the file follow from what the program asked for, not from what the compiler chose (MPI-4.0, 19.1.9).
 * An argument may be MPI_UNDEFINED, which is negative. */
static int f90_integer_bytes(int range)
{
    return range > 38 ? 0 : range > 18 ? 16 : range > 9 ? 8 : range > 4 ? 4 : range > 2 ? 2 : 1;
}

static int f90_real_bytes(int precision, int range)
{
    if (precision > 33 || range > 4931)
        return 0;
    if (precision > 15 || range > 307)
        return 16;
    return precision > 6 || range > 37 ? 8 : 4;
}

static pl_status find_f90(MPI_Datatype type, int combiner, int64_t native_bytes, struct named *ret,
                          struct pl_error *error)
{
    int arguments[2] = {0};
    MPI_Aint no_address;
    MPI_Datatype no_type;
    const bool is_integer = combiner == MPI_COMBINER_F90_INTEGER, is_complex = combiner == MPI_COMBINER_F90_COMPLEX;
    const pl_status status = typemap_check(
        real.Type_get_contents(type, is_integer ? 1 : 2, 0, 0, arguments, &no_address, &no_type),
        "MPI_Type_get_contents", error);
    if (status)
        return status;
    const int parts = is_complex ? 2 : 1;
    if (is_integer)
        *ret = (struct named){type, DATAREP_SIGNED, f90_integer_bytes(arguments[0]), 1};
    else
        *ret = (struct named){type, DATAREP_FLOAT, parts * f90_real_bytes(arguments[0], arguments[1]), parts};
    /* Up to 18 digits, a real of 16 bytes is the x87's. */
    if (!is_integer && native_bytes == 16 * parts && arguments[0] <= LDBL_DIG)
        ret->class = DATAREP_LONG_DOUBLE;
    return PL_OK;
}

/* ---- All together ------------------------------------------------------------------------------------------------ */

pl_status datarep_external32(MPI_Datatype type, int combiner, struct typemap **ret_signature, struct pl_error *error)
{
    struct named named;
    MPI_Count native_bytes = 0;
    pl_status status = typemap_check(real.Type_size_x(type, &native_bytes), "MPI_Type_size_x", error);
    if (status)
        return status;
    if (native_bytes == 0) /* MPI_LB, MPI_UB */
        return signature_run(0, 0, ret_signature, error);
    if (combiner != MPI_COMBINER_NAMED) {
        status = find_f90(type, combiner, native_bytes, &named, error);
        return status ? status : sign(&named, native_bytes, 1, ret_signature, error);
    }
    if (find_single(type, &named))
        return sign(&named, native_bytes, 1, ret_signature, error);
    if (find_double(type, &named))
        return sign(&named, native_bytes / 2, 2, ret_signature, error);
    if (find_pair(type, &named))
        return sign_pair(&named, native_bytes, ret_signature, error);
    return pl_fail(error, PL_E_TYPE, "a predefined datatype of %lld bytes that external32 does not know",
                   (long long)native_bytes);
}
