#!/usr/bin/env bash
# proves: IOT-6 IOT-7
# Text that comes from files, names and the environment is harmless wherever it goes: no control character and nothing
# but UTF-8 on a terminal, no formula in a CSV cell, pages and plots that are valid UTF-8 and XML. Fails when an escape
# sequence of a file reaches the output of any verb, when a cell begins with = + - @, when a page holds a stray byte, or
# when what a program reads (blocks, JSON) is no longer what was stored.
source "$(dirname "$0")/../lib.sh"

# clean FILE: what may go to a terminal
clean()
{
    iconv -f UTF-8 -t UTF-8 "$1" >/dev/null 2>&1 || fail "$2: not UTF-8: $(head -c 300 "$1" | cat -v)"
    ! LC_ALL=C grep -qP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\xaa-\xae]' "$1" ||
        fail "$2: a control character: $(cat -v "$1" | head -c 600)"
}

# says CODE CMD...: its output and its errors are clean
says()
{
    expect_exit "$@"
    clean "$OUT" "$*"
    clean "$ERR" "$*"
}

cd "$TMP"
evil=$'\e[31m\e]0;owned\a\x9b1m\xff\xc3 \xe2\x80\xaeback \r\x7f'
expect_exit 0 "$PROGRAMS/make_block" evil.pio "$evil" 1 "$evil" 3 0 1 "$evil"
name=$'n\e[1m\xff\r.pio'
cp evil.pio "$name"

# Verbs that read blocks, by their content and by their names.
for file in evil.pio "$name"; do
    for tool in rawdata distribution allav kernel; do
        "$PIOLET" analyze "$tool" "$file" >"$OUT" 2>"$ERR" </dev/null || true
        clean "$OUT" "analyze $tool"
        clean "$ERR" "analyze $tool"
    done
    says 0 "$PIOLET" analyze export --format csv "$file"
    says 0 "$PIOLET" analyze export --format json "$file"
    jq -e . "$OUT" >/dev/null || fail "JSON on standard output is none"
    says 0 "$PIOLET" analyze rawdata -o plot.svg "$file"
    clean plot.svg "a plot"
    if command -v xmllint >/dev/null; then
        expect_exit 0 xmllint --noout plot.svg
    fi
    says 0 "$PIOLET" report --plain --title "$evil" -o plain.html "$file"
    clean plain.html "the plain page"
    says 0 "$PIOLET" report --title "$evil" -o full.html "$file"
    iconv -f UTF-8 -t UTF-8 full.html >/dev/null || fail "the page is not UTF-8"
    says 0 "$PIOLET" report --plain -o - "$file"
done
expect_in plain.html "<title>"

# Messages about names.
says 2 "$PIOLET" "$evil"
"$PIOLET" analyze rawdata "$evil" >"$OUT" 2>"$ERR" && fail "no such file"
clean "$ERR" "a missing file"
for verb in model predict replay run beffio report; do
    "$PIOLET" "$verb" "$evil" >"$OUT" 2>"$ERR" </dev/null && fail "$verb of no such file"
    clean "$ERR" "$verb"
done
PIOLET_AUXILIARY=$evil says 0 "$PIOLET" help

# A keyword file, and what it runs.
printf 'classname Lowlevel\ntestname single\n\e[31mnonsense \xff\n' >evil.in
"$PIOLET" run "$evil.in" >"$OUT" 2>"$ERR" && fail "a run of nonsense"
"$PIOLET" run evil.in >"$OUT" 2>"$ERR" && fail "a run of nonsense"
clean "$ERR" "run"

# History: tables, and cells that a spreadsheet would run.
says 0 "$PIOLET" hints
if "$PIOLET" history --help 2>&1 | grep -q export; then
    formula='=HYPERLINK("http://x","y")'
    says 0 "$PIOLET" history --db h.db add evil.pio --label "$formula"
    for verb in list "show last"; do
        # shellcheck disable=SC2086
        says 0 "$PIOLET" history --db h.db $verb
    done
    says 0 "$PIOLET" history --db h.db export --csv h.csv --json h.json --blocks h.blocks
    ! grep -qE '(^|,)"?[=+@]' h.csv || fail "a formula: $(head -3 h.csv)"
    expect_in h.csv "\"'=HYPERLINK(\"\"http"
    jq -e . h.json >/dev/null || fail "the JSON of a history"
    cmp -s h.blocks evil.pio || fail "the blocks of a history changed"
    "$PIOLET" history --db h.db export --blocks - >piped 2>"$ERR" || fail "blocks to a pipe: $(cat "$ERR")"
    cmp -s piped evil.pio || fail "blocks to a pipe changed"
fi
for formula in '=1+1.pio' '+1.pio' '@SUM(1).pio' '-2+3.pio'; do
    cp evil.pio "./$formula"
    expect_exit 0 "$PIOLET" analyze export --format csv -- "$formula"
    expect_in "$OUT" "\"'$formula\","
    ! tail -n +2 "$OUT" | grep -qE '^[=+@-]' || fail "a formula in a cell: $formula"
done
