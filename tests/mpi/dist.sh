#!/usr/bin/env bash
# proves: COLL-1
# Distributions as a program outside of the tree uses them: the public header and libpiolet.so alone. Fails when a file
# written through a filetype differs in one byte from that of a serial loop, when reading gives another array, when a
# type's size or extent is wrong, or when an array of more than 2^31 elements is mapped to a wrong place.
# processors: 2
source "$(dirname "$0")/../lib.sh"

# The multi-partition wants a square number of ranks; the program leaves it out on others.
for ranks in 1 2 3 4; do
    expect_exit 0 mpirun_n "$ranks" "$PROGRAMS/dist_filetype" "$TMP/file"
    expect_in "$OUT" "$ranks ranks: all filetypes are right"
done

# The header is C++, too.
if command -v "mpicxx.$PIOLET_MPI" >/dev/null; then
    echo '#include <piolet/dist.h>' >"$TMP/header.cc"
    expect_exit 0 "mpicxx.$PIOLET_MPI" -std=c++17 -Wall -Wextra -fsyntax-only -I"$SOURCE/include" "$TMP/header.cc"
fi
