#!/usr/bin/env bash
# tools/places glusterfs: a volume of two bricks that a benchmark can use, and of which nothing is left. Only where
# GlusterFS is installed ('tools/setup glusterfs').
# It would fail if the volume were not mounted, if bytes got lost on it, or if a daemon or a mount stayed behind.
# processors: 2
# timeout: 180
# labels: long
# serial
source "$(dirname "$0")/../lib.sh"
[ "$(id -u)" -eq 0 ] || skip "mounting needs root"
command -v glusterd >/dev/null || skip "needs glusterd ('tools/setup glusterfs')"
[ -c /dev/fuse ] || skip "needs /dev/fuse"
small_fs 64M # or skips, with the reason why nothing can be mounted here
export PIOLET_SKIP_SETUP=1
here=$TMP/places
on_exit "$SOURCE/tools/places" down "$here"
expect_exit 0 "$SOURCE/tools/places" up --size 512M --for 5 "$here" glusterfs
for subtype in full simple epio; do
    expect_exit 0 mpirun_n 4 "$PIOLET" btio --class S --subtype $subtype --file "$here/glusterfs/$subtype.$$" --keep -o "$TMP/out"
done
cmp "$here/glusterfs/full.$$" "$here/glusterfs/simple.$$" || fail "full and simple differ"
expect_in "$TMP/out" "fact filesystem fuse.glusterfs"
expect_exit 0 "$SOURCE/tools/places" down "$here"
sleep 2 # the watchdog looks once a second
[ ! -e "$here" ] || fail "$here is left"
! grep -F "$here" /proc/self/mountinfo || fail "a mount is left"
! pgrep -af "$here" || fail "a process is left"
