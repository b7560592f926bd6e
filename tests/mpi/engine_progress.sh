#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Collective I/O goes on whatever function of MPI a rank sits in or polls: every row of src/mpi/progress.def that may
# block or be polled is run, and that of no function at all. Fails when ranks wait for ever (the program says in which
# row), when a row of the table is not run, when a byte is wrong, when functions of the program are called in a thread of
# the engine, when a failure is not told once, or when a program cannot end. PROGRESS_ROUNDS repeats it.
# processors: 2
# timeout: 300
# labels: asan
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

compiler=mpicc.$PIOLET_MPI # tells what the header declares
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
unset PIOLET_FAULTS PIOLET_THREADS PIOLET_HINTS
# The last row of a run leaves a file open, as a program may that forgets it.
case ${PIOLET_SANITIZE:-} in *address*) export ASAN_OPTIONS=detect_leaks=0 ;; esac

# ---- what the table says of this MPI ----

# rows KIND...: the functions of these kinds that the header has and the test runs, without MPI_
printf '#include <mpi.h>\n' | "$compiler" -E -x c - | grep -oE '\bPMPIX?_[A-Z][A-Za-z0-9_]*[[:space:]]*\(' | tr -d ' \t(' |
    sed 's/^P//' | sort -u >"$TMP/declared"
rows()
{
    local kinds=$*
    sed -nE "s/^(${kinds// /|})\((MPIX?_[A-Za-z0-9_]+)[,)].*/\2/p" <(not_run -v) | sort | comm -12 - "$TMP/declared" |
        sed 's/^MPI_//; s/^MPIX_/X_/' | sort
}
not_run() # or, with -v, the others
{
    grep "$@" -E "^[A-Z]+\(MPIX?_[A-Za-z0-9_]+, ($PIOLET_MPI|all)," "$SOURCE/src/mpi/progress.def"
}
options() # WORD NAME...: the names as options
{
    local option=$1 name
    shift
    for name; do printf -- '%s %s ' "$option" "$name"; done
}
mapfile -t all < <(rows BLOCKING POLLED FETCHES)
mapfile -t without < <(not_run | sed -E 's/^[A-Z]+\(//; s/,.*//; s/^MPI_//; s/^MPIX_/X_/')
[ "${#all[@]}" -gt 80 ] || fail "too few rows: ${all[*]}"
# Open MPI runs its hook in none of these: without a thread they carry on what is pending for a tenth of a second only.
mapfile -t needs_thread < <(sed -nE '/^#if/q; s/^WAITING\(([A-Za-z0-9_]+),.*/\1/p' "$SOURCE/src/mpi/real_waiting.def")
[ "$PIOLET_MPI" = openmpi ] || needs_thread=()

# progress RANKS WAY ARGUMENT...: runs the program, which must say that WAY carries operations on
progress()
{
    local ranks=$1 way=$2
    shift 2
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_progress" "$TMP/file.$$" "$@"
    expect_in "$OUT" "$ranks ranks: engine_progress is right"
    expect_in "$OUT" "progress: $way:"
}

# ran NAME...: exactly these rows were right
ran()
{
    sed -n 's/^row //p' "$OUT" | grep -v '^computing$' | sort >"$TMP/ran"
    printf '%s\n' "$@" | sort | diff - "$TMP/ran" >"$TMP/diff" || fail "rows not run (<) or not known (>): $(cat "$TMP/diff")"
}

# ---- every row, with a thread ----

few=(Recv Testsome Iprobe Barrier Alltoallw Comm_split Win_test Win_flush Rget Win_sync File_read_at File_sync)
[ "$PIOLET_MPI" = openmpi ] || few+=(Parrived Barrier_init)
# shellcheck disable=SC2046  # a word for each
for ((round = 0; round < ${PROGRESS_ROUNDS:-1}; round++)); do
    PIOLET_THREADS=$([ "$PIOLET_MPI" = mpich ] || echo multiple) progress 2 thread --computing $(options --without "${without[@]}")
    ran "${all[@]}"
    PIOLET_THREADS=multiple progress 3 thread --computing $(options --only "${few[@]}")
    ran "${few[@]}"
done

# ---- other strategies, nodes of one rank, develop mode, auxiliary processes: what is stepped differs ----

# shellcheck disable=SC2046
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    export PIOLET_THREADS=multiple
    PIOLET_NODE_RANKS=1 progress 2 thread --computing --strategy ring $(options --only Win_test Win_sync)
    PIOLET_NODE_RANKS=1 progress 2 thread --computing --strategy shipping $(options --only Win_test Win_sync)
    PIOLET_DEVELOP=1 progress 2 thread --computing --strategy cbx $(options --only Win_test Win_sync)
    PIOLET_AUXILIARY=1 progress 2 thread --computing --strategy ring $(options --only Win_test Win_sync)
    unset PIOLET_THREADS
fi

# ---- programs that ask for a thread level themselves; the engine does for them, with MPICH ----

way=$([ "$PIOLET_MPI" = mpich ] && echo thread || echo hook)
# shellcheck disable=SC2046
for level in single funneled serialized multiple; do
    [ $level != multiple ] || way=thread
    progress 2 "$way" --level $level $(options --only Barrier Win_test Win_sync Testsome)
done

# ---- without a thread: what is polled, and what can be taken apart (MPICH) or runs the hook (Open MPI) ----

export PIOLET_THREADS=program
if [ "$PIOLET_MPI" = mpich ]; then
    mapfile -t polled < <(rows POLLED)
    # shellcheck disable=SC2046
    progress 2 calls $(options --only "${polled[@]}" Send Ssend Recv Sendrecv Probe Mprobe Wait Waitall Waitany Waitsome)
else
    # shellcheck disable=SC2046
    progress 2 hook $(options --without "${without[@]}" "${needs_thread[@]}")
    mapfile -t rest < <(printf '%s\n' "${all[@]}" | grep -vxF -f <(printf '%s\n' "${needs_thread[@]}"))
    ran "${rest[@]}"
fi
expect_in "$OUT" "since the MPI was not initialised with MPI_THREAD_MULTIPLE"

# ---- a system that gives the engine no thread ----

if [ -z "${PIOLET_SANITIZE:-}" ]; then
    # shellcheck disable=SC2046
    ENGINE_BEHIND=$PROGRAMS/libno_thread.so PIOLET_THREADS=multiple progress 2 thread $(options --only Recv Testsome Win_test Win_sync)
    expect_in "$OUT" "since the system gave the engine no thread"
fi

# ---- whose thread, who is told, and the end ----

export PIOLET_THREADS=multiple
for ranks in 2 3; do
    PIOLET_FAULTS='pwrite:*=ENOSPC' expect_exit 0 engine_run $ranks "$PROGRAMS/engine_progress" "$TMP/file.$$" --scene failures
    expect_exit 0 engine_run $ranks "$PROGRAMS/engine_progress" "$TMP/file.$$" --scene conversion
done
for scene in exit abort; do
    expect_exit 7 engine_run 2 "$PROGRAMS/engine_progress" "$TMP/file.$$" --scene $scene
done

# ---- the tracer before the engine ----

if [ -z "${PIOLET_SANITIZE:-}" ]; then
    # shellcheck disable=SC2046
    expect_exit 0 "$PIOLET" trace --engine -n 2 -o "$TMP/trace" -- "$PROGRAMS/engine_progress" "$TMP/file.$$" --computing \
        $(options --only "${few[@]}")
    expect_in "$OUT" "2 ranks: engine_progress is right"
    [ -f "$TMP/trace/trace.1" ] || fail "there is no trace"
fi
