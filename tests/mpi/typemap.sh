#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Thousands of random datatypes of all constructors: the bytes that MPI_Pack takes must be those that our typemap
# names, in the same order. Fails when a byte is elsewhere, when a type's map is made twice or outlives the type, when
# a failing request for memory loses some, or when a huge or deep type needs more than a few nodes.
# processors: 1
source "$(dirname "$0")/../lib.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
is_openmpi=0
[ "$PIOLET_MPI" != openmpi ] || is_openmpi=1
flags=(-std=c11 -D_GNU_SOURCE "-DPIOLET_IS_OPENMPI=$is_openmpi" -Wall -Wextra -Werror -g -O1 -I"$SOURCE/src")
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
# The program has memory functions of its own, in the place of src/mpiio/mem.c.
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE"/src/mpiio/typemap/*.c "$SOURCE/src/mpi/real.c" \
    "$SOURCE/src/base/status.c" "$SOURCE/tests/mpi/typemap_decode.c" -o "$TMP/typemap_decode" -lpthread -ldl

expect_exit 0 mpirun_n 1 "$TMP/typemap_decode" 20261115 5000
expect_in "$OUT" "5000 random types: all bytes are where MPI says"
