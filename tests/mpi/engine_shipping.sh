#!/usr/bin/env bash
# proves: GPFS-2 GPFS-3
# Data shipping and partitioned files, on one node and on several (PIOLET_NODE_RANKS), whose agents are reached by
# messages. Fails when a block is written by two processes, when an agent does nothing while its program computes, when what agents hold is missing from a size, a read or (after sync, stop or close) from the
# file, when a write that failed late is not told on all ranks or is lost, or when get_info does not say what is in
# force.
# processors: 2
# labels: asan
# timeout: 400
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

unset PIOLET_HINTS PIOLET_FAULTS

number=0
scene() # RANKS NAME
{
    number=$((number + 1))
    is_mine $number || return 0
    expect_exit 0 engine_run "$1" "$PROGRAMS/engine_shipping" "$TMP/file" "$2"
    expect_in "$OUT" "$1 ranks: $2 is right"
}

for ranks in 2 3; do
    scene $ranks busy
done
for ranks in 1 2 3 5; do
    for name in owner info partition functions; do
        scene $ranks $name
    done
    number=$((number + 1)) # on the next number of ranks, the other MPI
done

# Who has written which block? A library between the engine and the system takes notes.
writers() # RANKS AGENTS
{
    [ -z "${PIOLET_SANITIZE:-}" ] || return 0
    rm -f "$TMP/writes"
    export RECORD_WRITES=$TMP/writes
    expect_exit 0 engine_run "$1" env "LD_PRELOAD=$PROGRAMS/librecord_writes.so:$(engine_preload)" \
        "$PROGRAMS/engine_shipping" "$TMP/file" owner
    unset RECORD_WRITES
    awk -v "agents=$2" '{
            pids[$1] = 1
            for (b = int($2 / 262144); b <= int(($2 + $3 - 1) / 262144); b++) {
                if (b in who && who[b] != $1) { print "block " b ": written by two processes"; bad = 1 }
                who[b] = $1
            }
        }
        END {
            for (pid in pids) count++
            if (count != agents) { print count " processes write, not " agents; bad = 1 }
            exit bad
        }' "$TMP/writes" >&2 || fail "on $1 ranks, nodes of ${PIOLET_NODE_RANKS:-all}"
}
writers 2 2
writers 4 2

# What cannot be written late is told, and kept until it can be.
fail_late() # RANKS
{
    PIOLET_FAULTS="pwrite:*=ENOSPC" scene "$1" lost
    PIOLET_FAULTS="pwrite:?0.3=ENOSPC seed=$1" scene "$1" retried
}
for ranks in 1 2 3; do
    fail_late $ranks
    number=$((number + 1))
done

# Everything that the engine does, through agents: a block is 256 KiB, so that the files of the fuzz have several.
cd "$TMP" || exit
seed=1
# A sanitizer makes everything ten times as slow, and looks at memory, not at all cases.
fraction=2
[ -z "${PIOLET_SANITIZE:-}" ] || fraction=5
hints="piolet_strategy=shipping IBM_io_buffer_size=256k cb_nodes=3"
fuzz() # RANKS CASES [ARGUMENT...]
{
    local ranks=$1 cases=$(($2 / fraction)) own=$seed
    shift 2
    seed=$((seed + 1))
    is_mine "$own" || return 0
    PIOLET_HINTS=$hints engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --seed "$own" --cases "$cases" "$@"
}
fuzz_faults() # HOW
{
    local plan
    for plan in "pwrite:?0.1=EIO" "pread:?0.1=EIO@0" "malloc:?0.03=ENOMEM" "fsync:?0.2=EIO pwrite:9+=ENOSPC@1"; do
        PIOLET_FAULTS="$plan seed=$seed" fuzz 3 15 --alarm 120 --faults "$1"
    done
    PIOLET_FAULTS="pwrite:*=short pread:*=short" fuzz 3 30 "$1"
}
for how in --quiet --unique; do
    for ranks in 1 2 3 5; do
        fuzz $ranks 60 "$how"
    done
    fuzz_faults "$how"
done

# A file that is not closed: nobody waits for ever. (UCX ends a process that leaves a window of MPI behind.)
forgotten() # RANKS
{
    local status=0
    MPIRUN_TIMEOUT=180 engine_run "$1" "$PROGRAMS/engine_shipping" "$TMP/file" forgotten >"$OUT" 2>"$ERR" || status=$?
    [ "$status" -ne 124 ] || fail "a file that is not closed makes $1 ranks hang"
    expect_in "$OUT" "$1 ranks: forgotten is right"
    expect_not_in "$ERR" "write_at"
}

# Several nodes: the same, through messages. Below MPI_THREAD_MULTIPLE nothing is shipped, and the file tells.
export PIOLET_NODE_RANKS=1
PIOLET_THREADS=program scene 2 off
export PIOLET_THREADS=multiple
for PIOLET_NODE_RANKS in 1 2; do
    for ranks in 3 5; do
        for name in busy info partition functions; do
            scene $ranks $name
        done
        forgotten $ranks
        number=$((number + 1))
    done
    fail_late 3
    for how in --quiet --unique; do
        for ranks in 2 3 5; do
            fuzz $ranks 30 "$how"
        done
    done
done
writers 4 3 # nodes of two; of four agents, three have a block
PIOLET_NODE_RANKS=1
writers 2 2
for how in --quiet --unique; do
    fuzz_faults "$how"
done
