# Helpers of the tests of the MPI-IO engine. Behind lib.sh:  source "$(dirname "$0")/../engine.sh"
#   $FUZZ, $MIX               the programs of tests/mpi/engine_fuzz*.c and engine_mix*.c
#   engine_run N CMD...       runs CMD on N ranks with the engine preloaded, which must be built
#   engine_fuzz RUN N ARG...  $FUZZ by RUN (engine_run or mpirun_n); fails with all that it said
# Both MPIs hand the environment, PIOLET_FAULTS for one, on to ranks of this host.
# shellcheck shell=bash

ENGINE=$BINARY/lib/libpiolet-mpiio.so
export FUZZ=$PROGRAMS/engine_fuzz MIX=$PROGRAMS/engine_mix
ENGINE_BEHIND= # another library to preload, behind the engine
export ENGINE_LACKS= # what the engine does not know yet is left out of its tests: names of engine_fuzz_feature.h

# The sanitizer's library must come first, and is not in the program that a wrapper would start.
engine_preload()
{
    local preload
    preload=$([ "$PIOLET_MPI" = openmpi ] || yield_preload)
    printf '%s' "${preload:+$preload:}$ENGINE${ENGINE_BEHIND:+:$ENGINE_BEHIND}"
}

engine_run()
{
    local ranks=$1 preload limit=(timeout -k 10 "${MPIRUN_TIMEOUT:-300}")
    shift
    [ -f "$ENGINE" ] || fail "$ENGINE is not built"
    preload=$(engine_preload)
    if [ "$PIOLET_MPI" = openmpi ]; then
        "${limit[@]}" mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none \
            --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0 \
            -x "LD_PRELOAD=$preload" -n "$ranks" "$@"
        return
    fi
    "${limit[@]}" mpiexec.mpich -genv LD_PRELOAD "$preload" -n "$ranks" "$@"
}

engine_fuzz()
{
    local run=$1 ranks=$2 status=0
    shift 2
    "$run" "$ranks" "$FUZZ" "$@" >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -ne 0 ] || return 0
    head -c 20000 "$ERR" >&2
    fail "exit status $status of engine_fuzz on $ranks ranks of $PIOLET_MPI ($run): $*${PIOLET_FAULTS:+, PIOLET_FAULTS='$PIOLET_FAULTS'}"
}
