#!/usr/bin/env bash
# The benchmark 'metadata', and with it what the laboratory gives every benchmark: options from the command line, a file
# and the environment, resuming, exports, analysis and history, for a benchmark that is one folder and one line.
# proves: IOT-5 IOT-6 IOT-7 PHASE-13
# It would fail if an operation, a rank or a repetition were missing, if a rate, median or p99 were of anything but the times
# of the operations (the starts and clocks of a set are series too), if files stayed behind, if a resumed run measured
# what was there or left out what was not, if a source of options were passed over, or if analyze, history, bench, help or
# the exports did not know the benchmark.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir place
operations='create stat open rename readdir unlink'

# sets FILE: operation, repetition and times of each set
sets()
{
    awk '$1 == "set" { operation = repetition = ""; count = 0 }
         $1 == "param" && $2 == "operation" { operation = $3 }
         $1 == "param" && $2 == "repetition" { repetition = $3 }
         $1 == "series" && $4 == "ns" { count += $5 }
         $1 == "end-set" { print operation, repetition, count }' "$1"
}

# expected REPETITIONS COUNT RANKS: what sets() must say
expected()
{
    local repetition operation
    for ((repetition = 1; repetition <= $1; repetition++)); do
        for operation in $operations; do
            [ "$operation" = readdir ] && echo "$operation $repetition $3" || echo "$operation $repetition $(($2 * $3))"
        done
    done
}

# by_hand FILE: operation, repetition, rate, median and p99 of each set, from the raw times alone
by_hand()
{
    awk '
        function in_order(    i, j, value)
        {
            for (i = 2; i <= count; i++) {
                value = t[i]
                for (j = i - 1; j >= 1 && t[j] > value; j--)
                    t[j + 1] = t[j]
                t[j + 1] = value
            }
        }
        function quantile(q,    rank)
        {
            rank = int(q * count)
            return t[rank < q * count ? rank + 1 : rank]
        }
        $1 == "set" { count = wanted = slowest = 0 }
        wanted > 0 && $1 ~ /^[0-9]/ { for (i = 1; i <= NF; i++) { t[++count] = $i + 0; wanted-- } next }
        $1 == "param" && $2 == "operation" { operation = $3 }
        $1 == "param" && $2 == "repetition" { repetition = $3 }
        $1 == "time" && $3 == "phase_time" && $4 > slowest { slowest = $4 }
        $1 == "series" && $3 == "t" && $4 == "ns" { wanted = $5 }
        $1 == "end-set" {
            in_order()
            printf "%s %s %.12g %d %d\n", operation, repetition, count / slowest * 1e9, quantile(0.5), quantile(0.99)
        }' "$1"
}

for layout in shared own; do
    expect_exit 0 "$PIOLET" bench metadata -n 3 --on place --files 20 --bytes 100 --layout $layout --repeat 2 -o $layout.out \
        --json $layout.json --csv $layout.csv --plot $layout.svg
    sets $layout.out | diff - <(expected 2 20 3) >&2 || fail "$layout: sets or times are missing"
    [ -z "$(ls place)" ] || fail "files were left behind"
    expect_in $layout.svg "</svg>"
    [ "$(grep -c ',t,ns,' $layout.csv)" = $((2 * (5 * 20 * 3 + 3))) ] || fail "CSV: not every raw time"
    expect_exit 0 "$PIOLET" analyze metadata $layout.out
    expect_in "$OUT" "$layout"
    expect_exit 0 "$PIOLET" analyze metadata $layout.out --csv $layout.table
    # A quantile is the middle of a bucket that is 0.1 % wide.
    by_hand $layout.out | paste -d' ' - <(awk -F, 'NR > 1 { print $1, $5, $6, $7, $8 }' $layout.table) | awk '
        function far(a, b, part) { return a - b > part * b || b - a > part * b }
        $1 != $6 || $2 != $7 || far($8, $3, 1e-6) || far($9, $4, 0.001) || far($10, $5, 0.001) { print; wrong = 1 }
        END { exit wrong || NR != 12 }' >&2 || fail "$layout: values that are not those of the raw times (by hand, printed)"
    [ -z "$(awk 'length > 80' "$OUT")" ] || fail "a line is longer than 80 columns"
