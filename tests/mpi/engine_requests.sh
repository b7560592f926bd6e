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


for ranks in 1 2 3; do
    unset PIOLET_FAULTS
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_requests" "$TMP/file"
    expect_in "$OUT" "$ranks ranks: engine_requests is right"
    export PIOLET_FAULTS="pwrite:*=ENOSPC"
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_requests" "$TMP/file" faults
    expect_in "$OUT" "$ranks ranks: engine_requests is right"
done
