#!/usr/bin/env bash
# Files that come from others, by command line: traces, models, results and histories that nobody's tool wrote so. Each verb
# says in one line what is wrong and ends; none dies, none works without end.
# proves: PHASE-1 PHASE-6 PHASE-10 PHASE-11 IOT-6
# It would fail if a loop that contains itself overflowed the stack, if a number of a file overflowed, or if a file of a few
# lines stood for more work or memory than is allowed.
# labels: asan
# timeout: 200
source "$(dirname "$0")/../lib.sh"
export COMMAND_TIMEOUT=200
cd "$TMP"

# refused CMD...: it ends with 1 or 2 and one line of its own, besides that which names the help.
refused()
{
    local status=0
    (ulimit -v "${MEMORY_KB:-unlimited}" && limited "$PIOLET" "$@") >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -eq 1 ] || [ "$status" -eq 2 ] || { head -n 5 "$ERR" >&2; fail "exit status $status: piolet $*"; }
    [ "$(grep -vc "^Try 'piolet" "$ERR")" -eq 1 ] || { head -n 5 "$ERR" >&2; fail "not one line: piolet $*"; }
    grep -q "^piolet $1: " "$ERR" || { cat "$ERR" >&2; fail "not a message of ours: piolet $*"; }
}

# ends CMD...: with any status that is ours.
ends()
{
    local status=0
    limited "$PIOLET" "$@" >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -le 2 ] || { head -n 20 "$ERR" >&2; fail "exit status $status: piolet $*"; }
}

# Sanitizers need address space of their own.
[ -n "${PIOLET_SANITIZE:-}" ] || MEMORY_KB=$((2 << 20))

traces()
{
    local kind
    mkdir trace
    for kind in self ring nested many list passed; do
        expect_exit 0 "$PROGRAMS/make_trace" trace "$kind"
        refused model trace -o out.model
        [ ! -s out.model ] || fail "$kind: a model was written"
    done
    if [ -z "${PIOLET_SANITIZE:-}" ]; then # a second without sanitizers, a minute with them
        expect_exit 0 "$PROGRAMS/make_trace" trace turns
        refused model trace
        expect_in "$ERR" "given up after"
    fi
    expect_exit 0 "$PROGRAMS/make_trace" trace good
    expect_exit 0 "$PIOLET" model trace -o out.model
    head -c 5000 trace/trace.0 >short
    mv short trace/trace.0
    refused model trace
    rm trace/trace.0 && mkfifo trace/trace.0
    refused model trace
    rm trace/trace.0 && mkdir trace/trace.0
    refused model --dump trace
    rmdir trace/trace.0 && : >trace/trace.0
    refused model trace
}

model()
{
    local name=$1 ranks=$2
    {
        printf 'piolet-model 1\nprogram app\nranks %s\n' "$ranks"
        printf 'file 1 name="a" type=shared processes=1 access=sequential pointer=explicit calls=independent '
        printf 'waits=blocking views=0 written=0 read=0\nsteps\n'
        cat
        printf 'end-steps 0 -\n'
    } >"$name.model"
}

# A phase of one access.
phase()
{
    printf 'phase 1 count=1 numbers=1 ranks=0 weight=0 access=sequential\n'
    cat
    printf 'end\n'
}

models()
{
    local name depth
    model ranks 2147483647 <<<'comm ranks=0-2147483646 collectives=1'
    phase <<<'write_at file=1 size=9223372036854775807 offset=idP' | sed 's/ranks=0 /ranks=0-1 /' | model bytes 2
    printf 'loop 9223372036854775807\ncomm ranks=0 collectives=1\nend\n' | model turns 1
    printf 'loop 9007199254740992\nloop 1024\ncomm ranks=0 collectives=1\nend\nend\n' | model product 1
    printf 'loop 4503599627370496\ncomm ranks=0 collectives=4503599627370496\nend\n' | model collectives 1
    { for ((depth = 0; depth < 5000; depth++)); do echo 'loop 1'; done; } | model depth 1
    phase <<<"write_at file=1 size=8 offset=$(printf '(%.0s' {1..5000})" | model formula 1
    phase <<<"write_at file=1 size=8 offset=0$(printf '+n%.0s' {1..200000})" | model sum 1
    phase <<<"write_at file=1 size=8 offset=1$(printf '*{0:(1*1)}%.0s' {1..2000})" | model terms 1
    phase <<<"write_at file=1 size=8 offset=$(printf '[0x9223372036854775807,%.0s' 1)0x9][n]" | model list 1
    phase <<<'write_at file=1 size=8 offset=[0x4503599627370496,1x9007199254740992][n]' | model lists 1
    phase <<<'write_at file=1 size=8 offset=9223372036854775807*2' | model offset 1
    for name in ranks bytes turns product collectives depth formula sum terms list lists offset; do
        refused model --check "$name.model"
        refused model --expand "$name.model"
        refused replay --dry-run --on . "$name.model"
        refused predict "$name.model" --from nothing.out
        refused report "$name.model" -o page.html
    done
    # What moves nothing takes no time, however often it turns.
    printf 'loop 9007199254740992\ncomm ranks=0\nend\nopen ranks=0 file=1 name="a" with="amode=create|rdwr ranks=1"\n' |
        model silent 1
    sed -i 's/ access=sequential.*/ access=sequential pointer= calls= waits= views=0 written=0 read=0/' silent.model
    ends model --check silent.model
    ends model --expand silent.model
    ends report silent.model -o page.html
}

results()
{
    local tool huge=9223372036854775807
    "$PROGRAMS/make_blocks" huge.out <<END
block Lowlevel single
fact nprocs $huge
fact hostname =here
head
set
param filesize_bytes $huge
param blocksize_bytes -1
time $((2 ** 31 - 1)) write_time $huge
time 0 write_time -$huge
series 0 w ns $huge $huge -$huge -$huge 0
series 2147483647 r ns $huge $huge
endset
end
block Kernel matrix2D
fact nprocs 2147483647
head
set
param filesize_bytes $huge
time 0 write_time $huge
time 1 write_time $huge
endset
end
block Peak peak
input on /x
head
set
param operation write
param access sequential
param request_bytes $huge
param bytes $huge
time 0 write_time 1
endset
end
END
    sed 's/^end-set .*/end-set 0 0/' huge.out >lost.out
    head -c 100000 /dev/zero >zero.out
    for tool in rawdata distribution allav kernel beff beffio piobench gpfs peak; do
        ends analyze "$tool" huge.out --json j --csv c -o plot.svg
        refused analyze "$tool" zero.out
    done
    ends analyze export huge.out --format json -o all.json
    ends analyze export huge.out --format csv -o all.csv
    ends report huge.out lost.out zero.out -o page.html
    ends report --plain huge.out -o page.html
    ends history --db h.db add huge.out
    ends history --db h.db add lost.out
    ends history --db h.db list
    ends history --db h.db compare last last
    ends history --db h.db regressions
    refused history --db h.db add zero.out
    refused history --db zero.out list
}

histories()
{
    local kind
    for kind in view trigger tree-in-circles; do
        cp "$SOURCE/tests/fuzz/corpus/history_file/$kind.db" foreign.db
        refused history --db foreign.db list
        refused history --db foreign.db compare last last
        refused history --db foreign.db add huge.out
    done
}

traces
models
results
if "$PIOLET" history --help | grep -q compare; then
    histories
fi
