#!/usr/bin/env bash
# Every verb has a manual page, and page and --help name the same options. Fails on an option that stands in one of
# them only.
source "$(dirname "$0")/../lib.sh"

[ -x "$PIOLET" ] || fail "$PIOLET is not built"
cd "$SOURCE"

long_options()
{
    grep -oE -- '--[a-z][a-z0-9-]*' | sort -u
}

bad=0
for verb in $(sed -n 's/^ENTRY(\([a-z0-9_]*\)).*/\1/p' src/cli/verb.def); do
    page=man/piolet-$verb.1.scd
    if [ ! -f "$page" ]; then
        echo "$page is missing" >&2
        bad=1
        continue
    fi
    expect_exit 0 "$PIOLET" "$verb" --help
    sed -n '/^Options:/,$p' "$OUT" | grep -E '^ +-' | awk '{ print $1, ($1 ~ /,$/ ? $2 : "") }' | long_options >"$TMP/help"
    grep -E '^\*-' "$page" | long_options >"$TMP/page"
    if ! diff "$TMP/help" "$TMP/page" >"$TMP/diff"; then
        sed -n "s|^< \(.*\)|$page: \1 of 'piolet $verb --help' is missing|p; s|^> \(.*\)|$page: \1 is not in 'piolet $verb --help'|p" "$TMP/diff" >&2
        bad=1
    fi
    grep -qE "piolet-$verb\*?\(1\)" man/piolet.1.scd || { echo "man/piolet.1.scd does not name piolet-$verb(1)" >&2; bad=1; }
done
if command -v scdoc >/dev/null; then
    for page in man/*.scd; do
        scdoc <"$page" >/dev/null 2>"$ERR" || { echo "$page: $(cat "$ERR")" >&2; bad=1; }
    done
fi
[ "$bad" -eq 0 ] || fail "an option stands in a page as a line that begins with *-x*, *--long*=_VALUE_"
