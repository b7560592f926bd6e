#!/usr/bin/env bash
# The seven MPI-IO/GPFS benchmarks with tiny sizes: every contestant moves every byte, what is in force is what its name
# says, and the statistics are those of the raw times.
# proves: GPFS-8 GPFS-9
# It would fail if a contestant moved a byte wrongly, if a repetition or a cell were missing, if shipping, partitioning or
# prefetching were in force where the name says otherwise, if maximum, mean, deviation or ratios were not those that the
# raw times give, if contestants did not take turns, if lost data went unnoticed, or if a failing rank stopped the others.
# processors: 2
# timeout: 180
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: contents and arithmetic are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
cd "$TMP"
file=$$-gpfs.dat # Open MPI's jobs on one node disturb each other when their files have the same name

# measure SETS BENCHMARK OPTION...: so many repetitions, none of which failed
measure()
{
    local sets=$1 name=$2
    shift 2
    expect_exit 0 "$PIOLET" gpfs "$name" -f "$file" -o "$name.out" "$@"
    expect_in "$OUT" "results: $name.out"
    [ "$(grep -c '^set ' "$name.out")" -eq "$sets" ] || fail "$name: $(grep -c '^set ' "$name.out") repetitions"
    [ "$(grep -c '^time 0 total_time' "$name.out")" -eq "$sets" ] || fail "$name: a repetition failed"
    [ ! -e "$file" ] || fail "the test file was left behind"
    cat "$name.out" >>all.out
}

measure $((2 * 2 * 5)) contiguous -n 1,3 -s 70001 --reps 1
measure $((2 * 2 * 3 * 3)) discontiguous -n 3 -s 64k --region 64k --preallocate no,yes --reps 3 \
    -c system,no-shipping,partitioned
measure $((2 * 4)) partitioning -n 3 --blocks 20 --block 999 --reps 1
measure $((2 * 2 * 7)) access-range -n 3 --blocks 8 --sub-blocks 2,16 --reps 1
measure $((2 * 2 * 4)) strided -n 3 --file-size 2m --record 4k --reps 1
measure $((2 * 6)) random -n 3 --file-size 1m --record 4k --batch 10 --reps 1
measure $((2 * 2 * 2 * 4)) threads -n 3 -s 256k --threads 1,3 --compute 0,20 --reps 1

# What is in force is what the name says, by the engine's own words.
awk '
    function expect(right, what) { if (!right) { print name ": " what ": " shipping; bad = 1 } }
    $1 == "set" { name = shipping = version = ranges = "" }
    $1 == "param" && $2 == "contestant" { name = $3 }
    $1 == "hint" && $2 == "used" && $3 == "piolet_version" { version = $4 }
    $1 == "hint" && $2 == "used" && $3 == "piolet_access_ranges" { ranges = $4 }
    $1 == "hint" && $2 == "used" && $3 == "piolet_shipping" { shipping = $0 }
    $1 == "param" && $2 == "repetition" { repetition = $3 }
    $1 == "end-set" {
        own = name !~ /^(posix|system)$/
        if (repetition == 1) expect((version != "") == own, "whose MPI-IO")
        ships = shipping ~ / on: /
        expect(ships == (name ~ /^(shipping|ranges|partitioned)/), "shipping")
        expect((shipping ~ /, partitioned/) == (name ~ /^partitioned/), "partitioning")
        if (name ~ /^ranges-/) expect(name == "ranges-" ranges, "access ranges")
        seen[name] = 1
    }
    END {
        split("posix system no-shipping shipping partitioned ranges-0 ranges-8 independent+ranges", wanted, " ")
        for (i in wanted) if (!(wanted[i] in seen)) { print wanted[i] " was not measured"; bad = 1 }
        exit bad
    }' all.out || fail "something else was in force"

# They take turns, every round beginning with another one.
turns=$(awk '$2 == "contestant" { printf "%s ", substr($3, 1, 2) }' discontiguous.out)
[[ $turns == "sy no pa no pa sy pa sy no sy no pa "* ]] || fail "turns: $turns"

