#!/usr/bin/env bash
# Arrays of more than 2^31 bytes, in one call of one rank too, and of more than 2^31 elements: offsets, counts and
# displacements beyond what an int holds.
# proves: IOT-20 IOT-21
# It would fail if an offset, a count or a stride ran over: the file would not be that of a serial program.
# labels: long
# serial
# timeout: 1800
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
export COMMAND_TIMEOUT=900 MPIRUN_TIMEOUT=900
[ "$(df --output=avail -B 1000000 . | tail -n 1)" -gt 6000 ] || skip "needs 6 GB of disk"
available_mb() { awk '/MemAvailable/ { print int($2 / 1000) }' /proc/meminfo; }
[ "$(available_mb)" -gt 8000 ] || skip "needs 8 GB of memory"
cp "$PROGRAMS/serial_matrix" serial_matrix

# keywords "SIZES" "GRID" COLLECTIVE [LINE...]
keywords()
{
    local size grid
    read -r -a size <<<"$1"
    read -r -a grid <<<"$2"
    printf 'class Kernel\ntestname matrix3D\nfilename large.dat\nseed 11\nnumsizes 1\nxsize %d\nysize %d\nzsize %d\n' "${size[@]}"
    printf 'numprocgrids 1\nxproc %d\nyproc %d\nzproc %d\ncollective %s\n' "${grid[@]}" "$3"
    shift 3
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# ---- 700^3 elements, 2.7 GB: in parts of less than 2^31 bytes on 4 ranks, in one part on one ----

whole="700 700 700"
for case in "4:1 2 2:true" "4:2 2 1:true" "4:1 1 4:false" "4:1 4 1:false" "1:1 1 1:true" "1:1 1 1:false"; do
    IFS=: read -r ranks grid collective <<<"$case"
    keywords "$whole" "$grid" "$collective" "phases write" "keep true" >write.in
    expect_exit 0 mpirun_n "$ranks" "$PIOLET" run -o large.out write.in
    ./serial_matrix 11 700 700 700 | cmp - large.dat >&2 || fail "$case: not the file of a serial program"
    for other in "4:4 1 1:true" "2:1 1 2:false"; do # one rank of two reads 1.4 GB with one call
        IFS=: read -r ranks grid collective <<<"$other"
        keywords "$whole" "$grid" "$collective" "phases read" >read.in
        expect_exit 0 mpirun_n "$ranks" "$PIOLET" run -o large.out read.in
    done
    rm large.dat
done

# ---- more than 2^31 elements ----

[ "$(df --output=avail -B 1000000 . | tail -n 1)" -gt 19000 ] || { echo "left out: 2^31 elements need 19 GB of disk"; exit 0; }
[ "$(available_mb)" -gt 20500 ] || { echo "left out: 2^31 elements need 20.5 GB of memory"; exit 0; }
huge="1300 1300 1272" # 2149680000 elements, 17.2 GB
keywords "$huge" "1 1 4" false "phases write" "keep true" >write.in
expect_exit 0 mpirun_n 4 "$PIOLET" run -o large.out write.in
[ "$(stat -c %s large.dat)" = 17197440000 ] || fail "$(stat -c %s large.dat) bytes"
for from in 0 268435000 1074839000 2147483000 2149679000; do # the ends, the border of two ranks, 2^31 bytes, 2^31 elements
    ./serial_matrix 11 1300 1300 1272 $from 1000 | cmp -n 8000 - <(tail -c +$((from * 8 + 1)) large.dat | head -c 8000) >&2 ||
        fail "2^31 elements: element $from or one behind it is wrong"
done
keywords "$huge" "2 2 1" true "phases read" >read.in
expect_exit 0 mpirun_n 4 "$PIOLET" run -o large.out read.in
