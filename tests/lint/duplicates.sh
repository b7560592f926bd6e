#!/usr/bin/env bash
# Places that say the same thing twice: pairs of places that share six or more lines, the same to the letter or alike but for
# names, strings and numbers; boilerplate aside (duplicates.awk says what that is).
# It would fail if there were more pairs than MOST: the worst of them are printed. MOST
# shrinks to 39, and stays there. duplicates.sh --list prints all.
source "$(dirname "$0")/../lib.sh"
MOST=39

cd "$SOURCE"
project_files 'src/*' 'tests/*' 'web/src/*' 'include/*' | grep -vE '^tests/(fuzz/corpus|golden/results)' |
    while IFS= read -r file; do
        case $file in
        *.c | *.h | *.sh | *.ts | *.mjs | *.F90 | *.f | *.awk | *.cmake) echo "$file" ;;
        *.*) ;; # data, prose, lists
        *) ! head -n 1 "$file" | grep -q '^#!' || echo "$file" ;;
        esac
    done >"$TMP/files"
[ "$(wc -l <"$TMP/files")" -gt 100 ] || fail "only $(wc -l <"$TMP/files") files found"

# What it finds: a copy, one with other names, and neither in a comment, a table or what nobody copied.
mkdir "$TMP/try"
(
    cd "$TMP/try"
    printf 'first(alpha%s, "one") + 7;\n' , -1 +x '[3]' '->y' '(2)' ' * z' ' / 4' >a.c
    sed 's/first/second/; s/one/two/; s/alpha/beta/; s/7/8/' a.c >b.c
    cp a.c c.c
    { echo '/*'; cat a.c; echo '*/'; } >comment.c
    for i in 1 2 3 4 5 6 7 8 9 10; do seq 1 8 | sed "s/.*/{\"row &\", ${i}},/" >"table$i.c"; done
    LC_ALL=C awk -f "$SOURCE/tests/lint/duplicates.awk" ./*.c | sort
) >"$TMP/found"
printf '8 ./a.c:1-8 ~ ./%s:1-8%s\n' b.c ' shape' c.c '' | cmp - <(grep a.c "$TMP/found") || fail "the copies are not found: $(cat "$TMP/found")"
[ "$(wc -l <"$TMP/found")" -eq 3 ] || fail "more is found than there is: $(cat "$TMP/found")"

mapfile -t files <"$TMP/files"
LC_ALL=C awk -f tests/lint/duplicates.awk "${files[@]}" | LC_ALL=C sort -k1,1nr -k2 >"$TMP/pairs"
count=$(wc -l <"$TMP/pairs")
if [ "$count" -gt "$MOST" ]; then
    head -n 40 "$TMP/pairs" >&2
    fail "$count pairs of places share six or more lines; at most $MOST are allowed"
fi
[ "${1:-}" != --list ] || cat "$TMP/pairs"
echo "$count pairs of places share six or more lines"
