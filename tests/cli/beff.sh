#!/usr/bin/env bash
# piolet beff and piolet analyze beff from the command line: wrong use, the plan, all outputs of a run.
# proves: BEFF-1 BEFF-2 BEFF-4 BEFF-5 BEFF-7
# It would fail if a wrong option were run, if --dry-run wrote a file, if b_eff in the summary were not what a reader
# gets from the block file by the document's formula alone, if a run that was cut short lost what it had measured, or
# if text, JSON and CSV disagreed.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

# ---- wrong use ----

while read -r words arguments; do
    # shellcheck disable=SC2086  # several arguments
    expect_exit 2 "$PIOLET" beff $arguments
    expect_in "$ERR" "${words//_/ }"
    [ ! -s "$OUT" ] || fail "$arguments: something on stdout"
done <<'END'
measures_messages_between_processes -n 1
measures_messages_between_processes
'0'_is_not_a_number_of_ranks -n 0
--memory_'512k':_allowed: --memory 512k
--memory_'much':_allowed: --memory much
--patterns_'0':_allowed:_1_to_10000 --patterns 0
--seed_'-1':_allowed: --seed -1
--time_'soon':_allowed: --time soon
--time_'0.5':_allowed: --time 0.5
--rmax_'0':_allowed: --rmax 0
--plot_'a.gif':_allowed: --plot a.gif
--json:_'beff.out'_is_where_the_results_go --json beff.out
--csv:_'x'_is_named_for_two_outputs --json x --csv x
--json:_'/nowhere/x'_cannot_be_made:_No_such_file --json /nowhere/x
--plot:_'/nowhere/x.svg'_cannot_be_made:_No_such_file --plot /nowhere/x.svg
--csv:_'/'_is_a_directory --csv /
--progress:_'loud';_allowed:_auto --progress loud
beff_takes_no_operands file
END
[ -z "$(ls)" ] || fail "files were made: $(ls)"

# ---- the plan ----

expect_exit 0 "$PIOLET" beff --dry-run -n 28 --memory 128m --patterns 5 -o other.out
expect_in "$OUT" "Plan for 28 ranks"
for shape in "14 x 2" "7 x 4" "1 x 10 + 2 x 9" "2 x 14" "1 x 28" "7 x 4" "7 x 2 x 2"; do
    expect_in "$OUT" "$shape"
done
expect_in "$OUT" "512 kB, 1 MB" # a = 2
expect_in "$OUT" "22 patterns of 21 lengths"
expect_in "$OUT" "appended to 'other.out'"
[ -z "$(ls)" ] || fail "the plan made files: $(ls)"

# ---- a run ----

expect_exit 0 "$PIOLET" beff -n 2 --quick --time 10m --memory 4m --patterns 2 --seed 11 --rmax 2.5 -o r.out --json r.json --csv r.csv --plot r.svg
cp "$OUT" text
[ ! -s "$ERR" ] || fail "words on stderr: $(cat "$ERR")"
for words in "2 processes on 1 host, all on one host" "seed 11" "balance factor" "is communicated in" "By method" \
    "By message length" "By pattern" "not standard: 2 random patterns" "results: r.out"; do
    expect_in text "$words"
done
awk 'length($0) > 80 && !/warning/ { print; bad = 1 } END { exit bad }' text >&2 || fail "lines longer than 80 columns"
grep -q '</svg>' r.svg || fail "no plot"

# b_eff by the document's formula, from what the file holds of each set.
cat >formula.jq <<'JQ'
def logavg: (map(log) | add) / length | exp;
[.blocks[0].sets[] | . as $s | .params as $p | {pattern: $p.pattern, length: ($p.length_bytes | tonumber),
    b: [.series[] | ($p[.key + "_loops"] | tonumber) as $loops | .values[] |
        ($p.length_bytes | tonumber) * ($p.messages | tonumber) * $loops / . * 1e9] | max}] as $all
| ($all | group_by(.pattern) | map({pattern: .[0].pattern, n: length, mean: ((map(.b) | add) / 21)})) as $means
| if ($means | all(.n == 21)) then . else error("not 21 lengths") end
| [[$means[] | select(.pattern | startswith("ring-")) | .mean], [$means[] | select(.pattern | startswith("random-")) | .mean]]
| if map(length) == [6, 2] then map(logavg) | logavg else error("patterns") end
JQ
by_hand=$(jq -f formula.jq r.json)
expect_exit 0 "$PIOLET" analyze beff r.out --json a.json --csv a.csv
diff <(grep -v '^results:' text) "$OUT" >&2 || fail "a run prints other tables than the analysis of its file"
jq -e --argjson b "$by_hand" '.runs[0].b_eff / $b - 1 | fabs < 1e-9' a.json >/dev/null ||
    fail "b_eff $(jq '.runs[0].b_eff' a.json), by hand $by_hand"
