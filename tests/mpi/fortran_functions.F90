! Functions of the program that MPI calls, as both modules have them (fortran_mpi.F90, fortran_f08.F90). Those have defined
! CONVERSION_ARGUMENTS, TAKE_BUFFERS, and what IN_MEMORY and IN_FILE are called then.
#define EXTENT_ARGUMENTS TYPE_T :: datatype; integer :: ierror; integer(kind=MPI_ADDRESS_KIND) :: extent, extra_state

  subroutine handler(file, code)
    FILE_T :: file
    integer :: code
    handler_calls = handler_calls + 1
    handler_file = file
    handler_code = code
  end subroutine

  subroutine look_at(datatype, state, ierror)
    TYPE_T, intent(in) :: datatype
    integer(kind=MPI_ADDRESS_KIND), intent(in) :: state
    integer, intent(out) :: ierror
    if (datatype /= MPI_INTEGER .or. state /= datarep_state) datarep_faults = datarep_faults + 1
    ierror = MPI_SUCCESS
  end subroutine

  subroutine extent_eight(datatype, extent, extra_state, ierror)
    EXTENT_ARGUMENTS
    call look_at(datatype, extra_state, ierror)
    extent = 8
  end subroutine

  subroutine extent_four(datatype, extent, extra_state, ierror)
    EXTENT_ARGUMENTS
    call look_at(datatype, extra_state, ierror)
    extent = 4
  end subroutine

  subroutine write_eight(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    CONVERSION_ARGUMENTS
    TAKE_BUFFERS
    call look_at(datatype, extra_state, ierror)
    IN_FILE(1:count) = -IN_MEMORY(position + 1:position + count)
    written = written + count
  end subroutine

  subroutine read_eight(userbuf, datatype, count, filebuf, position, extra_state, ierror)
    CONVERSION_ARGUMENTS
    TAKE_BUFFERS
    call look_at(datatype, extra_state, ierror)
    IN_MEMORY(position + 1:position + count) = int(-IN_FILE(1:count))
    read_back = read_back + count
  end subroutine
