#!/usr/bin/env bash
# The full trace of a known program is what the program did, on 1, 2 and 4 ranks: each call once, with its place and bytes.
# proves: GPFS-7
# It would fail if a call were missing or told other numbers, if what the MPI-IO calls inside of itself were logged, if
# tracing changed a count, a file pointer or an error handler, or if a killed program left a trace nobody can read.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"

compiler=mpicc.$PIOLET_MPI # tells what the header declares
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
library=$BINARY/lib/libpiolet-trace.so
[ -f "$library" ] || fail "$library is not built"
cd "$TMP"
cp "$PROGRAMS/trace_calls" "$PROGRAMS/trace_verify" .

# verified DIR RANK: "whole CALLS" or "killed CALLS", after a look at counts and hashes
verified() { ./trace_verify "$1/trace.$2" || fail "$1/trace.$2 is damaged"; }

# seen DIR RANK: function position offset byte asked done failed
seen() { awk '$1 == "call" { print $3, $8, $9, $10, $13, $14, ($17 != 0) }' "$1/trace.$2"; }

# ---- every function of the header is wrapped, under both names, but for the conversions of handles ----

echo '#include <mpi.h>' >header.c
"$compiler" -E header.c | grep -oE '\bMPI_File_[a-zA-Z0-9_]+[[:space:]]*\(' | tr -d ' \t(' | grep -vE '_(function|fn|c2f|f2c)$' | sort -u >declared
[ "$(wc -l <declared)" -ge 50 ] || fail "the header declares too few functions: is the list right?"
sed 's/^/P/' declared | sort -u - declared >both
nm -D --defined-only "$library" | awk '{ print $NF }' | sort -u >exported
[ -z "$(comm -23 both exported)" ] || fail "not wrapped: $(comm -23 both exported | xargs)"

# ---- every kind of call ----

# Open MPI's jobs on one node disturb each other when their files have the same last part of the name: hence the $$.
for ranks in 1 2 4; do
    expect_exit 0 "$PIOLET" trace --full -n "$ranks" -o "calls $ranks" -- ./trace_calls calls "data $ranks $$" "expected.$ranks"
    [ "$(echo "calls $ranks"/*)" = "$(for ((r = 0; r < ranks; r++)); do echo "calls $ranks/trace.$r"; done | xargs -d '\n')" ] ||
        fail "not a file for each rank: $(ls "calls $ranks")"
    for ((rank = 0; rank < ranks; rank++)); do
        seen "calls $ranks" "$rank" | diff - "expected.$ranks.$rank" >&2 || fail "rank $rank of $ranks: not the calls that it made"
        [ "$(verified "calls $ranks" "$rank")" = "whole $(wc -l <"expected.$ranks.$rank")" ] || fail "rank $rank of $ranks: not whole"
        expect_in "calls $ranks/trace.$rank" "rank $rank"
        expect_in "calls $ranks/trace.$rank" "size $ranks"
        expect_in "calls $ranks/trace.$rank" "mpi $PIOLET_MPI "
        expect_in "calls $ranks/trace.$rank" "mpiio system"
    done
done
[ "$(head -n 1 "calls 4/trace.2")" = "piolet-trace 3" ] || fail "first line: $(head -n 1 "calls 4/trace.2")"

trace="calls 4/trace.1"
grep -qE "^call 0 MPI_File_open 1 open - - - -1 .* 0 name=\"data 4 $$\" amode=[0-9]+ ranks=4 hint.cb_nodes=\"1\" " "$trace" ||
    fail "open: $(grep -m 1 File_open "$trace")"
expect_in "$trace" ' hint.odd\x20key\x3d\x221\x22="a \x22b\x22\\c"' # quotes and blanks do not break a line
expect_in "$trace" ' disp=32 etype_bytes=4 filetype_bytes=16 filetype_extent=64 datarep="native"'
expect_in "$trace" ' offset=5 whence="set"'
expect_in "$trace" ' size=600'
expect_in "$trace" 'name="/nowhere/at all"'
grep -E '^call [0-9]+ MPI_File_write_all 1 write coll block individual 8 ' "$trace" >/dev/null || fail "no second write_all"
# Times follow each other, and code and class of an error are told.
awk '$1 == "call" && ($15 < last || $16 < $15) { exit 1 } $1 == "call" { last = $15 }' "$trace" || fail "times go backward"
grep -E '^call [0-9]+ MPI_File_read 2 read ind block individual 0 0 1 -1 -1 -1 [0-9]+ [0-9]+ [1-9][0-9]* error_class=3$' "$trace" \
    >/dev/null || fail "a bad datatype: $(grep 'MPI_File_read 2' "$trace")" # MPI_ERR_TYPE

# ---- without a directory it only passes on; with a bad one it says so, and the program runs ----

preload=$library
[[ ${PIOLET_SANITIZE:-} != *address* ]] || preload=$(gcc -print-file-name=libasan.so):$library
expect_exit 0 env LD_PRELOAD="$preload" ./trace_calls calls "data 0 $$" expected.0
expect_exit 0 env PIOLET_TRACE_DIR=/nowhere/x LD_PRELOAD="$preload" ./trace_calls calls "data 0 $$" expected.0
expect_in "$ERR" "piolet-trace: '/nowhere/x/trace.0': No such file or directory"
[ "$(grep -c piolet-trace "$ERR")" = 1 ] || fail "more than one message: $(cat "$ERR")"
expect_exit 0 env PIOLET_TRACE_FULL=1 PIOLET_TRACE_DIR="calls 1" LD_PRELOAD="$preload" ./trace_calls calls "data 0 $$" expected.0
expect_in "$ERR" "File exists"
seen "calls 1" 0 | cmp - expected.1.0 >&2 || fail "the trace of an earlier run was touched"

# ---- threads ----

expect_exit 0 "$PIOLET" trace --full -o threads -- ./trace_calls threads "threads $$" expected.t
[ "$(verified threads 0)" = "whole 2002" ] || fail "threads: $(verified threads 0)"
[ "$(seen threads 0 | sort | uniq -c | grep -c '^ *4 MPI_File_write_at explicit ')" = 500 ] || fail "threads: calls are missing"

# ---- ends that nobody wished for ----

ended() # MODE CALLS: runs it on 2 ranks, whatever its exit status
{
    local rank status=0
    timeout 60 "$PIOLET" trace --full -n 2 -o "$1" -- ./trace_calls "$1" "$1 $$" expected.e >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "$1: exit status $status"
    for rank in 0 1; do
        verified "$1" $rank >"$TMP/state"
        [ "$(cut -d' ' -f2 "$TMP/state")" -ge "$2" ] || fail "$1: rank $rank has lost calls: $(cat "$TMP/state")"
    done
}
ended kill 102
grep -q killed "$TMP/state" || fail "a killed program has a whole trace"
ended exit 0 # the other rank may be killed before it has written anything
grep -q '^end-trace 102$' exit/trace.? || fail "exit() did not end the trace"
ended abort 0
grep -q '^end-trace 102$' abort/trace.? || fail "MPI_Abort did not end the trace"
