#!/usr/bin/env bash
# A class of blocks is named once in C, where its benchmark is defined, and at most once in the page. Its name is what a result
# file says: the classes are those of the files of tests/golden and those that the sources define.
# It would fail if a class stood as a string in a second place, if nobody named it any more.
source "$(dirname "$0")/../lib.sh"
cd "$SOURCE"

# FILE:CLASS for each string that names a class. Comments and what a reader sees (titles, labels, help) do not count; a class
# called as its verb is named only where the line speaks of classes or blocks.
names_in()
{
    project_files "$@" | xargs awk -v classes="$classes" '
        BEGIN {
            count = split(classes, class, " ")
        }
        {
            text = $0
            sub(/^ *(\*|\/\*|\/\/).*/, "", text)
            gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", text)
            sub(/(^|[ ;])\/\/.*$/, "", text)
            gsub(/(title|label|about|heading|summary): *"[^"]*"/, "", text)
            gsub(/print_heading\([^,]*, *"[^"]*"/, "", text)
            for (i = 1; i <= count; i++) {
                if (class[i] ~ /^[a-z]/ && tolower(text) !~ /class|blocksof|blockfile_begin|history_quantity/)
                    continue
                rest = text
                while (at = index(rest, "\"" class[i] "\"")) {
                    print FILENAME ":" class[i]
                    rest = substr(rest, at + 1)
                }
            }
        }'
}

classes=$({
    sed -n 's/^class //p' tests/golden/results-*/*.out
    project_files 'src/*.c' 'src/*.h' 'src/*.def' | xargs sed -nE \
        -e 's/.*\.class_name = "([^"]+)".*/\1/p' -e 's/(.*[^A-Za-z])?[A-Z_]*CLASS(\[\] =)? "([^"]+)".*/\3/p' -e 's/.*blockfile_begin\([^,]*, "([^"]+)".*/\1/p'
} | sort -u | tr '\n' ' ')
[ "$(wc -w <<<"$classes")" -ge 17 ] || fail "only these classes are known: $classes"
# Each benchmark has a class, so the number follows from them too.
[ "$(wc -w <<<"$classes")" -ge "$(grep -rhoE '^    \.classes = ' src/bench | wc -l)" ] || fail "benchmarks have more classes than are known: $classes"

names_in 'src/*.c' 'src/*.h' 'src/*.def' >"$TMP/in-c"
names_in 'web/src/*' >"$TMP/in-web"
for class in $classes; do
    grep -q ":$class\$" "$TMP/in-c" || fail "no source names the class $class of old results"
done

# Those that stand more than once, and where.
for list in in-c in-web; do
    cut -d: -f2 "$TMP/$list" | sort | uniq -d | while IFS= read -r class; do
        grep ":$class\$" "$TMP/$list"
    done
done >"$TMP/found"
[ ! -s "$TMP/found" ] || fail "a class is named again here: ask its benchmark, or take its constant: $(sort -u "$TMP/found" | tr '\n' ' ')"
echo "$(wc -w <<<"$classes") classes, each named once"
