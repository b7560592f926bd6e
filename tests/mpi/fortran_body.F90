! Every function of the I/O chapter, called and its effect looked at:
! the same lines for all three bindings of Fortran. The including file
! has defined the module fortran_binding (the binding, and the program's
! functions that MPI calls) and the macros FILE_T, INFO_T, TYPE_T,
! GROUP_T, ERRHANDLER_T, REQUEST_T and STATUS_T.
! The lines are valid in fixed form as well as in free form.
      module fortran_calls
      use fortran_binding
      implicit none
      integer, parameter :: m = 24, lead = 3, piece = m + lead
      integer, parameter :: word = 4
      integer :: ranks, me, errors = 0
! What is under way: number of the test, layout, first element, code.
      integer :: op = 0, layout, first, e
      character(len=400) :: path
      integer, asynchronous :: out(m), in(m)
      FILE_T :: fh
      REQUEST_T :: req(1)
      STATUS_T :: st

      contains

! ---- helpers ----

      subroutine check(is_right, what)
      logical, intent(in) :: is_right
      character(len=*), intent(in) :: what
      if (is_right) return
      errors = errors + 1
      print '(a,i0,2a)', 'rank ', me, ' is wrong: ', what
      end subroutine

      subroutine ok(code, what)
      integer, intent(in) :: code
      character(len=*), intent(in) :: what
      character(len=MPI_MAX_ERROR_STRING) :: text
      integer :: length, ignored
      if (code == MPI_SUCCESS) return
      call MPI_Error_string(code, text, length, ignored)
      call check(.false., what // ': ' // text(1:length))
      end subroutine

      subroutine barrier
      integer :: code
      call MPI_Barrier(MPI_COMM_WORLD, code)
      end subroutine

      logical function has_class(code, wanted)
      integer, intent(in) :: code, wanted
      integer :: class, ignored
      call MPI_Error_class(code, class, ignored)
      has_class = class == wanted
      end function

! The element i of what a rank writes in this test.
      integer function element(rank, i)
      integer, intent(in) :: rank, i
      element = op * 100000 + rank * 1000 + i
      end function

! Where in the file element k of a rank's view lies.
      integer function place(rank, k)
      integer, intent(in) :: rank, k
      select case (layout)
      case (1)
        place = rank * piece + k
      case (2)
        place = k * ranks + rank
      case default
        place = rank * m + k
      end select
      end function

! The file as Fortran itself reads it, past any MPI.
      subroutine raw(words)
      integer, intent(out) :: words(:)
      integer :: unit, length, fault
      words = -1
      open(newunit=unit, file=trim(path), access='stream', action='read', status='old', iostat=fault)
      call check(fault == 0, 'Fortran opens the file')
      if (fault /= 0) return
      inquire(unit=unit, size=length)
      length = min(size(words), length / word)
      read(unit, iostat=fault) words(1:length)
      call check(fault == 0, 'Fortran reads the file')
      close(unit)
      end subroutine

! 1: one piece for each rank; 2: element by element in turn; 3: the same
! view on all ranks.
      subroutine set_layout(number)
      integer, intent(in) :: number
      integer(kind=MPI_OFFSET_KIND) :: shift
      integer(kind=MPI_ADDRESS_KIND) :: zero, extent
      TYPE_T :: filetype
      layout = number
      filetype = MPI_INTEGER
      shift = 0
      if (layout == 1) shift = me * piece * word
      if (layout == 2) then
        shift = me * word
        zero = 0
        extent = ranks * word
        call MPI_Type_create_resized(MPI_INTEGER, zero, extent, filetype, e)
        call MPI_Type_commit(filetype, e)
      end if
      call MPI_File_set_view(fh, shift, MPI_INTEGER, filetype, 'native', MPI_INFO_NULL, e)
      call ok(e, 'set_view')
      if (layout == 2) call MPI_Type_free(filetype, e)
      end subroutine

! Before a test that writes: other data, an empty file, both pointers at
! `start`, where the data will lie.
      subroutine begin_write(start)
      integer, intent(in) :: start
      integer(kind=MPI_OFFSET_KIND) :: offset
      integer :: i
      op = op + 1
      first = start
      do i = 1, m
        out(i) = element(me, i)
      end do
      offset = 0
      call barrier
      call MPI_File_set_size(fh, offset, e)
      call ok(e, 'set_size')
      call to_start
      end subroutine

      subroutine to_start
      integer(kind=MPI_OFFSET_KIND) :: offset
      offset = first
      call MPI_File_seek(fh, offset, MPI_SEEK_SET, e)
      call ok(e, 'seek')
      if (layout == 3) then
        call MPI_File_seek_shared(fh, offset, MPI_SEEK_SET, e)
        call ok(e, 'seek_shared')
      end if
      in = -1
      end subroutine

      subroutine check_status(what)
      character(len=*), intent(in) :: what
      integer :: count, code
      call MPI_Get_count(st, MPI_INTEGER, count, code)
      call check(code == MPI_SUCCESS .and. count == m, what // ': MPI_Get_count')
      call MPI_Get_elements(st, MPI_INTEGER, count, code)
      call check(code == MPI_SUCCESS .and. count == m, what // ': MPI_Get_elements')
      end subroutine

      subroutine end_write(what)
      character(len=*), intent(in) :: what
      integer :: words(ranks * piece), rank, i, wrong
      call ok(e, what)
      call check_status(what)
      call MPI_File_sync(fh, e)
      call ok(e, 'sync')
      call barrier
      call raw(words)
      wrong = 0
      do rank = 0, ranks - 1
        do i = 1, m
          if (words(place(rank, first + i - 1) + 1) /= element(rank, i)) wrong = wrong + 1
        end do
      end do
      call check(wrong == 0, what // ': the data in the file')
      call barrier
      end subroutine

      subroutine end_read(what)
      character(len=*), intent(in) :: what
      integer :: i, wrong
      call ok(e, what)
      call check_status(what)
      wrong = 0
      do i = 1, m
        if (in(i) /= element(me, i)) wrong = wrong + 1
      end do
      call check(wrong == 0, what // ': the data in memory')
      end subroutine

! Ends a request in one of three ways, in turn.
      subroutine finish(what)
      character(len=*), intent(in) :: what
      logical :: done
      integer :: index
      call ok(e, what)
      select case (mod(op, 3))
      case (0)
        call MPI_Wait(req(1), st, e)
      case (1)
        done = .false.
        do while (.not. done)
          call MPI_Test(req(1), done, st, e)
        end do
      case default
        call MPI_Waitany(1, req, index, st, e)
! MPICH 4.0's mpi_f08 counts from 0, whatever the request is of.
        call check(index == 1 .or. index == 0, what // ': index of MPI_Waitany')
      end select
      call check(req(1) == MPI_REQUEST_NULL, what // ': the request is gone')
      end subroutine

      subroutine check_position(wanted, what)
      integer, intent(in) :: wanted
      character(len=*), intent(in) :: what
      integer(kind=MPI_OFFSET_KIND) :: position
      integer :: code
      call MPI_File_get_position(fh, position, code)
      call check(code == MPI_SUCCESS .and. position == wanted, what // ': get_position')
      end subroutine

      subroutine check_shared(wanted, what)
      integer, intent(in) :: wanted
      character(len=*), intent(in) :: what
      integer(kind=MPI_OFFSET_KIND) :: position
      integer :: code
      call barrier
      call MPI_File_get_position_shared(fh, position, code)
      call check(code == MPI_SUCCESS .and. position == wanted, what // ': get_position_shared')
      call barrier
      end subroutine

      subroutine open_file
      call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE + MPI_MODE_RDWR, MPI_INFO_NULL, fh, e)
      call ok(e, 'open')
      end subroutine

      subroutine close_file
      call MPI_File_close(fh, e)
      call ok(e, 'close')
      call check(fh == MPI_FILE_NULL, 'close: the handle is MPI_FILE_NULL')
      end subroutine

! ---- files ----

      subroutine test_files
      integer(kind=MPI_OFFSET_KIND) :: bytes
      integer :: amode, answer
      GROUP_T :: all, group
      call open_file
      call MPI_File_get_amode(fh, amode, e)
      call ok(e, 'get_amode')
      call check(amode == MPI_MODE_CREATE + MPI_MODE_RDWR, 'get_amode')
      call MPI_File_get_group(fh, group, e)
      call ok(e, 'get_group')
      call MPI_Comm_group(MPI_COMM_WORLD, all, e)
      call MPI_Group_compare(all, group, answer, e)
      call check(answer == MPI_IDENT, 'get_group')
      call MPI_Group_free(all, e)
      call MPI_Group_free(group, e)
      bytes = 4000
      call MPI_File_set_size(fh, bytes, e)
      call ok(e, 'set_size')
      call check_size(4000)
      bytes = 10000
      call MPI_File_preallocate(fh, bytes, e)
      call ok(e, 'preallocate')
      call check_size(10000)
      call test_info
      call close_file
      call barrier
      if (me == 0) then
        call MPI_File_delete(path, MPI_INFO_NULL, e)
        call ok(e, 'delete')
      end if
      call barrier
      call MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, fh, e)
      call check(has_class(e, MPI_ERR_NO_SUCH_FILE), 'open of a file that was deleted')
      end subroutine

      subroutine check_size(wanted)
      integer, intent(in) :: wanted
      integer(kind=MPI_OFFSET_KIND) :: bytes
      integer :: found, fault
      call MPI_File_get_size(fh, bytes, e)
      call check(e == MPI_SUCCESS .and. bytes == wanted, 'get_size')
      inquire(file=trim(path), size=found, iostat=fault)
      call check(fault == 0 .and. found == wanted, 'the size that Fortran sees')
      call barrier
      end subroutine

      subroutine test_info
      INFO_T :: info
      character(len=64) :: text
      logical :: found
      call MPI_Info_create(info, e)
      call MPI_Info_set(info, 'cb_buffer_size', '65536', e)
      call MPI_File_set_info(fh, info, e)
      call ok(e, 'set_info')
      call MPI_Info_free(info, e)
      call MPI_File_get_info(fh, info, e)
      call ok(e, 'get_info')
      text = ' '
      call MPI_Info_get(info, 'cb_buffer_size', 60, text, found, e)
      call check(found .and. text == '65536', 'set_info, get_info')
      call MPI_Info_free(info, e)
      end subroutine

! ---- views ----

      subroutine test_views
      integer(kind=MPI_OFFSET_KIND) :: shift, offset
      integer(kind=MPI_ADDRESS_KIND) :: lower, extent
      TYPE_T :: etype, filetype
      character(len=MPI_MAX_DATAREP_STRING) :: name
      call open_file
      call set_layout(2)
      name = 'x'
      call MPI_File_get_view(fh, shift, etype, filetype, name, e)
      call ok(e, 'get_view')
      call check(shift == me * word, 'get_view: displacement')
      call check(etype == MPI_INTEGER, 'get_view: etype')
      call check(name == 'native', 'get_view: data representation')
      call MPI_Type_get_extent(filetype, lower, extent, e)
      call check(extent == ranks * word, 'get_view: filetype')
      call MPI_Type_free(filetype, e)
      offset = 5
      call MPI_File_get_byte_offset(fh, offset, shift, e)
      call ok(e, 'get_byte_offset')
      call check(shift == (5 * ranks + me) * word, 'get_byte_offset')
      call MPI_File_get_type_extent(fh, MPI_DOUBLE_PRECISION, extent, e)
      call ok(e, 'get_type_extent')
      call check(extent == 8, 'get_type_extent')
      call close_file
      end subroutine

! ---- access, written and read back: at explicit offsets or with the
! individual pointer, at once or finished later ----

#define PLACED(w, write, r, read) \
      call begin_write(lead); call w; call end_write(write); call r; call end_read(read)
#define PLACED_LATER(w, write, r, read) \
      call begin_write(lead); call w; call finish(write); call end_write(write); \
      call r; call finish(read); call end_read(read)
#define POINTED(w, write, r, read) \
      call begin_write(lead); call w; call end_write(write); call check_position(piece, write); \
      call to_start; call r; call end_read(read); call check_position(piece, read)
#define POINTED_LATER(w, write, r, read) \
      call begin_write(lead); call w; call check_position(piece, write); call finish(write); call end_write(write); \
      call to_start; call r; call finish(read); call end_read(read)
#define SHARED(w, write, r, read) \
      call begin_write(0); call w; call end_write_shared(write); call to_start; call r; call end_read_shared(read)
#define SHARED_LATER(w, write, r, read) \
      call begin_write(0); call w; call finish(write); call end_write_shared(write); \
      call to_start; call r; call finish(read); call end_read_shared(read)
#define SPLIT(begin, finish, what) call begin; call ok(e, what // '_begin'); call finish

! ---- access with explicit offsets, on the layouts 1 and 2 ----

      subroutine test_explicit
      integer(kind=MPI_OFFSET_KIND) :: at
      at = lead
      PLACED(MPI_File_write_at(fh, at, out, m, MPI_INTEGER, st, e), 'write_at', MPI_File_read_at(fh, at, in, m, MPI_INTEGER, st, e), 'read_at')
      PLACED(MPI_File_write_at_all(fh, at, out, m, MPI_INTEGER, st, e), 'write_at_all', MPI_File_read_at_all(fh, at, in, m, MPI_INTEGER, st, e), 'read_at_all')
      PLACED_LATER(MPI_File_iwrite_at(fh, at, out, m, MPI_INTEGER, req(1), e), 'iwrite_at', MPI_File_iread_at(fh, at, in, m, MPI_INTEGER, req(1), e), 'iread_at')
      PLACED_LATER(MPI_File_iwrite_at_all(fh, at, out, m, MPI_INTEGER, req(1), e), 'iwrite_at_all', MPI_File_iread_at_all(fh, at, in, m, MPI_INTEGER, req(1), e), 'iread_at_all')

      call begin_write(lead)
      call MPI_File_write_at_all_begin(fh, at, out, m, MPI_INTEGER, e)
      call ok(e, 'write_at_all_begin')
      call MPI_File_write_at_all_end(fh, out, st, e)
      call end_write('write_at_all_end')
      call MPI_File_read_at_all_begin(fh, at, in, m, MPI_INTEGER, e)
      call ok(e, 'read_at_all_begin')
      call MPI_File_read_at_all_end(fh, in, st, e)
      call end_read('read_at_all_end')
      end subroutine

! ---- access with the individual file pointer ----

      subroutine test_individual
      POINTED(MPI_File_write(fh, out, m, MPI_INTEGER, st, e), 'write', MPI_File_read(fh, in, m, MPI_INTEGER, st, e), 'read')
      POINTED(MPI_File_write_all(fh, out, m, MPI_INTEGER, st, e), 'write_all', MPI_File_read_all(fh, in, m, MPI_INTEGER, st, e), 'read_all')
      POINTED_LATER(MPI_File_iwrite(fh, out, m, MPI_INTEGER, req(1), e), 'iwrite', MPI_File_iread(fh, in, m, MPI_INTEGER, req(1), e), 'iread')
      POINTED_LATER(MPI_File_iwrite_all(fh, out, m, MPI_INTEGER, req(1), e), 'iwrite_all', MPI_File_iread_all(fh, in, m, MPI_INTEGER, req(1), e), 'iread_all')

      call begin_write(lead)
      SPLIT(MPI_File_write_all_begin(fh, out, m, MPI_INTEGER, e), MPI_File_write_all_end(fh, out, st, e), 'write_all')
      call end_write('write_all_end')
      call to_start
      SPLIT(MPI_File_read_all_begin(fh, in, m, MPI_INTEGER, e), MPI_File_read_all_end(fh, in, st, e), 'read_all')
      call end_read('read_all_end')
      call test_seek
      end subroutine

      subroutine test_seek
      integer(kind=MPI_OFFSET_KIND) :: offset
      offset = 2
      call MPI_File_seek(fh, offset, MPI_SEEK_SET, e)
      call MPI_File_seek(fh, offset, MPI_SEEK_CUR, e)
      call ok(e, 'seek from here')
      call check_position(4, 'seek from here')
      offset = 0
      call MPI_File_seek(fh, offset, MPI_SEEK_END, e)
      call ok(e, 'seek from the end')
      if (me == ranks - 1) call check_position(piece, 'seek from the end')
      end subroutine

! A part of an array with gaps: the compiler copies it, or the binding
! makes a datatype.
      subroutine test_section
      integer, asynchronous :: wide(2 * m)
      integer(kind=MPI_OFFSET_KIND) :: at
      at = lead
      call begin_write(lead)
      wide = -1
      wide(1:2 * m:2) = out
      call MPI_File_write_at_all(fh, at, wide(1:2 * m:2), m, MPI_INTEGER, st, e)
      call end_write('write_at_all of every second element')
      call MPI_File_read_at(fh, at, wide(2:2 * m:2), m, MPI_INTEGER, st, e)
      in = wide(2:2 * m:2)
      call end_read('read_at into every second element')
      if (.not. MPI_SUBARRAYS_SUPPORTED) return
      call begin_write(lead)
      wide = -1
      wide(1:2 * m:2) = out
      call MPI_File_iwrite_at(fh, at, wide(1:2 * m:2), m, MPI_INTEGER, req(1), e)
      call finish('iwrite_at of every second element')
      call end_write('iwrite_at of every second element')
      end subroutine

! ---- access with the shared file pointer, on the layout 3 ----

! Records of all ranks, each once, in any order.
      subroutine end_write_shared(what)
      character(len=*), intent(in) :: what
      integer :: words(ranks * m), slot, rank, i, wrong, once(0:ranks - 1)
      call ok(e, what)
      call check_status(what)
      call check_shared(ranks * m, what)
      call raw(words)
      wrong = 0
      once = 0
      do slot = 0, ranks - 1
        rank = mod(words(slot * m + 1), 100000) / 1000
        if (rank < 0 .or. rank >= ranks) then
          wrong = wrong + 1
          cycle
        end if
        once(rank) = once(rank) + 1
        do i = 1, m
          if (words(slot * m + i) /= element(rank, i)) wrong = wrong + 1
        end do
      end do
      call check(wrong == 0 .and. all(once == 1), what // ': the data in the file')
      call barrier
      end subroutine

      subroutine end_read_shared(what)
      character(len=*), intent(in) :: what
      integer :: rank, i, wrong, mine(0:ranks - 1), once(0:ranks - 1), code
      call ok(e, what)
      call check_status(what)
      call check_shared(ranks * m, what)
      rank = mod(in(1), 100000) / 1000
      mine = 0
      if (rank >= 0 .and. rank < ranks) mine(rank) = 1
      call MPI_Allreduce(mine, once, ranks, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, code)
      wrong = 0
      do i = 1, m
        if (in(i) /= element(rank, i)) wrong = wrong + 1
      end do
      call check(wrong == 0 .and. all(once == 1), what // ': the data in memory')
      end subroutine

      subroutine test_shared
      call open_file
      call set_layout(3)
      SHARED(MPI_File_write_shared(fh, out, m, MPI_INTEGER, st, e), 'write_shared', MPI_File_read_shared(fh, in, m, MPI_INTEGER, st, e), 'read_shared')
      SHARED_LATER(MPI_File_iwrite_shared(fh, out, m, MPI_INTEGER, req(1), e), 'iwrite_shared', MPI_File_iread_shared(fh, in, m, MPI_INTEGER, req(1), e), 'iread_shared')

      call begin_write(0)
      call MPI_File_write_ordered(fh, out, m, MPI_INTEGER, st, e)
      call end_write('write_ordered')
      call to_start
      call MPI_File_read_ordered(fh, in, m, MPI_INTEGER, st, e)
      call end_read('read_ordered')

      call begin_write(0)
      SPLIT(MPI_File_write_ordered_begin(fh, out, m, MPI_INTEGER, e), MPI_File_write_ordered_end(fh, out, st, e), 'write_ordered')
      call end_write('write_ordered_end')
      call to_start
      SPLIT(MPI_File_read_ordered_begin(fh, in, m, MPI_INTEGER, e), MPI_File_read_ordered_end(fh, in, st, e), 'read_ordered')
      call end_read('read_ordered_end')
      call check_shared(ranks * m, 'read_ordered_end')
      call close_file
      end subroutine

! ---- consistency ----

      subroutine test_atomicity
      logical :: flag
      call open_file
      call set_layout(1)
      call MPI_File_get_atomicity(fh, flag, e)
      call check(e == MPI_SUCCESS .and. .not. flag, 'get_atomicity at first')
      flag = .true.
      call MPI_File_set_atomicity(fh, flag, e)
      call ok(e, 'set_atomicity')
      flag = .false.
      call MPI_File_get_atomicity(fh, flag, e)
      call check(e == MPI_SUCCESS .and. flag, 'get_atomicity')
      call test_explicit
      call close_file
      end subroutine

! ---- error handlers ----

      subroutine check_handler(file, code, what)
      FILE_T, intent(in) :: file
      integer, intent(in) :: code
      character(len=*), intent(in) :: what
      call check(handler_calls == 1, what // ': the handler was called once')
      call check(handler_file == file, what // ': the handler got the file')
      call check(handler_code == code, what // ': the handler got the code')
      handler_calls = 0
      end subroutine

      subroutine test_errhandlers
      ERRHANDLER_T :: made, found
      FILE_T :: none
      integer(kind=MPI_OFFSET_KIND) :: at
      at = 0
      handler_calls = 0
      call open_file
      call MPI_File_get_errhandler(fh, found, e)
      call check(e == MPI_SUCCESS .and. found == MPI_ERRORS_RETURN, 'get_errhandler at first')
      call MPI_File_create_errhandler(handler, made, e)
      call ok(e, 'create_errhandler')
      call MPI_File_set_errhandler(fh, made, e)
      call ok(e, 'set_errhandler')
      call MPI_File_get_errhandler(fh, found, e)
      call ok(e, 'get_errhandler')
      call check(found == made, 'get_errhandler')
      call MPI_Errhandler_free(found, e)
      call MPI_File_write_at(fh, at, out, -1, MPI_INTEGER, st, e)
      call check(has_class(e, MPI_ERR_COUNT), 'a count below 0')
      call check_handler(fh, e, 'a count below 0')
      call MPI_File_call_errhandler(fh, MPI_ERR_QUOTA, e)
      call ok(e, 'call_errhandler')
      call check_handler(fh, MPI_ERR_QUOTA, 'call_errhandler')

! The handler of MPI_FILE_NULL gets the errors of open and delete.
      none = MPI_FILE_NULL
      call MPI_File_set_errhandler(none, made, e)
      call ok(e, 'set_errhandler of MPI_FILE_NULL')
      call MPI_File_get_errhandler(none, found, e)
      call check(e == MPI_SUCCESS .and. found == made, 'get_errhandler of MPI_FILE_NULL')
      call MPI_Errhandler_free(found, e)
      call MPI_Errhandler_free(made, e)
      call MPI_File_open(MPI_COMM_SELF, trim(path) // '.none', MPI_MODE_RDONLY, MPI_INFO_NULL, none, e)
      call check(has_class(e, MPI_ERR_NO_SUCH_FILE), 'open of a file that is not there')
      call check_handler(MPI_FILE_NULL, e, 'open of a file that is not there')
      call MPI_File_delete(trim(path) // '.none', MPI_INFO_NULL, e)
      call check(has_class(e, MPI_ERR_NO_SUCH_FILE), 'delete of a file that is not there')
      call check_handler(MPI_FILE_NULL, e, 'delete of a file that is not there')
      none = MPI_FILE_NULL
      call MPI_File_set_errhandler(none, MPI_ERRORS_RETURN, e)
      call ok(e, 'set_errhandler of MPI_FILE_NULL back')
      call MPI_File_delete(trim(path) // '.none', MPI_INFO_NULL, e)
      call check(handler_calls == 0, 'the handler is out of use')
      call close_file
      end subroutine

! ---- data representations ----

      subroutine set_datarep(name)
      character(len=*), intent(in) :: name
      integer(kind=MPI_OFFSET_KIND) :: zero
      zero = 0
      call MPI_File_set_view(fh, zero, MPI_INTEGER, MPI_INTEGER, name, MPI_INFO_NULL, e)
      call ok(e, 'set_view with ' // name)
      end subroutine

! In the file each integer takes 8 bytes and has the other sign.
      subroutine test_registered
      integer(kind=MPI_OFFSET_KIND) :: at
      integer(kind=MPI_ADDRESS_KIND) :: extent, state
      integer :: words(2 * m), i, wrong
      state = datarep_state
      call MPI_Register_datarep('piolet_eight ', read_eight, write_eight, extent_eight, state, e)
      call ok(e, 'Register_datarep')
      state = 0
      call MPI_Register_datarep('piolet_eight', read_eight, write_eight, extent_eight, state, e)
      call check(has_class(e, MPI_ERR_DUP_DATAREP), 'Register_datarep, twice the same name')
      call begin_write(0)
      call set_datarep('piolet_eight')
      call MPI_File_get_type_extent(fh, MPI_INTEGER, extent, e)
      call check(e == MPI_SUCCESS .and. extent == 8, 'get_type_extent of piolet_eight')
      at = 0
      if (me == 0) then
        call MPI_File_write_at(fh, at, out, m, MPI_INTEGER, st, e)
        call ok(e, 'write_at with piolet_eight')
        call check_status('write_at with piolet_eight')
        call raw(words)
        wrong = 0
        do i = 1, m
          if (words(2 * i - 1) /= -element(0, i) .or. words(2 * i) /= -1) wrong = wrong + 1
        end do
        call check(wrong == 0, 'what piolet_eight makes of integers in the file')
        call MPI_File_read_at(fh, at, in, m, MPI_INTEGER, st, e)
        call end_read('read_at with piolet_eight')
        call check(written == m .and. read_back == m, 'the conversion functions were called')
      end if
      call check(datarep_faults == 0, 'arguments of the conversion functions')
      call barrier
      end subroutine

      subroutine test_conversion_null
      integer(kind=MPI_OFFSET_KIND) :: at
      integer(kind=MPI_ADDRESS_KIND) :: state
      state = datarep_state
      call MPI_Register_datarep('piolet_same', MPI_CONVERSION_FN_NULL, MPI_CONVERSION_FN_NULL, extent_four, state, e)
      call ok(e, 'Register_datarep with MPI_CONVERSION_FN_NULL')
      call begin_write(0)
      call set_datarep('piolet_same')
      at = me * m
      call MPI_File_write_at_all(fh, at, out, m, MPI_INTEGER, st, e)
      call end_write('write_at_all with MPI_CONVERSION_FN_NULL')
      call MPI_File_read_at_all(fh, at, in, m, MPI_INTEGER, st, e)
      call end_read('read_at_all with MPI_CONVERSION_FN_NULL')
      end subroutine

      subroutine test_external32
      integer(kind=MPI_OFFSET_KIND) :: at
      integer(kind=MPI_ADDRESS_KIND) :: extent
      integer :: words(ranks * m), i
      double precision :: one, two
      call begin_write(0)
      call set_datarep('external32')
      call MPI_File_get_type_extent(fh, MPI_INTEGER, extent, e)
      call check(e == MPI_SUCCESS .and. extent == 4, 'get_type_extent of external32')
      do i = 1, m
        out(i) = i * 256 + me
      end do
      at = me * m
      call MPI_File_write_at_all(fh, at, out, m, MPI_INTEGER, st, e)
      call ok(e, 'write_at_all with external32')
      call check_status('write_at_all with external32')
      call barrier
      call raw(words)
      do i = 1, m
        call check(words(me * m + i) == i * 65536 + me * 16777216, 'external32: bytes of an integer')
      end do
      call MPI_File_read_at_all(fh, at, in, m, MPI_INTEGER, st, e)
      call ok(e, 'read_at_all with external32')
      call check(all(in == out), 'read_at_all with external32')
      call barrier
      one = -2
      two = 0
      at = 2 * me
      call MPI_File_write_at_all(fh, at, one, 1, MPI_DOUBLE_PRECISION, st, e)
      call ok(e, 'write_at_all of a double with external32')
      call barrier
      call raw(words)
! -2 is C0 00 … 00
      call check(words(2 * me + 1) == 192 .and. words(2 * me + 2) == 0, 'external32: bytes of a double')
      call MPI_File_read_at(fh, at, two, 1, MPI_DOUBLE_PRECISION, st, e)
      call check(e == MPI_SUCCESS .and. abs(two - one) <= 0, 'read_at of a double with external32')
      end subroutine

      subroutine test_datareps
      call open_file
      layout = 3
      call set_datarep('native')
      call test_registered
      call test_conversion_null
      call test_external32
      call close_file
      end subroutine

! ---- all of them ----

      subroutine run_all(name)
      character(len=*), intent(in) :: name
      integer :: number, all_errors
      call MPI_Init(e)
      call MPI_Comm_size(MPI_COMM_WORLD, ranks, e)
      call MPI_Comm_rank(MPI_COMM_WORLD, me, e)
      call get_command_argument(1, path)
      call test_files
      call test_views
      do number = 1, 2
        call open_file
        call set_layout(number)
        call test_explicit
        call test_individual
        call test_section
        call close_file
      end do
      call test_shared
      call test_atomicity
      call test_errhandlers
      call test_datareps
      call MPI_Allreduce(errors, all_errors, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD, e)
      if (me == 0 .and. all_errors == 0) print '(i0,3a)', ranks, ' ranks: ', name, ' is right'
      call MPI_Finalize(e)
      if (all_errors /= 0) stop 1
      end subroutine

      end module
