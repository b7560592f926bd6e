! The handles of engine_handles.c, got and freed by Fortran: fortran_handles FILE.
program fortran_handles
    use mpi
    implicit none
    integer, parameter :: loops = 10000
    integer :: fh, rank, ierror, i, handler, info, group, etype, filetype, made, keys, members, request
    integer :: integers, addresses, types, combiner, status(MPI_STATUS_SIZE)
    integer(kind=MPI_OFFSET_KIND) :: disp
    character(len=MPI_MAX_DATAREP_STRING) :: datarep
    character(len=1024) :: name
    integer :: value(4) = 7

    call MPI_Init(ierror)
    call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierror)
    call get_command_argument(1, name)
    call MPI_File_open(MPI_COMM_WORLD, trim(name), MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, ierror)
    call check(ierror == MPI_SUCCESS, 'open')
    call MPI_Type_vector(2, 1, 3, MPI_INTEGER, made, ierror)
    call MPI_Type_commit(made, ierror)
    disp = 8
    call MPI_File_set_view(fh, disp, MPI_INTEGER, made, 'native', MPI_INFO_NULL, ierror)
    call check(ierror == MPI_SUCCESS, 'set_view')
    call MPI_Type_free(made, ierror)
    do i = 1, loops
        call MPI_File_get_errhandler(fh, handler, ierror)
        call check(ierror == MPI_SUCCESS .and. handler == MPI_ERRORS_RETURN, 'get_errhandler')
        call MPI_Errhandler_free(handler, ierror)
        call check(ierror == MPI_SUCCESS .and. handler == MPI_ERRHANDLER_NULL, 'Errhandler_free')
        call MPI_File_get_errhandler(MPI_FILE_NULL, handler, ierror)
        call MPI_Errhandler_free(handler, ierror)
        call check(ierror == MPI_SUCCESS .and. handler == MPI_ERRHANDLER_NULL, 'the default')
        call MPI_File_get_info(fh, info, ierror)
        call MPI_Info_get_nkeys(info, keys, ierror)
        call check(keys > 0, 'get_info')
        call MPI_Info_free(info, ierror)
        call MPI_File_get_group(fh, group, ierror)
        call MPI_Group_size(group, members, ierror)
        call check(members > 0, 'get_group')
        call MPI_Group_free(group, ierror)
        call MPI_File_get_view(fh, disp, etype, filetype, datarep, ierror)
        call check(ierror == MPI_SUCCESS .and. disp == 8 .and. datarep == 'native', 'get_view')
        call MPI_Type_get_envelope(etype, integers, addresses, types, combiner, ierror)
        call check(combiner == MPI_COMBINER_NAMED, 'the etype')
        call MPI_Type_free(filetype, ierror)
        call check(ierror == MPI_SUCCESS .and. filetype == MPI_DATATYPE_NULL, 'Type_free')
    end do
    disp = 0
    do i = 1, loops / 10
        call MPI_File_iwrite_at(fh, disp, value, 4, MPI_INTEGER, request, ierror)
        call MPI_Wait(request, status, ierror)
        call check(ierror == MPI_SUCCESS .and. request == MPI_REQUEST_NULL, 'a request')
    end do
    call MPI_File_close(fh, ierror)
    call check(ierror == MPI_SUCCESS .and. fh == MPI_FILE_NULL, 'close')
    call MPI_File_get_group(fh, group, ierror)
    call check(ierror /= MPI_SUCCESS, 'a group of no file')
    call MPI_Barrier(MPI_COMM_WORLD, ierror)
    if (rank == 0) print '(a)', 'fortran handles are right'
    call MPI_Finalize(ierror)

contains

    subroutine check(right, what)
        logical, intent(in) :: right
        character(len=*), intent(in) :: what
        if (right) return
        print '(2a)', 'not right: ', what
        call MPI_Abort(MPI_COMM_WORLD, 1, ierror)
    end subroutine
end program
