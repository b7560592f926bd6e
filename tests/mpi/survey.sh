#!/usr/bin/env bash
# piolet survey: steps, summary, failures, Ctrl-C, launchers. Fails when a number of the summary is not that of the block
# file, when one failing step stops the others, or when an interrupted survey leaves test files, processes or no results.
# proves: IOT-6 IOT-7
# timeout: 200
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
place=$TMP
if [ -w /dev/shm ]; then
    place=$(mktemp -d /dev/shm/piolet-survey-test.XXXXXX)
    on_exit rm -rf "$place"
fi

nothing_left()
{
    [ -z "$(ls "$place")" ] || [ "$place" = "$TMP" ] || fail "test files are left: $(ls "$place")"
    ! compgen -G "*/piolet-survey.*" >"$OUT" || fail "test files are left: $(cat "$OUT")"
}

# The row of one process, worked out anew: writing with its sync over the largest file and block.
numbers_are_right()
{
    local wanted
    wanted=$(awk '
        $1 == "testname" { test = $2 }
        $1 == "set" { ns = 0 }
        $1 == "param" { param[$2] = $3 }
        $1 == "time" && $3 == "sync_time" { ns += $4 }
        left > 0 { if (key == "w") for (i = 1; i <= NF; i++) ns += $i; left -= NF; next }
        $1 == "series" { key = $3; left = $5 }
        $1 == "end-set" && test == "sinunix" { rate = param["filesize_bytes"] * 1000 / ns }
        END { printf (rate < 10 ? "%.1f" : "%.0f"), rate }' one/curves.out)
    grep -qE "plain UNIX, one process +$wanted +[0-9]" one/summary.txt || fail "not $wanted MB/s: $(cat one/summary.txt)"
}

whole()
{
    expect_exit 0 "$PIOLET" survey -n 3 --quick --no-beff --no-beffio --dir "$place" -o one
    expect_in "$OUT" "MPI-IO, 3 ranks, collective"
    expect_in "$OUT" "matrix2D, collective"
    expect_in "$OUT" "system's MPI-IO"
    expect_in "$OUT" "piolet survey --full"
    expect_in "$OUT" "one/"
    ! awk 'length > 80' "$OUT" | grep . || fail "wider than 80 columns"
    cmp <(head -n 5 one/summary.txt) <(head -n 5 "$OUT") || fail "summary.txt is another one"
    expect_in one/steps.txt "strategies: well"
    expect_in one/steps.txt "model: well"
    [ -s one/btio.model ] || fail "no model"
    [ -s one/allav.svg ] || fail "no plot"
    numbers_are_right
    nothing_left
    expect_exit 2 "$PIOLET" survey -o one
    expect_in "$ERR" "not empty"
}

# What is announced is the sum of the steps, and of a moment for the page.
announced_is_sum()
{
    awk '$3 == "s" { sum += $2 } $1 == "In" { said = $4 } END { exit !(said >= sum - 1 && said <= sum + 2) }' "$OUT" ||
        fail "the announced time is not the sum of the steps: $(cat "$OUT")"
}

# b_eff needs two ranks: the step is named, and the next ones run.
failing_step()
{
    expect_exit 0 "$PIOLET" survey --dry-run -o dry
    expect_in "$OUT" "In all about"
    announced_is_sum
    [ ! -e dry ] || fail "a dry run made something"
    expect_exit 1 "$PIOLET" survey -n 1 --quick --no-limits --no-curves --no-kernels --no-strategies --no-beffio \
        --dir "$place" -o two
    expect_in "$ERR" "the step 'beff'"
    expect_in "$ERR" "piolet beff: "
    expect_in "$ERR" "All that it printed is in 'two/beff.txt'"
    expect_in two/steps.txt "beff: failed"
    expect_in two/steps.txt "model: well"
    nothing_left
}

# As a terminal would: the signal goes to the survey alone, which ends the step.
interrupted()
{
    local survey status=0 tries=0
    "$PIOLET" survey -n 2 --full --no-limits --no-kernels --no-strategies --no-beff --no-beffio --no-app --dir "$place" \
        -o three >three.log 2>&1 &
    survey=$!
    until grep -q '^end-set' three/curves.out 2>/dev/null; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || fail "the first step does not begin: $(cat three.log)"
        sleep 0.1
    done
    kill -INT "$survey"
    wait "$survey" || status=$?
    [ "$status" -eq 130 ] || fail "exit status $status: $(cat three.log)"
    expect_in three.log "piolet survey: interrupted; what was measured is kept in 'three'"
    expect_in three.log "plain UNIX, one process"
    expect_in three/steps.txt "curves: interrupted"
    ! pgrep -f "$place/piolet-survey" >"$OUT" || fail "processes are left: $(cat "$OUT")"
    if "$PIOLET" help | grep -q '^  report '; then
        [ -s three/report.html ] || fail "no page of what was done"
    fi
    nothing_left
}

# The first process starts the jobs; the others end.
launched()
{
    expect_exit 0 mpirun_n 3 "$PIOLET" survey --quick --no-limits --no-kernels --no-curves --no-beff --no-beffio --no-app \
        --dir "$place" -o four
    expect_in "$ERR" "on 3 ranks"
    expect_in four/strategies.txt "3 ranks"
    expect_in four/steps.txt "strategies: well"
    expect_exit 2 mpirun_n 2 "$PIOLET" survey -n 2 --quick
    expect_in "$ERR" "call 'piolet survey -n 2' without a launcher"
}

usage()
{
    local refused=2
    expect_exit 2 "$PIOLET" survey --quick --full
    expect_exit 2 "$PIOLET" survey --dir "$TMP/absent"
    expect_exit 2 "$PIOLET" survey something
    expect_exit 2 "$PIOLET" survey -n 0
    [ "$(id -u)" -ne 0 ] || refused=1 # root is told only when it tries
    expect_exit "$refused" "$PIOLET" survey -o nothing --dir /proc
    mkdir away
    (cd away && expect_exit "$refused" "$PIOLET" survey --dir /proc)
    [ ! -e nothing ] && [ -z "$(ls away)" ] || fail "a survey that cannot begin left something: $(ls -d nothing away/*)"
}

usage
whole
failing_step
interrupted
launched
