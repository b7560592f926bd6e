#!/usr/bin/env bash
# proves: GPFS-1
# 'piolet bench engine' moves every pattern with the engine and with the MPI's own I/O, checks every byte, and shows tables
# of them; 'files' does so with whole files, also by hand; 'calls' and 'overlap' measure every call of both. No time is
# looked at. Fails when a pattern, operation or call
# is missing or wrong, when counts are not what they must be, when a file or memory that was tampered with passes for
# right, when a killed run cannot be resumed, or when test files are left behind.
# timeout: 600
source "$(dirname "$0")/../lib.sh"

export COMMAND_TIMEOUT=240
DATA=$TMP/data
mkdir "$DATA"

bench()
{
    local name=$1
    shift
    rm -f "$TMP/out"
    limited "$PIOLET" bench "$name" --on "$DATA" -o "$TMP/out" --progress=never "$@" || return
    [ ! -s "$TMP/out" ] || "$PIOLET" analyze "$name" "$TMP/out" -o "$TMP/plot.svg" >"$TMP/drawn" || fail "$name cannot be drawn"
}

engine()
{
    bench engine --size 1m --repeat 1 "$@"
}

nothing_left()
{
    [ -z "$(ls "$DATA")" ] || fail "files were left behind: $(ls "$DATA")"
}

# sets FILE KEY=VALUE...: how many sets of the results have all these parameters and a time or a count, and no error
sets()
{
    local file=$1
    shift
    awk -v wanted="$*" '
        BEGIN { n = split(wanted, want, " ") }
        $1 == "set" { delete param; measured = failed = 0 }
        $1 == "param" { param[$2] = $3; if ($2 == "messages") measured = 1 }
        $1 == "time" && $4 > 0 { measured = 1 }
        $1 == "error" { failed = 1 }
        $1 == "end-set" {
            ok = measured && !failed
            for (i = 1; i <= n; i++) {
                split(want[i], pair, "=")
                ok = ok && param[pair[1]] == pair[2]
            }
            count += ok
        }
        END { print count + 0 }' "$file"
}

patterns='a b c-128 c-1k c-8k c-64k d e f-1k f-1k+8 g-own g-order h i-1k i-256'
peer=romio
[ "$PIOLET_MPI" = mpich ] || peer=ompio

usage()
{
    expect_exit 0 bench engine --help
    expect_in "$OUT" Usage:
    expect_exit 2 engine --no-such-option
    expect_exit 2 engine --patterns z
    expect_in "$ERR" "'z'"
    expect_exit 2 engine --ops forget
    expect_exit 2 engine -n 0
    expect_exit 2 engine --auto --counts
    expect_in "$ERR" "exclude each other"
    expect_exit 2 bench trace -n 2,4
    expect_exit 2 bench no-such-benchmark
}

every_pattern()
{
    local pattern op who
    expect_exit 0 engine -n 4
    for pattern in $patterns; do
        for op in fresh over read; do
            for who in piolet "$peer" limit; do
                [ "$(sets "$TMP/out" pattern="$pattern" op="$op" peer="$who" ranks=4)" = 1 ] ||
                    fail "not measured once: $who, pattern $pattern, $op"
            done
            [ "$(grep -cE "^$(printf %s "$pattern" | sed 's/+/[+]/'), $op, 4 ranks" "$OUT")" = 3 ] ||
                fail "not in the table: pattern $pattern, $op"
        done
    done
    nothing_left
}

# Three ranks are no square, and divide nothing evenly.
odd_ranks()
{
    expect_exit 0 engine -n 3 --patterns a,b,d,e,i-1k --ops over,read
    [ "$(sets "$TMP/out" pattern=d)" = 0 ] || fail "pattern d on three ranks"
    [ "$(sets "$TMP/out" pattern=e peer=piolet)" = 2 ] || fail "no pattern e on three ranks"
}

# A run that lost its end is gone on with, on both numbers of ranks: what is there is not measured again.
resumed()
{
    expect_exit 0 engine -n 2,4 --patterns a,e --ops over,read
    [ "$(sets "$TMP/out" peer=piolet)" = 8 ] || fail "not 2 patterns, 2 operations, 2 numbers of ranks"
    awk '$1 == "set" && $2 == 5 { exit } { print }' "$TMP/out" >"$TMP/cut" # 3 sets of one operation, and 1 of the next
    expect_exit 0 limited "$PIOLET" bench engine --resume "$TMP/cut" --progress=never
    [ "$(sets "$TMP/cut" pattern=a op=over ranks=2)" = 3 ] || fail "what was complete was measured again"
    [ "$(sets "$TMP/cut" pattern=a op=read ranks=2 peer=piolet)" -ge 1 ] || fail "what was cut was not measured"
    [ "$(sets "$TMP/cut" pattern=e op=read ranks=4)" = 3 ] || fail "what was missing was not measured"
    nothing_left
}

