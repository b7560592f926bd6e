#!/usr/bin/env bash
# proves: PHASE-1
# 'piolet bench trace' measures the tracer beside none and a logger. No time is looked at, but bytes are exact: it fails
# when a folded trace takes a byte for a call of a regular pattern, or more than 20 for one at a random place, when a
# tracer or pattern is missing, when a rank of two has no trace, or when anything is left behind.
# timeout: 180
source "$(dirname "$0")/../lib.sh"

[ -z "${PIOLET_SANITIZE:-}" ] || skip "the sanitizer's library would have to be preloaded before the tracer"
export COMMAND_TIMEOUT=180
mkdir "$TMP/data"

expect_exit 0 limited "$PIOLET" bench trace --help
expect_exit 2 limited "$PIOLET" bench trace --nonsense
expect_exit 0 limited "$PIOLET" bench trace --on "$TMP/data" -o "$TMP/out" --repeat 1 --blocks 20 --patterns nested,random \
    --progress=never
awk '
    $1 == "set" { delete param }
    $1 == "param" { param[$2] = $3 }
    $1 == "end-set" {
        rows++
        bytes = param["trace_bytes"] / param["calls"]
        if (param["calls"] != 20000) { print "calls: " param["calls"]; bad = 1 }
        if (param["tracer"] == "none" && bytes != 0) { print "a trace of none"; bad = 1 }
        if (param["tracer"] == "logger" && (bytes < 30 || bytes > 34)) { print "logger: " bytes; bad = 1 }
        if (param["tracer"] == "full" && bytes < 5) { print "full: " bytes; bad = 1 }
        if (param["tracer"] == "folded" && bytes > (param["pattern"] == "random" ? 20 : 1)) { print "folded: " bytes; bad = 1 }
        seen[param["pattern"], param["tracer"]]++
    }
    END {
        for (key in seen) kinds++
        exit bad || rows != 8 || kinds != 8
    }' "$TMP/out" >&2 || fail "too many bytes a call, or sets are missing: $(grep ^param "$TMP/out")"
for tracer in none logger folded full; do
    [ "$(grep -cE "^(nested|random) +$tracer " "$OUT")" = 2 ] || fail "not in the table: $tracer"
done

# Two ranks of the traced program: calls and bytes are those of both, and the tables and exports say so.
expect_exit 2 limited "$PIOLET" bench trace -n 2,4
expect_exit 0 limited "$PIOLET" bench trace --on "$TMP/data" -o "$TMP/two" -n 2 --repeat 1 --blocks 10 --patterns written \
    --progress=never
[ "$(grep -c '^param calls 20000$' "$TMP/two")" = 4 ] || fail "two ranks: $(grep ^param "$TMP/two")"
[ "$(grep -c '^param ranks 2$' "$TMP/two")" = 4 ] || fail "the sets of two ranks do not say so"
bytes=$(awk '$2 == "tracer" { of = $3 } $2 == "trace_bytes" && of == "logger" { print $3 }' "$TMP/two")
[ "$bytes" -ge $((20000 * 32)) ] || fail "the logger of two ranks wrote $bytes bytes"
[ "$(grep -cE '^written, 2 ranks +(none|logger|folded|full) ' "$OUT")" = 4 ] || fail "two ranks are not in the table"

[ -z "$(ls "$TMP/data")" ] || fail "left behind: $(ls "$TMP/data")"
limited "$PIOLET" trace --help | grep -q 'PROGRAM' || fail "'piolet trace' is not the tracer any more"
