#!/usr/bin/env bash
# proves: GPFS-6
# PIOLET_DEVELOP=1: where one rank gives wrong arguments to a collective call (count, datatype, buffer, offset, handle,
# mode), every rank gets an error in that call, with the class of the mistake, also on the direct path, and the file can
# be used afterwards. Fails when a rank hangs, hears of nothing, or gets another class; and when the mode is set for one
# rank only and the others hang.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"


export MPIRUN_TIMEOUT=180 PIOLET_DEVELOP=1
for hints in piolet_strategy=independent romio_cb_write=automatic; do
    expect_exit 0 engine_run 3 "$PROGRAMS/engine_develop_arguments" "$TMP/file" "$hints"
    expect_in "$OUT" "3 ranks: every mistake is right"
done
expect_exit 0 engine_run 2 "$PROGRAMS/engine_develop_arguments" "$TMP/file" piolet_strategy=twophase

# One rank's environment is enough, and no rank waits for one that does not take part.
unset PIOLET_DEVELOP
cat >"$TMP/one" <<'END'
#!/bin/sh
[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-}}" = 1 ] && export PIOLET_DEVELOP=1
exec "$@"
END
chmod +x "$TMP/one"
expect_exit 0 engine_run 3 "$TMP/one" "$PROGRAMS/engine_develop_arguments" "$TMP/file" piolet_strategy=independent