# Writes and reads of all ranks have at least the bytes of the data; side by side and large, exactly those, and without a
# message.
counts()
{
    expect_exit 0 engine -n 2 --patterns a,c-1k,i-256 --ops over,read --counts
    [ "$(sets "$TMP/out" peer=piolet)" = 6 ] || fail "not six counts of the engine"
    awk '
        $1 == "set" { delete param }
        $1 == "param" { param[$2] = $3 }
        $1 == "end-set" && param["peer"] == "piolet" {
            moved = param["op"] == "read" ? param["read_bytes"] : param["write_bytes"]
            about = param["pattern"] " " param["op"] ": " moved " of " param["moved_bytes"]
            if (moved < param["moved_bytes"] && !param["maps"]) { print "too few bytes: " about; bad = 1 }
            if (param["pattern"] == "a" && (param["messages"] != 0 || moved != param["moved_bytes"])) {
                print "not direct: " about
                bad = 1
            }
            if (param["rank0_messages"] > param["messages"]) { print "rank 0 has more than all: " about; bad = 1 }
        }
        END { exit bad }' "$TMP/out" >&2 || fail "wrong counts"
    # The peer exchanges pieces of 1 KiB on MPICH: messages are seen where they are sent.
    [ "$PIOLET_MPI" != mpich ] ||
        awk '$1 == "set" { delete param } $1 == "param" { param[$2] = $3 }
            $1 == "end-set" && param["peer"] == "romio" && param["pattern"] == "c-1k" && param["messages"] > 0 { n++ }
            END { exit n != 2 }' "$TMP/out" || fail "no messages of ROMIO were counted"
    expect_in "$OUT" "Counts of one access"
}

strategies()
{
    expect_exit 0 engine -n 2 --patterns c-8k --ops read --auto --warmups 2
    expect_in "$OUT" "best fixed"
    limited "$PIOLET" strategies >"$TMP/list"
    for name in $(awk '/^[a-z]/ && $1 != "auto" { print $1 }' "$TMP/list"); do
        [ "$(sets "$TMP/out" peer="piolet/$name")" = 1 ] || fail "strategy $name was not measured"
    done
    [ "$(sets "$TMP/out" peer="$peer")" = 0 ] || fail "--auto measured another peer"
    expect_exit 0 engine -n 2 --patterns c-8k --ops over --strategy twophase --hints cb_buffer_size=1m
    [ "$(sets "$TMP/out" peer=piolet/twophase)" = 1 ] || fail "the strategy that was asked for was not measured"
    grep -q '^hint asked cb_buffer_size 1m' "$TMP/out" || fail "the hint is not in the results"
    expect_exit 1 engine -n 2 --strategy nonsense
    expect_in "$ERR" "does not take the hint piolet_strategy=nonsense"
    [ "$(grep -c '^piolet' "$ERR")" = 1 ] || fail "not one message of ours: $(cat "$ERR")" # mpirun adds its own
    nothing_left
}

# A storage that refuses: the other operations are measured.
faults()
{
    PIOLET_FAULTS="pwrite:2=ENOSPC" expect_exit 1 engine -n 2 --patterns a --ops over,read
    expect_in "$ERR" "No space left"
    [ "$(sets "$TMP/out" pattern=a op=read)" = 3 ] || fail "a failure ended the other operations"
    nothing_left
}

# A storage that does not keep a byte, and one that gives back another (tests/support/bench_tamper.c).
tampered()
{
    [ -z "${PIOLET_SANITIZE:-}" ] || return 0
    export LD_PRELOAD=$PROGRAMS/libbench_tamper.so:$BINARY/lib/libpiolet-mpiio.so TAMPER_MEMORY=777 # before the engine
    # Byte 50001 is part of the word at 50000.
    for op in fresh over; do
        expect_exit 1 engine -n 4 --patterns d --ops "$op"
        expect_in "$ERR" "pattern d, $op, 4 ranks, piolet: rank 0: byte 50000 of the file is "
    done
    expect_exit 1 engine -n 2 --patterns c-1k --ops read
    expect_in "$ERR" "pattern c-1k, read, 2 ranks, "
    expect_in "$ERR" "what was read from byte "
    TAMPER_MEMORY=0 expect_exit 1 engine -n 4 --patterns d --ops read # a ghost point
    expect_in "$ERR" "a read changed byte 0 of the memory, which is no part of its type"
    unset LD_PRELOAD
    nothing_left
}

# Every kind of file, also where calls divide nothing evenly, with each peer.
files()
{
    local pattern op calls who
    expect_exit 0 bench files -n 3 --sizes 64k,300001 --repeat 1 --warmups 1
    for pattern in contiguous cyclic block; do
        for op in new existing read; do
            for calls in 1 3; do
                for who in piolet "$peer" by-hand; do
                    [ "$(sets "$TMP/out" pattern=$pattern op=$op calls=$calls peer="$who" ranks=3)" = 2 ] ||
                        fail "not both sizes: $who, $pattern, $op, $calls calls"
                done
            done
        done
    done
    expect_in "$OUT" "geometric means"
    nothing_left
}

calls()
{
    local call who
    expect_exit 0 bench calls -n 2 --blocks 2 --block-ms 1
    for call in write_at read_at iwrite_at+wait write_all read_all iwrite_at_all+wait open+close; do
        for who in piolet "$peer"; do
            [ "$(sets "$TMP/out" call="$call" peer="$who")" = 2 ] || fail "not measured twice: $call of $who"
        done
    done
    nothing_left
}

overlap()
{
    local call who
    expect_exit 2 bench overlap --without nonsense
    expect_exit 0 bench overlap -n 2 --size 64k --repeat 1 --interleaved
    for who in piolet "$peer"; do
        for call in iwrite_at iwrite_at_all iread_at iread_at_all; do
            [ "$(sets "$TMP/out" call=$call peer="$who")" = 2 ] || fail "not with and without MPI_Test: $call of $who"
        done
        for call in write_at_all_begin read_at_all_begin; do
            [ "$(sets "$TMP/out" call=$call peer="$who")" = 1 ] || fail "not measured: $call of $who"
        done
    done
    nothing_left
}

every_pattern
counts
files
calls
overlap
if is_mine 0; then # what is done with options is the same on both
    usage
    odd_ranks
    resumed
    strategies
fi
if is_mine 1; then
    tampered
    faults
fi
