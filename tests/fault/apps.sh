#!/usr/bin/env bash
# piolet btio and madbench when something fails on one rank: all end, the cause is told, and the results hold it.
# proves: IOT-7 GPFS-6
# It would fail if ranks waited for one that had failed, if data that did not arrive went unnoticed, or if a killed run
# took the repetitions before it along.
# processors: 2
# timeout: 180
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
export MPIRUN_TIMEOUT=180
cd "$TMP"
data=appsfault$$

# failed MESSAGE RUN CMD...: once, on a rank that is named, and in the results
failed()
{
    local message=$1
    shift
    rm -f failed.out
    expect_exit 1 "$@" --file "$data" -o failed.out
    grep -E "^piolet (btio|madbench): run 1 failed: rank [0-9]: " "$ERR" | grep -qF "$message" || fail "'$message' is not in: $(cat "$ERR")"
    [ "$(grep -c '^error ' failed.out)" = 1 ] || fail "the results do not hold the error"
    [ "$(grep -c '^end-block 1$' failed.out)" = 1 ] || fail "no whole block"
}

# ---- no place ----

mkdir "$data"
failed "is a directory" mpirun_n 4 "$PIOLET" btio --class S
rmdir "$data"
expect_exit 1 mpirun_n 4 "$PIOLET" madbench --file "$TMP/absent/$data" -o failed.out
expect_in "$ERR" "No such file or directory"

# ---- a system call fails on one rank ----

PIOLET_FAULTS="pwrite:5=ENOSPC@2" failed "writing" engine_run 4 "$PIOLET" btio --class S --subtype simple
PIOLET_FAULTS="pwrite:2=ENOSPC" failed "writing" engine_run 4 "$PIOLET" btio --class S --subtype full
PIOLET_FAULTS="pread:2=EIO" failed "reading" engine_run 4 "$PIOLET" btio --class S --subtype full
PIOLET_FAULTS="pread:3=EIO@1" failed "reading" engine_run 4 "$PIOLET" madbench --pixels 64 --rmod 2
PIOLET_FAULTS="open:1=EACCES@3" failed "opening" engine_run 4 "$PIOLET" madbench --pixels 64 --files unique

# shellcheck disable=SC2016  # the inner shell expands it
limited=(bash -c '[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" -ne 1 ] || ulimit -S -f 40000; exec "$0" "$@"' "$PIOLET")
failed "writing" mpirun_n 4 "${limited[@]}" madbench --pixels 1500 --bins 5 --iomode async # OMPIO's request has no file
expect_exit 0 "$PIOLET" trace -n 4 -o trace -- "$PIOLET" madbench --pixels 1500 --bins 5 --iomode async --file "$data" -o traced.out
expect_exit 0 "$PIOLET" model trace -o app.model
expect_exit 1 mpirun_n 4 "${limited[@]}" replay app.model --on "$TMP" -o replayed.out # nor has that of a replay
grep -qE "^piolet replay: .*rank 1: " "$ERR" || fail "the replay does not name the rank that failed: $(cat "$ERR")"
rm -f "$data"

# ---- a storage that does not keep what it was given ----

if [ -z "${PIOLET_SANITIZE:-}" ]; then
    # shellcheck disable=SC2016  # the inner shell expands it
    tampered=(bash -c 'LD_PRELOAD=$PROGRAMS/libtamper.so${LD_PRELOAD:+:$LD_PRELOAD} exec "$0" "$@"' "$PIOLET")
    export TAMPER_RANK=2
    TAMPER_LOSE_AT=7 failed "in the place of" mpirun_n 4 "${tampered[@]}" btio --class S --subtype simple
    TAMPER_LOSE_AT=2 failed "in the place of" mpirun_n 4 "${tampered[@]}" btio --class S --subtype epio --iomethod mpi
    TAMPER_LOSE=10 failed "in the place of" mpirun_n 4 "${tampered[@]}" madbench --pixels 64
fi

# ---- killed: the repetitions before stay ----

MPIRUN_TIMEOUT=3 expect_exit 124 mpirun_n 4 "$PIOLET" btio --class S --dumps 1 --repeat 1000000 --file "$data" -o killed.out
flock -w 60 killed.out true || fail "ranks are left" # mpiexec does not wait for their end
sets=$(grep -c '^end-set ' killed.out) || fail "no repetition in 3 s"
! grep -q '^end-block ' killed.out || fail "the run ended before it was killed"
expect_exit 0 "$PIOLET" btio --class S --dumps 1 --file "$data" -o killed.out # behind what the killed run left
expect_exit 0 "$PIOLET" analyze rawdata --block 1 --set "$sets" killed.out
expect_exit 0 "$PIOLET" analyze rawdata --block 2 killed.out
