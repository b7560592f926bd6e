#!/usr/bin/env bash
# proves: GPFS-1 GPFS-6 COLL-8
# Accesses of files between messages and collectives of MPI, completed in another order on every rank. Fails when ranks
# wait for each other for ever in a program that the standard allows (one completes a collective access before it sends
# what the other, which has started its part too, receives first), when a byte of a file or of memory is wrong, when a
# status does not count it, or when a call fails. The message says how to repeat the case.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_FAULTS

for ranks in 2 3; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_mix_scenes" "$TMP/scene"
    expect_in "$OUT" "$ranks ranks: engine_mix_scenes is right"
done

# ENGINE_MIX_SCALE multiplies the cases, ENGINE_MIX_SEED changes them.
scale=${ENGINE_MIX_SCALE:-1} seed=${ENGINE_MIX_SEED:-1}
while read -r ranks cases; do
    expect_exit 0 engine_run "$ranks" "$MIX" "$TMP/mix.$$" --seed "$seed" --cases $((cases * scale))
    expect_in "$OUT" "seed $seed: $((cases * scale)) cases on $ranks ranks are right"
    seed=$((seed + 1))
done <<'LIST'
1 20
2 120
3 40
4 20
5 15
8 6
LIST
[ -z "$(ls -- "$TMP"/mix.* 2>/dev/null)" ] || fail "files are left: $(ls -- "$TMP"/mix.*)"
