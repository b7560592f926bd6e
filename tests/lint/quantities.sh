#!/usr/bin/env bash
# A name of a quantity has one definition, whichever benchmark measures it: terminal, page and history show the name alone, and
# a history compares what has the same one.
# It would fail if two quantity_kinds with one name (what) said otherwise how it is made, or in another unit.
#   quantities.sh        checks the project       quantities.sh --list   lists name, unit and definition
source "$(dirname "$0")/../lib.sh"
cd "$SOURCE"

# NAME<tab>UNIT: DEFINITION<tab>FILE of each {"what", "unit", made, bool}. Macros of the file are replaced, neighbouring strings joined.
project_files 'src/*.c' | xargs grep -l quantity_kind | xargs awk '
    function flush(    text, kind, part, i, name, made)
    {
        gsub(/\\$/, " ", all)
        gsub(/[ \t]+/, " ", all)
        text = all
        all = ""
        while (match(text, /\{ ?"[^"]*" ?, ?"[^"]*" ?, ?("[^"]*"|[A-Z_]+| )+, ?(true|false) ?\}/)) {
            kind = substr(text, RSTART + 1, RLENGTH - 2)
            text = substr(text, RSTART + RLENGTH)
            split(kind, part, "\"")
            name = part[2]
            made = kind
            sub(/^ ?"[^"]*" ?, ?"[^"]*" ?, ?/, "", made)
            sub(/, ?(true|false) ?$/, "", made)
            for (i in macro)
                sub("(^|[^A-Z_])" i "([^A-Z_]|$)", " " macro[i] " ", made)
            gsub(/" *"/, "", made)
            sub(/^ */, "", made)
            sub(/ *$/, "", made)
            print name "\t" part[4] ": " made "\t" file
        }
        delete macro
    }
    FNR == 1 { flush(); file = FILENAME }
    /^#define [A-Z_]+ "/ { i = $2; value = $0; sub(/^#define [A-Z_]+ /, "", value); macro[i] = value }
    { line = $0; sub(/\\$/, "", line); all = all " " line }
    END { flush() }' | LC_ALL=C sort -u >"$TMP/all"
[ "${1:-}" != --list ] || { cat "$TMP/all"; exit 0; }
[ "$(wc -l <"$TMP/all")" -ge 25 ] || fail "only $(wc -l <"$TMP/all") definitions are found: does this lint still know what one looks like?"
cut -f1,2 "$TMP/all" | LC_ALL=C sort -u | cut -f1 | uniq -d >"$TMP/twice"
[ ! -s "$TMP/twice" ] || fail "one name, several definitions: $(awk -F'\t' 'NR == FNR { twice[$0]; next } $1 in twice { print $1 " = " $2 " (" $3 ");" }' "$TMP/twice" "$TMP/all" | tr '\n' ' ')"
echo "$(cut -f1 "$TMP/all" | sort -u | wc -l) names, each of one definition"
