#!/usr/bin/env bash
# A tracer that cannot write stops, says so once on each rank, and the program goes on as if it were not there: the file
# is cut, removed, damaged or closed under it, the disk is full or gone, the program takes SIGBUS for itself, limits are
# set. What is left is read by 'piolet model', or refused with one message.
# proves: PHASE-1 GPFS-7
# It would fail if a store to the mapped trace ended the program, whatever it does with SIGBUS; if the tracer wrote to a
# file of the program that got its descriptor; if a stop went without a message or with many; or if it raised SIGXFSZ.
# processors: 2
# timeout: 400
source "$(dirname "$0")/../lib.sh"

cd "$TMP"
cp "$PROGRAMS/trace_folder" program

trace_in=$TMP/traces
number=0

# faulty SAID MODEL "OPTIONS" FAULT...: SAID messages on each rank; MODEL: what 'piolet model' ends with
faulty()
{
    local said=$1 model=$2 options=$3 ranks=1 found folder
    shift 3
    number=$((number + 1))
    is_mine "$number" || return 0
    [ -z "${PIOLET_SANITIZE:-}" ] || [ $((number % 3)) = 2 ] || return 0 # slow there
    [[ $options != *"-n 2"* ]] || ranks=2
    folder=$trace_in/$number
    mkdir -p "$folder"
    # shellcheck disable=SC2086  # words
    expect_exit 0 "$PIOLET" trace $options -o "$folder" -- ./program "$TMP/data.$number.$$" "$folder" "$@"
    [ "$(grep -c ' went on$' "$OUT")" = "$ranks" ] || fail "$options $*: not all ranks went on: $(cat "$OUT")"
    found=$(grep -c '^piolet-trace: ' "$ERR" || true)
    [ "$found" = $((said * ranks)) ] || fail "$options $*: $found messages: $(cat "$ERR")"
    rm -f "data.$number.$$"
    expect_exit "$model" "$PIOLET" model -o "$TMP/model.$number" "$folder"
    [ "$model" = 0 ] || [ "$(grep -c '^piolet model: ' "$ERR")" = 1 ] || fail "$options $*: $(cat "$ERR")"
}

# ---- the file is cut under it, whatever the program does with SIGBUS ----

faulty 0 0 "-n 1" chdir
faulty 1 1 "-n 2" cut=0
faulty 1 1 "-n 1" cut=5000 # into the control block
faulty 1 1 "-n 1" cut=8300 # into the records: the rest of a page becomes zeros
faulty 1 1 "-n 1" default cut=0
faulty 1 1 "-n 1" default cut=8300
faulty 1 1 "-n 1" ignore cut=0
faulty 1 1 "-n 1" handler cut=0
faulty 1 1 "-n 2" block cut=0
faulty 1 1 "-n 1" procmask cut=8300
faulty 1 1 "-n 1" thread cut=0
faulty 1 1 "-n 1" thread default cut=0
faulty 1 1 "-n 2" late cut=0
faulty 1 1 "-n 1" late cut=8300
faulty 1 1 "--full -n 1" cut=0
faulty 1 1 "--full -n 2" late cut=0
faulty 1 1 "--engine -n 2" cut=0
faulty 1 1 "--engine -n 1" default cut=0
faulty 1 1 "--engine -n 1" thread cut=8300

# ---- removed, damaged, closed, forbidden ----

faulty 1 1 "-n 1" remove
faulty 1 1 "--full -n 1" late remove
faulty 0 0 "-n 1" overwrite
faulty 0 0 "-n 1" regrow
faulty 0 0 "-n 2" fork
faulty 0 0 "--full -n 1" fork
faulty 0 0 "-n 1" descriptor
faulty 0 0 "-n 2" descriptor default
faulty 0 0 "--full -n 1" descriptor
faulty 0 0 "-n 1" default # by system calls from there on
faulty 0 0 "-n 1" readonly
if [ "$(id -u)" -eq 0 ] && [ -z "${PIOLET_SANITIZE:-}" ]; then # which looks for leaks by /proc
    faulty 0 0 "-n 1" user
    faulty 1 0 "-n 1" descriptor chroot
    faulty 1 0 "--full -n 1" descriptor chroot
fi

# ---- limits ----

faulty 1 0 "-n 2" filesize=100000
faulty 1 0 "--full -n 1" filesize=100000
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    faulty 0 0 "-n 1" files
    faulty 1 0 "-n 1" memory
fi
expect_exit 0 "$PIOLET" trace -o nobody -- ./program "$TMP/data.e.$$" "$TMP/nobody" stderr cut=0 # nobody to be told
expect_in "$OUT" "went on"

# ---- a disk that is full, or gone ----

# shellcheck disable=SC2317 # called by small_fs
skip() { printf 'not checked: %s\n' "$*"; exit 0; }
small_fs 16M
trace_in=$SMALL_FS
for options in "-n 2" "--full -n 2"; do
    faulty 1 0 "$options" full
    rm -rf "${SMALL_FS:?}"/*
    faulty 1 0 "$options" default full
    rm -rf "${SMALL_FS:?}"/*
done
mkdir "$SMALL_FS/before"
dd if=/dev/zero of="$SMALL_FS/filling" bs=4k 2>/dev/null || true
dd if=/dev/zero of="$SMALL_FS/filling2" bs=1 2>/dev/null || true
for form in "" --full; do # nothing can be traced from the start
    # shellcheck disable=SC2086  # a word or none
    expect_exit 0 "$PIOLET" trace $form -n 2 -o "$SMALL_FS/before" -- ./program "$TMP/data.f.$$" "$SMALL_FS/before"
    [ "$(grep -c '^piolet-trace: .*No space left on device' "$ERR")" = 2 ] || fail "a full disk: $(cat "$ERR")"
    [ -z "$(ls "$SMALL_FS/before")" ] || fail "a trace that could not begin is left behind"
done
mount -o remount,ro "$SMALL_FS"
expect_exit 1 "$PIOLET" trace -n 2 -o "$SMALL_FS/before" -- ./program "$TMP/data.f.$$" "$SMALL_FS/before"
expect_in "$ERR" "piolet trace: nothing can be written into the directory '$SMALL_FS/before': Read-only file system"
expect_exit 1 "$PIOLET" trace -n 2 -o "$SMALL_FS/new" -- ./program "$TMP/data.f.$$" "$SMALL_FS/new"
expect_in "$ERR" "piolet trace: cannot make the directory '$SMALL_FS/new': Read-only file system"
mount -o remount,rw "$SMALL_FS"
rm -rf "${SMALL_FS:?}"/*
faulty 1 1 "--engine -n 1" shutdown # the last: nothing works there any more
