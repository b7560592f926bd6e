# Interrupting verbs. Behind lib.sh:  source "$(dirname "$0")/../interrupt.sh"
#   interrupt VERB SIGNAL WHOM WHEN [HOW]   runs VERB in a folder of its own, sends SIGNAL, and looks at what is left
#     WHOM   group (as a terminal does), alone, twice (both, and again), background (alone, as a script's job, which
#            ignores SIGINT)
#     WHEN   start, or middle: something was measured, or the verb waits for its input or for a reader
#     HOW    self (piolet VERB -n N, the default), or mpiexec
#   interrupt_verbs                         all verbs that can be interrupted
# shellcheck shell=bash
[ -w /dev/shm ] && INTERRUPT_TMP=$(mktemp -d /dev/shm/piolet-interrupt.XXXXXX) || INTERRUPT_TMP=$(mktemp -d "$TMP/XXXXXX")
on_exit rm -rf "$INTERRUPT_TMP"

# A verb of verb.def or a benchmark that nobody thought of here fails; these four only print. (The benchmark 'trace' is no verb.)
interrupt_verbs()
{
    sed -n 's/^ENTRY(\(.*\))$/\1/p' "$SOURCE/src/cli/verb.def" "$SOURCE/src/bench/bench.def" | sort -u |
        grep -vE '^(help|hints|strategies|bench)$'
}

interrupt_inputs()
{
    local sets=400
    {
        printf 'class Lowlevel\ntestname multiple\nfilename t.dat\nnumruns %d\ncollective false\nkeep false\n' "$sets"
        printf 'filesize 1'
        printf ' 64%.0s' $(seq 2 "$sets")
        printf '\nblocksize 0.1'
        printf ' 0.0008%.0s' $(seq 2 "$sets")
        printf '\n'
    } >"$here/long.in"
    cp "$SOURCE/tests/support/models/interrupt.model" "$here/app.model"
    mkdir "$here/target"
    mkfifo "$here/fifo" "$here/fifo.svg"
}

# interrupt_command VERB: its words in $words, where something appears when it is in the middle in $sign, and the files
# that may be there afterwards in $kept
interrupt_command()
{
    ranks=2 sign=k.out kept=k.out pause=1
    case $1 in
    run) words=(run long.in -o k.out) ;;
    beff) words=(beff -o k.out) ;;
    beffio) words=(beffio -T 20 --memory-node 256m -o k.out) ;;
    piobench) words=(piobench -f t.dat -o k.out -s 4m -b '64,256' -d CYCLIC --trials 10) ;;
    gpfs) words=(gpfs discontiguous -f t.dat -s 8m -r 20 -o k.out) ;;
    peak) words=(peak target --quick --size 64m --limit 60 --requests '512,1m' --access random -o k.out) ;;
    btio) ranks=4 words=(btio --class S --repeat 100000 --file t.dat -o k.out) ;;
    madbench) ranks=4 words=(madbench --files unique --repeat 100000 --file t.dat -o k.out) ;;
    metadata) words=(metadata --on target --files 200 --repeat 1000 -o k.out) ;;
    engine) words=(engine --on target --size 1m --repeat 1000 -o k.out) ;;
    calls) words=(calls --on target --blocks 1000 -o k.out) ;;
    files) words=(files --on target --sizes '64k,1m' --repeat 1000 -o k.out) ;;
    overlap) words=(overlap --on target --size 1m --repeat 1000 -o k.out) ;;
    replay) words=(replay app.model --all --repeat 1000 --on target -o k.out) ;;
    trace) words=(trace -o tr -- "$PIOLET" run long.in -o k.out) kept='tr k.out' ;;
    preload) words=(preload -- "$PIOLET" run long.in -o k.out) ;;
    choose) ranks='' words=(choose app.model --on target --rounds 1000 --keep-results kept) sign=kept/choose-1.out kept=kept ;;
    survey) words=(survey --quick --no-limits --dir target -o out) sign=out/curves.out kept=out ;;
    doctor) words=(doctor --mpiio --dir target) sign='' pause=0.3 ;;
    analyze) ranks='' words=(analyze export --format json fifo -o x.json) sign='' kept='' ;;
    report) ranks='' words=(report fifo -o x.html) sign='' kept='' ;;
    predict) ranks='' words=(predict app.model fifo --json x.json) sign='' kept='' ;;
    model) ranks='' words=(model --check app.model --plot fifo.svg) sign='' kept='' ;;
    history) ranks='' words=(history add --db h.db fifo) sign='' kept=h.db ;;
    *) fail "tests/interrupt.sh does not know how to run 'piolet $1' for a while" ;;
    esac
}

# Processes that stand in the folder of the case.
interrupt_processes()
{
    find /proc/[0-9]*/cwd -maxdepth 0 -lname "$here" 2>/dev/null | cut -d/ -f3 || true # some end meanwhile
}

# interrupt_listens JOB: has it come to its first lines, where it asks for SIGINT?
interrupt_listens()
{
    local caught
    [ "$how" != mpiexec ] || return 0
    [ "$(readlink "/proc/$1/exe")" = "$(readlink -f "$PIOLET")" ] || return 1
    caught=$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$1/status")
    [ $((0x${caught: -4} & 2)) -ne 0 ]
}

