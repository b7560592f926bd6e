#!/usr/bin/env bash
# kill -9 in the middle of a run: what was finished stays valid, and the next run goes on behind it.
# proves: IOT-6
# It would fail if blocks or sets that were complete could no longer be read, if the broken end came without a warning, or
# if the next run's block were lost in it.
# serial
# timeout: 180
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

# keywords FILE MB BLOCK
keywords()
{
    printf 'class Lowlevel\ntestname multiple\nfilename %s\nnumruns %d\n' "$1" "$2"
    printf 'filesize %s\nblocksize %s\ncollective false\n' "$3" "$4"
}

# kill_when CONDITION: starts the long run, waits until the condition holds, kills all of its ranks
kill_when()
{
    local tries job
    mpirun_n 2 "$PIOLET" run -o results long.in >"$OUT" 2>"$ERR" &
    job=$!
    for ((tries = 0; tries < 3000; tries++)); do
        ! "$1" || break
        sleep 0.02
    done
    "$1" || fail "the run did not come so far: $(cat "$OUT" "$ERR")"
    kill_ranks
    ! wait "$job" || fail "a killed run must not end well"
}

in_second_set() { [ "$(grep -c '^end-set' results 2>/dev/null)" -ge 3 ] && [ -s long.dat ]; }
in_head() { [ "$(grep -c '^piolet-block' results 2>/dev/null)" -ge 4 ]; }

export_json()
{
    expect_exit 0 "$PIOLET" analyze export --format json results
    expect_in "$ERR" "warning: results:"
    jq -c '[.blocks[] | [.complete, (.sets | length)]]' "$OUT" >shape
}

# A whole block of two sets; then a block that is killed within its second set.
keywords short.dat 2 "1 1" "0.1 0.2" >short.in
keywords long.dat 2 "1 2000" "0.1 0.000008" >long.in
expect_exit 0 mpirun_n 2 "$PIOLET" run -o results short.in
cp results before
kill_when in_second_set
cmp -n "$(stat -c %s before)" before results >&2 || fail "the killed run changed an earlier block"
export_json
[ "$(cat shape)" = '[[true,2],[false,1]]' ] || fail "blocks after the kill: $(cat shape)"

# Behind it a whole block again, and once more a killed one.
cp results before
expect_exit 0 mpirun_n 2 "$PIOLET" run -o results short.in
cmp -n "$(stat -c %s before)" before results >&2 || fail "the next run changed an earlier block"
export_json
[ "$(cat shape)" = '[[true,2],[false,1],[true,2]]' ] || fail "blocks after the next run: $(cat shape)"
kill_when in_head
expect_exit 0 mpirun_n 2 "$PIOLET" run -o results short.in
export_json
[ "$(jq -c '[.[] | select(.[0])]' shape)" = '[[true,2],[true,2],[true,2]]' ] || fail "blocks at the end: $(cat shape)"

# Cut anywhere near its end, a file still gives all blocks before.
size=$(stat -c %s before)
for cut in 1 2 7 100 1000; do
    head -c $((size - cut)) before >shorter
    expect_exit 0 mpirun_n 1 "$PIOLET" run -o shorter --set numruns=1 short.in
    expect_exit 0 "$PIOLET" analyze export --format json shorter
    [ "$(jq -c '[.blocks[0], .blocks[-1] | [.complete, (.sets | length)]]' "$OUT")" = '[[true,2],[true,1]]' ] ||
        fail "cut by $cut bytes: $(jq -c '[.blocks[] | [.complete, (.sets | length)]]' "$OUT")"
done
