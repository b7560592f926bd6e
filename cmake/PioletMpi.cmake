# The MPI of this build tree, always by its wrapper's full name: the plain `mpicc` is whichever came last.
if(NOT PIOLET_MPI MATCHES "^(mpich|openmpi)$")
  message(FATAL_ERROR "PIOLET_MPI is '${PIOLET_MPI}'; allowed: mpich, openmpi")
endif()
find_program(MPI_C_COMPILER "mpicc.${PIOLET_MPI}" REQUIRED)
find_program(MPIEXEC_EXECUTABLE "mpiexec.${PIOLET_MPI}" REQUIRED)
find_package(MPI REQUIRED COMPONENTS C)
find_path(XXHASH_INCLUDE xxhash.h REQUIRED)
