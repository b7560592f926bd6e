#!/usr/bin/env bash
# proves: GPFS-4
# Guided prefetching, by the counters of the engine, for a file that is not in the system's memory. Fails when an
# irregular access asks for no or for more blocks than it touches, when a regular one or a file without the hint is
# guided, when more is released than was asked for, or when a byte is wrong.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_HINTS PIOLET_FAULTS

for ranks in 1 2 3; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_prefetch" "$TMP/file"
    expect_in "$OUT" "prefetch is right"
    cat "$OUT"
done

# All patterns of the fuzz with it: bytes stay what they are.
cd "$TMP"
seed=1
for strategy in independent shipping twophase; do
    export PIOLET_HINTS="piolet_strategy=$strategy piolet_access_ranges=3"
    for ranks in 1 3; do
        engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --seed "$seed" --cases 60
        seed=$((seed + 1))
    done
done
