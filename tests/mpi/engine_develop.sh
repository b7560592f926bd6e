#!/usr/bin/env bash
# proves: GPFS-6
# PIOLET_DEVELOP=1: ranks that are in different collective calls get MPI_ERR_NOT_SAME with the names of both, and can go
# on; programs without fault run as before. Fails when such ranks hang, when one of them hears of nothing, when the
# words do not name both functions, or when the file cannot be used afterwards.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g)
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE/tests/mpi/engine_develop.c" -o "$TMP/engine_develop"

export MPIRUN_TIMEOUT=180
export PIOLET_DEVELOP=1
for hints in piolet_strategy=twophase piolet_strategy=independent "romio_cb_write=enable;romio_cb_read=disable"; do
    for case in right write_read all_at ordered_all read_write_at; do
        expect_exit 0 engine_run 3 "$TMP/engine_develop" "$TMP/file" "$case" "$hints"
        expect_in "$OUT" "3 ranks: $case is right"
    done
done
expect_exit 0 engine_run 1 "$TMP/engine_develop" "$TMP/file" right piolet_strategy=twophase
export PIOLET_DEVELOP=0
expect_exit 0 engine_run 2 "$TMP/engine_develop" "$TMP/file" right piolet_strategy=twophase
