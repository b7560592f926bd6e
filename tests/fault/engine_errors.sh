#!/usr/bin/env bash
# proves: GPFS-6 COLL-8
# Errors of the engine: their classes, their words, who hears of them and when, and error handlers. Fails when a call
# gives another class than the standard names, when words do not say function, rank, file and cause, when one rank's
# failure makes another hang or leaves it without a word (in an exchange: at once; without: at the next meeting of the
# ranks), when data of others are damaged by it, or when a full file system is not told as such.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_FAULTS PIOLET_HINTS PIOLET_DEVELOP
export MPIRUN_TIMEOUT=180

# check RANKS CASE FILE ARGUMENT...
check()
{
    local ranks=$1
    shift
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_errors" "$@"
    expect_in "$OUT" "$ranks ranks: $1 is right"
}

# A file with known bytes of three ranks.
fresh_file()
{
    head -c 300000 /dev/zero | tr '\0' o >"$TMP/file"
}

fresh_file
for ranks in 1 3; do
    check "$ranks" arguments "$TMP/file"
done
check 3 handlers "$TMP/file"
check 3 exchange "$TMP/file"
for meeting in 0 1 2 3 4 5 6 7 8; do # as the program numbers them: sync, close, set_view, …
    check 3 direct "$TMP/file" $meeting
done

# MPICH's launcher now and then ends before it has passed on what a dying rank said: then once more.
for _ in 1 2 3; do
    status=0
    engine_run 2 "$PROGRAMS/engine_errors" fatal "$TMP/file" >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "MPI_ERRORS_ARE_FATAL does not end the job: status $status"
    expect_not_in "$OUT" "still alive"
    ! grep -q "MPI_File_seek, rank 1," "$ERR" || break
done
expect_in "$ERR" "MPI_File_seek, rank 1, '$TMP/file': "
expect_in "$ERR" "MPI_ERRORS_ARE_FATAL"

# Faults of one rank's system calls.
fault()
{
    local plan=$1
    shift
    fresh_file
    PIOLET_FAULTS=$plan check 3 fault "$TMP/file" "$@"
}
exchange="piolet_strategy=twophase;cb_nodes=3"
ring="piolet_strategy=ring"
direct="romio_cb_write=disable;romio_cb_read=disable"
fault open:1=EIO@1 open "$direct" agreed
fault pwrite:1=EIO@1 write_all "$exchange" agreed
fault pwrite:1=EIO@1 write_all "$direct" late
fault pwrite:1+=EIO write_all "$ring" anybody
fault pread:1+=EIO read_all "$ring" anybody
fault pread:1+=EIO@1 read_all "$exchange" agreed
fault pread:1+=EIO@1 read_all "$direct" late
fault fsync:1=EIO@1 sync "$direct" agreed
fault close:1=EIO@1 close "$direct" agreed
fault truncate:1=EIO@0 set_size "$direct" agreed
fault allocate:1=EIO@0 preallocate "$direct" agreed

# Each call of rank 1 fails once, memory as well: nobody hangs, and who exchanges agrees.
check 3 sweep "$TMP/file" malloc 45
check 3 sweep "$TMP/file" '*' 40

# A plan that cannot be read is told by every rank.
fresh_file
status=0
PIOLET_FAULTS=nonsense engine_run 2 "$PROGRAMS/engine_errors" fault "$TMP/file" sync "$direct" agreed >"$OUT" 2>"$ERR" </dev/null || status=$?
[ "$status" -ne 0 ] || fail "a plan of faults that cannot be read goes unnoticed"

# A user who may not. Open MPI's and MPICH's launchers need no more than this.
if [ "$(id -u)" -eq 0 ] && command -v setpriv >/dev/null; then
    fresh_file
    chmod 755 "$TMP"
    chmod 644 "$TMP/file"
    mkdir -m 777 "$TMP/home"
    as_nobody()
    {
        preload=$(engine_preload)
        cd "$TMP/home"
        if [ "$PIOLET_MPI" = openmpi ]; then
            HOME=$TMP/home TMPDIR=$TMP/home timeout -k 5 30 setpriv --reuid=65534 --regid=65534 --clear-groups \
                mpiexec.openmpi --oversubscribe --bind-to none -x "LD_PRELOAD=$preload" -n 2 "$@"
        else
            HOME=$TMP/home TMPDIR=$TMP/home timeout -k 5 30 setpriv --reuid=65534 --regid=65534 --clear-groups \
                mpiexec.mpich -genv LD_PRELOAD "$preload" -n 2 "$@"
        fi
    }
    if as_nobody true >/dev/null 2>&1 && setpriv --reuid=65534 --regid=65534 --clear-groups test -r "$ENGINE"; then
        expect_exit 0 as_nobody "$PROGRAMS/engine_errors" permission "$TMP/file"
        expect_in "$OUT" "2 ranks: permission is right"
    else
        echo "not checked: permissions (no MPI for user nobody here)"
    fi
fi

# A file system that is really full; skips where none can be made, so it comes last.
small_fs 16M
check 3 space "$SMALL_FS/file" "$exchange" agreed
check 3 space "$SMALL_FS/file" "$direct" late
