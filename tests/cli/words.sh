#!/usr/bin/env bash
# One word for one thing, in every benchmark: the place is --on (-p), hints are --hints, repetitions --repeat (-r), and outputs
# do not get in each other's way.
# proves: IOT-7 PHASE-13
# It would fail if a benchmark took another word alone, if a former spelling were refused, if two exports went to standard
# output, if results that go to /dev/null could not be shown and exported, or if a mistyped word got no suggestion.
# timeout: 120
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir place

# Every row of every benchmark: what is called so is spelled so.
expect_exit 0 "$PIOLET" bench --json
jq -r '.[] | .name as $b | .options[] | [$b, .name, (.letter // "")] | @tsv' "$OUT" >options
! grep -P '\t(reps|trials|rounds|repetitions|hint|path)\t' options || fail "a former spelling is the name of an option"
awk -F'\t' '$3 == "p" && $2 != "on" || $2 == "repeat" && $3 != "r"' options >wrong
[ ! -s wrong ] || fail "letters that mean something else: $(tr '\t\n' ' ;' <wrong)"

# Former spellings.
for words in "gpfs contiguous --reps 2" "piobench --trials 2 --max-trials 2" "piobench --repeat 2 --max-repeat 2" "bench predict --rounds 2"; do
    # shellcheck disable=SC2086  # a word for each
    expect_exit 0 "$PIOLET" $words --dry-run
done

# Keyword files say where, and name hints: the message says how.
expect_refused run "--set filename=place/FILE" --on place
expect_refused run "--set hint.NAME=VALUE" --hints cb_nodes=1

# Hints reach the GPFS benchmarks.
expect_exit 0 "$PIOLET" gpfs contiguous -n 1 -c system -s 64k -r 1 --ops write -p place --hints cb_nodes=1 -o g.out
expect_in g.out "hint asked cb_nodes 1"

# Outputs.
expect_refused metadata "--json and --csv cannot both go to standard output" --on place --json - --csv -
expect_refused analyze "--json and --csv cannot both go to standard output" g.out --json - --csv -
TMPDIR=$TMP expect_exit 0 "$PIOLET" metadata -n 1 --on place --files 3 -r 1 -o /dev/null --json m.json --csv m.csv --plot m.svg
expect_in "$OUT" "unlink"
expect_in m.json "create rate"
expect_in m.csv ",t,ns,"
expect_in m.svg "</svg>"
[ -c /dev/null ] || fail "/dev/null is gone"
[ -z "$(find . -name 'piolet-results-*')" ] || fail "a temporary file was left behind"

# Mistyped words, and lists that fit a terminal.
expect_exit 2 "$PIOLET" --hlep
expect_in "$ERR" "did you mean '--help'?"
expect_exit 2 "$PIOLET" bench metdata --help
expect_in "$ERR" "did you mean 'metadata'?"
for list in help bench; do
    expect_exit 0 "$PIOLET" $list
    [ -z "$(awk 'length > 79' "$OUT")" ] || fail "piolet $list: lines longer than 79 columns"
done
