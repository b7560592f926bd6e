#!/usr/bin/env bash
# A clock coarser than 10^-2 s is refused before anything is done.
# proves: IOT-8
# It would fail if a run went on with times that mean nothing, or if it left a file.
source "$(dirname "$0")/../lib.sh"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "sanitizers want to be preloaded first"
cd "$TMP"
printf 'class Lowlevel\ntestname single\nfilename t.dat\nnumruns 1\nfilesize 1\nblocksize 0.1\n' >clock.in
mkdir run
cd run

expect_exit 1 env LD_PRELOAD="$PROGRAMS/libcoarse_clock_TICK.so" "$PIOLET" run ../clock.in
expect_in "$ERR" "resolution of 0.1 s; allowed: 0.01 s or finer"
[ "$(wc -l <"$ERR")" -eq 1 ] || fail "more than one line: $(cat "$ERR")"
expect_exit 1 env LD_PRELOAD="$PROGRAMS/libcoarse_clock_STEP.so" "$PIOLET" run ../clock.in # though MPI_Wtick promises better
expect_in "$ERR" "allowed: 0.01 s or finer"
expect_exit 1 mpirun_n 2 env LD_PRELOAD="$PROGRAMS/libcoarse_clock_TICK.so" "$PIOLET" run ../clock.in
[ "$(grep -c 'resolution of 0.1 s' "$ERR")" -eq 1 ] || fail "not one message: $(cat "$ERR")"
[ -z "$(ls)" ] || fail "files appeared: $(ls)"
