#!/usr/bin/env bash
# proves: GPFS-5 COLL-5
# Every hint in force and where it comes from, as MPI_File_get_info tells. Fails when a hint is lost or comes from the
# wrong place, when a refused value is not told with what is allowed, when an unknown one disturbs, when hints that
# differ by rank make ranks hang or write wrong data, or when get_info does not say what is in force.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_HINTS ROMIO_HINTS

umask 022
for ranks in 1 2; do
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_hints" "$TMP/file.$ranks" plain
    expect_in "$OUT" "$ranks ranks: plain is right"
done

cat >"$TMP/hints" <<'END'
# a comment
cb_nodes 5
  cb_buffer_size	1m   # behind a value
romio_ds_read enable
no_such_hint 3
nonsense
END
ROMIO_HINTS=$TMP/hints PIOLET_HINTS="cb_buffer_size=2m romio_cb_write=disable no_such=1" \
    expect_exit 0 engine_run 2 "$PROGRAMS/engine_hints" "$TMP/file" environment
expect_in "$OUT" "2 ranks: environment is right"

for ranks in 2 4; do
    MPIRUN_TIMEOUT=180 expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_hints" "$TMP/ranks.$ranks" ranks
    expect_in "$OUT" "$ranks ranks: ranks is right"
done
