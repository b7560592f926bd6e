#!/usr/bin/env bash
# Models of programs that communicate as the originals do: the tables of the document come out, views that move keep every
# displacement, and what follows no rule is one phase.
# proves: PHASE-3 PHASE-4 PHASE-6 PHASE-7 PHASE-10
# It would fail if barriers around each request cut a phase, if the writes of BT-IO were one phase or its reads forty, if a
# number of a view or of a call in a loop were left out, or if a replay wrote elsewhere than the program.
# processors: 2
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
cp "$PROGRAMS/model_kinds" kinds

# trace_kind NAME FORM RANKS ARGUMENT...: the trace NAME, and its model NAME.model; the words are in $OUT
trace_kind()
{
    local name=$1 form=$2 ranks=$3
    shift 3
    # shellcheck disable=SC2086
    expect_exit 0 mpirun_n "$ranks" "$PIOLET" trace $form -o "$name" -- ./kinds "$@"
    expect_exit 0 "$PIOLET" model "$name" -o "$name.model"
    tr '\n' ' ' <"$OUT" >words
    "$PIOLET" model --check "$name.model" >"$OUT" 2>"$ERR" || fail "the model of $name is wrong: $(cat "$ERR")"
    # every access of the trace, and no other
    "$PIOLET" model --dump "$name" | awk 'NR > 1 && $6 != "-" { sub("MPI_File_", "", $3); print $1, $3, $4, $6 }' >dumped
    "$PIOLET" model --expand "$name.model" | awk 'NR > 1 && $6 != "-" { print $1, $3, $4, $6 }' >expanded
    cmp dumped expanded >"$OUT" 2>&1 || fail "trace and model of $name differ: $(diff dumped expanded | head -4)"
}

# ---- views that move ----

trace_kind views "" 2 views
while read -r line; do
    expect_in views.model "$line"
done <<'END'
with="disp={idP*2000+n*10000} etype_bytes=1
with="disp={idP*2000+270000+[0,-70000,-40000,40000,-20000,-50000,20000,-60000,60000,-30000,10000,-10000][n]} etype_bytes=4
with="disp={n/4*100000+n%4*10000+400000} etype_bytes=1
END
size_of_program=$(stat -c '%s %b' views.out)
trace_kind views.full --full 2 views
expect_exit 0 "$PIOLET" model --diff views.model views.full.model
mkdir target
expect_exit 0 "$PIOLET" replay views.model --on target --keep --pace fast -o replay.out
replayed=$(find target -name 'views.out*' -type f)
[ "$(stat -c '%s' "$replayed")" = "${size_of_program% *}" ] || fail "the replay left $(stat -c '%s %b' "$replayed"), the program $size_of_program"

# ---- Table VIII and Table XI ----

trace_kind madbench "" 4 madbench
expect_in words "5 phases: 1 × 8 independent sequential writes of"
while read -r line; do
    expect_in madbench.model "$line"
done <<'END'
phase 1 count=1 numbers=1 ranks=0-3 weight=259072
phase 2 count=1 numbers=2 ranks=0-3 weight=64768
phase 3 count=1 numbers=3 ranks=0-3 weight=388608
phase 4 count=1 numbers=4 ranks=0-3 weight=64768
phase 5 count=1 numbers=5 ranks=0-3 weight=259072
END
expect_exit 0 "$PIOLET" model --phases fine madbench -o fine.model
expect_in "$OUT" "32 phases"
expect_exit 0 "$PIOLET" replay madbench.model --on target --pace fast -o replay.out # its barriers are in their places
trace_kind madbench2 "" 4 madbench2
expect_in words "5 phases: 1 × 8 × (nonblocking independent sequential write, MPI_Wait)"
trace_kind btio "" 4 btio
expect_in words "41 phases: 40 × collective strided write of 2.5 KiB by each of 4 processes, 1 × 40 collective strided reads"

# ---- where much communication lies between ----

trace_kind far "" 4 halo 40
expect_in words "10 phases: 10 × collective strided write"
trace_kind near "" 2 halo 1
expect_in words "1 phase: 1 × 10 collective strided writes"
trace_kind border "" 2 halo 4 # on one rank more than on the other, and above the limit there alone
expect_in words "10 phases: 10 × collective strided write"

# ---- what follows no rule ----

trace_kind irregular "" 2 irregular 3000
expect_in words "3 phases: 1 × up to 3100 independent random writes of"
expect_in words "1 × 50 × (independent random write, independent random read)"
expect_in irregular.model "loop idP*100+3000"
expect_in irregular.model "loop idP+20"
calls=$(wc -l <expanded)
bytes=$(sed '/^observed/,$d' irregular.model | wc -c)
[ "$bytes" -le $((20 * calls)) ] || fail "the model has $bytes bytes for $calls calls"
trace_kind irregular.full --full 2 irregular 3000
expect_exit 0 "$PIOLET" model --diff irregular.model irregular.full.model
expect_exit 0 "$PIOLET" replay irregular.model --on target --pace fast -o replay.out
expect_exit 0 "$PIOLET" model --check irregular.model --plot irregular.svg

trace_kind files "" 2 files 500
expect_in words "1 phase: 1 × (500 open, "
calls=$(($(wc -l <expanded) + 2 * 1000)) # with opens and closes
bytes=$(sed '/^observed/,$d' files.model | wc -c)
[ "$bytes" -le $((20 * calls)) ] || fail "the model has $bytes bytes for $calls calls"
rm -f files0*.out

# ---- two programs that do the same ----

cp kinds other
expect_exit 0 mpirun_n 4 "$PIOLET" trace -o other.trace -- ./other btio
expect_exit 0 "$PIOLET" model other.trace -o other.model
expect_exit 0 "$PIOLET" model --diff btio.model other.model
expect_exit 1 "$PIOLET" model --diff --program btio.model other.model
expect_in "$OUT" "> program other"
