#include "mpi/guard.h"

_Thread_local int guard_depth;
