#!/usr/bin/env bash
# proves: GPFS-5 GPFS-6 COLL-8
# Files that another process cuts while the engine has parts of them mapped. Fails when a write that was told to have
# gone well is not in the file, when a read gives bytes that are not, when a cut ends the program though it has set,
# reset or blocked SIGBUS, when the switch leaves a map or the budget is exceeded or not told, or when the file's time of
# change is older than the last write by more than a second after kill -9.
# processors: 2
# timeout: 240
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

program=$PROGRAMS/engine_map
unset PIOLET_HINTS PIOLET_FAULTS PIOLET_MAP
cd "$TMP"

right()
{
    expect_exit 0 engine_run "$1" "$program" "${@:2}"
    expect_in "$OUT" "$2 is right"
}

# Between calls.
for ranks in 1 2 3; do
    right "$ranks" cuts file
done
PIOLET_HINTS=piolet_strategy=independent right 2 cuts file

# At any time.
for ranks in 2 3; do
    rm -f file file.over
    touch file
    "$program" cut file $((ranks * 4194304)) &
    cutter=$!
    (sleep 3 && touch file.over) &
    right "$ranks" storm file
    wait "$cutter" || fail "the other process could not cut the file"
done

# The switch, by hint and by environment; wrong values are told once.
for ranks in 1 2; do
    right "$ranks" hints file
done
PIOLET_MAP=disable right 2 hints file
expect_in "$OUT" "piolet_map disable: as the hint says; budget 0, share 0"
PIOLET_HINTS=piolet_map=disable right 2 hints file
expect_in "$OUT" "piolet_map disable: as the hint says; budget 0, share 0"
PIOLET_MAP=enable right 2 hints file
[ "$(grep -c "PIOLET_MAP is 'enable'; allowed: automatic, disable" "$ERR")" -eq 1 ] || fail "$(cat "$ERR")"
# A job with little memory: an eighth of it for two ranks, or nothing where that is too little.
SLURM_MEM_PER_NODE=256 right 2 hints file
expect_in "$OUT" "stay mapped; budget 33554432, share 16777216"
SLURM_MEM_PER_NODE=100 right 2 hints file
expect_in "$OUT" "piolet_map disable: too little memory is left; budget 0, share 0"
# Little address space: little is mapped, or nothing.
(ulimit -v $((4 * 1048576)) && right 2 hints file) || exit 1

# kill -9 while the same places are written again and again.
for kind in 0 1 2 4; do
    rm -f file file.[0-9]*
    engine_run 2 "$program" write file "$kind" >"$OUT" 2>"$ERR" </dev/null &
    job=$!
    for ((tries = 0; tries < 1500; tries++)); do
        [ ! -s file.0 ] || break
        sleep 0.02
    done
    sleep 2 # of writing
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe" 2>/dev/null)" != "$program" ] || kill -9 "${process#/proc/}" || true
    done
    wait "$job" 2>/dev/null || true
    awk -v changed="$(stat -c %.9Y file)" '$1 > last { last = $1 } END { exit !(last > 0 && changed > last - 1) }' \
        file.[0-9]* || fail "kind $kind: the file is of $(stat -c %.9Y file), the last writes of $(cat file.[0-9]*)"
done