# Maximum, mean, deviation and ratios, from the raw times and by another program.
expect_exit 0 "$PIOLET" analyze gpfs discontiguous.out --csv few.csv --json few.json -o few.svg
expect_in few.svg "</svg>"
! grep -nE '^.{81}' "$OUT" >&2 || fail "lines are too long"
awk '
    function near(a, b) { return a - b < 1e-9 * b && b - a < 1e-9 * b }
    FNR == NR && $1 == "param" { value[$2] = $3 }
    FNR == NR && $1 == "time" && $3 == "total_time" {
        key = value["op"] "," value["preallocate"] "," value["contestant"]
        rate = value["moved_bytes"] * 1000 / $4
        n[key]++; sum[key] += rate; rates[key, n[key]] = rate
        if (rate > most[key]) most[key] = rate
    }
    FNR == NR { next }
    FNR == 1 { for (i = 1; i <= split($0, title, ","); i++) column[title[i]] = i; next }
    {
        split($0, cell, ",")
        group = cell[column["op"]] "," cell[column["preallocate"]] ","
        key = group cell[column["contestant"]]
        mean = sum[key] / n[key]
        squares = 0
        for (i = 1; i <= n[key]; i++) squares += (rates[key, i] - mean) ^ 2
        if (n[key] != 3 || cell[column["repetitions"]] != 3 || !near(cell[column["max_mb_per_s"]], most[key]) ||
            !near(cell[column["mean_mb_per_s"]], mean) ||
            !near(cell[column["sd_mb_per_s"]], sqrt(squares / 2)) ||
            !near(cell[column["ratio_to_reference"]], most[key] / most[group "system"])) { print key ": " $0; bad = 1 }
        lines++
    }
    END { exit bad || lines != 12 }' discontiguous.out few.csv || fail "the statistics are not those of the raw times"
expect_exit 0 "$PIOLET" analyze gpfs all.out -o all.svg
expect_in "$OUT" "overlap"
expect_in all.svg "threads, read"

# A run that was cut short goes on where it was: the same repetitions of the same contestants in all, none of them twice.
sed '/^set 17$/,$d' discontiguous.out >cut.out
expect_exit 0 "$PIOLET" gpfs --resume cut.out --json rest.json
[ -s rest.json ] || fail "no export"
for out in discontiguous cut; do
    awk '$1 == "param" { value[$2] = $3 }
        $1 == "end-set" { print value["op"], value["preallocate"], value["contestant"], value["repetition"] }' $out.out |
        sort >$out.list
done
cmp discontiguous.list cut.list || fail "another run was resumed"
expect_exit 0 "$PIOLET" gpfs --resume cut.out
[ "$(grep -c '^set ' cut.out)" -eq 36 ] || fail "a whole run was resumed"

# An agent cannot be reached: nothing is measured under the name of shipping, and the others go on.
PIOLET_NODE_RANKS=1 PIOLET_THREADS=program expect_exit 1 "$PIOLET" gpfs contiguous -n 3 -f "$file" -o off.out -s 64k \
    --reps 2 --ops write -c posix,shipping
expect_in "$ERR" "'shipping' asks for shipping, but what is in force is 'off:"
[ "$(grep -c '^error E_UNSUPPORTED' off.out) $(grep -c '^time 0 total_time' off.out)" = "1 2" ] || fail "off.out"

# One rank (rank 0 has the only agent with data) fails: its repetition does, on all of them, and nobody waits for it.
PIOLET_FAULTS="pwrite:1+=EIO@0" expect_exit 1 "$PIOLET" gpfs discontiguous -n 3 -f "$file" -o faulty.out -s 64k \
    --region 32k --reps 2 --ops write -c posix,no-shipping,partitioned,system
[ "$(grep -c '^error ' faulty.out) $(grep -c '^time 0 total_time' faulty.out)" = "2 4" ] || fail "faulty.out"

# Contents are compared: a storage that does not keep a byte is noticed, and the next contestant finds it mended.
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    for place in 100 5000; do # of what was written; of what was not
        # shellcheck disable=SC2016 # expands in the shell below
        TAMPER_SYNC=1 TAMPER_FILE=$file TAMPER_OFFSET=$place expect_exit 1 mpirun_n 2 \
            bash -c 'LD_PRELOAD=$PROGRAMS/libtamper.so${LD_PRELOAD:+:$LD_PRELOAD} exec "$0" "$@"' "$PIOLET" gpfs strided -f "$file" \
            -o lost.out --file-size 1m --record 1k --pattern sparse --ops write -c system,posix --reps 2
        expect_in "$ERR" "wrong data at byte"
    done
    expect_in "$ERR" "which nobody was to write"
    [ "$(grep -c '^error E_DATA ' lost.out)" -eq 2 ] || fail "the results do not hold the loss"
    [ "$(grep -c '^time 0 total_time' lost.out)" -eq 4 ] || fail "posix has not gone on"

    # An MPI that gives no MPI_THREAD_MULTIPLE: it is told where several threads would call it, and POSIX goes on.
    # shellcheck disable=SC2016 # expands in the shell below
    expect_exit 1 mpirun_n 2 bash -c 'LD_PRELOAD=$PROGRAMS/libless_thread.so${LD_PRELOAD:+:$LD_PRELOAD} exec "$0" "$@"' "$PIOLET" gpfs \
        threads -f "$file" -o less.out -s 64k --record 8k --threads 1,2 --compute 0 --ops read -c system,posix --reps 1
    expect_in "$ERR" "this MPI does not give MPI_THREAD_MULTIPLE: 2 threads cannot call it"
    [ "$(grep -c '^time 0 total_time' less.out)" -eq 3 ] || fail "less.out"
fi
