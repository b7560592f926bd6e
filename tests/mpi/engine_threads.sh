#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Several threads of each rank in MPI_THREAD_MULTIPLE: on one file with offsets, individual and shared pointer, on files
# of their own with collectives at the same time, beside messages, opening and closing. Fails when a byte is wrong, when
# records get lost, overlap or come twice, when a call fails, or when ranks wait for ever, also where the only thread
# inside of MPI went in before another one started the access.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_FAULTS PIOLET_THREADS

for ranks in 1 2 3; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_threads" "$TMP/file"
    ! grep -q "^not checked" "$OUT" || skip "$(cat "$OUT")"
    expect_in "$OUT" "$ranks ranks: engine_threads is right"
done
