#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Data representations against a model of plain loops, and against MPI_Pack_external where the MPI has no bug there:
# every predefined type, thousands of random types in external32, conversion functions of the program in C and Fortran
# style. Fails when a byte of a file is another than the standard says, when data that end in the middle of an element
# reach memory, when a function gets other counts or positions, or when a failing request for memory loses some.
# processors: 1
source "$(dirname "$0")/../lib.sh"

expect_exit 0 mpirun_n 1 "$PROGRAMS/datarep" 20261115 4000
expect_in "$OUT" "4000 random types: every byte is as external32 says"
