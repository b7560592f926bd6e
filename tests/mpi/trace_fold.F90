! A Fortran program for trace_fold.sh: steps of communication and collective writes, then reads; a request; the same
! through mpi_f08 where BINDING says so.
program trace_fold
    use BINDING
    implicit none
    integer :: ierror, rank, ranks, step, i
    integer :: numbers(16), sums(16)
    integer(kind=MPI_OFFSET_KIND) :: place
    character(len=1000) :: path
#ifdef F08
    type(MPI_File) :: file
    type(MPI_Request) :: request
    type(MPI_Status) :: status
#else
    integer :: file, request, status(MPI_STATUS_SIZE)
#endif
    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call MPI_Comm_size(MPI_COMM_WORLD, ranks, ierror)
    call get_command_argument(2, path)
    numbers = rank
    call MPI_File_open(MPI_COMM_WORLD, trim(path), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, file, ierror)
    do step = 0, 19
        call MPI_Allreduce(numbers, sums, 16, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, ierror)
        call MPI_Barrier(MPI_COMM_WORLD, ierror)
        place = int(step, MPI_OFFSET_KIND) * 64 * ranks + 64 * rank
        call MPI_File_write_at_all(file, place, numbers, 16, MPI_INTEGER, MPI_STATUS_IGNORE, ierror)
    end do
    do i = 0, 19
        place = int(i, MPI_OFFSET_KIND) * 64
        call MPI_File_read_at(file, place, sums, 16, MPI_INTEGER, status, ierror)
    end do
    call MPI_File_iwrite_at(file, place, numbers, 16, MPI_INTEGER, request, ierror)
    call MPI_Wait(request, status, ierror)
    call MPI_Bcast(numbers, 16, MPI_INTEGER, 0, MPI_COMM_WORLD, ierror)
    call MPI_File_close(file, ierror)
    call MPI_Finalize(ierror)
end program
