#!/usr/bin/env bash
# How many files of the source one collective write passes through, by the strategy that auto takes.
# labels: long
# timeout: 600
# proves: COLL-2
# It would fail if the default path grew beyond 25 files again, or left the core: then nobody can follow it.
source "$(dirname "$0")/../lib.sh"
[ "$PIOLET_MPI" = mpich ] || skip "the tool builds for MPICH"
command -v addr2line >/dev/null || skip "no addr2line here"

"$SOURCE/tools/callpath" >"$TMP/files" 2>"$TMP/log" || fail "tools/callpath: $(tail -n 3 "$TMP/log")"
files=$(grep -c '\.c$' "$TMP/files")
[ "$files" -le 25 ] || fail "one MPI_File_write_all passes through $files files; at most 25: $(cat "$TMP/files")"
grep -q 'engine/move/move.c' "$TMP/files" || fail "it does not pass through the core"
