#!/usr/bin/env bash
# proves: GPFS-1 GPFS-5
# With the hint piolet_impl=system (in the program's info, or in PIOLET_HINTS) a file is served by the MPI's own I/O,
# while another file of the same program is the engine's. Fails when the wrong one serves a file, when data are wrong,
# or when an error handler is not called, or called with a handle that the program does not know.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"


for ranks in 1 3; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_system" "$TMP/file.$ranks" hint
    expect_in "$OUT" "$ranks ranks: engine_system is right"
    PIOLET_HINTS=piolet_impl=system expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_system" "$TMP/file.$ranks" environment
    expect_in "$OUT" "$ranks ranks: engine_system is right"
done
