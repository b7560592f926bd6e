#!/usr/bin/env bash
# proves: PHASE-1
# bench/trace measures the tracer, and its table fits 80 columns. No time is looked at, but bytes are exact: it fails when
# a folded trace takes a byte for a call of a regular pattern, or more than 20 for one at a random place.
# timeout: 120
source "$(dirname "$0")/../lib.sh"

[ "$BINARY" = "${BINARY%/*}/$PIOLET_MPI" ] || skip "the benchmark preloads the tracer of build/mpich or build/openmpi"
command -v "mpicc.$PIOLET_MPI" >/dev/null || skip "mpicc.$PIOLET_MPI is not installed"
export COMMAND_TIMEOUT=180

expect_exit 0 limited "$SOURCE/bench/trace" --help
expect_exit 2 limited "$SOURCE/bench/trace" --nonsense
expect_exit 0 limited "$SOURCE/bench/trace" --mpi "$PIOLET_MPI" --build "${BINARY%/*}" --dir "$TMP" --rounds 1 --blocks 20 \
    --patterns nested,random --raw "$TMP/raw"
! grep -v '^# ' "$OUT" | grep -E '.{81}' >&2 || fail "a line of the table is wider than 80 columns"
awk -F '\t' -v bad=0 '
    $3 == "folded" && $8 / $5 > ($4 == "random" ? 20 : 1) { print; bad = 1 }
    END { exit bad || NR != 8 }' "$TMP/raw" >&2 || fail "too many bytes a call, or lines are missing: $(cat "$TMP/raw")"
