#!/usr/bin/env bash
# All five low-level tests on 1 to 16 ranks, every choice of a keyword with every other in turn; the results are judged
# by what the parameters say must be in them.
# proves: IOT-3 IOT-4 IOT-6 IOT-9 IOT-11 IOT-12 IOT-13 IOT-14 IOT-15
# It would fail if a rank had more or fewer timings than blocks, if a time or a parameter were missing or wrong, if the
# file had another size than its blocks, if hints or facts were not reported, or if a run overwrote an earlier one.
# processors: 2
# timeout: 240
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

# block TEST NUMBER [LINE...]: a test block; NUMBER chooses the values of the keywords that every test has
block()
{
    local test=$1 n=$2
    local fuzzy=(0 0.3 0) check=(sample full none) preallocate=(true false)
    shift 2
    printf 'class Lowlevel\ntestname %s\nfilename %s.%d.dat\nkeep true\n' "$test" "$test" "$n"
    printf 'numfilesize 2\nfilesize 0.1 0.0123\nnumblocksize 2\nblocksize 0.007, 0.05\n'
    printf 'fuzzy %s\ncheck %s\npreallocate %s\ninfo.number %d\n' "${fuzzy[n % 3]}" "${check[n / 2 % 3]}" \
        "${preallocate[n % 2]}" "$n"
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# alone PHASE COLLECTIVE LAYOUT: one of writing and reading; what one way of access wrote, the other one reads
alone()
{
    printf 'class Lowlevel\ntestname multiple\nfilename alone.dat\nkeep true\nnumruns 1\nfilesize 0.1\nblocksize 0.007\n'
    printf 'phases %s\nseed 3\ncheck full\nlayout %s\n' "$1" "$3"
    [ "$2" = 1 ] && echo "collective true" || echo "collective false"
}

# The keyword file for the run number RUN: pairs of choices move on with it.
keywords()
{
    local run=$1 layout=(strided segmented) other
    other=${layout[(run + 1) % 2]}
    block single "$run" "cb_buffer_size 65536" "hint.romio_ds_write disable" "access_style write_once,sequential"
    block sinunix $((run + 1))
    block singleI $((run + 2)) "tasklength 20" "cycles $((run + 2))"
    block multiple $((run + 3)) "collective true" "layout ${layout[run % 2]}" "cb_nodes 1"
    block multiple $((run + 4)) "collective false" "layout $other"
    alone write $((run % 2)) "${layout[run % 2]}"
    alone read $(((run + 1) % 2)) "$other"
    block multipleI $((run + 5)) "collective true" "kind split" "layout $other" "tasklength 10 2"
    block multipleI $((run + 6)) "collective true" "kind nonblocking" "layout ${layout[run % 2]}" "tasklength 10"
    block multipleI $((run + 7)) "collective false" "layout $other" "tasklength 10" "cycles 3"
    # blocks of 8 bytes, and one block larger than the file
    printf 'class Lowlevel\ntestname multiple\nfilename tiny.dat\nkeep true\nnumruns 2\nfilesize 0.0004 0.000411\nblocksize 0.000008 1\n'
    printf 'collective %s\n' "$([ $((run % 2)) = 0 ] && echo true || echo false)"
}

# What must be in each set, from its parameters alone: prints a line for everything that is not so.
cat >judge.jq <<'JQ'
def times($rank; $set): [$set.times[] | select(.rank == $rank) | .key];
def series($rank; $key; $set): [$set.series[] | select(.rank == $rank and .key == $key)];
def length_of($rank; $key; $set): series($rank; $key; $set) | if length == 1 then .[0].values | length else "\(length) series" end;
.blocks[] | . as $block
| (.facts | map({(.key): .value}) | add) as $facts
| ($facts.nprocs | tonumber) as $ranks
| (.testname | startswith("multiple")) as $shared
| (.testname | endswith("I")) as $interleaved
| def wrong($what): "\($block.testname), \($ranks) ranks, block \($block.id): \($what)";
  (if .complete | not then wrong("not complete") else empty end),
  (("seed", "product_version", "timestamp", "mpi_library", "mpi_standard", "mpiio", "filesystem", "wtick_ns",
    "clock_step_ns", "clock_cost_ns", "memory_bytes")
   | select($facts[.] == null or $facts[.] == "") | wrong("fact \(.) is missing")),
  ([.facts[] | select(.key == "host")] | length | select(. != $ranks) | wrong("\(.) hosts")),
  (.input[] | select(.key | startswith("info.")) | select(.value == "") | wrong("remark lost")),
  (.sets[] | . as $set | .params as $p
   | ($p.blocks | tonumber) as $blocks | ($p.phases != "read") as $writes | ($p.phases != "write") as $reads
   | def wrong($what): "\($block.testname), \($ranks) ranks, set \($set.set), \($p): \($what)";
     (.errors[] | wrong(.)),
     (if ($p.filesize_bytes | tonumber) != $blocks * ($p.blocksize_bytes | tonumber) then wrong("file size") else empty end),
     (if ($p.blocksize_bytes | tonumber) % 8 != 0 then wrong("block size") else empty end),
     (if $p.tail_bytes == null or $p.check == null or $p.fuzzy == null or $p.preallocate == null then wrong("parameters") else empty end),
     (if $shared and ($p.collective == null or $p.layout == null) then wrong("collective or layout") else empty end),
     (if $interleaved and ($p.tasklength == null or $p.cycles == null) then wrong("tasklength or cycles") else empty end),
     (range($ranks) as $rank
      | (if $shared then ($blocks / $ranks | floor) + (if $rank < $blocks % $ranks then 1 else 0 end)
         elif $rank == 0 then $blocks else 0 end) as $mine
      | ($shared or $rank == 0) as $takes_part
      | ([ (if $takes_part then "pre_time", "post_time" else empty end),
           (if $takes_part and $writes then "sync_time", "write_time" else empty end),
           (if $takes_part and $reads then "read_time" else empty end),
           (if $takes_part and $writes and $p.preallocate == "true" then "palloc_time" else empty end)]) as $times
      | (if (times($rank; $set) | sort) != ($times | sort) then wrong("rank \($rank): times \(times($rank; $set))") else empty end),
        (($p.cycles // "0" | tonumber) as $cycles
         | (if $interleaved then [$cycles, $mine] | min else $mine end) as $plain
         | (["w", if $writes then $plain else 0 end], ["r", if $reads then $plain else 0 end],
            (if $interleaved then
                ["t", if $mine > 0 or ($p.collective == "true") then $cycles else 0 end],
                (("wI", "wtI", "wwI", "rI", "rtI", "rwI") | [., $mine])
             else empty end),
            (if $p.fuzzy != "0" then ["b", $mine] else empty end))
         | . as [$key, $count]
         | length_of($rank; $key; $set) | select(. != $count)
         | wrong("rank \($rank): \(.) timings \($key) in the place of \($count)"))),
     (if [$set.series[].values[]] | any(. < 0) then wrong("a negative time") else empty end),
     (if $p.fuzzy != "0" and ([$set.series[] | select(.key == "b").values[]] | add) != ($p.filesize_bytes | tonumber)
      then wrong("lengths do not add up") else empty end))
JQ

run=0
blocks=0
for ranks in 1 2 3 4 7 16; do
    keywords $run >run.in
    before=$blocks
    blocks=$((blocks + $(grep -c '^testname' run.in)))
    expect_exit 0 mpirun_n $ranks "$PIOLET" run -o results run.in
    "$PIOLET" analyze export --format json results >results.json 2>"$ERR" || fail "the results cannot be read: $(cat "$ERR")"
    [ ! -s "$ERR" ] || fail "reading the results gave a warning: $(cat "$ERR")"
    [ "$(jq '.blocks | length' results.json)" = $blocks ] || fail "a run did not append its blocks"
    # A file is as long as the blocks of the last set that was written to it.
    jq -r --argjson before "$before" '.blocks[$before:][] | [(.input[] | select(.key == "filename").value), .sets[-1].params.filesize_bytes] | @tsv' results.json |
        awk '{ size[$1] = $2 } END { for (file in size) print file, size[file] }' >sizes
    while read -r file size; do
        [ "$(stat -c %s "$file")" = "$size" ] || fail "$file has $(stat -c %s "$file") bytes, not $size"
    done <sizes
    rm -f -- *.dat
    run=$((run + 1))
done
[ "$(jq '[.blocks[].sets[]] | length' results.json)" = $((6 * (8 * 4 + 2 + 2))) ] || fail "sets are missing"
jq -r -f judge.jq results.json >wrong
[ ! -s wrong ] || fail "$(wc -l <wrong) findings in the results; the first: $(head -n 5 wrong)"

# Hints: asked for and in force.
single='[.blocks[] | select(.testname == "single")][0].sets[0].hints'
[ "$(jq -c "[${single}[] | select(.kind == \"asked\") | .key + \"=\" + .value] | sort" results.json)" = \
    '["access_style=write_once,sequential","cb_buffer_size=65536","romio_ds_write=disable"]' ] || fail "hints asked for: $(jq -c "$single" results.json)"
[ "$(jq "[${single}[] | select(.kind == \"used\")] | length" results.json)" -gt 0 ] || fail "no hints in force reported"
if [ "$PIOLET_MPI" = mpich ]; then
    [ "$(jq -r "${single}[] | select(.kind == \"used\" and .key == \"romio_ds_write\").value" results.json)" = disable ] || fail "the hint did not reach MPI"
fi
[ "$(jq '[.blocks[] | select(.testname == "sinunix") | .sets[].hints[] | select(.kind == "used")] | length' results.json)" = 0 ] ||
    fail "sinunix reports hints of MPI"
echo "$blocks blocks on 1 to 16 ranks"
