#!/usr/bin/env bash
# proves: GPFS-6
# kill -9 in the middle of MPI-IO through the engine. Fails when a job with one rank killed does not end by itself in 30
# seconds, or when anything of ours is left behind in /dev/shm, in the directory for temporary files or beside the file.
# processors: 2
# serial
# timeout: 180
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
cp "$FUZZ" "$TMP/engine_fuzz"
FUZZ=$TMP/engine_fuzz # whoever runs this program belongs to this test

export MPIRUN_TIMEOUT=180
mkdir "$TMP/work"
cd "$TMP/work"

# What is ours: but not the directories of tests that run beside this one.
leftovers()
{
    find /dev/shm "${TMPDIR:-/tmp}" -maxdepth 1 -name '*piolet*' ! -name 'piolet-test.*' 2>/dev/null | sort
}

ranks_of_run()
{
    local process
    for process in /proc/[0-9]*; do # by program: this test's own copy
        [ "$(readlink "$process/exe" 2>/dev/null)" = "$FUZZ" ] || continue
        echo "${process#/proc/}"
    done
}

# killed RANKS HOW: starts a run without end, kills one rank or all when cases have gone by
killed()
{
    local ranks=$1 how=$2 job tries pids started status=0
    engine_run "$ranks" "$FUZZ" "kill.$$" --avoid "$ENGINE_LACKS" --seed 5 --cases 1000000 --alarm 100 >"$OUT" 2>"$ERR" </dev/null &
    job=$!
    for ((tries = 0; tries < 1500; tries++)); do
        [ -z "$(find . -name "kill.$$.[3-9]*" -o -name "kill.$$.[1-9][0-9]*")" ] || break
        sleep 0.02
    done
    [ "$tries" -lt 1500 ] || fail "the run did not come so far: $(cat "$OUT" "$ERR")"
    mapfile -t pids < <(ranks_of_run)
    [ "${#pids[@]}" -eq "$ranks" ] || fail "${#pids[@]} processes in the place of $ranks"
    started=$SECONDS
    if [ "$how" = one ]; then
        kill -9 "${pids[ranks / 2]}"
    else
        kill -9 "${pids[@]}" 2>/dev/null || true # mpiexec may have been faster
    fi
    wait "$job" || status=$?
    [ "$status" -ne 0 ] || fail "a killed run must not end well"
    [ $((SECONDS - started)) -le 30 ] || fail "$how of $ranks ranks killed: the job went on for $((SECONDS - started)) s"
    for ((tries = 0; tries < 250; tries++)); do
        [ -n "$(ranks_of_run)" ] || break
        sleep 0.02
    done
    [ -z "$(ranks_of_run)" ] || fail "$how of $ranks ranks killed: ranks are left: $(ranks_of_run | tr '\n' ' ')"
    find . -type f ! -name "kill.$$.*" | grep . >&2 && fail "$how of $ranks ranks killed: these files were left"
    rm -f -- "kill.$$."*
}

leftovers >"$TMP/before"
for ranks in 2 3; do
    for how in one all; do
        killed $ranks $how
    done
done
leftovers >"$TMP/after"
comm -13 "$TMP/before" "$TMP/after" >"$TMP/new"
[ ! -s "$TMP/new" ] || fail "left behind: $(cat "$TMP/new")"

# The next run finds nothing in its way.
engine_fuzz engine_run 3 "kill.$$" --avoid "$ENGINE_LACKS" --seed 5 --cases 20
