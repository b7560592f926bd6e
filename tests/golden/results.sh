#!/usr/bin/env bash
# Results made by 0.1.0 are still read, and give the values that 0.1.0 gave: results-0.1.0/ holds result files of every kind
# (how they were made: results-0.1.0/make), results-0.1.0/expected/ what the piolet of that time said of them.
# proves: IOT-6 IOT-30 IOT-31 IOT-32 PHASE-6 PHASE-11 PHASE-12
# It would fail if a file could not be read, if a quantity of the history, a number of a table or one of a JSON document were
# missing or had another value (beyond 1e-9 of it), if an old data base or its blocks came back otherwise, if an old trace
# gave another model, or if the page could not be made of them.
# results.sh --write: writes what $PIOLET says into expected/. For a new folder of results, never to make the test pass.
source "$(dirname "$0")/../lib.sh"
RESULTS=$SOURCE/tests/golden/results-0.1.0
EXPECTED=$RESULTS/expected
write=no
[ "${1:-}" != --write ] || write=yes

# What a later edition calls otherwise, as sed scripts upon what is expected. A value that changes by definition keeps its
# old quantity, under a name that says which it is.
cat >"$TMP/quantities.sed" <<'SED'
/^\(Lowlevel\|Kernel\|Apps\|Peak\)\t.*\tMB\/s\t/s/^\([^\t]*\t[^\t]*\t[^\t]*\)/\1, by calls/
/^Gpfs\t/s/\t\(write\|read\) rate\t/\t\1 rate of the job\t/
/^Piobench\t/s/\t\(write\|read\) rate\t/\t\1 rate, first start to last end\t/
SED
cat >"$TMP/columns.sed" <<'SED'
s/"\(test multiple [^"]*\(write\|read\)\), /"\1 by calls, /
SED

# A result file, the tools of 'piolet analyze' whose CSV tables are compared, and behind a | those whose JSON numbers are.
TABLES="
lowlevel.out: allav rawdata distribution |
lowlevel-openmpi.out: allav |
lowlevel-engine.out: allav rawdata |
kernel.out: kernel rawdata |
kernel-openmpi.out: kernel |
failed.out: allav |
interrupted.out: allav rawdata |
apps.out: rawdata distribution allav |
beff.out: | beff
beffio.out: beffio | beffio
piobench.out: piobench |
gpfs.out: gpfs |
peak.out: peak | peak
replay.out: rawdata |
replay-madbench.out: |
prediction.out: |
"

# A name, and what 'piolet predict' or 'piolet choose' is given.
PREDICTIONS="
predict-replay: predict btio.model replay.out --peak peak.out
predict-madbench: predict madbench.model replay-madbench.out
predict-beffio: predict btio.model --from beffio.out
predict-lowlevel: predict btio.model --from lowlevel.out
predict-peak: predict btio.model --from peak.out
choose: choose btio.model replay.out
"

store=$TMP # of the histories: in memory where that can be, since each change waits for the disk
if [ -w /dev/shm ]; then
    store=$(mktemp -d /dev/shm/piolet-golden-test.XXXXXX)
    on_exit rm -rf "$store"
fi
has_history=yes
expect_exit 0 "$PIOLET" doctor "$TMP"
! grep -q 'SQLite *not found' "$OUT" || has_history=no
cd "$RESULTS"

# judge KIND FILE: FILE of $TMP is what is expected, or becomes it. Kinds: quantities (rows in any order), table (the same rows,
# each column of the old table by its name), numbers (each number of the old is among the new).
judge()
{
    local kind=$1 file=$2 renaming=/dev/null
    if [ "$write" = yes ]; then
        mkdir -p "$EXPECTED"
        cp "$TMP/$file" "$EXPECTED/$file"
        return
    fi
    [ "$kind" != quantities ] || renaming=$TMP/quantities.sed
    [ "$kind" != table ] || renaming=$TMP/columns.sed
    sed -f "$renaming" "$EXPECTED/$file" >"$TMP/old"
    awk -v kind="$kind" -f "$SOURCE/tests/golden/results.awk" "$TMP/old" "$TMP/$file" >"$TMP/differences" ||
        fail "$file: $(head -n 8 "$TMP/differences")"
    compared=$((compared + $(sed -n 's/^compared //p' "$TMP/differences")))
}

# quantities_of DB: of what is in the data base, a line for each: class, test, what, settings, conditions, unit, value
quantities_of()
{
    expect_exit 0 "$PIOLET" history --db "$1" export --csv "$TMP/export.csv"
    awk -v kind=fields -v fields=class,test,what,settings,conditions,unit,value -f "$SOURCE/tests/golden/results.awk" \
        "$TMP/export.csv" | LC_ALL=C sort
}

history_of()
{
    local file=$1 db=$store/h.db
    [ "$has_history" = yes ] || return 0
    expect_exit 0 "$PIOLET" history --db "$db" add "$file"
    quantities_of "$db" >"$TMP/${file%.out}.quantities"
    rm -f "$db"*
    judge quantities "${file%.out}.quantities"
}

