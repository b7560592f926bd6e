#!/usr/bin/env bash
# proves: GPFS-1 GPFS-6 COLL-8
# Requests and split collectives by the standard. Fails when a status counts wrongly, when a cancelled or freed request
# does not go on to its end, when null, inactive and persistent requests beside ours are not left as they should be,
# when a datatype that the program has freed is still needed, when 20 000 requests take more than 100 MB, when a second
# begin or an end without begin is taken, or when a failed request is told wrongly: by the call that completes it, in
# its status, to the file's error handler, and, where it was freed, by the next call in which the ranks meet.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g -Wno-stringop-overflow) # MPICH's MPI_STATUSES_IGNORE looks small
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE/tests/mpi/engine_requests.c" -o "$TMP/engine_requests"

for ranks in 1 2 3; do
    unset PIOLET_FAULTS
    expect_exit 0 engine_run "$ranks" "$TMP/engine_requests" "$TMP/file"
    expect_in "$OUT" "$ranks ranks: engine_requests is right"
    export PIOLET_FAULTS="pwrite:*=ENOSPC"
    expect_exit 0 engine_run "$ranks" "$TMP/engine_requests" "$TMP/file" faults
    expect_in "$OUT" "$ranks ranks: engine_requests is right"
done
