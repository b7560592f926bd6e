#!/usr/bin/env bash
# What the ranks of a communicator know of each other, and the memory they share, is kept between files: communicators that
# are freed while files are open, duplicates, many files at once, thousands one after the other, threads.
# proves: GPFS-1
# It would fail if two files used the same memory at once, if ranks took different memory for one file, if something of one
# file were seen in the next, if a file kept memory or descriptors after its close, or 1 MB while it is open.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

opens=3000 many=200
[ -z "${PIOLET_SANITIZE:-}" ] || opens=300 many=20
mkdir "$TMP/files"
for ranks in 1 2 5; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_peers" "$TMP/files" "$opens" "$many"
    expect_in "$OUT" "$ranks ranks: engine_peers is right"
    opens=300 many=20
done
expect_exit 0 engine_run 2 "$PROGRAMS/engine_peers" "$TMP/files" 300 20 threads
expect_in "$OUT" "2 ranks: engine_peers is right"
