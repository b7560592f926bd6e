#!/usr/bin/env bash
# Peak measurements on memory, on a disk and on a loop device: all sets with all raw times, the configuration, the
# activity of the devices, and the sum over I/O nodes.
# proves: PHASE-11 PHASE-13 PHASE-14 PHASE-15
# It would fail if a set or a raw time were missing, if a byte that was read were not what was written, if memory passed
# for a device, if a direct write did not reach the device, if a device below a loop device were not found, if the peak
# were not the maximum of the rates or the sum not that of the nodes, or if a file stayed behind.
# processors: 2
# timeout: 120
TMPDIR=${TMPDIR:-/tmp} source "$(dirname "$0")/../lib.sh"
cd "$TMP"

# check_raw FILE: each raw time is there, and the file's own words on how many there are
check_raw()
{
    awk -v file="$1" '
        $1 == "set" { operation = ""; counted = 0 }
        $1 == "param" && $2 == "operation" { operation = $3; sets++ }
        $1 == "param" && $2 == "operations" { operations = $3 }
        $1 == "series" && $4 == "ns" { counted += $5 }
        $1 == "error" { print file ": " $0; bad = 1 }
        $1 == "end-set" && operation != "" && (counted != operations || !counted) {
            print file ": " operation ": " counted " times of " operations; bad = 1
        }
        END { exit bad || sets != 1 + 2 * 3 * 3 + 5 }' "$1" || fail "$1: sets or times are missing"
}

# Memory: a warning in the place of a device; two processes.
if [ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && [ -w /dev/shm ]; then
    mkdir "/dev/shm/piolet-peak-test.$$"
    on_exit rm -r "/dev/shm/piolet-peak-test.$$"
    expect_exit 0 "$PIOLET" peak "/dev/shm/piolet-peak-test.$$" --quick --size 8m --limit 2 --files 20 -n 2 -o memory.out
    expect_in "$OUT" "2 processes; cache: memory only"
    expect_in "$OUT" "memory only: these are rates of memory"
    expect_in memory.out "fact config.device none (tmpfs: in memory)"
    expect_not_in memory.out "param kind device"
    check_raw memory.out
    [ -z "$(ls "/dev/shm/piolet-peak-test.$$")" ] || fail "a file was left in memory"
fi

# A disk, or whatever holds the temporary files; two directories are two I/O nodes.
mkdir a b
if [ "$(stat -f -c %T a)" != tmpfs ]; then
    expect_exit 0 "$PIOLET" peak a b --quick --size 8m --limit 4 --files 20 -o disk.out \
        --info 'raid=RAID 5, 5 disks' --json disk.json --csv disk.csv --plot disk.svg
    expect_in "$OUT" "(BW_PK) of 2 I/O nodes together: write"
    [ -z "$(awk 'length > 80' "$OUT")" ] || fail "a line is longer than 80 columns"
    expect_in disk.out "fact config.raid RAID 5, 5 disks"
    expect_in disk.out "fact config.given raid"
    expect_in disk.svg "</svg>"
    [ -z "$(find a b -type f)" ] || fail "a file was left behind"
    expect_exit 0 "$PIOLET" analyze rawdata disk.out --block 1
    expect_not_in "$OUT" "write_wait" # samples of a device are no times of operations
    expect_exit 0 "$PIOLET" analyze peak disk.out --csv points.csv --json points.json
    # The peak is the best of the rates, and the sum that of both nodes.
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["operation"] == "write" && $column["rate_bytes_per_s"] > best[$1] { best[$1] = $column["rate_bytes_per_s"] }
        $column["operation"] == "fsync" && !($column["p99_ns"] >= $column["median_ns"] && $column["median_ns"] > 0) { exit 1 }
        END { for (node in best) { nodes++; sum += best[node] } ; if (nodes != 2) exit 1; printf "%.1f\n", sum / 1e6 }
    ' points.csv >sum || fail "points.csv is not as it should be"
    expect_in "$OUT" "together: write $(cat sum) MB/s"
fi

# A loop device: what is written directly reaches it, and the disk below it is known.
if [ "$(id -u)" -eq 0 ] && command -v mkfs.ext4 >/dev/null; then
    small_fs 48M
    expect_exit 0 "$PIOLET" peak "$SMALL_FS" --quick --size 8m --limit 2 --files 20 -o loop.out
    check_raw loop.out
    device=$(findmnt -n -o SOURCE "$SMALL_FS")
    expect_in loop.out "fact config.filesystem ext4"
    expect_in loop.out "fact config.device ${device#/dev/} 50.3 MB"
    expect_in loop.out "fact config.loop_file ${device#/dev/}"
    awk -v device="${device#/dev/}" '
        $1 == "set" { writes = kind = name = "" }
        $1 == "param" && $2 == "operation" { writes = $3 == "write" }
        $1 == "param" && $2 == "bytes" && writes { asked += $3 }
        $1 == "param" && $2 == "device" { name = $3 }
        taking && /^[0-9]/ { for (i = 1; i <= NF; i++) reached += $i; next }
        { taking = $1 == "series" && $3 == "written" && name == device }
        END { print asked, reached; exit !(asked > 0 && reached >= asked) }' loop.out ||
        fail "less reached the device than was written directly"
fi
