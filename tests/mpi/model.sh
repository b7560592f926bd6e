#!/usr/bin/env bash
# The model of a real program: its phases are the known ones, the same from a folded and a full trace and above our MPI-IO,
# and expanded they are every access of the trace.
# proves: PHASE-2 PHASE-3 PHASE-4 PHASE-5 PHASE-6 PHASE-7
# It would fail if a phase were missing or cut, if an offset or a size came out wrong, or if the way of tracing or the
# MPI-IO could be seen in the model.
# processors: 2
source "$(dirname "$0")/../lib.sh"

[ -f "$BINARY/lib/libpiolet-trace.so" ] || fail "libpiolet-trace.so is not built"
cd "$TMP"
cp "$PROGRAMS/model_app" app

expect_exit 0 mpirun_n 4 "$PIOLET" trace -o folded -- ./app
"$PIOLET" model folded >"$OUT" 2>"$ERR" || true
if grep -q "built without a reader of traces" "$ERR"; then
    skip "this tree has no reader of traces"
fi
expect_exit 0 "$PIOLET" model --phases fine folded -o app.model --plot app.svg
expect_in "$OUT" "29 phases"
grep -q '</svg>' app.svg || fail "no picture"

while read -r line; do
    expect_in app.model "$line"
done <<'END'
file 1 name="btio.out" type=shared processes=4 access=strided pointer=explicit calls=collective waits=blocking views=1
file 2 name="madbench.out" type=shared processes=4 access=sequential pointer=individual calls=independent
file 3 name="own.{idP:4}" type=unique processes=4
phase 1 count=20 numbers=1-20 ranks=0-3 weight=10240 access=strided
write_at_all file=1 size=2560 offset=n*64 etype=40 holes=yes
phase 2 count=1 numbers=21 ranks=0-3 weight=204800 access=strided
phase 3 count=1 numbers=22 ranks=0-3 weight=131072 access=sequential
write file=2 size=4096 offset=idP*32768+n*4096
phase 5 count=1 numbers=24 ranks=0-3 weight=196608 access=sequential
read file=2 size=4096 offset=idP*32768+8192+n*4096
phase 8 count=1 numbers=27 ranks=0 weight=16 access=sequential
write_at file=3 size=idP+100 offset=n*(idP+100)+16
file 4 name="some\x01.out" type=shared processes=4
write_all file=4 size={0:0;1-3:16} offset=0
END

# ---- every access of the trace, and no other ----

expect_exit 0 "$PIOLET" model --dump folded
awk '$6 != "-" && NR > 1 { sub("MPI_File_", "", $3); print $1, $3, $4, $6 }' "$OUT" >dumped
expect_exit 0 "$PIOLET" model --expand app.model
awk '$6 != "-" && NR > 1 { print $1, $3, $4, $6 }' "$OUT" >expanded
[ "$(wc -l <dumped)" -eq $((4 * (40 + 32 + 10 + 1) + 1)) ] || fail "$(wc -l <dumped) accesses in the trace"
diff dumped expanded >"$OUT" || fail "trace and model differ: $(head -5 "$OUT")"

# ---- other ways to the same model ----

expect_exit 0 "$PIOLET" model --check app.model
expect_exit 0 mpirun_n 4 "$PIOLET" trace --full --engine -o full -- ./app
expect_exit 0 "$PIOLET" model --phases fine full -o full.model
expect_exit 0 "$PIOLET" model --diff app.model full.model
