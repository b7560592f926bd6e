! Fortran 77's way: mpif.h, fixed form, functions of the program outside
! of any module. fortran_body.F90 has the tests.
#include "fortran_integers.inc"

      module fortran_binding
      implicit none
      include 'mpif.h'
      integer(kind=MPI_ADDRESS_KIND) datarep_state
      parameter (datarep_state = 4711)
#include "fortran_seen.inc"
      external handler, read_eight, write_eight
      external extent_eight, extent_four
      end module

#include "fortran_body.F90"

      subroutine handler(file, code)
      integer file, code
#include "fortran_seen.inc"
      handler_calls = handler_calls + 1
      handler_file = file
      handler_code = code
      end

      subroutine look_at(datatype, state, ierror)
      include 'mpif.h'
      integer datatype, ierror
      integer(kind=MPI_ADDRESS_KIND) state
#include "fortran_seen.inc"
      if (datatype .ne. MPI_INTEGER .or. state .ne. 4711)
     &  datarep_faults = datarep_faults + 1
      ierror = MPI_SUCCESS
      end

! One conversion for both directions, and one extent; arguments that a
! subroutine only passes on need no types here.
      subroutine convert(writes, userbuf, count, filebuf, position)
      include 'mpif.h'
      logical writes
      integer userbuf(*), count, i
      integer*8 filebuf(*)
      integer(kind=MPI_OFFSET_KIND) position
#include "fortran_seen.inc"
      do 10 i = 1, count
        if (writes) filebuf(i) = -userbuf(position + i)
        if (.not. writes) userbuf(position + i) = int(-filebuf(i))
10    continue
      if (writes) written = written + count
      if (.not. writes) read_back = read_back + count
      end

      subroutine write_eight(userbuf, datatype, count, filebuf,
     &                       position, state, ierror)
      call look_at(datatype, state, ierror)
      call convert(.true., userbuf, count, filebuf, position)
      end

      subroutine read_eight(userbuf, datatype, count, filebuf,
     &                      position, state, ierror)
      call look_at(datatype, state, ierror)
      call convert(.false., userbuf, count, filebuf, position)
      end

      subroutine give_extent(bytes, extent)
      include 'mpif.h'
      integer bytes
      integer(kind=MPI_ADDRESS_KIND) extent
      extent = bytes
      end

      subroutine extent_eight(datatype, extent, state, ierror)
      call look_at(datatype, state, ierror)
      call give_extent(8, extent)
      end

      subroutine extent_four(datatype, extent, state, ierror)
      call look_at(datatype, state, ierror)
      call give_extent(4, extent)
      end

      program fortran_mpif
      use fortran_calls
      call run_all('fortran_mpif')
      end
