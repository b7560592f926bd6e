#!/usr/bin/env bash
# sharedfp: as many bytes as the ranks say are in the file, each record once, none beyond `filesize`.
# proves: IOT-24
# It would fail if bytes were lost or counted twice, if a record passed `filesize`, if records were not of the asked
# lengths, if `collective true` did not write in rank order, or if a rank's share were not reported.
# processors: 2
# timeout: 180
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: bytes and counts are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
# Files carry the number of this process: Open MPI's jobs on one node disturb each other, up to a hang in MPI_File_open,
# when their files have the same last part of the name (OMPIO makes a semaphore of it).

# keywords FILE COLLECTIVE [LINE...]
keywords()
{
    printf 'class Kernel\ntestname sharedfp\nfilename %d-%s\ncollective %s\nseed 9\n' $$ "$1" "$2"
    [[ $* == *"keep "* ]] || echo "keep true"
    [[ " $*" = *check* ]] || echo "check full"
    shift 2
    printf '%s\n' "$@"
}

cat >judge.jq <<'JQ'
.blocks[] | . as $block | (.facts[] | select(.key == "nprocs").value | tonumber) as $ranks
| .sets[] | . as $set | .params as $p
| def wrong($what): "\($ranks) ranks, set \($set.set), \($p): \($what)";
  def of($key): [.series[] | select(.key == $key) | .values];
  (of("b") | map(add // 0)) as $bytes
  | (.errors[] | wrong(.)),
    (if (of("b") | length) != $ranks or (of("b") | map(length)) != (of("w") | map(length)) then wrong("series") else empty end),
    (if ($bytes | add) != ($p.written_bytes | tonumber) then wrong("\($bytes | add) bytes") else empty end),
    (if ($bytes | min) != ($p.balance_least_bytes | tonumber) or ($bytes | max) != ($p.balance_most_bytes | tonumber)
     then wrong("balance of \($bytes)") else empty end),
    (if ($p.written_bytes | tonumber) > ($p.filesize_bytes | tonumber) then wrong("too much") else empty end),
    # no more room for one record of each rank than a rank would have stopped for
    (if ($p.filesize_bytes | tonumber) - ($p.written_bytes | tonumber) >= $ranks * ($p.blockmax_bytes | tonumber)
     then wrong("too little") else empty end),
    (if of("b") | any(.[]; any(. < ($p.blockmin_bytes | tonumber) or . > ($p.blockmax_bytes | tonumber) or . % 8 != 0))
     then wrong("lengths") else empty end),
    (if $p.collective == "true" and (of("b") | map(length) | unique | length) != 1 then wrong("unequal rounds") else empty end),
    (if of("w") | any(.[]; any(. < 0)) then wrong("a negative time") else empty end),
    (if ([.hints[] | select(.kind == "asked" and .key == "access_style").value] | . != [] and . != ["random"])
     then wrong("hints") else empty end),
    (range($ranks) as $rank | [.times[] | select(.rank == $rank).key] | sort
     | if any($block.input[]; .key == "preallocate") then . - ["palloc_time"] + ["palloc_time"] | sort else . end
     | select(. != ["loop_time", "palloc_time", "post_time", "pre_time", "sync_time"]) | wrong("rank \($rank): times \(.)"))
JQ

for ranks in 1 3 4 8; do
    for collective in true false; do
        keywords many.dat $collective "filesize 0.2" "numblocksize 3" "blockmin 0.001 0 0.004" "blockmax 0.003, 0.002, 0.004 9"
        keywords exact.dat $collective "filesize 0.05" "numblocksize 1" "blockmin 0.000104" "blockmax 0.001" "preallocate false"
        keywords empty.dat $collective "filesize 0.004" "numblocksize 1" "blockmin 0" "blockmax 0.000008" "preallocate false"
        keywords none.dat $collective "filesize 0.001" "numblocksize 1" "blockmin 0.002" "blockmax 0.003" "check sample"
        keywords style.dat $collective "filesize 0.02" "numblocksize 1" "blockmin 0.001" "blockmax 0.002" "access_style random" \
            "check none" "keep false"
    done >run.in
    # the bytes in the file itself, after each of the two runs
    expect_exit 0 mpirun_n $ranks "$PIOLET" run -o results.$ranks run.in
    expect_exit 0 "$PIOLET" analyze export --format json results.$ranks
    [ ! -s "$ERR" ] || fail "reading the results gave a warning: $(cat "$ERR")"
    cp "$OUT" results.json
    jq -r -f judge.jq results.json >wrong
    [ ! -s wrong ] || fail "$(wc -l <wrong) findings in the results; the first: $(head -n 5 wrong)"
    [ "$(jq '[.blocks[].sets[]] | length' results.json)" = $((2 * 7)) ] || fail "sets are missing"
    # without preallocation the file is as long as what was written: nothing was written twice, nothing left out
    for file in exact empty; do
        written=$(jq -r "[.blocks[] | select(any(.input[]; .value == \"$$-$file.dat\")).sets[-1].params.written_bytes][-1]" results.json)
        [ "$(stat -c %s $$-$file.dat)" = "$written" ] || fail "$ranks ranks: $written bytes written, $(stat -c %s $$-$file.dat) in $file.dat"
    done
    [ "$(jq -c '[.blocks[].sets[].params | select(.blockmin_bytes == "2000").written_bytes] | unique' results.json)" = '["0"]' ] ||
        fail "a record larger than the file was written"
    [ ! -e $$-style.dat ] || fail "'keep false' kept the file"
done

# In rank order: with one seed the file of an ordered run is always the same, and begins with the records of round one.
keywords ordered.dat true "filesize 0.05" "numblocksize 1" "blockmin 0.0001" "blockmax 0.001" >ordered.in
expect_exit 0 mpirun_n 4 "$PIOLET" run -o ordered.out ordered.in
cp $$-ordered.dat first.dat
expect_exit 0 mpirun_n 4 "$PIOLET" run -o ordered.out ordered.in
cmp $$-ordered.dat first.dat >&2 || fail "two ordered runs with one seed differ"
expect_exit 0 "$PIOLET" analyze export --format json ordered.out
# a record's first number holds its rank in the bits from 2^-22 down
offset=0
for rank in 0 1 2 3 0; do
    number=$(od -A n -t f8 -j $offset -N 8 $$-ordered.dat)
    [ "$(awk -v number="$number" 'BEGIN { print int(number * 2 ^ 22) }')" = "$rank" ] || fail "at byte $offset is not the record of rank $rank"
    length=$(jq "[.blocks[0].sets[0].series[] | select(.rank == $rank and .key == \"b\").values[0]][0]" "$OUT")
    offset=$((offset + ${length%.*}))
done
