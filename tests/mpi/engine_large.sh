#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Requests above 2 GiB in one call, alone and together, with memory in one piece and in pieces, in a sparse file beyond
# byte 2^40. Fails when a count or an offset does not fit its type: bytes at the wrong place or missing, a status that
# does not count all of them.
# labels: long
# serial
# timeout: 1200
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

memory_kib=$(awk '$1 == "MemAvailable:" {print $2}' /proc/meminfo)
[ "${memory_kib:-0}" -gt $((6 * 1024 * 1024)) ] || skip "needs 6 GiB of memory; there are $((memory_kib / 1024)) MiB"
disk_kib=$(df -Pk "$TMP" | awk 'NR == 2 {print $4}')
[ "$disk_kib" -gt $((5 * 1024 * 1024)) ] || skip "needs 5 GiB in $TMP; there are $((disk_kib / 1024)) MiB"
truncate -s 1100000000000 "$TMP/file" 2>/dev/null || skip "the file system of $TMP has no files beyond byte 2^40"
rm "$TMP/file"

unset PIOLET_FAULTS
export MPIRUN_TIMEOUT=900
expect_exit 0 engine_run 2 "$PROGRAMS/engine_large" "$TMP/file"
expect_in "$OUT" "2 ranks: engine_large is right"