json_numbers()
{
    jq -r 'del(.partitions[]?.patterns) | paths(type == "number") as $p |
        "\($p | map(select(type == "string")) | join("."))\t\(getpath($p))"' "$1"
}

compared=0
files=()
while IFS=: read -r file tools; do
    [ -n "$file" ] || continue
    files+=("$file")
    for tool in ${tools%%|*}; do
        expect_exit 0 "$PIOLET" analyze "$tool" "$file" --csv "$TMP/${file%.out}.$tool.csv"
        judge table "${file%.out}.$tool.csv"
    done
    for tool in ${tools##*|}; do
        expect_exit 0 "$PIOLET" analyze "$tool" "$file" --json "$TMP/json"
        json_numbers "$TMP/json" >"$TMP/${file%.out}.numbers"
        judge numbers "${file%.out}.numbers"
    done
    expect_exit 0 "$PIOLET" analyze export --format csv "$file"
    awk -F, '{ sum += $10 } END { printf "samples\t%d\nsum\t%.0f\n", NR - 1, sum }' "$OUT" >"$TMP/${file%.out}.samples"
    judge numbers "${file%.out}.samples"
    history_of "$file"
done <<<"$TABLES"
for file in *.out; do
    [[ " ${files[*]} " == *" $file "* ]] || fail "$file is not among those compared"
done

# Each can be drawn, by calls where 0.1.0 kept no starts.
for tool in btio madbench; do
    expect_exit 0 "$PIOLET" analyze $tool apps.out -o "$TMP/apps.svg"
    expect_in "$TMP/apps.svg" "rate, by calls<"
done

# A name has one definition, whichever benchmark says it (tests/lint/quantities.sh: in the sources).
expect_exit 0 "$PIOLET" analyze quantities "${files[@]}" --json "$TMP/json"
jq -r '.all[] | [.what, .unit, .made] | @tsv' "$TMP/json" | sort -u | cut -f1 | uniq -d >"$TMP/twice"
[ ! -s "$TMP/twice" ] || fail "names with more than one definition: $(tr '\n' ';' <"$TMP/twice")"

while IFS=: read -r name arguments; do
    [ -n "$name" ] || continue
    # shellcheck disable=SC2086  # a word for each
    expect_exit 0 "$PIOLET" $arguments --csv "$TMP/$name.csv"
    judge table "$name.csv"
done <<<"$PREDICTIONS"

# An interrupted run is told, and a failed set too.
expect_exit 0 "$PIOLET" analyze allav interrupted.out
expect_in "$ERR" "interrupted.out"
expect_exit 0 "$PIOLET" analyze export --format json failed.out
expect_in "$OUT" "Input/output error"

# A data base of that time: its numbers, and its blocks byte by byte.
if [ "$has_history" = yes ]; then
    cp history.db "$store/old.db"
    quantities_of "$store/old.db" >"$TMP/history.quantities"
    judge quantities history.quantities
    expect_exit 0 "$PIOLET" history --db "$store/old.db" export --blocks "$TMP/back"
    cat failed.out replay-madbench.out | cmp - "$TMP/back" || fail "blocks came back otherwise"
    expect_exit 0 "$PIOLET" history --db "$store/old.db" add apps.out
fi

# Models are read, and the traces, folded and full, still give every call of them; which calls are a phase is told otherwise.
calls_of() { "$PIOLET" model --expand "$1" | awk '{ print $1, $2, $3, $4, $6 }'; }
for program in btio madbench; do
    expect_exit 0 "$PIOLET" model --check "$program.model"
    expect_exit 0 "$PIOLET" model "$program.trace" -o "$TMP/$program.model"
    calls_of "$program.model" >"$TMP/was"
    calls_of "$TMP/$program.model" >"$TMP/is"
    [ "$(wc -l <"$TMP/was")" -gt 1 ] || fail "$program.model has no calls"
    diff "$TMP/was" "$TMP/is" >"$OUT" || fail "$program has other calls: $(head -4 "$OUT")"
    "$PIOLET" model --dump "$program.trace" | awk '{ sub("~", "", $8); sum += $8 } END { printf "lines\t%d\nbytes\t%d\n", NR, sum }' >"$TMP/$program.calls"
    judge numbers "$program.calls"
done

# The page says which file it could not use, and takes them all.
expect_exit 0 "$PIOLET" report ./*.out ./*.model -o "$TMP/page.html"
expect_exit 0 "$PIOLET" report --plain ./*.out ./*.model -o "$TMP/plain.html"
for file in "${files[@]}" btio.model madbench.model; do
    grep -qF "$file" "$TMP/plain.html" || fail "$file is not on the page"
done
[ "$write" = yes ] || [ "$compared" -gt 10000 ] || fail "only $compared values were compared"
echo "${#files[@]} result files, $compared values as 0.1.0 told them"
