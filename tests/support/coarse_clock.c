/* Preloaded into a run, for tests/fault/clock.sh: a clock that says to be coarse (TICK), or is it (STEP). */
#include <math.h>
#include <mpi.h>

#ifdef TICK
double MPI_Wtick(void)
{
    return 0.1;
}
#endif

#ifdef STEP
double MPI_Wtime(void)
{
    return floor(PMPI_Wtime() * 10) / 10;
}
#endif
