#!/usr/bin/env bash
# proves: GPFS-1
# The table of what each function of MPI means for pending operations knows every function of both headers. Fails when a
# header has one that the table lacks, when the table has one twice or one that no header has, and when the engine for
# MPICH, which has no hook, does not wrap one in which it has to go on.
source "$(dirname "$0")/../lib.sh"

table=$SOURCE/src/mpi/progress.def
sed -nE 's/^(BLOCKING|POLLED|FETCHES|AT_ONCE)\((MPIX?_[A-Za-z0-9_]+).*/\1 \2/p' "$table" >"$TMP/rows"
awk '{ print $2 }' "$TMP/rows" | sort >"$TMP/known"
[ -z "$(uniq -d "$TMP/known")" ] || fail "twice in $table: $(uniq -d "$TMP/known" | tr '\n' ' ')"

printf '#include <mpi.h>\n' >"$TMP/header.c"
: >"$TMP/all"
for mpi in mpich openmpi; do
    command -v "mpicc.$mpi" >/dev/null || skip "mpicc.$mpi is not installed"
    "mpicc.$mpi" -E "$TMP/header.c" | grep -oE '\bPMPIX?_[A-Z][A-Za-z0-9_]*[[:space:]]*\(' | tr -d ' \t(' | sed 's/^P//' |
        sort -u >"$TMP/declared"
    [ "$(wc -l <"$TMP/declared")" -ge 300 ] || fail "$mpi's header declares too few functions: is the list right?"
    missing=$(comm -23 "$TMP/declared" "$TMP/known")
    [ -z "$missing" ] || fail "$mpi's header has functions that are not in $table: ${missing//$'\n'/ }"
    cat "$TMP/declared" >>"$TMP/all"
done
sort -u "$TMP/all" >"$TMP/declared"
extra=$(comm -13 "$TMP/declared" "$TMP/known")
[ -z "$extra" ] || fail "in $table, but in no header: ${extra//$'\n'/ }"

library=$SOURCE/build/mpich/lib/libpiolet-mpiio.so
[ "$PIOLET_MPI" != mpich ] || library=$BINARY/lib/libpiolet-mpiio.so
[ -f "$library" ] || skip "the engine is not built yet for MPICH"
nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >"$TMP/exported"
# Extensions of MPICH (MPIX) are not wrapped.
unwrapped=$(awk '$1 == "BLOCKING" || $1 == "POLLED" { print $2 }' "$TMP/rows" | grep -v '^MPIX' | sort |
    comm -23 - "$TMP/exported")
[ -z "$unwrapped" ] || fail "not wrapped (src/mpi/real_waiting.def): ${unwrapped//$'\n'/ }"
