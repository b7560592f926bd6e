#!/usr/bin/env bash
# PIOBENCH killed in the middle and resumed; launches of two MPIs that alternate.
# proves: COLL-6
# It would fail if a resumed run repeated or left out a trial, lost one that was measured, or measured another matrix; or
# if launches did not alternate.
# processors: 2
# timeout: 180
# serial
[ ! -w /dev/shm ] || shm=/dev/shm
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
cd "$TMP"
file=$$-piobench.dat

trials()
{
    if [ -e "$1" ]; then grep -c '^end-set' "$1" || true; else echo 0; fi
}

# Every contestant of every cell has the trials 1 to N, once each: prints how many contestants there are.
complete()
{
    awk -v trials="$2" '
        $1 == "param" { value[$2] = $3 }
        $1 == "fact" && $2 == "mpi" { mpi = $3 }
        $1 == "end-set" {
            key = mpi " " value["op"] " " value["distribution"] " " value["block_asked_bytes"] " " value["algorithm"]
            if (seen[key, value["trial"]]++) { print "twice: " key ", trial " value["trial"] > "/dev/stderr"; bad = 1 }
            if (value["trial"] > trials) { print "too many: " key > "/dev/stderr"; bad = 1 }
            count[key]++
        }
        END {
            for (key in count) {
                contestants++
                if (count[key] != trials) { print count[key] " trials: " key > "/dev/stderr"; bad = 1 }
            }
            print contestants
            exit bad
        }' "$1"
}

# kill_after N: starts the long run, kills its ranks when N trials are there
kill_after()
{
    local tries job
    "${@:2}" >"$OUT" 2>"$ERR" &
    job=$!
    for ((tries = 0; tries < 1500; tries++)); do
        [ "$(trials results)" -lt "$1" ] || break
        sleep 0.01
    done
    [ "$(trials results)" -ge "$1" ] || fail "the run did not come so far: $(cat "$OUT" "$ERR")"
    kill_ranks
    ! wait "$job" || fail "a killed run must not end well"
}

kill_after 30 timeout 60 "$PIOLET" piobench -n 2 -f "$file" -o results -s 2m -b 64,128,256 -d CYCLIC -d random --trials 5 \
    --max-trials 5 -a naive,cbx,system
before=$(trials results)
[ "$before" -lt 180 ] || fail "the run was not killed in the middle: $before trials"
cp results killed
expect_exit 2 "$PIOLET" piobench --resume results -b 64
expect_in "$ERR" "--blocks: '64', but the run to resume has '64,128,256'; leave it out"
kill_after $((before + 10)) timeout 60 "$PIOLET" piobench --resume results # and once more
cmp -n "$(stat -c %s killed)" killed results >&2 || fail "the resumed run changed what was there"
expect_exit 0 "$PIOLET" piobench --resume results
[ "$(complete results 5 || echo wrong)" = 36 ] || fail "not every trial of every contestant, once"
# nothing is left to do
expect_exit 0 "$PIOLET" piobench --resume results
[ "$(trials results)" -eq 180 ] || fail "$(trials results) trials"
expect_exit 0 "$PIOLET" analyze piobench results

# Another run may stand in the same file: its trials were other ones. And a run that took the ranks that it was started
# on is resumed on as many.
expect_exit 0 "$PIOLET" piobench -n 2 -f "$file" -o two.out -s 64k -b 4k -d CYCLIC --ops write -a naive --trials 2 --max-trials 2
expect_exit 0 mpirun_n 2 "$PIOLET" piobench -f "$file" -o two.out -s 64k -b 4k -d CYCLIC --ops write -a naive --trials 2 --max-trials 2 --fresh
awk '{ print } /^end-set/ && ++sets == 3 { exit }' two.out >cut.out
expect_exit 0 "$PIOLET" piobench --resume cut.out
[ "$(trials cut.out)" -eq 4 ] || fail "$(trials cut.out) trials: those of the other run were counted"
[ "$(grep -c '^param ranks 2$' cut.out)" -eq 4 ] || fail "resumed on another number of ranks"

# Both MPIs in turn, where both are built side by side (not with sanitizers).
for mpi in mpich openmpi; do
    [ -x "${PIOLET%/"$PIOLET_MPI"/bin/piolet}/$mpi/bin/piolet" ] || exit 0
done
expect_exit 0 "$PIOLET" piobench --mpis mpich,openmpi -n 2 -f "$file" -o both.out -s 64k -b 4k -d CYCLIC --ops write \
    -a naive,ring --trials 2 --max-trials 2
[ "$(complete both.out 2 || echo wrong)" = 4 ] || fail "not every trial of every contestant, once"
[ "$(sed -n 's/^fact mpi //p' both.out | tr '\n' ' ')" = "mpich openmpi openmpi mpich " ] ||
    fail "launches: $(sed -n 's/^fact mpi //p' both.out | tr '\n' ' ')"
expect_exit 2 "$PIOLET" piobench --mpis mpich,openmpi -n 2 -f "$file" -o both.out
expect_in "$ERR" "holds results already"
expect_exit 0 "$PIOLET" piobench --resume both.out # complete: starts nothing
[ "$(trials both.out)" -eq 8 ] || fail "$(trials both.out) trials"
expect_exit 0 "$PIOLET" analyze piobench both.out
expect_in "$OUT" "openmpi ring"

# Open MPI with ROMIO in the place of OMPIO.
expect_exit 0 "$PIOLET" piobench --mpis openmpi-romio,openmpi -n 2 -f "$file" -o romio.out -s 64k -b 4k -d CYCLIC --ops write \
    -a system --trials 1 --max-trials 1
[ "$(sed -n 's/^hint used io_components //p' romio.out | head -n 1)" = romio321 ] || fail "ROMIO is not in force"
sed -n 's/^hint used io_components //p' romio.out | tail -n 1 | grep -q ompio || fail "OMPIO is not in force"