jq -e '.runs[0] | .balance_bytes_per_flop * 2.5e9 / .b_eff - 1 | fabs < 1e-9' a.json >/dev/null || fail "balance factor"
jq -e '.runs[0] | .memory_bytes == 2 * 4194304 and (.memory_communicated_in_s * .b_eff / .memory_bytes - 1 | fabs < 1e-9)' a.json \
    >/dev/null || fail "memory"
summary=$(jq -r '.runs[0] | .b_eff / 1048576' a.json)
awk -v b="$summary" '$1 == 1 && $2 == 2 { d = $3 / b - 1; found = d < 1e-3 && d > -1e-3 } END { exit !found }' text ||
    fail "the summary row tells another b_eff than $summary MByte/s"
# 16 fixed patterns of 2 processes (a prime: one direction of each grid), 2 random, 1 ping-pong; 21 lengths, 3 repetitions.
patterns=$(jq '[.blocks[0].sets[].params.pattern] | unique | length' r.json)
[ "$patterns" = 16 ] || fail "$patterns patterns"
[ "$(wc -l <a.csv)" = $((1 + 21 * 3 * (3 * 15 + 1))) ] || fail "$(wc -l <a.csv) lines of CSV"
awk -F, 'NR > 1 { b = $7 * $6 * $9 / $10 * 1e9; d = b / $11 - 1; if (d > 1e-9 || d < -1e-9) exit 1 }' a.csv ||
    fail "a bandwidth of the protocol is not length x messages x loops / time"
# Loops begin with 10 rounds in a quick run, and are only reduced, to 1 at the least.
awk -F, 'NR > 1 { k = $4 $5; if ($7 == 1 && $9 != 10) exit 1; if (k in loops && $9 > loops[k]) exit 1; loops[k] = $9; if ($9 < 1) exit 1 }' a.csv ||
    fail "loop lengths"
expect_exit 0 "$PIOLET" analyze beff r.out --times
[ "$(grep -cE '^(ring|random|worst|best|cart|ping)' "$OUT")" = $((21 * 3 * 46)) ] || fail "protocol"

# ---- several runs, a run that was killed, wrong files ----

expect_exit 0 "$PIOLET" beff -n 2 --quick --memory 2m --patterns 1 --time 2 -o r.out
head -c $(($(wc -c <r.out) - 3000)) r.out >cut.out
cat r.out cut.out >both.out
expect_exit 0 "$PIOLET" analyze beff r.out cut.out -o two.svg
[ "$(grep -cE '^ +[1-4] +2 ' "$OUT")" = 4 ] || fail "not a row for each run: $(cat "$OUT")"
expect_in "$OUT" "the run did not come to its end"
expect_in "$OUT" "no b_eff"
expect_in "$OUT" "--block N"
awk '{ print } /^end-set/ && ++sets == 5 { exit }' r.out >begun.out # 5 lengths of ping-pong
expect_exit 0 "$PIOLET" analyze beff begun.out -o begun.svg
expect_in "$OUT" "MByte/s: - at L_max"
! grep -qi '\bnan\b' "$OUT" begun.svg || fail "not a number: $(grep -i nan "$OUT" begun.svg)"
expect_exit 0 "$PIOLET" analyze beff --block 2 r.out
expect_in "$OUT" "2 processes on 1 host"
expect_exit 2 "$PIOLET" analyze beff --rank 1 r.out
expect_in "$ERR" "not to beff"
expect_exit 1 "$PIOLET" analyze beff --block 7 r.out
expect_in "$ERR" "nothing matches the selection"
expect_exit 1 "$PIOLET" analyze beff /dev/null
expect_exit 2 "$PIOLET" beff -n 2 --quick -o /nowhere/x.out
expect_in "$ERR" "/nowhere/x.out"
expect_exit 1 "$PIOLET" beff -n 2 --quick -o /dev/full
expect_in "$ERR" "writing results to '/dev/full'"
