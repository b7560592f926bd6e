#!/usr/bin/env bash
# A program that loads the MPI with a module, out of sight of other libraries (Python with mpi4py on MPICH), runs on the
# engine and under the tracer.
# proves: GPFS-1
# It would fail if the preloaded libraries looked for the MPI's functions among the program's own libraries only.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

[ -z "${PIOLET_SANITIZE:-}" ] || skip "the sanitizers' libraries must be linked with the program"
status=0
mpirun_n 2 "$PROGRAMS/engine_apart" "$PROGRAMS/libapart.so" "$TMP/file" >"$OUT" 2>"$ERR" || status=$?
[ "$status" = 0 ] || skip "this MPI cannot be loaded so: $(head -n 1 "$ERR")"

expect_exit 0 engine_run 2 "$PROGRAMS/engine_apart" "$PROGRAMS/libapart.so" "$TMP/file"
[ "$(grep -c '^right by piolet$' "$OUT")" = 2 ] || fail "not on the engine: $(cat "$OUT")"
[ "$(tr '\0' ' ' <"$TMP/file")" = "apart   apart   " ] || fail "the file: $(od -c "$TMP/file")"

# shellcheck disable=SC2034 # for engine_run
ENGINE=$BINARY/lib/libpiolet-trace.so
PIOLET_TRACE_DIR=$TMP/trace expect_exit 0 engine_run 2 "$PROGRAMS/engine_apart" "$PROGRAMS/libapart.so" "$TMP/file"
[ "$(grep -c '^right by the MPI$' "$OUT")" = 2 ] || fail "under the tracer: $(cat "$OUT" "$ERR")"
expect_exit 0 "$PIOLET" model -o "$TMP/model" "$TMP/trace"
