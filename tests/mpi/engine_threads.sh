#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Several threads of each rank in MPI_THREAD_MULTIPLE: on one file with offsets, individual and shared pointer, on files
# of their own with collectives at the same time, beside messages, opening and closing. Fails when a byte is wrong, when
# records get lost, overlap or come twice, when a call fails, or when ranks wait for ever, also where the only thread
# inside of MPI went in before another one started the access.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g -pthread -Wno-stringop-overflow) # MPICH's MPI_STATUSES_IGNORE
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE/tests/mpi/engine_threads.c" -o "$TMP/engine_threads"
unset PIOLET_FAULTS PIOLET_THREADS

for ranks in 1 2 3; do
    expect_exit 0 engine_run "$ranks" "$TMP/engine_threads" "$TMP/file"
    ! grep -q "^not checked" "$OUT" || skip "$(cat "$OUT")"
    expect_in "$OUT" "$ranks ranks: engine_threads is right"
done
