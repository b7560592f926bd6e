#!/usr/bin/env bash
# proves: GPFS-6 COLL-8
# The limits that batch systems and containers set (file size, address space, descriptors, locked memory, stack, memory
# of the control group, /dev/shm), calls that they forbid (memfd_create, shmget, new threads), and a rank that becomes
# another user: open, collective, independent and shared-pointer access under each. Fails when a rank dies or hangs where
# the system's MPI-IO does the work, when not all ranks end in the same way, when a file size limit above the program's
# own data is not enough, on any hang, or when shared memory of System V is left behind.
# LIMITS_WHOLE=yes (limits_long.sh): every scene by itself on 1, 2, 4 and 8 ranks, and more values.
# processors: 2
# timeout: 240
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

[ -z "${PIOLET_SANITIZE:-}" ] || skip "sanitizers need more than these limits leave"
cp "$PROGRAMS/limits" "$TMP/limits" # where a rank that has become another user may read it
unset PIOLET_FAULTS PIOLET_HINTS PIOLET_DEVELOP
export MPIRUN_TIMEOUT=40
chmod 755 "$TMP"
mkdir -m 777 "$TMP/data"
umask 0
whole=${LIMITS_WHOLE:-no}
around=() # a command that the launcher is started by
segments_before=$(tail -n +2 /proc/sysvipc/shm | awk '{ print $2 }' | sort)

# For a launcher that is started by another program than this shell.
export BINARY ENGINE ENGINE_BEHIND PIOLET_MPI
export -f engine_run engine_preload yield_preload mpirun_n

