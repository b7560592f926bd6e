#!/usr/bin/env bash
# A replay that was killed goes on with --resume where it stopped: by run, place, MPI-IO and repetition. Replay is a benchmark as
# all others: it is listed, described, and takes its options from a file and from the environment.
# proves: PHASE-10
# It would fail if a repetition were lost or measured twice, if one of an earlier run in the same file or an interrupted one counted, if
# a place that the killed run had not come to were forgotten, or if another model or pace went on with the results.
# processors: 2
# timeout: 180
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir one two
cp "$SOURCE/tests/golden/results-0.1.0/btio.model" app.model

expect_exit 0 "$PIOLET" bench
expect_in "$OUT" "  replay "
expect_exit 0 "$PIOLET" bench --json
jq -e '.[] | select(.name == "replay") | .classes == ["Replay"] and any(.options[]; .name == "mpiio" and (.choices | index("both")))' \
    "$OUT" >/dev/null || fail "replay is not described: $(jq -c '.[] | select(.name == "replay")' "$OUT")"

# whole FILE: configuration and repetition of all that were done to their end
whole() { expect_exit 0 "$PIOLET" analyze replay "$1" --json - && jq -r '.replays[] | "\(.configuration) \(.totals[].repetition)"' "$OUT" | sort; }

# A run that is over, and behind it in the same file one that is killed in its second repetition.
printf 'model app.model\non one\non two\nrepeat 3\npace short\ncache cold\n' >options
PIOLET_OPT_REPLAY_CACHE=cold expect_exit 0 "$PIOLET" replay app.model --on one -o k.out
"$PIOLET" replay --config options -o k.out >"$OUT" 2>"$ERR" &
job=$!
for ((tries = 0; tries < 3000; tries++)); do
    ! grep -q '^param repetition 2' k.out || break
    sleep 0.02
done
kill_ranks
! wait "$job" || fail "a killed run must not end well"
grep -q '^param repetition 2' k.out || fail "no second repetition: $(cat "$OUT" "$ERR")"
! grep -q '^input on two' k.out || [ "$(grep -c '^end-block' k.out)" -lt 3 ] || fail "the run was over before it was killed"
rm -rf one/piolet-replay.* two/piolet-replay.* # who is killed cannot remove it
expect_exit 0 "$PIOLET" replay --resume k.out
whole k.out >seen
printf '%s\n' "one, system, cold "{1,1,2,3} "two, system, cold "{1,2,3} | diff - seen >&2 || fail "not whole, or measured twice"
sets=$(grep -c '^end-set' k.out)
expect_exit 0 "$PIOLET" replay app.model --resume k.out
[ "$(grep -c '^end-set' k.out)" = "$sets" ] || fail "a run that is whole was measured again"
[ -z "$(ls -A one; ls -A two)" ] || fail "files are left: $(ls one two)"

# refused TEXT OPTION...: another run than that of the results
refused()
{
    local text=$1
    shift
    expect_exit 2 "$PIOLET" replay --resume k.out "$@"
    expect_in "$ERR" "$text"
}
sed '0,/size=17280/s//size=17240/; /^end-steps/s/[^ ]*$/-/' app.model >other.model
! cmp -s app.model other.model || fail "the model is the same"
refused "is not the model of the run to resume" other.model
refused "the run to resume has 'short'" --pace fast
refused "the run to resume has none" --limit 5
refused "the run to resume has none" --hints cb_nodes=1
[ "$(grep -c '^end-set' k.out)" = "$sets" ] || fail "what was refused was measured"

# Of two launches the second one is missing: it alone is started, and the results of another run stay as they are.
expect_exit 0 "$PIOLET" replay app.model --on one --mpiio both --pace fast -o both.out
awk '/^piolet-block/ { n++ } n < 2' both.out >half.out
expect_exit 0 "$PIOLET" replay --resume half.out
whole half.out >seen
printf '%s\n' "one, "{piolet,system}", fast pace 1" | diff - seen >&2 || fail "not one of each MPI-IO"
expect_exit 0 "$PIOLET" replay app.model --on one --mpiio both --pace fast -o both.out
[ "$(grep -c '^end-block' both.out)" = 4 ] || fail "a new run counted the one before it as its own"
