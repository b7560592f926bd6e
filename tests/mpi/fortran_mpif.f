! Fortran 77's way: mpif.h, fixed form, functions of the program outside
! of any module. fortran_body.F90 has the tests.
#define FILE_T integer
#define INFO_T integer
#define TYPE_T integer
#define GROUP_T integer
#define ERRHANDLER_T integer
#define REQUEST_T integer
#define STATUS_T integer, dimension(MPI_STATUS_SIZE)

      module fortran_binding
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) datarep_state
      parameter (datarep_state = 4711)
      integer handler_calls, handler_file, handler_code
      integer written, read_back, datarep_faults
      common /seen/ handler_calls, handler_file, handler_code,
     &              written, read_back, datarep_faults
      external handler, read_eight, write_eight
      external extent_eight, extent_four
      end module

#include "fortran_body.F90"

      subroutine handler(file, code)
      integer file, code
      integer handler_calls, handler_file, handler_code
      integer written, read_back, datarep_faults
      common /seen/ handler_calls, handler_file, handler_code,
     &              written, read_back, datarep_faults
      handler_calls = handler_calls + 1
      handler_file = file
      handler_code = code
      end

      subroutine write_eight(userbuf, datatype, count, filebuf,
     &                       position, state, ierror)
      include 'mpif.h'
      integer userbuf(*), datatype, count, ierror, i
      integer*8 filebuf(*)
      integer(kind=MPI_OFFSET_KIND) position
      integer(kind=MPI_ADDRESS_KIND) state
      integer handler_calls, handler_file, handler_code
      integer written, read_back, datarep_faults
      common /seen/ handler_calls, handler_file, handler_code,
     &              written, read_back, datarep_faults
      if (datatype .ne. MPI_INTEGER .or. state .ne. 4711)
     &  datarep_faults = datarep_faults + 1
      do 10 i = 1, count
        filebuf(i) = -userbuf(position + i)
10    continue
      written = written + count
      ierror = MPI_SUCCESS
      end

      subroutine read_eight(userbuf, datatype, count, filebuf,
     &                      position, state, ierror)
      include 'mpif.h'
      integer userbuf(*), datatype, count, ierror, i
      integer*8 filebuf(*)
      integer(kind=MPI_OFFSET_KIND) position
      integer(kind=MPI_ADDRESS_KIND) state
      integer handler_calls, handler_file, handler_code
      integer written, read_back, datarep_faults
      common /seen/ handler_calls, handler_file, handler_code,
     &              written, read_back, datarep_faults
      if (datatype .ne. MPI_INTEGER .or. state .ne. 4711)
     &  datarep_faults = datarep_faults + 1
      do 10 i = 1, count
        userbuf(position + i) = int(-filebuf(i))
10    continue
      read_back = read_back + count
      ierror = MPI_SUCCESS
      end

      subroutine extent_eight(datatype, extent, state, ierror)
      include 'mpif.h'
      integer datatype, ierror
      integer(kind=MPI_ADDRESS_KIND) extent, state
      integer handler_calls, handler_file, handler_code
      integer written, read_back, datarep_faults
      common /seen/ handler_calls, handler_file, handler_code,
     &              written, read_back, datarep_faults
      if (datatype .ne. MPI_INTEGER .or. state .ne. 4711)
     &  datarep_faults = datarep_faults + 1
      extent = 8
      ierror = MPI_SUCCESS
      end

      subroutine extent_four(datatype, extent, state, ierror)
      include 'mpif.h'
      integer datatype, ierror
      integer(kind=MPI_ADDRESS_KIND) extent, state
      integer handler_calls, handler_file, handler_code
      integer written, read_back, datarep_faults
      common /seen/ handler_calls, handler_file, handler_code,
     &              written, read_back, datarep_faults
      if (datatype .ne. MPI_INTEGER .or. state .ne. 4711)
     &  datarep_faults = datarep_faults + 1
      extent = 4
      ierror = MPI_SUCCESS
      end

      program fortran_mpif
      use fortran_calls
      call run_all('fortran_mpif')
      end
