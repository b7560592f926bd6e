#!/usr/bin/env bash
# proves: GPFS-6 GPFS-1
# Non-blocking, split and blocking accesses between messages while system calls and memory fail, on one rank or on all.
# Fails when a rank hangs or dies, when success is reported for data that are not in the file or in memory, when a
# failed request is told neither by the call that completes it nor in its status (MPI_ERR_IN_STATUS), or when it does
# not call the error handler of its file once.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

seed=1
# faulty RANKS CASES PLAN [OPTION...]
faulty()
{
    local ranks=$1 cases=$2 own=$seed status=0
    export PIOLET_FAULTS="$3"
    shift 3
    seed=$((seed + 1))
    is_mine "$own" || return 0
    engine_run "$ranks" "$MIX" "$TMP/mix.$$" --seed "$own" --cases "$cases" "${@:---faults}" >"$OUT" 2>"$ERR" </dev/null ||
        status=$?
    if [ "$status" -ne 0 ]; then
        head -c 10000 "$ERR" >&2
        fail "exit status $status of engine_mix on $ranks ranks of $PIOLET_MPI: seed $own, PIOLET_FAULTS='$PIOLET_FAULTS'"
    fi
    expect_in "$OUT" "seed $own: $cases cases on $ranks ranks are right"
}

# (pread:zero is no failure: it is what the end of a file looks like.)
for what in EIO ENOSPC zero; do
    faulty 3 12 "pwrite:?0.1=$what seed=$seed"
    faulty 2 12 "pwrite:?0.3=$what@1 seed=$seed"
done
faulty 3 12 "pread:?0.1=EIO@0 seed=$seed"
faulty 2 12 "pread:?0.3=EIO seed=$seed"
faulty 3 12 "lock:?0.2=EIO seed=$seed"
faulty 3 12 "fsync:?0.5=EIO close:?0.3=EIO@1 seed=$seed"
for chance in 0.003 0.01 0.05; do
    faulty 2 20 "malloc:?$chance=ENOMEM seed=$seed"
    faulty 4 10 "malloc:?$chance=ENOMEM@1 seed=$seed"
    faulty 3 12 "*:?$chance=EIO malloc:?$chance=ENOMEM seed=$seed"
done
for from in 20 60 100 150 200 300 500; do # memory is gone for good, once the case is under way
    faulty 3 1 "malloc:$from+=ENOMEM@1"
    faulty 2 1 "malloc:$from+=ENOMEM"
done

# Short transfers and interrupted calls are no failures: all must be exact.
faulty 3 10 "pwrite:*=short pread:*=short" --cases 10
faulty 3 10 "pwrite:?0.2=EINTR pread:?0.2=EINTR seed=$seed" --cases 10
