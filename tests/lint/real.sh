#!/usr/bin/env bash
# Our preloaded libraries reach MPI through the table of real functions only. Fails where an object of theirs calls
# MPI_* or PMPI_* by name: such a call could meet our own wrapper, or that of a library before ours.
source "$(dirname "$0")/../lib.sh"

bad=0
looked_at=0
for library in "$BINARY"/lib/libpiolet-{mpiio,trace}.so; do
    [ -f "$library" ] || continue
    looked_at=$((looked_at + 1))
    if nm -D --undefined-only "$library" | awk '$NF ~ /^P?MPIX?_/ { print $NF }' | grep . >"$TMP/calls"; then
        sed "s|^|$library calls |" "$TMP/calls" >&2
        bad=1
    fi
done
# Within a library, a call of one wrapper by another does not show as undefined: look at the objects. Wrappers hand
# out their own names only as aliases.
for object in "$BINARY"/src/engine/CMakeFiles/*.dir/*/*.o "$BINARY"/src/engine/CMakeFiles/*.dir/*.o; do
    [ -f "$object" ] || continue
    looked_at=$((looked_at + 1))
    if nm --undefined-only "$object" | awk '$NF ~ /^P?MPIX?_/ { print $NF }' | grep . >"$TMP/calls"; then
        sed "s|^|$object calls |" "$TMP/calls" >&2
        bad=1
    fi
done
[ "$looked_at" -gt 2 ] || skip "the engine is not built yet"
[ "$bad" -eq 0 ] || fail "call real.NAME() in the place of these (src/mpi/real.def lists the functions)"
