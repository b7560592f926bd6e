#!/usr/bin/env bash
# Rates of many ranks: on one clock, from stamps that every series has, and beside it from the first start to the last
# end, and by calls; also where a rank's clock is
# set off by hours.
# proves: IOT-6 IOT-32
# It would fail if a series had no stamps or stamps that overlap in a rank, if one of the three rates were missing in table,
# export or history, if the rate on one clock were above the one by calls or not what the stamps give, or if ranks in
# different time namespaces were put on the same clock without an offset.
# processors: 2
# timeout: 180
[ ! -w /dev/shm ] || shm=/dev/shm
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

keywords()
{
    printf 'class Lowlevel\ntestname multiple\nfilename %d-%s\nnumfilesize 1\nfilesize 3\nnumblocksize 1\nblocksize 0.02\n' $$ "$1"
    printf 'collective false\n\nclass Kernel\ntestname nonseq\nfilename %d-%s-n\nfilesize 1\nnumblocksize 1\n' $$ "$1"
    printf 'blocksize 0.01\nnumupdate 1\nupdate_frac 0.5\n\nclass Kernel\ntestname matrix2D\nfilename %d-%s-m\n' $$ "$1"
    printf 'numsizes 1\nxsize 300\nysize 300\nnumprocgrids 1\nxproc 3\nyproc 1\ndistribution BLOCK,BLOCK\ncollective true\n'
}

# Of each operation of each set: bytes, the time from the first start to the last end, the time in which somebody was in a
# call, and the longest sum of a rank.
cat >stamps.jq <<'JQ'
.blocks[] | . as $block | .sets[] | . as $set | ($set.params.blocksize_bytes // empty | tonumber) as $bytes
| ("w", "r", "u") as $op
| [$set.series[] | select(.key == $op and (.values | length) > 0)] as $times
| select($times | length > 0)
| [$times[] | . as $t
   | ($set.series[] | select(.key == $op + ".start" and .unit == "gap" and .rank == $t.rank).values) as $gaps
   | if ($gaps | length) != ($t.values | length) then error("stamps of \($op)") else . end
   | reduce range($gaps | length) as $i ({end: 0, spans: []};
       (.end + $gaps[$i]) as $start
       | if $i > 0 and $gaps[$i] < -2 then error("operations of a rank overlap") else . end
       | .spans += [[$start, $start + $t.values[$i]]] | .end = $start + $t.values[$i]) | .spans] as $ranks
| ($ranks | add | sort | reduce .[] as $s ({busy: 0, covered: null};
    (if .covered == null or $s[0] > .covered then .covered = $s[0] else . end)
    | if $s[1] > .covered then .busy += $s[1] - .covered | .covered = $s[1] else . end) | .busy) as $busy
| ($ranks | add | (map(.[1]) | max) - (map(.[0]) | min)) as $span
| ([$times[].values | add] | max) as $longest
| "\($block.testname) \($op) \($ranks | add | length * $bytes / $busy * 1e3) \($ranks | add | length * $bytes / $longest * 1e3) \($ranks | add | length * $bytes / $span * 1e3)"
JQ

judge()
{
    local file=$1
    expect_exit 0 "$PIOLET" analyze export --format json "$file"
    jq -r -f stamps.jq "$OUT" >stamps || fail "stamps of $file"
    [ "$(wc -l <stamps)" -eq 4 ] || fail "not all operations have stamps: $(cat stamps)"
    expect_exit 0 "$PIOLET" analyze run "$file" --json table.json
    while read -r testname op rate calls span; do
        case $op in w) name="write" ;; r) name="read" ;; *) name="update" ;; esac
        jq -e --arg t "$testname" --arg n "$name" --argjson rate "$rate" --argjson calls "$calls" --argjson span "$span" '
            def near($a; $b): ($a - $b | fabs) <= 1e-6 * $b;
            ([.quantities[] | select(.what == $n + " rate" and .testname == $t).value][0]) as $r |
            ([.quantities[] | select(.what == $n + " rate, by calls" and .testname == $t).value][0]) as $c |
            ([.quantities[] | select(.what == $n + " rate, first start to last end" and .testname == $t).value][0]) as $s |
            near($r; $rate) and near($c; $calls) and near($s; $span) and $r <= $c * 1.000001 and
            $s <= $r * 1.000001' table.json >/dev/null ||
            fail "$testname $name: not $rate, $calls and $span: $(jq -c .quantities table.json)"
    done <stamps
    jq -e '[.quantities[] | select(.testname == "matrix2D").what] | contains(["write rate", "write rate, by calls",
        "write rate, first start to last end"])' table.json >/dev/null || fail "matrix2D has not all three rates"
    jq -e '.sets[0] | .write_mb_per_s > 0 and .write_call_mb_per_s >= .write_mb_per_s * 0.999999 and
        .write_span_mb_per_s > 0 and .write_span_mb_per_s <= .write_mb_per_s * 1.000001' table.json >/dev/null ||
        fail "the table has not all three rates"
}

keywords a >keys
expect_exit 0 "$PIOLET" run keys -n 3 -o one.out
judge one.out
# On one node the clock is one: what is measured is MPI_Wtime against it.
"$PIOLET" analyze export --format json one.out | jq -e '
    [.blocks[].sets[].series[] | select(.key == "clock" and .unit == "offset").values | .[2], .[5]] |
    length == 18 and max < 1e6' >/dev/null || fail "clocks of one node"

# A rank in a time namespace of its own: its clock is 5000 s ahead.
if [ "$PIOLET_MPI" = mpich ] && unshare --time --monotonic 5000 true 2>/dev/null; then
    cat >rank.sh <<'SH'
#!/bin/bash
[ "${PMI_RANK:-0}" != 1 ] || exec unshare --time --monotonic 5000 "$@"
exec "$@"
SH
    chmod +x rank.sh
    timeout 100 mpiexec.mpich -n 3 ./rank.sh "$PIOLET" run keys -o apart.out >"$OUT" 2>"$ERR" || fail "$(cat "$ERR")"
    judge apart.out
    # all ranks of a set began within the same seconds
    "$PIOLET" analyze export --format json apart.out | jq -e '
        [.blocks[].sets[] | [.series[] | select(.unit == "gap" and .key == "r.start").values[0]] |
         select(length > 1) | max - min] | max < 60e9' >/dev/null || fail "starts are not on one clock"
else
    echo "no time namespace here: clocks apart are not tried"
fi
echo "rates: all well"
