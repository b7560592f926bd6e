#!/usr/bin/env bash
# proves: COLL-2 GPFS-1 GPFS-2 GPFS-6
# The ring across nodes, on one host that is cut into nodes of one or two ranks (PIOLET_NODE_RANKS). Fails when a byte is
# wrong, on a hang, when more than a tenth on top of the data that must move goes between nodes, or when a pair of nodes
# exchanges more than one message for a block.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

cd "$TMP" || exit
unset PIOLET_FAULTS PIOLET_HINTS
export OMPI_MCA_osc=pt2pt # Open MPI's windows of two groups on one host disturb each other

seed=${ENGINE_FUZZ_SEED:-300}
while read -r ranks node_ranks cases; do
    cases=$((cases * ${ENGINE_FUZZ_SCALE:-1}))
    export PIOLET_NODE_RANKS=$node_ranks
    engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --strategy ring --seed "$seed" --cases "$cases"
    expect_in "$OUT" "seed $seed: $cases cases on $ranks ranks are right"
    seed=$((seed + 1))
done <<'END'
2 1 80
3 1 40
3 2 40
5 2 30
8 3 15
8 1 10
END

# Four ranks on two nodes, one block: what the second node has goes to the first, in one message.
export PIOLET_NODE_RANKS=2
export ENGINE_BEHIND=$PROGRAMS/libcount.so
expect_exit 0 engine_run 4 "$PROGRAMS/engine_strategies" "$TMP/file.$$" ring
expect_in "$OUT" "4 ranks: engine_strategies is right"
read -r data messages sent < <(sed -n "s/^cyclic: \([0-9]*\) bytes of data, .* \([0-9]*\) messages of \([0-9]*\) bytes.*/\1 \2 \3/p" "$OUT")
[ "$sent" -ge $((data / 2)) ] || fail "$sent bytes were sent, but half of $data must be"
[ "$sent" -le $((data / 2 + data / 20)) ] || fail "$sent bytes were sent; more than a tenth on top of $((data / 2))"
[ "$messages" -eq 1 ] || fail "$messages messages for one block of two nodes"
