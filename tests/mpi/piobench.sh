#!/usr/bin/env bash
# PIOBENCH on a tiny matrix: every distribution and algorithm, contents compared after every trial.
# proves: COLL-1 COLL-3 COLL-6 COLL-7
# It would fail if an algorithm moved a byte wrongly, if another one than the one asked for were in force, if a cell or a
# trial were missing, if the time were not that from the first start to the last end, if rates, intervals or ratios were
# not those that the raw times give, or if lost data went unnoticed.
# processors: 2
# timeout: 180
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: contents and arithmetic are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
cd "$TMP"
file=$$-piobench.dat # Open MPI's jobs on one node disturb each other when their files have the same name

# Every algorithm on every distribution.
expect_exit 0 "$PIOLET" piobench -n 4 -f "$file" -o all.out -s 64k -b 1k --trials 1 --max-trials 1 --check all \
    -d CYCLIC -d BLOCK,BLOCK,BLOCK -d multipartition -d broadcast
expect_exit 0 "$PIOLET" piobench -n 2 -f "$file" -o all.out -s 64k -b 1k --trials 1 --max-trials 1 --check all \
    -d BLOCK -d BALANCED -d random --json all.json
expect_in "$OUT" "results: all.out"
[ ! -e "$file" ] || fail "the test file was left behind"
! grep -q '^error' all.out || fail "a trial failed: $(grep -m 1 '^error' all.out)"
# 6 distributions written and read and 1 read only, 17 algorithms, and 'broadcast' where all read the same
[ "$(grep -c '^set ' all.out)" -eq $((6 * 2 * 17 + 18)) ] || fail "$(grep -c '^set ' all.out) trials"
[ -s all.json ] || fail "no export"

# What was asked for is in force: of the engine by its name, else not the engine.
awk '
    $1 == "set" { algorithm = op = used = "" }
    $1 == "param" && $2 == "algorithm" { algorithm = $3 }
    $1 == "param" && $2 == "op" { op = $3 }
    $1 == "hint" && $2 == "used" && $3 == "piolet_strategy_" op { used = $4 }
    $1 == "end-set" {
        own = algorithm ~ /^(naive|system|system-independent)$/
        if (own ? used != "" : (algorithm == "auto" ? used == "" : used != algorithm)) {
            print algorithm ": " used " in force"
            bad = 1
        }
    }
    END { exit bad }' all.out || fail "another algorithm than the one asked for"

# Rates, intervals and ratios, from the raw times and by another program. The 90 % quantile for 2 degrees of freedom is
# 2.9199856 (printed tables).
expect_exit 0 "$PIOLET" piobench -n 2,3 -f "$file" -o few.out -s 64k -b 64,4k -d CYCLIC --trials 3 --max-trials 3 \
    -a naive,cbx,system,node_grouping:piolet_group_size=2,ring:cb_buffer_size=64k,ring:cb_buffer_size=1m
expect_exit 0 "$PIOLET" analyze piobench few.out --csv few.csv -o few.svg
expect_in "$OUT" "collective buffering"
expect_in few.svg "</svg>"
awk '
    FNR == NR && $1 == "param" { value[$2] = $3 }
    FNR == NR && $1 == "time" && $3 == "start_time" { if (first == "" || $4 < first) first = $4 }
    FNR == NR && $1 == "time" && $3 == "end_time" { if ($4 > last) last = $4 }
    FNR == NR && $1 == "time" && $3 == "total_time" { total = $4 }
    FNR == NR && $1 == "end-set" {
        if (total != last - first || total <= 0) { print "set: " total " is not " last - first; bad = 1 }
        cell = value["op"] "," value["distribution"] "," value["blocksize_bytes"] "," value["ranks"]
        key = cell "," value["algorithm"]
        n[key]++; sum[key] += total; squares[key] += total * total; bytes[cell] = value["moved_bytes"]
        first = ""; last = total = 0
    }
    FNR == NR { next }
    FNR == 1 { FS = ","; next }
    {
        split($0, field, ",")
        cell = field[1] "," field[2] "," field[4] "," field[5]
        key = cell "," field[7]
        mean = sum[key] / n[key]
        rate = bytes[cell] / mean * 1000
        half = 2.9199856 * sqrt((squares[key] - n[key] * mean * mean) / (n[key] - 1) / n[key]) / mean * rate
        naive = bytes[cell] / (sum[cell ",naive"] / n[cell ",naive"]) * 1000
        best = 0
        for (other in n)
            if (index(other, cell ",") == 1 && bytes[cell] * n[other] / sum[other] * 1000 > best)
                best = bytes[cell] * n[other] / sum[other] * 1000
        if (n[key] != 3 || field[9] != 3 || differ(field[11], rate) || differ(field[12], half) ||
            differ(field[13], rate / naive) || differ(field[14], rate / best)) {
            print "wrong: " $0 " instead of " rate, half, rate / naive, rate / best
            bad = 1
        }
        rows++
    }
    function differ(a, b) { return a - b > 1e-6 * b + 1e-9 || b - a > 1e-6 * b + 1e-9 }
    END { if (rows != 48) print rows " rows"; exit bad || rows != 48 }' few.out few.csv ||
    fail "the analysis does not agree with the raw times"

