! Fortran 90's way: the module mpi. fortran_body.F90 has the tests.
#define FILE_T integer
#define INFO_T integer
#define TYPE_T integer
#define GROUP_T integer
#define ERRHANDLER_T integer
#define REQUEST_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)

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

  subroutine handler(file, code)
    integer :: file, code
    handler_calls = handler_calls + 1
    handler_file = file
    handler_code = code
  end subroutine

  subroutine look_at(datatype, state)
    integer, intent(in) :: datatype
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: state
    if (datatype /= MPI_INTEGER .or. state /= datarep_state) datarep_faults = datarep_faults + 1
  end subroutine

  subroutine write_eight(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), datatype, count, ierror
    integer(kind=selected_int_kind(18)) :: filebuf(*)
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    call look_at(datatype, extra_state)
    filebuf(1:count) = -userbuf(position + 1:position + count)
    written = written + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine read_eight(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    integer :: userbuf(*), datatype, count, ierror
    integer(kind=selected_int_kind(18)) :: filebuf(*)
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    call look_at(datatype, extra_state)
    userbuf(position + 1:position + count) = int(-filebuf(1:count))
    read_back = read_back + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_eight(datatype, extent, extra_state, ierror)
    integer :: datatype, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call look_at(datatype, extra_state)
    extent = 8
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_four(datatype, extent, extra_state, ierror)
    integer :: datatype, ierror
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call look_at(datatype, extra_state)
    extent = 4
    ierror = MPI_SUCCESS
  end subroutine
end module

#include "fortran_body.F90"

program fortran_mpi
  use fortran_calls
  implicit none
  call run_all('fortran_mpi')
end program
