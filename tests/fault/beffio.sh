#!/usr/bin/env bash
# b_eff_io where things go wrong: a full disk ends a pattern type and not the run, and a run that is killed goes on where
# it stopped.
# proves: BIO-3 BIO-6 BIO-8
# It would fail if a rank hung, if files of a failed type kept the disk full, if the types behind it did not run, if a
# finished pattern were lost or measured twice, or if the verdict hid a failure or the page cache.
# serial
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
cd "$TMP"

# Killed in its rewrites: all finished patterns stay, and each pattern is there once after the resume.
rewrites()
{
    local sets
    sets=$(grep -c '^param method rewrite' killed.out 2>/dev/null)
    [ "${sets:-0}" -ge 3 ]
}

mpirun_n 2 "$PIOLET" beffio -T 2.5 --memory-node 256m -o killed.out >"$OUT" 2>"$ERR" &
job=$!
for ((tries = 0; tries < 3000; tries++)); do
    ! rewrites || break
    sleep 0.02
done
kill_ranks
! wait "$job" || fail "a killed run must not end well"
rewrites || fail "the run did not come to its rewrites: $(cat "$OUT" "$ERR")"
before=$(grep -c '^end-set' killed.out)
[ "$before" -lt 129 ] || fail "the run was over before it was killed"
expect_exit 0 mpirun_n 2 "$PIOLET" beffio --resume killed.out
expect_in "$OUT" "b_eff_io of this partition"
expect_not_in "$OUT" "was not measured"
[ "$(grep -c '^end-set' killed.out)" = 129 ] || fail "$(grep -c '^end-set' killed.out) sets after kill and resume"
awk '/^param method/ { m = $3 } /^param pattern/ { print m, $3 }' killed.out | sort | uniq -d >twice
# the set that was being written may stand there in part
[ "$(grep -c . twice)" -le 1 ] || fail "measured twice: $(cat twice)"
[ -z "$(find . -name '*piolet-beffio-*')" ] || fail "files are left: $(find . -name '*piolet-beffio-*')"

# Killed behind its last pattern: what is left to do is to remove the files.
grep -v '^end-block' killed.out >late.out
touch "piolet-beffio-$(sed -n 's/^fact run //p' late.out | tail -n 1)-n2-t3"
expect_exit 0 mpirun_n 2 "$PIOLET" beffio --resume late.out
[ -z "$(find . -name '*piolet-beffio-*')" ] || fail "files are left: $(find . -name '*piolet-beffio-*')"

# A disk that cannot hold the files of all types: one call of each pattern needs 93 MB.
small_fs 48M
expect_exit 1 mpirun_n 3 "$PIOLET" beffio -T 0.5 --memory-node 256m -p "$SMALL_FS" -o full.out
expect_in "$ERR" "ends here: rank 0: pattern"
expect_in "$ERR" "of which 4 MB and 1 % are kept"
expect_in "$OUT" "may never have reached the disk"
grep -q 'type [0-4] failed in write: pattern' "$OUT" || fail "the verdict does not tell of the full disk"
grep -q '^param type 4' full.out || fail "the run did not go on to the last type"
[ -z "$(find "$SMALL_FS" -name '*piolet-beffio*')" ] || fail "files are left: $(ls "$SMALL_FS")"

# A call that fails on one rank alone, in a collective type and in one that is not: the others end the type with it.
for plan in "pwrite:3=EIO@1" "pwrite:30+=EIO@2" "fsync:2=EIO@0" "open:2=EACCES@1"; do
    PIOLET_FAULTS=$plan expect_exit 1 engine_run 3 "$PIOLET" beffio -T 0.5 --memory-node 256m -o "faulty.$plan"
    expect_in "$ERR" "ends here: rank"
    expect_in "$OUT" "verdict: NOT OFFICIAL"
    [ -z "$(find . -name '*piolet-beffio-*')" ] || fail "$plan: files are left: $(find . -name '*piolet-beffio-*')"
done

# A limit on the size of files is met before MPI-IO meets it: some implementations would hang.
ulimit -S -f 20000
expect_exit 1 mpirun_n 3 "$PIOLET" beffio -T 0.5 --memory-node 256m -o limited.out
expect_in "$ERR" "'ulimit -f' allows no more"
ulimit -S -f unlimited

# Results that cannot be written stop all ranks.
mkdir nothing
expect_exit 2 mpirun_n 2 "$PIOLET" beffio -T 1 --memory-node 256m -o nothing
expect_in "$ERR" "nothing"
expect_exit 1 mpirun_n 2 "$PIOLET" beffio -T 0.5 --memory-node 256m -o /dev/full
expect_in "$ERR" "/dev/full"
