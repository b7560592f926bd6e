! Fortran 2008's way: the module mpi_f08, where handles have types. fortran_body.F90 has the tests.
#define FILE_T type(MPI_File)
#define INFO_T type(MPI_Info)
#define TYPE_T type(MPI_Datatype)
#define GROUP_T type(MPI_Group)
#define ERRHANDLER_T type(MPI_Errhandler)
#define REQUEST_T type(MPI_Request)
#define STATUS_T type(MPI_Status)

module fortran_binding
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  implicit none
  integer(kind=MPI_ADDRESS_KIND), parameter :: datarep_state = 4711
  integer :: handler_calls = 0, handler_code
  type(MPI_File) :: handler_file
  integer :: written = 0, read_back = 0, datarep_faults = 0

contains

  subroutine handler(file, code)
    type(MPI_File) :: file
    integer :: code
    handler_calls = handler_calls + 1
    handler_file = file
    handler_code = code
  end subroutine

  subroutine look_at(datatype, state)
    type(MPI_Datatype), intent(in) :: datatype
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: state
    if (datatype /= MPI_INTEGER .or. state /= datarep_state) datarep_faults = datarep_faults + 1
  end subroutine

  subroutine write_eight(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: memory(:)
    integer(kind=selected_int_kind(18)), pointer :: file(:)
    call look_at(datatype, extra_state)
    call c_f_pointer(userbuf, memory, [position + count])
    call c_f_pointer(filebuf, file, [count])
    file(1:count) = -memory(position + 1:position + count)
    written = written + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine read_eight(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    type(c_ptr), value :: userbuf, filebuf
    type(MPI_Datatype) :: datatype
    integer :: count, ierror
    integer(kind=MPI_OFFSET_KIND) :: position
    integer(kind=MPI_ADDRESS_KIND) :: extra_state
    integer, pointer :: memory(:)
    integer(kind=selected_int_kind(18)), pointer :: file(:)
    call look_at(datatype, extra_state)
    call c_f_pointer(userbuf, memory, [position + count])
    call c_f_pointer(filebuf, file, [count])
    memory(position + 1:position + count) = int(-file(1:count))
    read_back = read_back + count
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_eight(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer :: ierror
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call look_at(datatype, extra_state)
    extent = 8
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_four(datatype, extent, extra_state, ierror)
    type(MPI_Datatype) :: datatype
    integer :: ierror
    integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state
    call look_at(datatype, extra_state)
    extent = 4
    ierror = MPI_SUCCESS
  end subroutine
end module

#include "fortran_body.F90"

program fortran_f08
  use fortran_calls
  implicit none
  call run_all('fortran_f08')
end program
