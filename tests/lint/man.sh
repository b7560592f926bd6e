#!/usr/bin/env bash
# Every verb and every benchmark has a manual page: one of its own, whose list of options is made from the rows
# (@OPTIONS@), or one that is made from them as a whole. Fails on a page with options by hand, on one that scdoc refuses,
# on an option of --help that is not on the page, and on a line of --help beyond 80 columns.
source "$(dirname "$0")/../lib.sh"

[ -x "$PIOLET" ] || fail "$PIOLET is not built"
cd "$SOURCE"

long_options()
{
    grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

bad=0
# a benchmark whose name is a verb of its own is 'piolet bench NAME', and its page piolet-bench-NAME
for verb in $(sed -n 's/^ENTRY(\([a-z0-9_]*\)).*/\1/p' src/cli/verb.def src/bench/bench.def | awk '{ print (seen[$0]++ ? "bench-" : "") $0 }'); do
    page=man/piolet-$verb.1.scd
    sh man/page.sh "$PIOLET" "$verb" "$page" >"$TMP/page.scd" || fail "$page cannot be made"
    # shellcheck disable=SC2046  # two words of a benchmark
    expect_exit 0 "$PIOLET" $(echo "$verb" | sed 's/^bench-/bench /') --help
    # in characters, not in bytes
    if LC_ALL=C.UTF-8 awk -v verb="$verb" 'length > 80 { print "piolet " verb " --help: " $0; bad = 1 } END { exit !bad }' "$OUT" >&2; then
        bad=1
    fi
    sed -n '/^Options:/,$p' "$OUT" | grep -E '^ +-' | awk '{ print $1, ($1 ~ /,$/ ? $2 : "") }' | long_options >"$TMP/help"
    grep -E '^\*-' "$TMP/page.scd" | long_options >"$TMP/page"
    if ! diff "$TMP/help" "$TMP/page" >"$TMP/diff"; then
        sed -n "s|^< \(.*\)|$page: \1 of 'piolet $verb --help' is missing|p; s|^> \(.*\)|$page: \1 is not in 'piolet $verb --help'|p" "$TMP/diff" >&2
        bad=1
    fi
    if command -v scdoc >/dev/null; then
        scdoc <"$TMP/page.scd" >/dev/null 2>"$ERR" || { echo "$page: $(cat "$ERR")" >&2; bad=1; }
    fi
done
for page in man/piolet-*.1.scd; do
    if grep -q '^# OPTIONS' "$page" && ! grep -qx '@OPTIONS@' "$page"; then
        echo "$page: its options are listed by hand; the line @OPTIONS@ takes them from the rows" >&2
        bad=1
    fi
done
[ "$bad" -eq 0 ] || fail "the rows of a verb are its options; what only the page says stands in a row's .more"
