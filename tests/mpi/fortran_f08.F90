! Fortran 2008's way: the module mpi_f08, where handles have types. fortran_body.F90 has the tests.
#define FILE_T type(MPI_File)
#define INFO_T type(MPI_Info)
#define TYPE_T type(MPI_Datatype)
#define GROUP_T type(MPI_Group)
#define ERRHANDLER_T type(MPI_Errhandler)
#define REQUEST_T type(MPI_Request)
#define STATUS_T type(MPI_Status)
#define CONVERSION_ARGUMENTS \
    type(c_ptr), value :: userbuf, filebuf; type(MPI_Datatype) :: datatype; integer :: count, ierror; \
    integer(kind=MPI_OFFSET_KIND) :: position; integer(kind=MPI_ADDRESS_KIND) :: extra_state; \
    integer, pointer :: memory(:); integer(kind=selected_int_kind(18)), pointer :: file(:)
#define TAKE_BUFFERS \
    call c_f_pointer(userbuf, memory, [position + count]); call c_f_pointer(filebuf, file, [count])
#define IN_MEMORY memory
#define IN_FILE file

module fortran_binding
  use, intrinsic :: iso_c_binding, only: c_ptr, c_f_pointer
  use mpi_f08
  implicit none
  integer(kind=MPI_ADDRESS_KIND), parameter :: datarep_state = 4711
  integer :: handler_calls = 0, handler_code
  type(MPI_File) :: handler_file
  integer :: written = 0, read_back = 0, datarep_faults = 0

contains
#include "fortran_functions.F90"
end module

#include "fortran_body.F90"

program fortran_f08
  use fortran_calls
  implicit none
  call run_all('fortran_f08')
end program
