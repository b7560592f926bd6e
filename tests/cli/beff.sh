#!/usr/bin/env bash
# piolet beff and piolet analyze beff from the command line: wrong use, the plan, all outputs of a run.
# proves: BEFF-1 BEFF-2 BEFF-4 BEFF-5 BEFF-7
# It would fail if a wrong option were run, if a resumed run measured anew what is there or took another seed, if --dry-run wrote a file, if b_eff in the summary were not what a reader
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
--ranks:_'0';_allowed:_whole_numbers_from_1 -n 0
--memory:_'512k';_allowed:_a_size_from_1 --memory 512k
--memory:_'much';_allowed:_a_size --memory much
--patterns:_'0';_allowed:_a_whole_number_from_1_to_10000 --patterns 0
--seed:_'-1';_allowed:_a_whole_number_from_0 --seed -1
--time:_'soon';_allowed:_a_time_from_1 --time soon
--time:_'0.5';_allowed:_a_time_from_1 --time 0.5
--rmax:_'0';_allowed:_a_number_from --rmax 0
--plot:_'a.gif';_allowed: -n 2 --plot a.gif
--json:_'beff.out'_is_where_the_results_go -n 2 --json beff.out
--csv:_'x'_is_named_for_two_outputs -n 2 --json x --csv x
--json:_'/nowhere/x'_cannot_be_made:_No_such_file -n 2 --json /nowhere/x
--plot:_'/nowhere/x.svg'_cannot_be_made:_No_such_file -n 2 --plot /nowhere/x.svg
--csv:_'/'_is_a_directory -n 2 --csv /
--progress:_'loud';_allowed:_auto --progress loud
'file':_beff_takes_options_only file
END
[ -z "$(ls)" ] || fail "files were made: $(ls)"

# ---- the plan ----

expect_exit 0 "$PIOLET" beff --dry-run -n 28 --memory 128m --patterns 5 -o other.out
expect_in "$OUT" "Plan for 28 ranks"
for shape in "14 x 2" "7 x 4" "1 x 10 + 2 x 9" "2 x 14" "1 x 28" "7 x 4" "7 x 2 x 2"; do
    expect_in "$OUT" "$shape"
done
tr '\n' ' ' <"$OUT" >line
expect_in line "512 kB, 1 MB" # a = 2
expect_in "$OUT" "26 patterns of 21 lengths" # ring 1 and three of 3-D also as b_eff 3.6 does them
expect_in "$OUT" "ring 1, as 3.6"
expect_in "$OUT" "appended to 'other.out'"
rm line
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
# $form: a pattern that also has the form of b_eff 3.6 counts in this one.
cat >formula.jq <<'JQ'
def logavg: (map(log) | add) / length | exp;
[.blocks[0].sets[] | . as $s | .params as $p | {pattern: $p.pattern, length: ($p.length_bytes | tonumber),
    b: [.series[] | ($p[.key + "_loops"] | tonumber) as $loops | .values[] |
        ($p.length_bytes | tonumber) * ($p.messages | tonumber) * $loops / . * 1e9] | max}] as $all
| ($all | group_by(.pattern) | map({pattern: .[0].pattern, n: length, mean: ((map(.b) | add) / 21)})) as $means
| if ($means | all(.n == 21)) then . else error("not 21 lengths") end
| [$means[] | select(.pattern | endswith("-as-3.6") == ($form == "-as-3.6"))] as $means
| [[$means[] | select(.pattern | startswith("ring-")) | .mean], [$means[] | select(.pattern | startswith("random-")) | .mean]]
| if map(length) == [6, 2] then map(logavg) | logavg else error("patterns") end
JQ
by_hand=$(jq --arg form "" -f formula.jq r.json)
by_hand36=$(jq --arg form -as-3.6 -f formula.jq r.json)
expect_exit 0 "$PIOLET" analyze beff r.out --json a.json --csv a.csv
diff <(sed '/^results:/d' text | sed '$d') "$OUT" >&2 || fail "a run prints other tables than the analysis of its file"
jq -e --argjson b "$by_hand" '.runs[0].b_eff / $b - 1 | fabs < 1e-9' a.json >/dev/null ||
    fail "b_eff $(jq '.runs[0].b_eff' a.json), by hand $by_hand"
jq -e --argjson b "$by_hand36" '.runs[0].b_eff_as_3_6 / $b - 1 | fabs < 1e-9' a.json >/dev/null ||
    fail "b_eff as 3.6 counts $(jq '.runs[0].b_eff_as_3_6' a.json), by hand $by_hand36"
jq -e '.runs[0] | .balance_bytes_per_flop * 2.5e9 / .b_eff - 1 | fabs < 1e-9' a.json >/dev/null || fail "balance factor"
jq -e '.runs[0] | .memory_bytes == 2 * 4194304 and (.memory_communicated_in_s * .b_eff / .memory_bytes - 1 | fabs < 1e-9)' a.json \
    >/dev/null || fail "memory"
# 1 MByte/s is 10^6 bytes/s; the row of Table 1, then that of 3.6
jq -r '.runs[0] | .b_eff / 1e6, .b_eff_as_3_6 / 1e6' a.json >summary
awk 'NR == FNR { b[NR] = $1; next } $1 == 1 && $2 == 2 { d = $3 / b[++rows] - 1; if (d > 1e-3 || d < -1e-3) exit 1 }
    END { if (rows != 2) exit 1 }' summary text || fail "the summary rows tell other values than $(paste -sd' ' summary) MByte/s"
