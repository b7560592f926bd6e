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

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g)
loops=10000 # 10000: memory is looked at too
if [ -n "${PIOLET_SANITIZE:-}" ]; then
    flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
    loops=300
fi
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE/tests/mpi/engine_handles.c" -o "$TMP/engine_handles"
expect_exit 0 engine_run 1 "$TMP/engine_handles" "$TMP/file" "$loops"
expect_in "$OUT" "1 ranks: engine_handles is right"
expect_exit 0 engine_run 3 "$TMP/engine_handles" "$TMP/file" $((loops / 10))
expect_in "$OUT" "3 ranks: engine_handles is right"

# Through the tracer, which stands before the engine.
expect_exit 0 "$PIOLET" trace --engine -n 2 -o "$TMP/trace" -- "$TMP/engine_handles" "$TMP/file" 300
expect_in "$OUT" "2 ranks: engine_handles is right"

fortran=mpifort.$PIOLET_MPI
if command -v "$fortran" >/dev/null && [ -z "${PIOLET_SANITIZE:-}" ]; then
    expect_exit 0 "$fortran" -w -fallow-argument-mismatch "$SOURCE/tests/mpi/engine_handles.F90" -o "$TMP/fortran_handles"
    expect_exit 0 engine_run 2 "$TMP/fortran_handles" "$TMP/file.f"
    expect_in "$OUT" "fortran handles are right"
fi
