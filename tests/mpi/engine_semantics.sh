#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# What the standard says of file pointers, access modes, views, sizes, names and consistency. Fails when ordered data
# are not in rank order, when shared writes overlap or get lost, when a pointer is at the wrong place, when a size is
# changed that should not be, when neighbours' bytes are damaged by writes with gaps, or when an offset beyond 2 GiB
# leads elsewhere.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"


for ranks in 1 2 3 5; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_semantics" "$TMP/file"
    expect_in "$OUT" "$ranks ranks: engine_semantics is right"
done

# Two open files of different ranks, or a write under way beside a collective one: what goes into the gaps of another
# access stays.
expect_exit 0 engine_run 4 "$PROGRAMS/engine_semantics" "$TMP/file" beside
expect_in "$OUT" "4 ranks: beside is right"

# Ranks that cannot share memory: the shared pointer then lies in a window. MPICH's own transport (UCX) does not endure
# that here.
# shellcheck disable=SC2016 # the inner shell's
apart=(unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
if [ "$PIOLET_MPI" = openmpi ] && [ -z "${PIOLET_SANITIZE:-}" ] && "${apart[@]}" true 2>/dev/null; then
    expect_exit 0 engine_run 3 "${apart[@]}" "$PROGRAMS/engine_semantics" "$TMP/file"
    expect_in "$OUT" "3 ranks: engine_semantics is right"
else
    echo "not checked: ranks that cannot share memory (no namespaces here, or MPICH)"
fi
