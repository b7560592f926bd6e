#!/usr/bin/env bash
# proves: GPFS-1
# The engine exports every function of MPI's I/O chapter that the header of its MPI declares, under both names. Fails when one is
# missing: a program that calls it would reach the MPI's own function with a handle of ours.
source "$(dirname "$0")/../lib.sh"

declared()
{
    printf '#include <mpi.h>\n' >"$TMP/header.c"
    "mpicc.$1" -E "$TMP/header.c" |
        grep -oE '\bMPI_(File_[a-zA-Z0-9_]+|Register_datarep[a-z_]*)[[:space:]]*\(' | tr -d ' \t(' |
        grep -vE '_(function|fn)$' | sort -u
}

bad=0
looked_at=0
for mpi in mpich openmpi; do
    library=$SOURCE/build/$mpi/lib/libpiolet-mpiio.so
    [ "$mpi" != "$PIOLET_MPI" ] || library=$BINARY/lib/libpiolet-mpiio.so
    [ -f "$library" ] || continue
    looked_at=$((looked_at + 1))
    nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >"$TMP/exported"
    declared "$mpi" >"$TMP/declared"
    [ "$(wc -l <"$TMP/declared")" -ge 50 ] || fail "$mpi's header declares too few functions: is the list right?"
    sed 's/^/P/' "$TMP/declared" | cat "$TMP/declared" - | sort -u | comm -23 - "$TMP/exported" >"$TMP/missing"
    if [ -s "$TMP/missing" ]; then
        sed "s|^|$library lacks |" "$TMP/missing" >&2
        bad=1
    fi
done
[ "$looked_at" -gt 0 ] || skip "the engine is not built yet"
[ "$bad" -eq 0 ] || fail "add these functions to src/engine/api"