done
if command -v jq >/dev/null; then
    [ "$(jq '.results.quantities | length' own.json)" = 6 ] || fail "JSON: not a quantity for each operation"
    jq -e '.results.quantities[] | select(.what == "stat rate" and .repetitions == 2 and .value > 0 and .low <= .value and .value <= .high)' \
        own.json >/dev/null || fail "JSON: no rate with its interval"
    expect_exit 0 "$PIOLET" bench --json
    jq -e '.[] | select(.name == "metadata") | .options[] | select(.name == "layout" and .choices == "shared own")' "$OUT" \
        >/dev/null || fail "the description lacks an option"
fi

# The benchmark is known everywhere.
expect_exit 0 "$PIOLET" bench
expect_in "$OUT" "metadata"
expect_exit 0 "$PIOLET" help
expect_in "$OUT" "metadata"
if "$PIOLET" history --help 2>&1 | grep -q db; then
    "$PIOLET" history --db h.db add shared.out >/dev/null 2>&1 && expect_exit 0 "$PIOLET" history --db h.db export --csv h.csv
    [ ! -e h.csv ] || expect_in h.csv "create rate"
fi

# Options: environment, then file, then command line.
printf 'files 7\nrepeat 1 # once\nops = create,stat\n' >options
PIOLET_OPT_METADATA_FILES=9 PIOLET_OPT_METADATA_LAYOUT=own expect_exit 0 "$PIOLET" metadata --config options --on place -n 1 -o o.out
sets o.out | diff - <(printf 'create 1 7\nstat 1 7\n') >&2 || fail "the file does not win over the environment"
expect_in o.out "param layout own"
expect_exit 0 "$PIOLET" metadata --config options --files 5 --on place -n 1 -o p.out
sets p.out | diff - <(printf 'create 1 5\nstat 1 5\n') >&2 || fail "the command line does not win"
echo 'fiels 3' >wrong
expect_exit 2 "$PIOLET" metadata --config wrong --on place
expect_in "$ERR" "wrong:1: 'fiels' is not an option; did you mean files?"
expect_exit 2 "$PIOLET" metadata --layout mine
expect_in "$ERR" "--layout: 'mine'; allowed: shared, own"
expect_exit 2 "$PIOLET" metdata
expect_in "$ERR" "did you mean 'metadata'?"
expect_exit 2 "$PIOLET" metadata --on place --on other
expect_in "$ERR" "one place at a time"

# A place that is not there is refused before anything is started.
expect_exit 2 "$PIOLET" metadata -n 2 --on nowhere -o no.out
expect_in "$ERR" "No such file or directory"

# Resumed: what is there is not measured again, and what is missing is. The last block is cut off in its second set.
awk '/^end-set/ && ++n == 2 { print; exit } 1' own.out >cut.out
expect_exit 0 "$PIOLET" metadata --resume cut.out
sets cut.out | sort >seen
expected 2 20 3 | sort | diff - seen >&2 || fail "a resumed run is not whole, or measured twice"
expect_in "$OUT" "unlink"
before=$(cksum <cut.out)
expect_exit 0 "$PIOLET" metadata --resume cut.out
[ "$(sets cut.out | wc -l)" = 12 ] || fail "a whole run was measured again"
[ "$before" = "$(cksum <cut.out)" ] || [ "$(grep -c '^piolet-block' cut.out)" -le 3 ] || fail "a whole run was changed"
expect_exit 2 "$PIOLET" metadata --resume cut.out --files 21
expect_in "$ERR" "but the run to resume has '20'"
expect_exit 2 "$PIOLET" metadata --resume options
[ -z "$(ls place)" ] || fail "files were left behind"
