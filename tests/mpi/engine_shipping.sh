#!/usr/bin/env bash
# proves: GPFS-2 GPFS-3
# Data shipping and partitioned files. Fails when a block is written by two processes, when an agent does nothing while
# its program computes, when what agents hold is missing from a size, a read or (after sync, stop or close) from the
# file, when a write that failed late is not told on all ranks or is lost, or when get_info does not say what is in
# force.
# processors: 2
# labels: asan
# timeout: 400
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g "-I$SOURCE/include")
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE/tests/mpi/engine_shipping.c" -o "$TMP/engine_shipping" -ldl
unset PIOLET_HINTS PIOLET_FAULTS

scene() # RANKS NAME
{
    expect_exit 0 engine_run "$1" "$TMP/engine_shipping" "$TMP/file" "$2"
    expect_in "$OUT" "$1 ranks: $2 is right"
}

for ranks in 2 3; do
    scene $ranks busy
done
for ranks in 1 2 3 5; do
    for name in owner info partition functions; do
        scene $ranks $name
    done
done

# Who has written which block? A library between the engine and the system takes notes.
expect_exit 0 gcc -shared -fPIC -O1 -o "$TMP/record.so" "$SOURCE/tests/support/record_writes.c" -ldl
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    for ranks in 2 4; do
        export RECORD_WRITES=$TMP/writes.$ranks
        expect_exit 0 engine_run "$ranks" env "LD_PRELOAD=$TMP/record.so:$(engine_preload)" \
            "$TMP/engine_shipping" "$TMP/file" owner
        unset RECORD_WRITES
        awk '{
                pids[$1] = 1
                for (b = int($2 / 262144); b <= int(($2 + $3 - 1) / 262144); b++) {
                    if (b in who && who[b] != $1) { print "block " b ": written by two processes"; bad = 1 }
                    who[b] = $1
                }
            }
            END {
                for (pid in pids) count++
                if (count != 2) { print count " processes write, not 2"; bad = 1 }
                exit bad
            }' "$TMP/writes.$ranks" >&2 || fail "on $ranks ranks"
    done
fi

# What cannot be written late is told, and kept until it can be.
for ranks in 1 2 3; do
    PIOLET_FAULTS="pwrite:*=ENOSPC" scene $ranks lost
    PIOLET_FAULTS="pwrite:?0.3=ENOSPC seed=$ranks" scene $ranks retried
done

# Everything that the engine does, through agents: a block is 256 KiB, so that the files of the fuzz have several.
engine_fuzz_build
cd "$TMP"
export PIOLET_HINTS="piolet_strategy=shipping IBM_io_buffer_size=256k cb_nodes=3"
seed=1
for how in --quiet --unique; do
    for ranks in 1 2 3 5; do
        engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --seed "$seed" --cases 60 "$how"
        seed=$((seed + 1))
    done
    for plan in "pwrite:?0.1=EIO" "pread:?0.1=EIO@0" "malloc:?0.03=ENOMEM" "fsync:?0.2=EIO pwrite:9+=ENOSPC@1"; do
        PIOLET_FAULTS="$plan seed=$seed" \
            engine_fuzz engine_run 3 "faulty.$$" --alarm 30 --avoid "$ENGINE_LACKS" --seed "$seed" --cases 15 --faults "$how"
        seed=$((seed + 1))
    done
    PIOLET_FAULTS="pwrite:*=short pread:*=short" \
        engine_fuzz engine_run 3 "short.$$" --avoid "$ENGINE_LACKS" --seed "$seed" --cases 30 "$how"
done
