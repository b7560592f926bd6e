#!/usr/bin/env bash
# The bytes in the file: the same whoever writes them, and any change between writing and reading is noticed.
# proves: IOT-10 IOT-12 IOT-13 IOT-15
# It would fail if the data depended on the number of ranks, on the layout or on the way of access, if two seeds gave
# the same data, or if a changed, shortened or exchanged file passed the check.
# timeout: 240
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

# keywords TEST FILE [LINE...]
keywords()
{
    local test=$1 file=$2
    shift 2
    printf 'class Lowlevel\ntestname %s\nfilename %s\nnumruns 1\nfilesize 1\nblocksize 0.03\nkeep true\n' "$test" "$file"
    printf '%s\n' "$@"
}

# ---- one content, many writers ----

keywords sinunix reference.dat "seed 7" >one.in
expect_exit 0 "$PIOLET" run one.in
[ "$(stat -c %s reference.dat)" = 990000 ] || fail "33 blocks of 30000 bytes are 990000 bytes"
for ranks in 1 3 4; do
    {
        keywords multiple strided.dat "seed 7" "collective false"
        keywords multiple segmented.dat "seed 7" "collective false" "layout segmented"
        keywords multiple collective.dat "seed 7" "collective true"
        keywords multiple both.dat "seed 7" "collective true" "layout segmented" "preallocate false"
        keywords single single.dat "seed 7" "phases write"
        keywords multiple fuzzy.$ranks.dat "seed 7" "collective true" "fuzzy 0.5" "check full"
        keywords multiple otherseed.dat "seed 8" "collective false"
    } >many.in
    expect_exit 0 mpirun_n $ranks "$PIOLET" run many.in
    for file in strided segmented collective both single; do
        cmp reference.dat $file.dat >&2 || fail "$file.dat of $ranks ranks is not what one process writes"
    done
    cmp fuzzy.1.dat fuzzy.$ranks.dat >&2 || fail "scattered blocks of $ranks ranks are not those of one"
    ! cmp -s reference.dat fuzzy.$ranks.dat || fail "fuzzy changed nothing"
    ! cmp -s reference.dat otherseed.dat || fail "another seed gives the same data"
done

# With a seed, repetitions write the same again: a later run can read and check any of them.
keywords single repeated.dat "seed 7" "repeat 2" >repeated.in
expect_exit 0 "$PIOLET" run repeated.in
cmp reference.dat repeated.dat >&2 || fail "the second repetition has other data"

# Without a seed every run draws one, and reports it.
keywords single drawn.dat >drawn.in
expect_exit 0 "$PIOLET" run -o drawn.out drawn.in
cp drawn.dat before.dat
expect_exit 0 "$PIOLET" run -o drawn.out drawn.in
! cmp -s before.dat drawn.dat || fail "two runs without a seed wrote the same"
seed=$(awk '$1 == "fact" && $2 == "seed" { value = $3 } END { print value }' drawn.out)
expect_exit 0 "$PIOLET" run --set "seed=$seed" --set filename=again.dat -o drawn.out drawn.in
cmp drawn.dat again.dat >&2 || fail "the reported seed does not give the same data again"

# ---- changed between writing and reading ----

tests=("single" "sinunix" "singleI;tasklength 10" "multiple;collective true" "multiple;collective false"
    "multipleI;tasklength 10;collective true" "multipleI;tasklength 10;collective true;kind nonblocking"
    "multipleI;tasklength 10;collective false")
for i in "${!tests[@]}"; do
    IFS=';' read -r -a words <<<"${tests[i]}"
    keywords "${words[0]}" "t.$i.dat" "seed 7" "phases write" "${words[@]:1}" >>write.in
    keywords "${words[0]}" "t.$i.dat" "seed 7" "phases read" "check full" "${words[@]:1}" >>read.in
done
for_each_file()
{
    local i
    for i in "${!tests[@]}"; do
        "$1" "t.$i.dat" "${tests[i]}"
    done
}

put_aside() { cp "$1" "$1.whole"; }
put_back() { cp "$1.whole" "$1"; }
is_whole() { cmp "$1" "$1.whole" >&2 || fail "$2: reading changed the file"; }
change_a_byte() { printf 'X' | dd of="$1" bs=1 seek=500001 conv=notrunc status=none; } # of block 16, number 2500
change_is_told()
{
    grep -F "at byte 480000 of '$1': number 2500 (byte 500000 of the file) is " "$ERR" | grep -q ', but 0\..* was written$' ||
        fail "$2: no message about $1: $(cat "$ERR")"
}
shorten() { truncate -s 700000 "$1"; }
shortening_is_told() { expect_in "$ERR" "'$1' has only 700000 bytes of the 990000 to read"; }

expect_exit 0 mpirun_n 2 "$PIOLET" run write.in
for_each_file put_aside
expect_exit 0 mpirun_n 2 "$PIOLET" run read.in
for_each_file is_whole
for_each_file change_a_byte
expect_exit 1 mpirun_n 2 "$PIOLET" run -o changed.out read.in
for_each_file change_is_told
[ "$(grep -c '^error E_DATA ' changed.out)" = ${#tests[@]} ] || fail "the results do not hold the errors"
[ "$(grep -c '^end-block 1' changed.out)" = ${#tests[@]} ] || fail "a test did not run after the one before had failed"
for_each_file put_back
for_each_file shorten
expect_exit 1 mpirun_n 2 "$PIOLET" run read.in
for_each_file shortening_is_told

# The default check: a lost stretch of 64 KiB, two exchanged blocks, another run's file.
keywords multiple t.dat "seed 7" "phases write" "collective false" >write.in
keywords multiple t.dat "seed 7" "phases read" "collective false" >read.in
expect_exit 0 mpirun_n 2 "$PIOLET" run --overwrite write.in
cp t.dat whole.dat
dd if=/dev/zero of=t.dat bs=65536 count=1 seek=5 conv=notrunc status=none
expect_exit 1 "$PIOLET" run read.in
expect_in "$ERR" "but 0."
cp whole.dat t.dat
dd if=whole.dat of=t.dat bs=30000 count=1 skip=3 seek=4 conv=notrunc status=none
expect_exit 1 "$PIOLET" run read.in
expect_in "$ERR" "at byte 120000"
cp otherseed.dat t.dat
expect_exit 1 "$PIOLET" run read.in
expect_in "$ERR" "rank 0: checking block 0 at byte 0"
expect_exit 0 mpirun_n 2 "$PIOLET" run --set check=none read.in
rm t.dat
expect_exit 1 "$PIOLET" run read.in
expect_in "$ERR" "'t.dat' is not there to be read"
[ ! -e t.dat ] || fail "reading made a file"
