#!/usr/bin/env bash
# proves: GPFS-6 COLL-2 COLL-3
# Random MPI-IO through every strategy of the table while system calls and memory fail, on one rank or on all. Fails when
# a rank hangs or dies, when a rank does not hear of another one's failure at the next call that synchronises, when
# success is reported although data are missing, or when a byte changes that nobody wrote.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

cd "$TMP" || exit
export MPIRUN_TIMEOUT=180
unset PIOLET_HINTS

# The rows, from the engine itself: new ones are tested with the others.
expect_exit 0 "$PIOLET" strategies --json
mapfile -t names < <(jq -r '.[].name' "$OUT")
[ "${#names[@]}" -gt 5 ] || fail "only ${#names[@]} strategies: ${names[*]}"

# faulty NAME RANKS CASES SEED PLAN
faulty()
{
    export PIOLET_FAULTS=$5
    engine_fuzz engine_run "$2" "faulty.$$" --alarm 120 --avoid "$ENGINE_LACKS" --strategy "$1" --faults \
        --seed "$4" --cases "$3" --kinds at,own,collective,nonblocking,splitcoll,ordered,write,read,view,hints
}

# Reading, writing, memory and locks fail at the call that the seed says; ranks and the failing rank go round.
counts=(2 3 5 8 1) plans=(pwrite:#=EIO@R pread:#=EIO@R malloc:#=ENOMEM@R 'pwrite:?0.1=ENOSPC@R' lock:#=EIO@R
    'malloc:?0.05=ENOMEM' 'pread:?0.1=EIO@R')
seed=${ENGINE_FUZZ_SEED:-1}
for name in "${names[@]}"; do
    for ((i = 0; i < 4; i++)); do # four of the plans for each row
        plan=${plans[seed % ${#plans[@]}]}
        ranks=${counts[seed % ${#counts[@]}]}
        plan=${plan//#/$((1 + seed % 9))}
        plan=${plan//@R/@$((seed / 3 % ranks))}
        ! is_mine $seed || faulty "$name" "$ranks" 8 "$seed" "$plan seed=$seed"
        seed=$((seed + 1))
    done
done
