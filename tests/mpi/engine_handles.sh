#!/usr/bin/env bash
# Every handle that the chapter on I/O hands out can be used and freed as often as it is got: error handlers (predefined
# ones, those of the program, the default), infos, groups, the datatypes of a view, requests, the numbers of Fortran.
# proves: GPFS-1
# It would fail if freeing a handle that a file gave freed the file's or the MPI's own, if a handler died before the last
# file that uses it, if one of them were never freed (memory grows), or if a closed file or none handed out something.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

loops=10000 # 10000: memory is looked at too
[ -z "${PIOLET_SANITIZE:-}" ] || loops=300
expect_exit 0 engine_run 1 "$PROGRAMS/engine_handles" "$TMP/file" "$loops"
expect_in "$OUT" "1 ranks: engine_handles is right"
expect_exit 0 engine_run 3 "$PROGRAMS/engine_handles" "$TMP/file" $((loops / 10))
expect_in "$OUT" "3 ranks: engine_handles is right"

# Through the tracer, which stands before the engine.
expect_exit 0 "$PIOLET" trace --engine -n 2 -o "$TMP/trace" -- "$PROGRAMS/engine_handles" "$TMP/file" 300
expect_in "$OUT" "2 ranks: engine_handles is right"

fortran=mpifort.$PIOLET_MPI
if command -v "$fortran" >/dev/null && [ -z "${PIOLET_SANITIZE:-}" ]; then
    expect_exit 0 "$fortran" -w -fallow-argument-mismatch "$SOURCE/tests/mpi/engine_handles.F90" -o "$TMP/fortran_handles"
    expect_exit 0 engine_run 2 "$TMP/fortran_handles" "$TMP/file.f"
    expect_in "$OUT" "fortran handles are right"
fi
