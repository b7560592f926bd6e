#!/usr/bin/env bash
# Every verb, interrupted: by Ctrl-C, kill, the end of a batch job and the end of a terminal, at its start and in its
# middle, started by itself and by mpiexec. This is a slice; interrupt_all.sh goes through all of it.
# proves: IOT-6 IOT-7
# It would fail if a verb left a test file, a temporary file or a process behind, lost a set that was measured, said
# nothing or more than one line, did not say how to go on, or ended with another status than 128 and the signal's number.
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../interrupt.sh"
cd "$TMP"

# Each verb on one of the MPIs, the signals in turn.
ways=("INT group" "TERM alone" "INT alone" "INT twice" "HUP alone" "INT background")
turn=0
for verb in $(interrupt_verbs); do
    turn=$((turn + 1))
    is_mine "$turn" || continue
    # shellcheck disable=SC2086  # two words
    interrupt "$verb" ${ways[turn % ${#ways[@]}]} middle
done
interrupt gpfs INT twice middle
interrupt piobench INT group start
interrupt run INT group middle mpiexec
interrupt btio TERM alone middle mpiexec
interrupt madbench HUP group middle mpiexec # of MPICH's, mpiexec dies and its proxy kills the ranks with SIGKILL

# A rank that no handler helps: the cleaner removes its files.
here=$INTERRUPT_TMP/killed
mkdir "$here"
interrupt_inputs
cd "$here"
mpirun_n 2 "$PIOLET" run long.in -o k.out >"$OUT" 2>"$ERR" &
job=$!
for ((tries = 0; tries < 1500; tries++)); do
    ! grep -qs '^end-set' k.out || break
    sleep 0.02
done
for rank in $(interrupt_processes); do
    grep -qsx piolet "/proc/$rank/comm" || continue
    kill -KILL "$rank" 2>/dev/null || true # the others may be gone
done
! wait "$job" || fail "a run whose ranks were killed ends well"
for ((tries = 0; tries < 250; tries++)); do
    [ -e t.dat ] || break
    sleep 0.02
done
[ ! -e t.dat ] || fail "killed ranks leave their test file behind"
cd "$TMP"

# Ctrl-C on a terminal: the line comes once, and nothing of the launcher's besides.
if command -v script >/dev/null; then
    here=$INTERRUPT_TMP/terminal
    mkdir "$here"
    interrupt_inputs
    cd "$here"
    mkfifo keys
    status=0
    env --default-signal=INT timeout 60 script -qec "$PIOLET run -n 2 --progress never long.in -o k.out" /dev/null <keys >typed 2>&1 &
    job=$!
    exec 7>keys
    for ((tries = 0; tries < 1500; tries++)); do
        ! grep -qs '^end-set' k.out || break
        sleep 0.02
    done
    printf '\003' >&7
    wait "$job" || status=$?
    exec 7>&-
    [ "$status" -eq 130 ] || fail "Ctrl-C: exit status $status: $(cat typed)"
    [ "$(grep -c "piolet run: interrupted; what was measured is kept in 'k.out'" typed)" -eq 1 ] || fail "$(cat typed)"
    ! grep -q mpiexec typed || fail "the launcher speaks too: $(cat typed)"
    [ ! -e t.dat ] || fail "Ctrl-C leaves the test file"
    cd "$TMP"
fi

# What is interrupted goes on: b_eff_io in its rewrites makes the removed file again, and measures nothing twice.
if is_mine "$turn"; then
    "$PIOLET" beffio -n 2 -T 2.5 --memory-node 256m -o b.out >"$OUT" 2>"$ERR" &
    job=$!
    for ((tries = 0; tries < 3000; tries++)); do
        [ ! -e b.out ] || [ "$(grep -c '^param method rewrite' b.out)" -lt 3 ] || break
        sleep 0.02
    done
    kill -INT "$job"
    status=0
    wait "$job" || status=$?
    [ "$status" -eq 130 ] || fail "beffio: exit status $status: $(cat "$ERR")"
    ! compgen -G '*piolet-beffio-*' || fail "beffio leaves files"
    go_on=$(sed -n 's/.*go on with: piolet //p' "$ERR")
    # shellcheck disable=SC2086  # the words of a command
    expect_exit 0 "$PIOLET" $go_on
    [ "$(grep -c '^end-set' b.out)" = 129 ] || fail "$(grep -c '^end-set' b.out) sets after interrupt and resume"
    expect_not_in b.out "error E_"
fi
