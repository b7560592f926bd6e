/* Communication: each call is counted, as an event of logical time. */
#include "mpi/real.h"
#include "tracer/tracer.h"

static struct {
#define COMM_CALL(name, ...) __typeof__(&PMPI_##name) name;
#define COMM_COLL            COMM_CALL
#define COMM_TEST            COMM_CALL
#include "tracer/tracer_comm.inc"
#undef COMM_CALL
} behind;

static const struct real_entry NAMES[] = {
#define COMM_CALL(name, ...) {"PMPI_" #name, offsetof(__typeof__(behind), name)},
#include "tracer/tracer_comm.inc"
#undef COMM_CALL
#undef COMM_COLL
#undef COMM_TEST
};

pl_status tracer_comm_load(struct pl_error *error)
{
    return real_fill(&behind, NAMES, sizeof NAMES / sizeof NAMES[0], error);
}

bool tracer_comm_is_world(MPI_Comm comm)
{
    int size, world, is_inter;
    if (comm == MPI_COMM_WORLD)
        return true;
    return real.Comm_size(comm, &size) == MPI_SUCCESS && real.Comm_size(MPI_COMM_WORLD, &world) == MPI_SUCCESS &&
           size == world && real.Comm_test_inter(comm, &is_inter) == MPI_SUCCESS && !is_inter;
}

#define WRAP(name, parameters, arguments, counts, is_of_world)                                                         \
    TRACER_EXPORT int MPI_##name parameters                                                                            \
    {                                                                                                                  \
        const int64_t begin_ns = tracer_enter_comm();                                                                  \
        const int code = behind.name arguments;                                                                        \
        const bool own = begin_ns >= 0;                                                                                \
        tracer_leave_comm(own && (counts) ? begin_ns : -1, own && (is_of_world));                                      \
        return code;                                                                                                   \
    }                                                                                                                  \
    TRACER_ALIAS(name)

#define COMM_CALL(name, parameters, arguments) WRAP(name, parameters, arguments, true, false)
#define COMM_TEST(name, parameters, arguments) WRAP(name, parameters, arguments, code == MPI_SUCCESS && *flag, false)
#define COMM_COLL(name, parameters, arguments, comm)                                                                   \
    WRAP(name, parameters, arguments, true, code == MPI_SUCCESS && tracer_comm_is_world(comm))
#include "tracer/tracer_comm.inc"
