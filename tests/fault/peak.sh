#!/usr/bin/env bash
# Peak measurements on targets that are too small, that fail in the middle on one rank or on all, and runs that are ended.
# proves: PHASE-13
# It would fail if a run began on a target without space, if a rank that fails kept the others waiting, if what was
# measured before were lost or the failure not in the results, if the next target were not measured, or if a run that
# is ended by a signal left its file behind.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir target
quick=(--quick --limit 2 --files 10)

# One rank may only write 40 MiB of its 48: both end, and the set says why.
cat >limited <<'TEXT'
#!/usr/bin/env bash
[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" -ne 1 ] || ulimit -f 40960
exec "$@"
TEXT
chmod +x limited
expect_exit 1 mpirun_n 2 ./limited "$PIOLET" peak target "${quick[@]}" --size 96m --limit 30 -o limited.out
expect_in "$ERR" "first write, sequential, 1 MiB: rank 1: writing 1048576 bytes at offset 41943040"
expect_in limited.out "error E_"
[ "$(grep -c '^set ' limited.out)" -ge 1 ] || fail "no set in the results"
expect_in limited.out "series 0 w ns 48"
expect_in limited.out "series 1 w ns 40"
expect_exit 0 "$PIOLET" analyze peak limited.out
expect_in "$OUT" "failed: first write"
[ -z "$(ls target)" ] || fail "a file was left behind"

# Ended by a signal: the file is gone, and what was measured can be read. (Memory is too quick for it.)
"$PIOLET" peak target --quick --size 64m --limit 60 --requests 512,1m --access random -o ended.out >/dev/null 2>&1 &
run=$!
for _ in $(seq 100); do
    ! grep -qs '^end-set' ended.out || break
    sleep 0.1
done
if kill -TERM "$run" 2>/dev/null; then
    wait "$run" || true
    expect_exit 0 "$PIOLET" analyze peak ended.out
    expect_in "$OUT" "the run did not come to its end"
elif [ "$(stat -f -c %T target)" != tmpfs ]; then
    fail "the run was over before it could be ended"
fi
[ -z "$(ls target)" ] || fail "the file of an ended run was left behind"

# A file system with less room than it says: its image lies on a full one. The target before it keeps its results, and
# so does the one behind it.
[ "$(id -u)" -eq 0 ] || skip "file systems of its own need root"
command -v mkfs.ext4 >/dev/null || skip "mkfs.ext4 is missing (package e2fsprogs)"
mkdir memory small other
mount -t tmpfs -o size=12m none memory 2>"$ERR" || skip "cannot mount: $(head -n 1 "$ERR")"
on_exit unmount "$TMP/memory"
truncate -s 64M memory/image
mkfs.ext4 -q -F -m 0 memory/image
mount -o loop memory/image small 2>"$ERR" || skip "cannot mount a loop device: $(head -n 1 "$ERR")"
on_exit unmount "$TMP/small"
expect_exit 2 "$PIOLET" peak target small "${quick[@]}" --size 1g -o refused.out
expect_in "$ERR" "'small': --size asks for 1.07 GB, but"
[ ! -e refused.out ] || fail "a refused run has results"
expect_exit 1 "$PIOLET" peak target small other "${quick[@]}" --size 24m -o full.out
expect_in "$ERR" "/small: first write, sequential, 1 MiB: rank 0: writing 1048576 bytes"
[ "$(grep -c '^end-block' full.out)" -eq 3 ] || fail "not every target has its block"
[ "$(grep -c '^error ' full.out)" -eq 1 ] || fail "more than one set failed"
expect_in "$OUT" "failed: first write"
expect_in "$OUT" "(BW_PK) of"
[ -z "$(find target other -type f)" ] || fail "a file was left behind"
