#!/usr/bin/env bash
# b_eff on 2, 3 and 8 ranks; wrong data, no time, and a kill in the middle.
# proves: BEFF-3 BEFF-4 BEFF-6 BEFF-7
# It would fail if a pattern, method or length were missing for some number of ranks, if a message that arrived wrong
# passed, if a rank hung because another one found wrong data, or if a killed run lost finished measurements.
# processors: 2
# timeout: 180
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
export MPIRUN_TIMEOUT=180

# Names of patterns that n ranks must have: directions of a grid whose extent is 1 have no messages. 5 have a grid of 2 x 2,
# and rings of 2 and 3. What b_eff 3.6 does otherwise is there in both forms.
wanted()
{
    local both=() one=()
    case $1 in
    2) both=(ring-{1,2,3,4,5,6} worst-cycle cart{2,3}d{-1,} random-1) ;;
    3) one=(ring-{1,2,3,4,5,6} worst-cycle cart{2,3}d{-1,} random-1) ;;
    5) both=(ring-1 cart{2,3}d{-1,-2,}) one=(ring-{2,3,4,5,6} worst-cycle random-1) ;;
    8) both=(ring-1 cart2d{-2,} cart3d{-1,-2,-3,}) one=(ring-{2,3,4,5,6} worst-cycle cart2d-1 random-1) ;;
    esac
    printf '%s\n' "${one[@]}" "${both[@]}" {best,worst}-bisection ping-pong "${both[@]/%/-as-3.6}" | sort
}

# Many ranks on few cores take long: 8 of them have no time for the repetitions.
for n in 2 3 5 8; do
    time=10m least=3
    [ "$n" -lt 5 ] || time=1 least=1
    expect_exit 0 mpirun_n "$n" "$PIOLET" beff --quick --time $time --memory 1m --patterns 1 --seed 3 -o "$n.out"
    expect_in "$OUT" "$n processes on 1 host"
    expect_exit 0 "$PIOLET" analyze export --format json -o "$n.json" "$n.out"
    jq -r '.blocks[0].sets[].params.pattern' "$n.json" | sort | uniq -c >counts
    wanted "$n" | sed 's/^/     21 /' | diff - counts >&2 || fail "$n ranks: patterns"
    jq -e --argjson least $least '.blocks[0].sets | all((.errors // [] | length) == 0 and
        ([.series[] | .key] == (if .params.pattern == "ping-pong" then ["turns"] else ["sendrecv", "alltoallv", "nonblocking"] end)) and
        (.series | all(.values | length >= $least and length <= 3 and all(. > 0))))' "$n.json" >/dev/null || fail "$n ranks: a measurement is missing"
    jq -e --argjson n "$n" '(if $n == 5 then 4 else $n end) as $grid | .blocks[0].sets | all(.params | (.messages | tonumber) ==
        (.pattern | rtrimstr("-as-3.6") as $p | endswith("-as-3.6") as $single |
        if . == "ping-pong" then 2 elif endswith("bisection") then $n - $n % 2
        elif $p == "cart3d" and $n == 8 then (if $single then 24 else 48 end)
        elif $p == "cart2d" and $n == 8 then (if $single then 24 else 32 end)
        elif ($p == "cart2d" or $p == "cart3d") and $n == 5 then (if $single then 8 else 16 end)
        elif startswith("cart") then $grid * (if $single then 1 else 2 end)
        elif $single then $n else 2 * $n end))' "$n.json" >/dev/null || fail "$n ranks: messages"
done

# ---- the time is over: one random pattern at least ----

expect_exit 0 mpirun_n 2 "$PIOLET" beff --quick --memory 1m --patterns 10000 --time 1 -o time.out
expect_in "$OUT" "there was no time for more"
expect_in time.out "param pattern random-1"
expect_not_in time.out "param pattern random-10000"

# ---- wrong data ----

if [ -z "${PIOLET_SANITIZE:-}" ]; then
    preload=$PROGRAMS/libspoil.so
    [ "$PIOLET_MPI" = openmpi ] || preload=$preload:$(yield_preload)
    expect_exit 1 mpirun_n 2 env LD_PRELOAD="$preload" "$PIOLET" beff --quick --memory 1m --patterns 1 -o spoilt.out
    expect_in "$ERR" "ring 1, messages of 64 bytes: rank 1: Sendrecv: byte 63 of 64 of the message from rank 0"
    expect_in spoilt.out "error E_DATA 1 Sendrecv: byte 63"
    expect_in "$OUT" "no b_eff"
fi

# ---- a kill ----

mpirun_n 2 "$PIOLET" beff --memory 1m -o killed.out >"$OUT" 2>"$ERR" </dev/null &
job=$!
finished() { grep -c '^end-set' killed.out 2>/dev/null || true; }
for ((tries = 0; tries < 300; tries++)); do
    [ "$(finished)0" -lt 1500 ] || break # 150 sets: 7 patterns
    sleep 0.1
done
kill_ranks
! wait "$job" || fail "a killed run must not end well"
[ "$(finished)" -ge 147 ] || fail "only $(finished) measurements before the kill"
expect_exit 0 "$PIOLET" analyze beff killed.out
expect_in "$OUT" "the run did not come to its end"
expect_in "$OUT" "ring 3"
