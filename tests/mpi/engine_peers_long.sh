#!/usr/bin/env bash
# As engine_peers.sh: 10 000 files one after the other, 1 000 open at once.
# proves: GPFS-1
# It would fail if a file kept memory or descriptors after its close, or 1 MB while it is open.
# processors: 2
# timeout: 1800
# labels: long
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

ulimit -n 4096
mkdir "$TMP/files"
expect_exit 0 engine_run 2 "$PROGRAMS/engine_peers" "$TMP/files" 10000 1000
expect_in "$OUT" "2 ranks: engine_peers is right"
