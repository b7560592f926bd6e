#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Atomic mode. Fails when a region that all ranks write at once ends up with bytes of several, when gaps of such a write
# change, when a read sees half a write, when a rank reads after a barrier what was there before another one's write, or
# when the mode is not what was set. First the checker itself is tried with made-up mixtures.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_FAULTS

expect_exit 0 engine_run 1 "$PROGRAMS/engine_atomic" --check
expect_in "$OUT" "1 ranks: the checker is right"
for ranks in 1 2 3 5; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_atomic" "$TMP/file"
    expect_in "$OUT" "$ranks ranks: engine_atomic is right"
done
