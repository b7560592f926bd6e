#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Thousands of random datatypes of all constructors: the bytes that MPI_Pack takes must be those that our typemap
# names, in the same order. Fails when a byte is elsewhere, when a type's map is made twice or outlives the type, when
# a failing request for memory loses some, or when a huge or deep type needs more than a few nodes.
# processors: 1
source "$(dirname "$0")/../lib.sh"

expect_exit 0 mpirun_n 1 "$PROGRAMS/typemap_decode" 20261115 5000
expect_in "$OUT" "5000 random types: all bytes are where MPI says"
