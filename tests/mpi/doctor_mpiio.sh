#!/usr/bin/env bash
# The rules of doctor --mpiio on our MPI-IO, and rules that hang or crash.
# proves: GPFS-1 COLL-2 COLL-8
# It would fail if our MPI-IO broke a rule of the standard that the suite knows, or if a rule that hangs or crashes kept
# the others from being tried, or left processes or files behind.
# processors: 2
# timeout: 400
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
[ -f "$BINARY/lib/libpiolet-mpiio.so" ] || skip "the engine is not built"
cd "$TMP"

# ---- our MPI-IO keeps all rules ----

expect_exit 0 "$PIOLET" doctor --mpiio --list --json
all=$(jq length "$OUT")
for ranks in 1 2 4; do
    expect_exit 0 "$PIOLET" doctor --mpiio --engine --json -n "$ranks"
    jq -e --argjson all "$all" --argjson ranks "$ranks" '(.mpiio | startswith("piolet ")) and .ranks == $ranks and
        .kept + .skipped == $all and .broken + .hangs + .crashes == 0 and ($ranks == 1 or .skipped == 0)' "$OUT" >/dev/null ||
        fail "$ranks ranks: $(jq -c '.rules[] | select(.outcome != "kept")' "$OUT")"
done
expect_exit 0 mpirun_n 3 "$PIOLET" doctor --mpiio --engine
expect_in "$OUT" "MPI-IO     piolet "
expect_in "$OUT" "$all rules kept, 0 broken"

# Whatever strategy is forced: the rows come from the engine itself.
expect_exit 0 "$PIOLET" strategies --json
mapfile -t names < <(jq -r '.[].name' "$OUT")
[ "${#names[@]}" -gt 5 ] || fail "only ${#names[@]} strategies: ${names[*]}"
for ((i = 0; i < ${#names[@]}; i++)); do
    name=${names[i]}
    is_mine $i || continue
    PIOLET_HINTS=piolet_strategy=$name expect_exit 0 "$PIOLET" doctor --mpiio --engine --json -n 3
    jq -e --argjson all "$all" '.kept == $all' "$OUT" >/dev/null ||
        fail "strategy $name: $(jq -c '.rules[] | select(.outcome != "kept")' "$OUT")"
done

# The MPI's own is what it is, but all rules are tried.
status=0
limited "$PIOLET" doctor --mpiio --json -n 2 --limit 5 >"$OUT" 2>"$ERR" || status=$?
[ "$status" -le 1 ] || fail "the MPI's own: exit status $status: $(cat "$ERR")"
[ "$(jq '.rules | length' "$OUT")" = "$all" ] || fail "only $(jq '.rules | length' "$OUT") of $all rules were tried"
[ "$(jq '.broken + .hangs + .crashes > 0' "$OUT")" = "$([ "$status" = 1 ] && echo true || echo false)" ] ||
    fail "the exit status $status is not what was found"

# ---- hanging and crashing ----

# That the others are kept was seen above, with time enough: on a busy machine one may need more than these two seconds.
PIOLET_DOCTOR_TEST=hang expect_exit 1 "$PIOLET" doctor --mpiio --engine -n 2 --limit 2 --json
expect_in "$OUT" "not done after 2 s"
jq -e --argjson all "$all" '.rules[0].name == "hang" and .rules[0].outcome == "hangs" and
    (.rules | length) == $all + 1 and .broken + .crashes == 0' "$OUT" >/dev/null || fail "a hang: $(cat "$OUT" "$ERR")"
PIOLET_DOCTOR_TEST=crash expect_exit 1 "$PIOLET" doctor --mpiio --engine -n 2 --json
jq -e --argjson all "$all" '.kept == $all and .crashes == 1 and .rules[0].name == "crash" and
    .rules[0].outcome == "crashes"' "$OUT" >/dev/null || fail "a crash: $(cat "$OUT" "$ERR")"
PIOLET_DOCTOR_TEST=hang expect_exit 1 "$PIOLET" doctor --mpiio -n 2 --limit 1 --rule hang
expect_in "$OUT" "0 rules kept, 0 broken, 1 hangs"

# An interrupt ends the job, too.
PIOLET_DOCTOR_TEST=hang "$PIOLET" doctor --mpiio -n 2 --dir "$TMP" >"$OUT" 2>"$ERR" &
doctor=$!
for _ in {1..100}; do
    grep -qs '^begin' "$TMP"/piolet-doctor.*/.progress && break
    sleep 0.1
done
kill -TERM "$doctor"
status=0
wait "$doctor" || status=$?
[ "$status" = 143 ] || fail "exit status $status after an interrupt: $(cat "$ERR")"

sleep 1
for process in /proc/[0-9]*; do
    # A rank of ours has our directory on its command line.
    words=()
    { mapfile -d '' -t words <"$process/cmdline"; } 2>/dev/null || continue
    [[ ${words[*]} != *"$TMP/piolet-doctor"* ]] || fail "still running: ${process##*/}: ${words[*]}"
done
[ -z "$(ls "$TMP")" ] || fail "left behind: $(ls "$TMP")"
