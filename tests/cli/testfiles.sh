#!/usr/bin/env bash
# Test files: gone at the end of the run, kept where asked for; what somebody else put there is neither overwritten
# nor removed.
# proves: IOT-5 IOT-7
# timeout: 300
# It would fail if a run left its file without 'keep true', if a later block that only reads did not find the file of
# an earlier one, if a file of the user were overwritten without --overwrite or removed at all, or if a file that piolet
# left could not be used again.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

# keywords FILE [LINE...]
keywords()
{
    printf 'class Lowlevel\ntestname multiple\nfilename %s\nnumfilesize 1\nfilesize 0.1\nnumblocksize 1\nblocksize 0.01\ncollective true\nseed 5\n' "$1"
    shift
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

nothing_but() # NAME...
{
    [ "$(find . -mindepth 1 -printf '%f\n' | LC_ALL=C sort | tr '\n' ' ')" = "$(printf '%s\n' "$@" | LC_ALL=C sort | tr '\n' ' ')" ] ||
        fail "files: $(find . | tr '\n' ' ')"
}

# ---- the file goes with the run ----

mkdir run && cd run
keywords t.dat >plain.in
keywords t.dat "keep true" >kept.in
keywords t.dat "phases read" "check full" >read.in
cat plain.in read.in read.in >both.in
cat plain.in read.in >late.in
keywords t.dat "phases read" "keep true" >>late.in
expect_exit 0 "$PIOLET" run -n 2 -o results plain.in
nothing_but plain.in kept.in read.in both.in late.in results
expect_exit 0 mpirun_n 3 "$PIOLET" run -o results both.in
nothing_but plain.in kept.in read.in both.in late.in results
expect_exit 1 "$PIOLET" run -o results read.in
expect_in "$ERR" "keep true"
expect_exit 1 mpirun_n 3 "$PIOLET" run -o results read.in
expect_in "$ERR" "keep true"

# Kept by any of its blocks; read by a later run, overwritten by one more, and left by both: it was there before.
expect_exit 0 "$PIOLET" run -o results late.in
[ -s t.dat ] || fail "a block said 'keep true'"
rm t.dat .t.dat.piolet
expect_exit 0 "$PIOLET" run -n 2 -o results kept.in
expect_exit 0 "$PIOLET" run -n 2 -o results read.in
expect_exit 0 "$PIOLET" run -n 2 -o results plain.in
[ -s t.dat ] || fail "a file that was there before was removed"
expect_exit 0 "$PIOLET" run -n 2 -o results plain.in
rm t.dat .t.dat.piolet
nothing_but plain.in kept.in read.in both.in late.in results

# ---- a file of the user ----

# refused FILE COMMAND...: exit status 2, one message, nothing touched, no results begun
refused()
{
    local file=$1
    shift
    cp "$file" "$TMP/saved"
    rm -f new.out
    expect_exit 2 "$@"
    expect_in "$ERR" "--overwrite"
    [ "$(grep -c 'is there already' "$ERR")" = 1 ] || fail "not one message: $(cat "$ERR")"
    cmp "$file" "$TMP/saved" || fail "$file was changed: $*"
    [ ! -e new.out ] || fail "results were begun: $*"
}

cd "$TMP" && mkdir user && cd user
cp ../run/*.in .
echo "the only copy of my thesis" >t.dat
refused t.dat "$PIOLET" run -n 2 -o new.out plain.in
refused t.dat "$PIOLET" run -o new.out plain.in
refused t.dat mpirun_n 3 "$PIOLET" run -o new.out kept.in
refused t.dat "$PIOLET" run -o new.out both.in
refused t.dat "$(dirname "$PIOLET")/iot_all" -o new.out plain.in
ln -s t.dat link.dat
refused t.dat "$PIOLET" run -o new.out --set filename=link.dat plain.in
refused t.dat "$PIOLET" btio -n 1 --class S --dumps 1 --file t.dat -o new.out
refused t.dat mpirun_n 1 "$PIOLET" btio --class S --dumps 1 --file t.dat -o new.out
refused t.dat "$PIOLET" madbench -n 1 --pixels 16 --file t.dat -o new.out
refused t.dat "$PIOLET" gpfs contiguous -n 1 -r 1 -f t.dat -o new.out
refused t.dat mpirun_n 2 "$PIOLET" gpfs contiguous -r 1 -f t.dat -o new.out
refused t.dat "$PIOLET" piobench -n 1 -s 64k -b 4k -f t.dat -o new.out
cp t.dat own.1
refused own.1 "$PIOLET" madbench -n 4 --files unique --pixels 16 --file own -o new.out
refused own.1 mpirun_n 4 "$PIOLET" madbench --files unique --pixels 16 --file own -o new.out
[ ! -e own.0 ] || fail "a rank began though the file of another one is in the way"
cp t.dat second.dat
{
    keywords first.dat
    keywords second.dat
} >two.in
refused second.dat "$PIOLET" run -o new.out two.in
[ ! -e first.dat ] || fail "the first block was run"

# Reading is never refused: here the data are not what they should be.
expect_exit 1 "$PIOLET" run -o results read.in
expect_not_in "$ERR" "--overwrite"
[ "$(cat t.dat)" = "the only copy of my thesis" ] || fail "reading changed the file"

# With --overwrite it is taken, and stays: the run did not make it. From then on it is ours, until somebody changes it.
for command in "run -n 2 plain.in" "btio -n 1 --class S --dumps 1 --file t.dat" "madbench -n 1 --pixels 16 --file t.dat" \
    "gpfs contiguous -n 1 -r 1 -s 64k -c posix -f t.dat" "piobench -n 1 -s 64k -b 4k --trials 1 --max-trials 1 -a naive -f t.dat"; do
    read -ra words <<<"$command"
    echo "another thesis" >t.dat
    expect_exit 0 "$PIOLET" "${words[@]}" --overwrite -o results.out
    [ -s t.dat ] || fail "a file that was there before was removed: $command"
    expect_exit 0 "$PIOLET" "${words[@]}" -o results.out
    [ -s t.dat ] || fail "a file that was kept was removed: $command"
    rm results.out
    printf x >>t.dat
    refused t.dat "$PIOLET" "${words[@]}" -o new.out
    rm -f t.dat .t.dat.piolet
    expect_exit 0 "$PIOLET" "${words[@]}" -o results.out
    [ ! -e t.dat ] && [ ! -e .t.dat.piolet ] || fail "the test file or its mark was left: $command"
    rm results.out
done

# It is not given up for a file that cannot be made.
for command in "run --set filesize=100000000 --set blocksize=100 kept.in" "btio -n 1 --class D --file t.dat"; do
    read -ra words <<<"$command"
    echo "the third thesis" >t.dat
    expect_exit 1 "$PIOLET" "${words[@]}" --overwrite -o results.out
    expect_in "$ERR" "free"
    [ "$(cat t.dat)" = "the third thesis" ] || fail "the file was removed, though there is no room for another: $command"
done
rm t.dat results.out

# Another file in the place of ours, of the same size; and somebody's file with the name of a mark.
expect_exit 0 "$PIOLET" run -o results kept.in
cp t.dat copy && mv copy t.dat
refused t.dat "$PIOLET" run -o new.out kept.in
rm -f t.dat .t.dat.piolet
echo "a note of mine" >.t.dat.piolet
expect_exit 0 "$PIOLET" run -o results plain.in
[ "$(cat .t.dat.piolet)" = "a note of mine" ] || fail "the note is gone"
expect_exit 0 "$PIOLET" run -o results kept.in
[ "$(cat .t.dat.piolet)" = "a note of mine" ] || fail "the note is gone"
refused t.dat "$PIOLET" run -o new.out kept.in
rm t.dat .t.dat.piolet

# ---- what a killed run left is ours; a file that came later is not ----

keywords t.dat "repeat 100000" >long.in
"$PIOLET" run -o killed.out long.in >/dev/null 2>&1 &
run=$!
for ((i = 0; i < 600; i++)); do
    ! [ -s t.dat ] || break
    sleep 0.05
done
kill -9 "$run"
wait "$run" 2>/dev/null || true
if [ -e t.dat ]; then # it may have been between two sets
    expect_exit 0 "$PIOLET" run -o results plain.in
    [ ! -e t.dat ] && [ ! -e .t.dat.piolet ] || fail "what a killed run left was not removed"
fi
printf 'piolet-test-file 1 temporary\n' >.t.dat.piolet
touch -d '2 hours ago' .t.dat.piolet
echo mine >t.dat
refused t.dat "$PIOLET" run -o new.out plain.in
