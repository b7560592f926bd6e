#!/usr/bin/env bash
# nonseq: every block is read once, by one rank; the asked fraction is written back; the finished file depends on the
# seed alone.
# proves: IOT-22
# It would fail if a block were read twice or never, if another number of updates were made than asked for, if the order
# or the updates depended on the number of ranks, or if an update were lost or left in another place.
# processors: 2
# timeout: 180
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: bytes and counts are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
# Files carry the number of this process: Open MPI's jobs on one node disturb each other, up to a hang in MPI_File_open,
# when their files have the same last part of the name (OMPIO makes a semaphore of it).

# keywords FILE [LINE...]
keywords()
{
    local file=$1
    shift
    printf 'class Kernel\ntestname nonseq\nfilename %d-%s\nfilesize 0.1\n' $$ "$file"
    [[ $* == *"keep "* ]] || echo "keep true"
    [[ " $*" = *check* ]] || echo "check full"
    printf '%s\n' "$@"
}

# What must be in each set, from its parameters alone.
cat >judge.jq <<'JQ'
.blocks[] | . as $block | (.facts[] | select(.key == "nprocs").value | tonumber) as $ranks
| .sets[] | . as $set | .params as $p
| ($p.blocks | tonumber) as $blocks | ($p.blocksize_bytes | tonumber) as $bytes | ($p.update_frac | tonumber) as $fraction
| def wrong($what): "\($ranks) ranks, set \($set.set), \($p): \($what)";
  def counts($key): [.series[] | select(.key == $key) | .values | length];
  (.errors[] | wrong(.)),
  (if ($p.filesize_bytes | tonumber) != $blocks * $bytes then wrong("file size") else empty end),
  (if ($p.filesize_bytes | tonumber) + ($p.tail_bytes | tonumber) != 100000 then wrong("tail") else empty end),
  (if (counts("r") | add) != $blocks then wrong("reads: \(counts("r"))") else empty end),
  (if (counts("r") | max - min) > 1 then wrong("reads are not dealt out evenly: \(counts("r"))") else empty end),
  (if (counts("u") | add) != ($blocks * $fraction | floor) then wrong("updates: \(counts("u"))") else empty end),
  # no rank may be left out of the updates by its number
  (if $blocks >= 20 * $ranks and $fraction >= 0.3 and (counts("u") | min) == 0 then wrong("updates are not dealt out: \(counts("u"))") else empty end),
  (if (counts("r") | length) != $ranks or (counts("u") | length) != $ranks then wrong("series") else empty end),
  (if [.series[].values[]] | any(. <= 0) then wrong("a time that is not positive") else empty end),
  (range($ranks) as $rank | [.times[] | select(.rank == $rank).key] | sort
   | if any($block.input[]; .key == "preallocate") then . - ["palloc_time"] + ["palloc_time"] | sort else . end
   | select(. != ["palloc_time", "post_time", "pre_time", "sync_time", "write_time"]) | wrong("rank \($rank): times \(.)"))
JQ

# One file for each fraction, block size and seed; blocks that do not divide the file, one larger than it, single numbers.
# The fraction 0.3 of 100 blocks of 1000 bytes is 30; of 14 blocks 4. 16 ranks are more than 1 or 14 blocks.
for ranks in 1 3 4 16; do
    [ $ranks -lt 16 ] && fractions="0 0.3 1" || fractions="0.3"
    for size in 0.001 0.007 1; do
        for fraction in $fractions; do
            keywords "$size.$fraction.$ranks.dat" "seed 5" "numblocksize 1" "blocksize $size" "numupdate 1" "update_frac $fraction"
        done
    done >run.in
    keywords "seed6.$ranks.dat" "seed 6" "numblocksize 1" "blocksize 0.001" "numupdate 1" "update_frac 0.3" >>run.in
    keywords "half.$ranks.dat" "seed 5" "numblocksize 1" "blocksize 0.001" "numupdate 1" "update_frac 0.5" >>run.in
    [ $ranks != 4 ] || keywords lists.dat "numblocksize 3" "blocksize 0.02 0.1 0.005 9" "numupdate 2" "update_frac 0.5, 0.01" \
        "preallocate false" "keep false" >>run.in
    [ $ranks != 3 ] || keywords bytes.dat "numblocksize 1" "blocksize 0.000008" "numupdate 1" "update_frac 0.1" "check sample" >>run.in
    expect_exit 0 mpirun_n $ranks "$PIOLET" run -o results run.in
    for file in $$-*.dat; do
        mv "$file" "${file#*-}"
    done
    for file in *."$ranks".dat; do
        cmp "$file" "${file%".$ranks.dat"}.1.dat" >&2 || fail "$file of $ranks ranks is not that of one"
        [ $ranks = 1 ] || rm "$file"
    done
    [ ! -e lists.dat ] || fail "'keep false' kept the file"
done
expect_exit 0 "$PIOLET" analyze export --format json results
[ ! -s "$ERR" ] || fail "reading the results gave a warning: $(cat "$ERR")"
cp "$OUT" results.json
[ "$(jq '[.blocks[].sets[]] | length' results.json)" = $((3 * 11 + 5 + 6 + 1)) ] || fail "sets are missing"
jq -r -f judge.jq results.json >wrong
[ ! -s wrong ] || fail "$(wc -l <wrong) findings in the results; the first: $(head -n 5 wrong)"

# Updates change as many blocks as asked for, spread over the file, and no other.
changed()
{
    local block bytes=$3 count=0
    for ((block = 0; block < 100000 / bytes; block++)); do
        cmp -s -n "$bytes" -i $((block * bytes)) "$1" "$2" || count=$((count + 1))
    done
    echo $count
}
[ "$(changed 0.001.0.1.dat 0.001.0.3.1.dat 1000)" = 30 ] || fail "0.3 of 100 blocks: $(changed 0.001.0.1.dat 0.001.0.3.1.dat 1000) changed"
[ "$(changed 0.001.0.1.dat 0.001.1.1.dat 1000)" = 100 ] || fail "all of 100 blocks: $(changed 0.001.0.1.dat 0.001.1.1.dat 1000) changed"
[ "$(changed 0.007.0.1.dat 0.007.0.3.1.dat 7000)" = 4 ] || fail "0.3 of 14 blocks: $(changed 0.007.0.1.dat 0.007.0.3.1.dat 7000) changed"
cmp -s -n 30000 0.001.0.1.dat 0.001.0.3.1.dat && fail "no update in the first third of the file"
cmp -s -i 70000 0.001.0.1.dat 0.001.0.3.1.dat && fail "no update in the last third of the file"
cmp -s 0.001.0.3.1.dat seed6.1.dat && fail "two seeds gave the same file"
echo "$(jq '[.blocks[].sets[]] | length' results.json) sets"