# Options of the measurement.
expect_exit 0 "$PIOLET" piobench -n 2 -f "$file" -o options.out -s 64k -b 4k -d CYCLIC --trials 2 --max-trials 2 --check all \
    -a naive,ring,system --sync --cold --fresh --keep --seed 9 --hint cb_nodes=1
[ "$(stat -c %s "$file")" -eq 65536 ] || fail "the file has $(stat -c %s "$file") bytes"
grep -q '^time 1 sync_time ' options.out || fail "no time of syncing"
expect_in options.out "hint asked cb_nodes 1"

# What was measured under other conditions is another thing: neither averaged nor compared.
expect_exit 0 "$PIOLET" piobench -n 2 -f "$file" -o options.out -s 64k -b 4k -d CYCLIC --trials 2 --max-trials 2 -a naive --ops write
expect_exit 0 "$PIOLET" analyze piobench options.out
expect_in "$OUT" "[1] "
tr '\n' ' ' <"$OUT" | grep -q ', hint cb_nodes=1; host ' || fail "the conditions are not told"
expect_in "$OUT" "write CYCLIC, block 4 KiB, file 64 KiB, 2 ranks [1]"
expect_in "$OUT" "write CYCLIC, block 4 KiB, file 64 KiB, 2 ranks [2]"
! grep -q '^  naive  *4 ' "$OUT" || fail "trials of different conditions in one mean"

# A link stands for the place that it leads to: the file is made there, and the link stays.
mkdir elsewhere
ln -s elsewhere/target link
expect_exit 0 "$PIOLET" piobench -n 2 -f link -o link.out -s 64k -b 4k -d CYCLIC --trials 1 --max-trials 1 -a naive,system --keep
[ -L link ] && [ "$(stat -c %s elsewhere/target)" -eq 65536 ] || fail "not where the link leads"

# Ranks whose clocks differ compare them: one is in a time namespace of its own.
if [ "$PIOLET_MPI" = mpich ] && unshare --time --monotonic 5000 true 2>/dev/null; then
    cat >apart.sh <<'SH'
#!/bin/bash
[ "${PMI_RANK:-0}" != 1 ] || exec unshare --time --monotonic 5000 "$@"
exec "$@"
SH
    chmod +x apart.sh
    expect_exit 0 mpirun_n 2 ./apart.sh "$PIOLET" piobench -f "$file" -o clocks.out -s 64k -b 4k -d CYCLIC --ops read -a naive \
        --trials 1 --max-trials 1
    expect_in clocks.out "clocks compared by messages"
fi

# Contents are compared: a storage that does not keep a byte (of rank 0, which knows that it is written) is noticed.
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    # shellcheck disable=SC2016 # expands in the shell below
    TAMPER_SYNC=1 TAMPER_FILE=$file TAMPER_OFFSET=100 expect_exit 1 mpirun_n 2 \
        bash -c 'LD_PRELOAD=$PROGRAMS/libtamper.so${LD_PRELOAD:+:$LD_PRELOAD} exec "$0" "$@"' "$PIOLET" piobench -f "$file" -o lost.out \
        -s 64k -b 4k -d CYCLIC --ops write -a system-independent,naive --trials 2 --max-trials 2 --sync
    expect_in "$ERR" "wrong data at byte 100, which was written"
    [ "$(grep -c '^error E_DATA ' lost.out)" -eq 1 ] || fail "the results do not hold the loss"
    [ "$(grep -c '^time 0 total_time' lost.out)" -eq 2 ] || fail "naive has not gone on"
fi