# 2 processes: 6 rings, the worst cycle, 4 of the grids and 2 random ones in two forms, 2 bisections, 1 ping-pong; 21 lengths,
# 3 repetitions.
patterns=$(jq '[.blocks[0].sets[].params.pattern] | unique | length' r.json)
[ "$patterns" = 29 ] || fail "$patterns patterns"
[ "$(wc -l <a.csv)" = $((1 + 21 * 3 * (3 * 28 + 1))) ] || fail "$(wc -l <a.csv) lines of CSV"
awk -F, 'NR > 1 { b = $7 * $6 * $9 / $10 * 1e9; d = b / $11 - 1; if (d > 1e-9 || d < -1e-9) exit 1 }' a.csv ||
    fail "a bandwidth of the protocol is not length x messages x loops / time"
# Loops begin with 10 rounds in a quick run, and are only reduced, to 1 at the least.
awk -F, 'NR > 1 { k = $4 $5; if ($7 == 1 && $9 != 10) exit 1; if (k in loops && $9 > loops[k]) exit 1; loops[k] = $9; if ($9 < 1) exit 1 }' a.csv ||
    fail "loop lengths"
expect_exit 0 "$PIOLET" analyze beff r.out --times
[ "$(grep -cE '^(ring|random|worst|best|cart|ping)[-.a-z0-9]* +(turns|sendrecv|alltoallv|nonblocking) ' "$OUT")" = $((21 * 3 * 85)) ] || fail "protocol"

# ---- several runs, a run that was killed, wrong files ----

expect_exit 0 "$PIOLET" beff -n 2 --quick --memory 2m --patterns 1 --time 2 -o r.out
head -c $(($(wc -c <r.out) - 13000)) r.out >cut.out # the last pattern, as 3.6, and a part of the one before
cat r.out cut.out >both.out
expect_exit 0 "$PIOLET" analyze beff r.out cut.out -o two.svg
[ "$(grep -cE '^ +[1-4] +2 +[-0-9.]+ +[-0-9.]+ +[0-9.]+ k?B' "$OUT")" = 4 ] || fail "not a row for each run: $(cat "$OUT")"
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

# ---- a run that was cut in the middle of a pattern goes on ----

awk '/^piolet-block/ && ++blocks == 2 { exit } { print } /^end-set/ && ++sets == 200 { exit }' r.out >part.out # 9 patterns and 11 lengths
cp part.out again.out
expect_exit 2 "$PIOLET" beff --resume again.out --seed 12
expect_in "$ERR" "--seed: '12', but the run to resume has '11'"
expect_exit 2 "$PIOLET" beff -n 3 --resume again.out
expect_in "$ERR" "--ranks: '3', but the run to resume has '2'"
cmp part.out again.out >&2 || fail "a refused resume changed the results"
expect_exit 0 "$PIOLET" beff --resume again.out --json again.json
expect_in "$OUT" "block 2 of again.out"
expect_not_in "$OUT" "did not come to its end"
# what was whole is not measured again, what was not is measured from its first length on
jq -r '.blocks[1].sets[].params.pattern' again.json | uniq -c | awk '$1 != 21 { exit 1 }' || fail "a pattern was measured in part"
jq -e '.blocks[1].sets | length == (29 - 9) * 21' again.json >/dev/null || fail "$(jq '.blocks[1].sets | length' again.json) sets"
[ "$(grep '^fact seed' again.out | sort -u)" = "fact seed 11" ] || fail "another seed: $(grep '^fact seed' again.out)"
expect_exit 0 "$PIOLET" analyze beff again.out --json a2.json
jq -e '.runs | length == 1 and (.[0] | .random_patterns == 2 and (.by_pattern | length == 29) and .b_eff_as_3_6 > 0 and .b_eff > 0)' a2.json >/dev/null ||
    fail "the blocks of a resumed run are not taken together: $(jq -c '.runs[] | [.block, .random_patterns]' a2.json)"
expect_exit 2 "$PIOLET" beff --resume again.out
expect_in "$ERR" "is complete: nothing to resume"

# ---- messages in the cache, and a run of 0.1.0 ----

expect_exit 0 "$PIOLET" beff -n 2 --quick --cached --memory 1m --patterns 1 --time 1 -o cached.out --json cached.json
expect_in "$OUT" "not standard: messages in the cache: each round has the same addresses"
expect_not_in "$OUT" "3.6 counts"
old=$SOURCE/tests/golden/results-0.1.0/beff.out
expect_exit 0 "$PIOLET" analyze beff "$old"
tr -s ' \n' ' ' <"$OUT" >line
expect_in line "each round has the same addresses (release 0.1.0)"
expect_in line "MByte/s = 10^6"
expect_not_in "$OUT" "3.6 counts"
awk '{ print } /^end-set/ && ++sets == 30 { exit }' "$old" >old.out
expect_exit 2 "$PIOLET" beff -n 3 --resume old.out
expect_in "$ERR" "made by release 0.1.0"

# ---- results that cannot be written ----

expect_exit 2 "$PIOLET" beff -n 2 --quick -o /nowhere/x.out
expect_in "$ERR" "/nowhere/x.out"
expect_exit 1 "$PIOLET" beff -n 2 --quick -o /dev/full
expect_in "$ERR" "writing results to '/dev/full'"
