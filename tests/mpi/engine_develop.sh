#!/usr/bin/env bash
# proves: GPFS-6
# PIOLET_DEVELOP=1: ranks that are in different collective calls get MPI_ERR_NOT_SAME with the names of both, and can go
# on; programs without fault run as before. Fails when such ranks hang, when one of them hears of nothing, when the
# words do not name both functions, or when the file cannot be used afterwards.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"


export MPIRUN_TIMEOUT=180
export PIOLET_DEVELOP=1
for hints in piolet_strategy=twophase piolet_strategy=independent "romio_cb_write=enable;romio_cb_read=disable"; do
    for case in right write_read all_at ordered_all read_write_at; do
        expect_exit 0 engine_run 3 "$PROGRAMS/engine_develop" "$TMP/file" "$case" "$hints"
        expect_in "$OUT" "3 ranks: $case is right"
    done
done
expect_exit 0 engine_run 1 "$PROGRAMS/engine_develop" "$TMP/file" right piolet_strategy=twophase
export PIOLET_DEVELOP=0
expect_exit 0 engine_run 2 "$PROGRAMS/engine_develop" "$TMP/file" right piolet_strategy=twophase
