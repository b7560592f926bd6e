#!/usr/bin/env bash
# PIOBENCH when a rank's writes fail, and when results cannot be written: nobody hangs, what failed is told, the rest is
# measured, and a resumed run measures what failed.
# proves: COLL-6
# It would fail if a rank waited for one that failed, if a failed trial counted as measured or were repeated for ever, or
# if a full disk under the results went unnoticed.
# processors: 2
# timeout: 180
[ ! -w /dev/shm ] || shm=/dev/shm
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
cd "$TMP"
file=$$-piobench.dat
export COMMAND_TIMEOUT=180

# tell ALGORITHM: "MEASURED FAILED" trials of it
tell()
{
    awk -v algorithm="$1" '
        $1 == "param" && $2 == "algorithm" { own = $3 == algorithm }
        $1 == "error" && own { failed++ }
        $1 == "time" && $3 == "total_time" && own { measured++ }
        END { print measured + 0, failed + 0 }' results
}

# Rank 1 cannot write by the engine.
PIOLET_FAULTS="pwrite:1+=ENOSPC@1" expect_exit 1 "$PIOLET" piobench -n 3 -f "$file" -o results -s 192k -b 16k -d CYCLIC --ops write \
    --trials 2 --max-trials 2 -a naive,independent,node_grouping,cb_b,system
expect_in "$ERR" "independent: rank 1:"
for algorithm in independent node_grouping cb_b; do
    [ "$(tell $algorithm)" = "0 1" ] || fail "$algorithm: $(tell $algorithm) trials were measured, failed"
done
for algorithm in naive system; do
    [ "$(tell $algorithm)" = "2 0" ] || fail "$algorithm: $(tell $algorithm) trials were measured, failed"
done
expect_exit 0 "$PIOLET" analyze piobench results
expect_in "$OUT" "failed"

# The fault is gone: what failed is measured, nothing else is.
expect_exit 0 "$PIOLET" piobench --resume results
[ "$(tell independent) $(tell cb_b) $(tell naive)" = "2 1 2 1 2 0" ] || fail "after resuming: $(tell independent) $(tell naive)"

# The results' disk is full.
expect_exit 1 "$PIOLET" piobench -n 2 -f "$file" -o /dev/full -s 64k -b 16k -d CYCLIC -a naive
expect_in "$ERR" "/dev/full"

# What a killed run left takes no room from the one that resumes it: its test file is removed first.
small_fs 8M
fallocate -l "$(($(df --output=avail -B1 "$SMALL_FS" | tail -n 1) - 1500000))" "$SMALL_FS/full"
head -c 1m /dev/zero >"$SMALL_FS/$file"
echo 'piolet-test-file 1 temporary' >"$SMALL_FS/.$file.piolet"
expect_exit 0 "$PIOLET" piobench -n 2 -f "$SMALL_FS/$file" -o tight.out -s 1m -b 64k -d CYCLIC --ops write -a naive --trials 1 --max-trials 1