# interrupt_is_there JOB WHEN: waits until it is
interrupt_is_there()
{
    local tries
    if [ "$2" = start ]; then
        for ((tries = 0; tries < 500; tries++)); do
            ! interrupt_listens "$1" || break
            sleep 0.01
        done
        sleep "0.$((RANDOM % 6))"
        return
    fi
    [ -n "$sign" ] || sleep "$pause"
    for ((tries = 0; tries < 1500; tries++)); do
        [ -n "$sign" ] || return 0
        ! grep -qs '^end-set' "$here/$sign" || return 0
        kill -0 "$1" 2>/dev/null || fail "$what: over before it could be interrupted: $(tail -n 5 "$here/.out" "$here/.err")"
        sleep 0.02
    done
    fail "$what: nothing was measured: $(tail -n 5 "$here/.out" "$here/.err")"
}

interrupt_send()
{
    case $2 in
    group) kill "-$3" -- "-$1" ;;
    twice)
        kill "-$3" -- "-$1"
        sleep 0.1
        kill "-$3" -- "-$1" 2>/dev/null || true # may be over
        ;;
    *) kill "-$3" "$1" ;;
    esac
}

# One line, whoever was hit; nothing but results; no process.
interrupt_left()
{
    local file tries count
    for ((tries = 0; tries < 250; tries++)); do # a launcher that was killed itself leaves its ranks to themselves
        [ -n "$(interrupt_processes)" ] || break
        [ "$1" = mpiexec ] || fail "$what: processes are left: $(interrupt_processes | xargs -r ps -o pid,args)"
        sleep 0.02
    done
    [ -z "$(interrupt_processes)" ] || fail "$what: processes are left: $(interrupt_processes | xargs -r ps -o pid,args)"
    while read -r file; do
        case " long.in app.model fifo fifo.svg target .out .err $kept " in
        *" $file "*) ;;
        *) fail "$what: '$file' is left, $(stat -c %s "$here/$file") bytes" ;;
        esac
    done < <(find "$here" -mindepth 1 -maxdepth 1 -printf "%P\n")
    [ -z "$(ls -A "$here/target")" ] || fail "$what: test files are left: $(ls -lA "$here/target")"
    [ -z "$(ls -d "${TMPDIR:-/tmp}"/piolet-choose.* 2>/dev/null)" ] || [ "$verb" != choose ] || fail "$what: a folder is left"
    count=$(grep -c "^piolet $verb: interrupted; " "$here/.err" || true)
    [ "$count" -eq 1 ] || [ "$1$signal" = mpiexecHUP ] || fail "$what: $count lines say so: $(cat "$here/.err")"
}

# What was measured can be read, and the line says where it is.
interrupt_results()
{
    local file
    while read -r file; do
        grep -q '^end-set' "$file" || continue
        limited "$PIOLET" analyze export --format json "$file" >"$OUT" 2>"$ERR" ||
            fail "$what: $file cannot be read: $(cat "$ERR")"
    done < <(find "$here" -name '*.out' -size +0)
    [ "$when" != middle ] || [ "$sign" != k.out ] || [[ $verb =~ ^(trace|preload)$ ]] || [ "$how$signal" = mpiexecHUP ] ||
        grep -q "what was measured is kept in 'k.out'" "$here/.err" || fail "$what: $(cat "$here/.err")"
    [ "$when" != middle ] || ! [[ $verb =~ ^(run|beff|beffio|piobench|gpfs|peak|btio|madbench|metadata|engine|calls|overlap)$ ]] || [ "$how$signal" = mpiexecHUP ] ||
        grep -qE "go on with: piolet $verb .*--resume k.out" "$here/.err" || fail "$what: does not say how to go on: $(cat "$here/.err")"
}

# All that a job needs, in a session of its own: its number is that of its group.
interrupt_start()
{
    local start=(env --default-signal=INT --default-signal=HUP --default-signal=TERM setsid)
    [ "$1" != background ] || start=(env setsid)
    if [ "$how" = mpiexec ]; then
        mpirun_n_words "$ranks"
        "${start[0]}" -C "$here" "${start[@]:1}" "${mpirun_words[@]}" "$PIOLET" "${words[@]}" >"$here/.out" 2>"$here/.err" </dev/null &
    else
        "${start[0]}" -C "$here" "${start[@]:1}" "$PIOLET" "${words[0]}" ${ranks:+-n "$ranks"} "${words[@]:1}" >"$here/.out" 2>"$here/.err" </dev/null &
    fi
    job=$!
}

# As mpirun_n, but without timeout in between: signals go to mpiexec.
mpirun_n_words()
{
    local preload
    if [ "$PIOLET_MPI" = openmpi ]; then
        mpirun_words=(mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n "$1")
    else
        preload=$(yield_preload)
        mpirun_words=(mpiexec.mpich ${preload:+-genv LD_PRELOAD "$preload"} -n "$1")
    fi
}

interrupt()
{
    local verb=$1 signal=$2 whom=$3 when=$4 how=${5:-self} what="$*" status=0 tries
    local job ranks sign kept words mpirun_words here=$INTERRUPT_TMP/case
    rm -rf "$here"
    mkdir "$here"
    interrupt_inputs
    interrupt_command "$verb"
    interrupt_start "$whom"
    interrupt_is_there "$job" "$when"
    interrupt_send "$job" "$whom" "$signal"
    for ((tries = 0; tries < 3000; tries++)); do
        kill -0 "$job" 2>/dev/null || break
        sleep 0.02
    done
    kill -KILL -- "-$job" 2>/dev/null || true # only what hangs
    wait "$job" 2>/dev/null || status=$?
    [ "$how" = mpiexec ] || [ "$status" -eq $((128 + $(kill -l "$signal"))) ] ||
        fail "$what: exit status $status: $(tail -n 5 "$here/.out" "$here/.err")"
    interrupt_left "$how"
    interrupt_results
}
