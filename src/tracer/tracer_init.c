/* Begin and end of a trace: with MPI itself. */
#include "mpi/guard.h"
#include "mpi/real.h"
#include "tracer/tracer.h"

#define EXPORT TRACER_EXPORT
#define ALIAS  TRACER_ALIAS

EXPORT int MPI_Init(int *argc, char ***argv)
{
    tracer_real();
    const bool outermost = guard_enter();
    const int code = real.Init(argc, argv);
    if (outermost && code == MPI_SUCCESS)
        tracer_log_start();
    guard_leave();
    return code;
}
ALIAS(Init)

EXPORT int MPI_Init_thread(int *argc, char ***argv, int required, int *provided)
{
    tracer_real();
    const bool outermost = guard_enter();
    const int code = real.Init_thread(argc, argv, required, provided);
    if (outermost && code == MPI_SUCCESS)
        tracer_log_start();
    guard_leave();
    return code;
}
ALIAS(Init_thread)

/* No guard around it: libraries close their files when MPI_Finalize frees the attributes of MPI_COMM_SELF (HDF5 does).
 * The last line comes behind them; what was gathered is written before, should the process end in there. */
EXPORT int MPI_Finalize(void)
{
    tracer_real();
    tracer_log_flush();
    tracer_scope_finalizing();
    const int code = real.Finalize();
    tracer_log_end();
    return code;
}
ALIAS(Finalize)

EXPORT int MPI_Abort(MPI_Comm comm, int errorcode)
{
    tracer_real();
    tracer_log_end();
    return real.Abort(comm, errorcode);
}
ALIAS(Abort)
