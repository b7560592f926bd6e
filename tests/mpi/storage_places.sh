#!/usr/bin/env bash
# tools/places: what it sets up can be used by a benchmark, and nothing is left of it: not after 'down', not when its time
# is over, not when it was killed.
# It would fail if a place had another file system than asked for, if a second call did harm, if a place that cannot be
# had stopped the others, if a request to a place far away were not counted, or if a mount, a loop device, a limit or a process stayed behind.
# processors: 2
# timeout: 120
# serial
source "$(dirname "$0")/../lib.sh"
[ "$(id -u)" -eq 0 ] || skip "mounting needs root"
export PIOLET_SKIP_SETUP=1 # nothing is installed by a test
places=$SOURCE/tools/places
here=$TMP/places

nothing_left()
{
    local i
    for ((i = 0; i < 50; i++)); do # the kernel and the watchdog end a little later
        [ ! -e "$here" ] && ! grep -qF "$here" /proc/self/mountinfo && ! losetup -a | grep -qF "$here" &&
            ! pgrep -f "$here/.places" >/dev/null && return
        sleep 0.1
    done
    fail "left behind: $(ls -d "$here" 2>/dev/null) $(grep -F "$here" /proc/self/mountinfo) $(losetup -a | grep -F "$here") $(pgrep -af "$here/.places")"
}

# ---- wrong use ----

for words in "" "sideways" "up $here" "up $here ext5" "up --for 0 $here ext4" "up --size 1 $here ext4" "down" "list x"; do
    # shellcheck disable=SC2086  # several words
    expect_exit 2 "$places" $words
    expect_in "$ERR" "tools/places --help"
done
[ ! -e "$here" ] || fail "wrong use made something"
expect_exit 0 "$places" down "$here"

# ---- up, used, down ----

small_fs 64M # or skips, with the reason why nothing can be mounted here
on_exit "$places" down "$here"
kinds=(ext4 tmpfs)
! command -v mkfs.xfs >/dev/null || ! grep -qw xfs /proc/filesystems || kinds+=(xfs)
! command -v mkfs.btrfs >/dev/null || ! grep -qw btrfs /proc/filesystems || kinds+=(btrfs-raid0)
[ ! -c /dev/fuse ] || ! pkg-config --exists fuse3 || kinds+=(delay)
throttles=/sys/fs/cgroup/blkio/blkio.throttle.write_bps_device
[ ! -e "$throttles" ] || kinds+=(throttled)
expect_exit 0 "$places" up --size 320M --for 5 --latency 0.5 "$here" "${kinds[@]}"
[ "$(wc -l <"$OUT")" = ${#kinds[@]} ] || fail "not every place is named: $(cat "$OUT")"
expect_exit 0 "$places" up --size 320M --for 5 "$here" ext4 # once more does no harm
expect_in "$ERR" "is up already"
expect_exit 0 "$places" list
[ "$(grep -cF "$here/" "$OUT")" = ${#kinds[@]} ] || fail "list: $(cat "$OUT")"
declare -A types=([btrfs-raid0]=btrfs [throttled]=ext4 [delay]=fuse)
for kind in "${kinds[@]}"; do
    expect_exit 0 mpirun_n 4 "$PIOLET" btio --class S --file "$here/$kind/$kind.$$" -o "$TMP/$kind.out"
    expect_in "$TMP/$kind.out" "fact filesystem ${types[$kind]:-$kind}"
done

# What reaches a place far away is counted there, request by request.
counter() { awk -v name="$1" '$1 == name { print $2 }' "$here/delay/.delay"; }
if [[ " ${kinds[*]} " == *" delay "* ]]; then
    [ "$(counter writes)" -gt 0 ] && [ "$(counter read_bytes)" -gt 0 ] || fail "nothing was counted: $(cat "$here/delay/.delay")"
    echo 0 >"$here/delay/.delay"
    dd if=/dev/zero of="$here/delay/file" bs=64k count=5 2>"$ERR"
    printf 'x' | dd of="$here/delay/file" bs=1 seek=100 conv=notrunc,fsync 2>"$ERR"
    [ "$(counter writes)" = 6 ] && [ "$(counter written_bytes)" = $((5 * 65536 + 1)) ] && [ "$(counter unaligned_writes)" = 1 ] &&
        [ "$(counter syncs)" = 1 ] && [ "$(counter most_in_flight)" = 1 ] || fail "counted: $(cat "$here/delay/.delay")"
    [ "$(wc -c <"$here/delay/file")" = $((5 * 65536)) ] && [ "$(ls -A "$here/delay")" = file ] || fail "other files: $(ls -lA "$here/delay")"
    rm "$here/delay/file"
fi
expect_exit 0 "$places" down "$here"
nothing_left
[ ! -e "$throttles" ] || [ ! -s "$throttles" ] || echo "other limits are in force: $(cat "$throttles")"
expect_exit 0 "$places" down "$here" # nothing to do

# ---- the watchdog, after a caller that is gone, with a file still open ----

expect_exit 0 "$places" up --size 320M --for 5 "$here" tmpfs ext4
exec 7>"$here/tmpfs/open"
echo 0 >"$here/.places/until"
for ((i = 0; i < 80; i++)); do
    [ -e "$here/.places" ] || break
    sleep 0.1
done
exec 7>&-
nothing_left

# ---- what cannot be had is named, and the others are there ----

mkdir "$TMP/bin"
for program in bash cat chmod cksum cp cut date df flock grep id ln losetup mkdir mkfs.ext4 mount mountpoint modprobe readlink realpath rm \
    rmdir setsid sleep tail truncate umount dirname sed sort awk; do
    path=$(command -v "$program") && ln -s "$path" "$TMP/bin/$program"
done
expect_exit 1 env PATH="$TMP/bin" bash "$places" up --size 320M --for 5 "$here" xfs tmpfs
expect_in "$ERR" "xfs: the program mkfs.xfs is missing"
mountpoint -q "$here/tmpfs" || fail "tmpfs is not there"
[ ! -e "$here/xfs" ] || fail "the place that failed is left"
expect_exit 0 "$places" down "$here"
nothing_left
