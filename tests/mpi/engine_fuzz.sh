#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Random views, memory types, hints and calls through the engine, against a model of the file that keeps every byte. Fails
# when a byte of the file or of memory is wrong, a count, a position or a size is not what the standard says, a call
# returns an error, or nothing happens for a minute. The message says how to repeat the case.
# processors: 2
# labels: asan
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

cd "$TMP" # Open MPI's jobs disturb each other when their files have the same name: the number tells them apart

# Ranks and cases: many where they are cheap. ENGINE_FUZZ_SCALE multiplies the cases, ENGINE_FUZZ_SEED changes them.
scale=${ENGINE_FUZZ_SCALE:-1} seed=${ENGINE_FUZZ_SEED:-1}
fraction=1
[ -z "${PIOLET_SANITIZE:-}" ] || fraction=5 # ten times as slow, and looks at memory, not at all cases
while read -r ranks cases; do
    cases=$((cases * scale / fraction))
    engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --seed "$seed" --cases "$cases"
    expect_in "$OUT" "seed $seed: $cases cases on $ranks ranks are right"
    seed=$((seed + 1))
done <<'END'
1 800
2 800
3 500
5 200
8 100
16 30
END
[ -z "$(ls -- fuzz.* 2>/dev/null)" ] || fail "files are left: $(ls -- fuzz.*)"
