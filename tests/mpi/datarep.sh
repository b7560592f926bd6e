#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Data representations against a model of plain loops, and against MPI_Pack_external where the MPI has no bug there:
# every predefined type, thousands of random types in external32, conversion functions of the program in C and Fortran
# style. Fails when a byte of a file is another than the standard says, when data that end in the middle of an element
# reach memory, when a function gets other counts or positions, or when a failing request for memory loses some.
# processors: 1
source "$(dirname "$0")/../lib.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
is_openmpi=0
[ "$PIOLET_MPI" != openmpi ] || is_openmpi=1
flags=(-std=c11 -D_GNU_SOURCE "-DPIOLET_IS_OPENMPI=$is_openmpi" -Wall -Wextra -Werror -g -O1 -I"$SOURCE/src")
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
# The program has memory functions of its own, in the place of src/mpiio/mem.c.
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE"/src/mpiio/{datarep,typemap}/*.c "$SOURCE/src/mpi/real.c" \
    "$SOURCE/src/base/status.c" "$SOURCE/tests/mpi/datarep.c" -o "$TMP/datarep" -lpthread -ldl

expect_exit 0 mpirun_n 1 "$TMP/datarep" 20261115 4000
expect_in "$OUT" "4000 random types: every byte is as external32 says"
