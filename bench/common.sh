# What the benchmarks' drivers share.
#   bench_engine_in DIR      the engine is built there, not in build/
#   bench_begin              $WORK, an empty directory that is removed at the end
#   bench_build PROGRAM MPI  makes $WORK/PROGRAM.MPI of PROGRAM.c and PROGRAM_*.c
#   bench_build_count MPI    makes $WORK/count.MPI.so; bench_launch preloads it from then on
#   bench_has MPI            whether this MPI and the engine for it are there; says what is missing
#   bench_launch MPI WHOSE RANKS PROGRAM ARG...
#                            starts $WORK/PROGRAM.MPI; WHOSE: engine (preloaded), own (the MPI's default),
#                            romio321 (Open MPI's ROMIO), engine-romio321 (preloaded; the MPI's own is ROMIO)
#   bench_machine DIR        what has to be known of the machine, in two lines
#   bench_hosts N            makes hosts (tools/hosts.sh); bench_launch uses them from then on
#   bench_idle RANKS SECONDS waits for RANKS + 1 cores, or all there are, to be idle; SECONDS at most
#   bench_throttled_fs MB RATE
#                            mounts a file system of MB that writes and reads RATE MB/s and caches no write; in $SLOW_FS
# shellcheck shell=bash
set -euo pipefail

SOURCE=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
source "$SOURCE/tools/hosts.sh"
BENCH_COUNT=no
BUILD=$SOURCE/build
WORK=
SLOW_FS=''
SLOW_DEVICE=''
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

say()
{
    printf '%s: %s\n' "${0##*/}" "$*" >&2
}

die()
{
    say "$*"
    exit 1
}

wrong_usage()
{
    say "$* Try --help."
    exit 2
}

bench_engine_in()
{
    BUILD=$(cd "$1" && pwd) || die "'$1' is no directory"
}

