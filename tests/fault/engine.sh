#!/usr/bin/env bash
# proves: GPFS-6
# Random MPI-IO through the engine while system calls and memory fail, on one rank or on all. Fails when a rank hangs or
# dies, when an open fails on some ranks only, when a rank does not hear of another one's failure at the next call that
# synchronises, when success is reported although data are missing, or when a byte changes that nobody wrote.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

cd "$TMP"
export MPIRUN_TIMEOUT=180
grep -q pwrite "$SOURCE/src/engine/fault/fault.def" || fail "there is no fault plan to test with"

# faulty RANKS CASES SEED PLAN [OPTION...]
faulty()
{
    local ranks=$1 cases=$2 seed=$3
    export PIOLET_FAULTS=$4
    shift 4
    engine_fuzz engine_run "$ranks" "faulty.$$" --alarm 120 --avoid "$ENGINE_LACKS" \
        --seed "$seed" --cases "$cases" "${@:---faults}"
}

# Each call at several times; kind of failure and rank go round, so that every pair of them comes up.
# (pread:zero is no failure: it is what the end of a file looks like.)
whats=(EIO ENOSPC short EINTR ENOMEM zero EACCES) ranks=("" @0 @1 "" @2)
seed=1
for call in open close pread pwrite fsync truncate allocate stat unlink lock malloc; do
    for when in 1 2 7 20+ '?0.05'; do
        what=${whats[seed % ${#whats[@]}]}
        case $call:$what in
        pread:zero | malloc:[!E]* | [!p]*:zero | [!p]*:short) what=EIO ;;
        esac
        ! is_mine $seed || faulty 3 12 $seed "$call:$when=$what${ranks[seed % ${#ranks[@]}]} seed=$seed"
        seed=$((seed + 1))
    done
done

# Everything at once, seldom and often.
for chance in 0.002 0.01 0.05; do
    for ranks in 1 2 4; do
        ! is_mine $seed || faulty $ranks 20 $seed "*:?$chance=EIO malloc:?$chance=ENOMEM seed=$seed"
        seed=$((seed + 1))
    done
done

# Calls in which ranks meet more than once, behind an access that failed on one rank: it has told of that already, the
# others hear of it only now, and all must leave together.
for rank in 0 1; do
    faulty 2 250 $seed "malloc:?0.02=ENOMEM@$rank pwrite:?0.05=ENOSPC@$rank seed=$seed" --faults \
        --kinds at,collective,independent,write,read,shared,ordered,seek,size,atomic,setinfo,hints
    seed=$((seed + 1))
done

# Short transfers and interrupted calls are no failures: all must be exact.
faulty 3 60 $seed "pwrite:*=short pread:*=short" --quiet
faulty 2 60 $seed "pwrite:?0.1=EINTR pread:?0.1=EINTR" --quiet
