#!/usr/bin/env bash
# Large things: a file of 4 GB, blocks of 64 MB that do not divide it, 10^7 samples on each rank, 16 ranks.
# proves: IOT-3 IOT-6 IOT-12
# It would fail if an offset or a count did not fit its type, if rank 0 gathered all timings in its memory, or if an
# analysis of 10^7 samples did not stay within bounded memory.
# labels: long
# serial
# timeout: 1800
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
export COMMAND_TIMEOUT=600 MPIRUN_TIMEOUT=600
[ "$(df --output=avail -B 1000000 . | tail -n 1)" -gt 6000 ] || skip "needs 6 GB of disk"
[ "$(awk '/MemAvailable/ { print int($2 / 1000) }' /proc/meminfo)" -gt 3000 ] || skip "needs 3 GB of memory"

# keywords TEST MB BLOCK [LINE...]
keywords()
{
    printf 'class Lowlevel\ntestname %s\nfilename large.dat\nnumruns 1\nfilesize %s\nblocksize %s\n' "$1" "$2" "$3"
    shift 3
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# 4 GB and a bit, in blocks of 64 MB: 64 blocks, a tail, offsets beyond 2^32.
for access in "collective true" "collective false"; do
    keywords multiple 4300.123456 67.108864 "$access" "check full" "keep true" >four.in
    expect_exit 0 mpirun_n 3 "$PIOLET" run -o four.out four.in
    [ "$(stat -c %s large.dat)" = $((64 * 67108864)) ] || fail "4 GB: $(stat -c %s large.dat) bytes"
    rm large.dat
done
expect_exit 0 "$PIOLET" analyze export --format json four.out
[ "$(jq -c '[.blocks[].sets[].params | [.blocks, .tail_bytes]] | unique' "$OUT")" = '[["64","5156160"]]' ] ||
    fail "blocks and tail: $(jq -c '[.blocks[].sets[].params | [.blocks, .tail_bytes]]' "$OUT")"
keywords multiple 1000 64 "collective true" "keep true" >wide.in
expect_exit 0 mpirun_n 16 "$PIOLET" run -o wide.out wide.in
rm large.dat

# 10^7 samples on each of two ranks: 5·10^6 blocks each, written and read. The results are streamed: no process may
# grow by what all ranks measured.
keywords multiple 80 0.000008 "collective false" "keep false" >many.in
expect_exit 0 "$PIOLET" run --dry-run -n 2 many.in
expect_in "$OUT" "10000000"
limit_kb=600000 # of memory that can be written to: the plan says 80 MB a rank
expect_exit 0 mpirun_n 2 bash -c "ulimit -d $limit_kb; exec '$PIOLET' run -o many.out many.in"
[ "$(grep -c '^series . [wr] ns 5000000$' many.out)" = 4 ] || fail "series: $(grep '^series' many.out)"
(
    ulimit -d 300000
    expect_exit 0 "$PIOLET" analyze rawdata many.out
    expect_exit 0 "$PIOLET" analyze allav many.out
)