bench_begin()
{
    WORK=$(mktemp -d "${TMPDIR:-/tmp}/piolet-bench.XXXXXX")
    trap bench_end EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

bench_end()
{
    set +e
    if [ -n "$SLOW_DEVICE" ]; then
        throttle 0
        umount "$SLOW_FS" 2>/dev/null
        losetup -d "$SLOW_DEVICE"
    fi
    [ ${#HOSTS[@]} -eq 0 ] || hosts_remove
    rm -rf --one-file-system "$WORK"
}

bench_compile()
{
    local mpi=$1 name=$2
    shift 2
    "mpicc.$mpi" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra "$@" -o "$WORK/$name" || die "cannot build $name"
}

bench_build()
{
    local program=$1 mpi=$2 sources
    sources=("$SOURCE/bench/$program.c" "$SOURCE/bench/$program"_*.c)
    [ -f "${sources[1]}" ] || unset 'sources[1]'
    bench_compile "$mpi" "$program.$mpi" "${sources[@]}" "$SOURCE/bench/bench.c"
}

bench_build_count()
{
    BENCH_COUNT=yes
    bench_compile "$1" "count.$1.so" -shared -fPIC "$SOURCE/bench/count.c"
}

bench_has()
{
    local mpi=$1
    if ! command -v "mpicc.$mpi" >/dev/null || ! command -v "mpiexec.$mpi" >/dev/null; then
        say "left out: $mpi is not installed"
    elif [ ! -f "$BUILD/$mpi/lib/libpiolet-mpiio.so" ]; then
        say "left out: $mpi, for which the engine is not built ($BUILD/$mpi/lib/libpiolet-mpiio.so)"
    else
        return 0
    fi
    return 1
}

bench_hosts()
{
    local why_not
    why_not=$(hosts_why_not)
    [ -z "$why_not" ] || die "$why_not"
    hosts_make "$1" "$WORK" || die "cannot make hosts"
}

# With more ranks than cores, ranks that wait must give their core away: every contestant gets the same help. Counting
# comes behind the engine, to see what it asks for. BENCH_PRELOAD: more to preload, in front of all.
bench_launch()
{
    local mpi=$1 whose=$2 ranks=$3 program=$4 preload=${BENCH_PRELOAD:-} options=()
    shift 4
    [ "$mpi" = openmpi ] || [ "$ranks" -le "$(nproc)" ] || preload+=:$BUILD/$mpi/lib/libpiolet-yield.so
    [[ $whose != engine* ]] || preload+=:$BUILD/$mpi/lib/libpiolet-mpiio.so
    if [ "$BENCH_COUNT" != no ]; then
        preload+=:$WORK/count.$mpi.so
        export UCX_MEM_EVENTS=no # else UCX takes mmap() away from whoever counts it
    fi
    preload=${preload#:}
    if [ "$mpi" = openmpi ]; then
        [ "$BENCH_COUNT" = no ] || options+=(--mca pml_monitoring_enable 1)
        [[ $whose != *romio321 ]] || options+=(--mca io romio321)
        [ -z "$preload" ] || options+=(-x "LD_PRELOAD=$preload")
        bench_launch_openmpi "$ranks" "${options[@]}" "$WORK/$program.$mpi" "$@" </dev/null
    else
        [ -z "$preload" ] || options=(-genv LD_PRELOAD "$preload")
        timeout -k 10 "${BENCH_TIMEOUT:-600}" "mpiexec.$mpi" "${options[@]}" -n "$ranks" "$WORK/$program.$mpi" "$@" \
            </dev/null
    fi
}

bench_launch_openmpi()
{
    local ranks=$1 options=()
    shift
    if [ ${#HOSTS[@]} -gt 0 ]; then
        HOSTS_TIMEOUT=${BENCH_TIMEOUT:-600} hosts_mpiexec "$ranks" --mca btl tcp,self --mca osc pt2pt "$@"
        return
    fi
    [ "$ranks" -le "$(nproc)" ] || options+=(--mca mpi_yield_when_idle 1)
    timeout -k 10 "${BENCH_TIMEOUT:-600}" mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none \
        --mca btl_base_warn_component_unused 0 "${options[@]}" -n "$ranks" "$@"
}

bench_machine()
{
    printf '# %s cores, load average %s; Linux %s; files on %s\n' "$(nproc)" "$(cut -d ' ' -f 1-3 /proc/loadavg)" \
        "$(uname -r)" "$(stat -f -c %T "$1")"
    [ "$(awk '{ print ($1 > 0.5) }' /proc/loadavg)" = 0 ] ||
        echo '# the machine is not idle: look at the spread before you believe a median'
}

# Share of all cores that were idle during a second, in percent.
idle_percent()
{
    { head -n 1 /proc/stat; sleep 1; head -n 1 /proc/stat; } | awk '
        { idle = $5 + $6; all = 0; for (i = 2; i <= NF; i++) all += $i }
        NR == 2 { print int(100 * (idle - idle_before) / (all - all_before + 1)) }
        { idle_before = idle; all_before = all }'
}

bench_idle()
{
    local wanted seconds
    wanted=$((($1 + 1) * 100 / $(nproc)))
    [ "$wanted" -le 100 ] || wanted=100
    for ((seconds = 0; seconds < $2; seconds++)); do
        [ "$(idle_percent)" -lt $((wanted - 10)) ] || return 0
    done
}

# Both directions, in MB/s; 0 takes the limit away.
throttle()
{
    local device limits=/sys/fs/cgroup/blkio/blkio.throttle direction
    device=$(cat "/sys/block/${SLOW_DEVICE##*/}/dev")
    for direction in read write; do
        echo "$device $(($1 * 1000000))" >"${limits}.${direction}_bps_device" || return
    done
}

bench_throttled_fs()
{
    [ "$(id -u)" -eq 0 ] || die "a throttled file system needs root"
    [ -w /sys/fs/cgroup/blkio/blkio.throttle.write_bps_device ] || die "a throttled file system needs the cgroup controller blkio"
    truncate -s "$1M" "$WORK/image"
    mkfs.ext4 -q -F -m 0 "$WORK/image" || die "mkfs.ext4 failed"
    SLOW_DEVICE=$(losetup -f --show "$WORK/image") || die "no loop device"
    SLOW_FS=$WORK/slow
    mkdir "$SLOW_FS"
    mount -o sync "$SLOW_DEVICE" "$SLOW_FS" || die "cannot mount $SLOW_DEVICE"
    throttle "$2" || die "cannot throttle $SLOW_DEVICE"
}