# run_once RUN RANKS ARGUMENT...: sets $verdict to done, error, mixed (every rank comes to its end), hang or death.
run_once()
{
    local run=$1 ranks=$2 status=0 good bad
    shift 2
    rm -f "$TMP"/data/*
    # shellcheck disable=SC2016 # the inner shell's
    "${around[@]}" bash -c 'ulimit -c 0; "$@"' bash "$run" "$ranks" "$TMP/limits" "$@" "$TMP/data/file" \
        >"$OUT" 2>"$ERR" </dev/null || status=$?
    good=$(grep -c '^rank [0-9]*: done$' "$OUT" || true)
    bad=$(grep -c '^rank [0-9]*: error: ' "$OUT" || true)
    if [ "$status" -eq 124 ]; then
        verdict=hang
    elif [ "$good" -eq "$ranks" ]; then
        verdict="done"
    elif [ "$bad" -eq "$ranks" ]; then
        verdict=error
    elif [ $((good + bad)) -eq "$ranks" ]; then
        verdict=mixed
    else
        verdict=death
    fi
}

complain()
{
    grep -h '^rank' "$OUT" >&2 || true
    tail -n 15 "$ERR" >&2
    fail "$PIOLET_MPI, $1"
}

# cell WANTED RANKS ARGUMENT...: WANTED is 'work', or 'as-theirs': no worse than the system's MPI-IO. Ranks that access
# the file independently may end differently.
cell()
{
    local wanted=$1 ranks=$2 verdict ours
    shift 2
    [ ! -v GROUP ] || free_group
    run_once engine_run "$ranks" "$@"
    ours=$verdict
    [ "$ours" != hang ] || complain "$ranks ranks hang: $*"
    [ "$ours" != "done" ] || return 0
    [ "$wanted" != work ] || complain "$ranks ranks end in '$ours': $*"
    [ "$ours" != error ] || return 0
    case $ours:$* in
    mixed:*independent | mixed:*all) return 0 ;;
    esac
    [ ! -v GROUP ] || free_group
    cp "$OUT" "$TMP/out.ours"
    cp "$ERR" "$TMP/err.ours"
    MPIRUN_TIMEOUT=10 run_once mpirun_n "$ranks" "$@" # what takes longer there counts as a hang
    [ "$verdict" != "done" ] || {
        cp "$TMP/out.ours" "$OUT"
        cp "$TMP/err.ours" "$ERR"
        complain "$ranks ranks end in '$ours', and in 'done' on the system's MPI-IO: $*"
    }
}

# every WANTED ARGUMENT...: the cell for each number of ranks and each scene.
every()
{
    local wanted=$1 ranks scene
    shift
    if [ "$whole" != yes ]; then
        cell "$wanted" 2 "$@" all
        return
    fi
    for ranks in 1 2 4 8; do
        for scene in open collective independent shared; do
            cell "$wanted" "$ranks" "$@" "$scene"
        done
    done
}

# ---- file size: the program's own data are below 4 MB, what MPICH itself needs below 8 ----

every work --fsize 16000000
[ "$whole" != yes ] || every work --fsize 75000000
every as-theirs --fsize 4000000
PIOLET_AUXILIARY=1 cell work 2 --fsize 16000000 all

# ---- address space and data ----

for mib in 1 4 16 $([ "$whole" != yes ] || echo 2 3 6 8 10 12 20 24 32 48 64 128); do
    every as-theirs --as "+$((mib << 20))"
done
for kib in 0 1000 $([ "$whole" != yes ] || echo 100 400 4000); do
    every as-theirs --as "++$((kib << 10))"
done
if [ "$whole" = yes ]; then
    every work --data 400000000
    every as-theirs --data +8000000
fi

# ---- descriptors, locked memory, stack, threads, calls that are not there ----

every as-theirs --nofile +1
every work --nofile +4
every work --memlock 0
every as-theirs --stack 262144
every as-theirs --refuse +threads
every work --refuse memfd
[ "$whole" != yes ] || every work --refuse +memfd-perm
every work --refuse +memfd --refuse +shmget

# ---- another user ----

if [ "$(id -u)" -eq 0 ]; then
    cell as-theirs 4 --user 65534 collective
    every as-theirs --warm yes --user 65534
    [ "$whole" != yes ] || every as-theirs --user 65534
fi

# ---- strategies that exchange messages ----

for strategy in twophase $([ "$whole" != yes ] || echo shipping broadcast); do
    PIOLET_HINTS=piolet_strategy=$strategy every as-theirs --as +20000000
    PIOLET_HINTS=piolet_strategy=$strategy every work --fsize 16000000
done

# ---- /dev/shm ----

for options in size=4m ro $([ "$whole" != yes ] || echo size=64m); do
    around=(unshare --mount bash -c "mount -t tmpfs -o $options tmpfs /dev/shm && exec \"\$@\"" bash)
    if "${around[@]}" true 2>/dev/null; then
        every as-theirs --warm yes
    else
        printf 'not tried: /dev/shm with %s\n' "$options"
    fi
done
around=()

# ---- the memory control group ----

# What was used for a cell before is not counted for the next.
free_group()
{
    if [ -f "$GROUP/memory.limit_in_bytes" ]; then
        echo -1 >"$GROUP/memory.limit_in_bytes"
    else
        echo max >"$GROUP/memory.max"
    fi
}

for top in /sys/fs/cgroup/memory /sys/fs/cgroup; do
    group=$top/piolet-limits.$$
    if { [ -f "$top/memory.usage_in_bytes" ] || grep -qs memory "$top/cgroup.subtree_control"; } &&
        mkdir "$group" 2>/dev/null; then
        GROUP=$group
        on_exit rmdir "$GROUP"
        break
    fi
done
if [ -v GROUP ]; then
    for mib in 2 16 $([ "$whole" != yes ] || echo 1 4 8 32 64 128); do
        every as-theirs --cgroup-left "$GROUP:$((mib << 20))"
    done
    cell work 2 --cgroup-left "$GROUP:$((20 << 20))" many
else
    echo "not tried: a memory control group, which cannot be made here"
fi

sleep 1
left=$(comm -13 <(echo "$segments_before") <(tail -n +2 /proc/sysvipc/shm | awk '$6 != "" && $7 == 0 { print $2 }' | sort))
[ -z "$left" ] || echo "shared memory of System V without a user: $left (MPICH leaves some when it is killed)"
