! Fortran 90's way: the module mpi. fortran_body.F90 has the tests.
#include "fortran_integers.inc"
#define CONVERSION_ARGUMENTS \
    integer :: userbuf(*), datatype, count, ierror; integer(kind=selected_int_kind(18)) :: filebuf(*); \
    integer(kind=MPI_OFFSET_KIND) :: position; integer(kind=MPI_ADDRESS_KIND) :: extra_state
#define TAKE_BUFFERS
#define IN_MEMORY userbuf
#define IN_FILE filebuf

module fortran_binding
  use mpi
  implicit none
  integer(kind=MPI_ADDRESS_KIND), parameter :: datarep_state = 4711
  integer :: handler_calls = 0, handler_file, handler_code
  integer :: written = 0, read_back = 0, datarep_faults = 0
#if !PIOLET_IS_OPENMPI
  external MPI_CONVERSION_FN_NULL ! which MPICH 4.0's module lacks
#endif

contains
#include "fortran_functions.F90"
end module

#include "fortran_body.F90"

program fortran_mpi
  use fortran_calls
  implicit none
  call run_all('fortran_mpi')
end program
