#!/usr/bin/env bash
# piolet model from the command line, as far as no trace is needed: wrong use, checks, differences, expansion, pictures.
# proves: PHASE-6
# It would fail if a wrong command line or model file were accepted or told without its line, or if equal models were said
# to differ.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

cp "$SOURCE/tests/support/models/by_hand.model" good.model
sed 's/idP\*1000/idP*2000/' good.model >other.model
sed 's/weight=800/weight=900/' good.model >weight.model

# ---- wrong use ----

expect_wrong_use model <<'END'
2|which DIR?|
2|which DIR?|a b
2|--diff needs two model files|--diff good.model
2|--check needs one model file|--check
2|--check and --diff exclude each other|--check --diff good.model
2|--dump takes no --output|--dump -o x DIR
2|--diff takes no --plot|--diff --plot x.svg good.model good.model
2|'--nosuch' is not an option|--nosuch
2|cannot read 'nosuch.model': No such file or directory|--check nosuch.model
2|weight.model:10: from the steps follows 'count=5 numbers=1-5 ranks=0-3 weight=800|--check weight.model
2|--plot 'x.gif': the name of a plot ends in .svg or .png|--plot x.gif nosuch
1|cannot read 'nosuch/trace.0', the trace of rank 0: No such file or directory|nosuch
END

# ---- right use ----

expect_exit 0 "$PIOLET" model --check good.model --plot good.svg
expect_in "$OUT" "5 phases: 5 × 2 independent sequential writes of 100 bytes by each of 4"
grep -q '</svg>' good.svg || fail "no picture"
awk 'length($0) > 82 { exit 1 }' "$OUT" || fail "lines are longer than 80 columns"
# Of ranks with different numbers of turns the largest is told as what it is.
sed 's/piolet-model 1/piolet-model 2/; s/loop 2$/loop idP+1/; s/weight=800/weight=1000/; s/written=4000/written=5000/' \
    good.model >uneven.model
expect_exit 0 "$PIOLET" model --check uneven.model
expect_in "$OUT" "5 phases: 5 × up to 4 independent"
expect_exit 0 "$PIOLET" model --diff good.model good.model
[ ! -s "$OUT" ] || fail "equal models differ"
expect_exit 1 "$PIOLET" model --diff good.model other.model
expect_in "$OUT" ">       write_at file=1 size=100 offset=idP*2000+n*100"
# Names are no I/O.
sed 's/name="[^"]*"/name="elsewhere"/' good.model >named.model
! cmp -s good.model named.model || fail "good.model has no name of a file"
expect_exit 0 "$PIOLET" model --diff good.model named.model
expect_exit 1 "$PIOLET" model --diff --program good.model named.model
expect_in "$OUT" '> open '
expect_in "$OUT" 'name="elsewhere"'
expect_exit 0 "$PIOLET" model --expand good.model
[ "$(wc -l <"$OUT")" -eq 45 ] || fail "$(wc -l <"$OUT") lines, not 1 + 4 opens + 40 accesses"
awk '$1 == 3 && $3 == "write_at" { last = $4 } END { exit last != 3900 }' "$OUT" || fail "the last offset of rank 3"
