#!/usr/bin/env bash
# The command line of 'piolet peak': what is refused and why, the plan, and that nothing is touched by either.
# proves: PHASE-13 PHASE-15
# It would fail if a smaller file were measured in the cache, if a refusal did not name the option that helps, if memory
# were measured as a device without a word, if a wrong value passed, or if a refused run or a plan left a file behind.
[ ! -w /dev/shm ] || shm=/dev/shm
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir target

refused() { expect_refused peak "$@"; }

refused "a directory is missing"
refused "No such file or directory" nowhere
touch file
refused "'file' is not a directory" file
refused "is given twice" target target
refused "allowed: multiples of 512 bytes" target --requests 4k,1000
refused "allowed: sequential, strided, random" target --access sideways
refused "allowed: auto, yes, no" target --direct perhaps
refused "allowed: a size from 1 on" target --size -1
refused "allowed: a time from 1 s to 604800 s" target --limit never
refused "is not KEY=VALUE" target --info raid
refused "one of them is enough" target --direct yes --drop-caches --size 1m
refused "shorter than a request of 16 MiB" target --size 1m --dry-run
refused "asks for 1.1 PB" target --size 1000t
refused "allowed: auto, always, never" target --progress maybe
refused "ends in .svg or .png" target --plot x.pdf
refused "named for two outputs" target --json x --csv x
refused "cannot be made" target --quick -o nowhere/peak.out

type=$(stat -f -c %T target)
if [ "$type" = tmpfs ]; then
    refused "which is memory only" target --size 32m --direct yes
    [ "$(id -u)" -ne 0 ] || refused "which is memory only" target --size 32m --drop-caches
fi
disk=$(mktemp -d "${TMPDIR_DISK:-/var/tmp}/piolet-test.$$.XXXXXX")
on_exit rm -r "$disk"
if [ "$(stat -f -c %T "$disk")" != tmpfs ]; then
    refused "allowed: --direct yes, --drop-caches, or a larger --size" "$disk" --size 32m --direct no
    [ "$(id -u)" -eq 0 ] || refused "which needs root" "$disk" --size 32m --drop-caches
fi

expect_exit 0 "$PIOLET" peak target --quick --dry-run
expect_in "$OUT" "first write, sequential, 1 MiB (makes the file)"
expect_in "$OUT" "read, random, 4 KiB"
expect_in "$OUT" "Nothing was run."
[ -z "$(awk 'length > 80' "$OUT")" ] || fail "a line of the plan is longer than 80 columns"
expect_exit 0 "$PIOLET" peak --help
[ -z "$(awk 'length > 80' "$OUT")" ] || fail "a line of --help is longer than 80 columns"

[ -z "$(find target "$disk" -type f)" ] || fail "something was left in the target"
[ ! -e peak.out ] || fail "results of nothing"
