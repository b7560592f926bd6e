#!/usr/bin/env bash
# Each header compiles alone. Fails on a header that leans on what another file included before it.
# processors: 2
source "$(dirname "$0")/../lib.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
cd "$SOURCE"
project_files 'src/*.h' 'include/*.h' >"$TMP/headers"
[ -s "$TMP/headers" ] || fail "no headers found"

# The options are those that cmake/PioletFlags.cmake gives to all our code.
alone()
{
    printf '#include "%s"\n#include "%s"\n' "$2" "$2" |
        timeout 60 "$1" -std=c11 -D_GNU_SOURCE -Isrc -Iinclude -Wall -Wextra -Werror -fsyntax-only -x c - ||
        { echo "$2: does not compile alone" >&2; return 1; }
}
export -f alone
sed -e 's|^src/||' -e 's|^include/||' "$TMP/headers" |
    xargs -P 2 -n 1 bash -c 'alone "$0" "$1"' "$compiler" || fail "each header must include what it needs"
