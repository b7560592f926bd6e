#!/usr/bin/env bash
# piolet preload, hints and strategies from the command line.
# proves: GPFS-1 GPFS-5
# It would fail if the program did not get our MPI-IO, if hints, arguments or the exit status got lost, if the launcher
# were preloaded, or if a table did not fit 80 columns or were not JSON.
# processors: 2
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

# ---- wrong use ----

expect_wrong_use preload <<'END'
2|which PROGRAM?|
2|which PROGRAM?|--system --
2|'x' is not NAME=VALUE|--hints x true
2|'=x' is not NAME=VALUE|--hints =x true
2|--ranks: 'two'; allowed: a whole number from 1|-n two true
2|'--nosuch' is not an option|--nosuch true
2|needs a value|--hints
127|'nosuch-program' is in no directory of PATH|-- nosuch-program
127|cannot execute './nosuch': No such file or directory|-n 2 ./nosuch
126|cannot execute '/dev/null': Permission denied|/dev/null
2|'/usr/bin/mpirun' starts programs and must not be preloaded itself|/usr/bin/mpirun -n 2 true
END

# A piolet without the engine beside it says so.
mkdir -p alone/bin
cp "$PIOLET" alone/bin/
for words in "preload true" "preload --print" hints strategies; do
    # shellcheck disable=SC2086  # several arguments
    expect_exit 1 alone/bin/piolet $words
    expect_in "$ERR" "libpiolet-mpiio.so' is not there"
done

engine=$BINARY/lib/libpiolet-mpiio.so
[ -f "$engine" ] || skip "$engine is not built"

# ---- program, arguments, environment, exit status ----

make_show '$LD_PRELOAD [${PIOLET_HINTS-none}]'
expect_exit 7 "$PIOLET" preload -- ./show 'a b' '' '--system' '-n' '*'
expect_in "$OUT" "<a b><><--system><-n><*> "
expect_in "$OUT" "libpiolet-mpiio.so [none]"
expect_exit 7 "$PIOLET" preload --hints 'cb_nodes=2 a=b' --system ./show --print
expect_in "$OUT" "<--print> "
expect_in "$OUT" "[cb_nodes=2 a=b piolet_impl=system]"
PIOLET_HINTS=c=d expect_exit 7 "$PIOLET" preload --hints=a=b ./show
expect_in "$OUT" "[c=d a=b]"
expect_exit 7 "$PIOLET" preload -n 2 --hints 'cb_nodes=2 a=b' ./show 'a b'
[ "$(grep -c '^<a b> .*libpiolet-mpiio.so.* \[cb_nodes=2 a=b\]$' "$OUT")" = 2 ] || fail "not on two ranks: $(cat "$OUT")"
expect_exit 7 mpirun_n 2 "$PIOLET" preload ./show x
[ "$(grep -c '^<x> .*libpiolet-mpiio.so' "$OUT")" = 2 ] || fail "under mpiexec: $(cat "$OUT")"
expect_exit 2 mpirun_n 2 "$PIOLET" preload -n 2 -- ./show x
expect_in "$ERR" "-n starts an MPI job, but this is one already"

expect_exit 0 "$PIOLET" preload --print
[ "$(tr ':' '\n' <"$OUT" | tail -n 1)" = "$engine" ] || fail "--print: $(cat "$OUT")"
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    LD_PRELOAD=libdl.so.2 expect_exit 0 "$PIOLET" preload --print ./show
    [ "$(cat "$OUT")" = "$engine:libdl.so.2" ] || fail "--print: $(cat "$OUT")"
fi

# ---- it is our MPI-IO that runs ----

expect_exit 0 "$PIOLET" preload "$PIOLET" doctor .
expect_in "$OUT" "MPI-IO             piolet "
other=$([ "$PIOLET_MPI" = mpich ] && echo openmpi || echo mpich)
sibling=$(dirname "$BINARY")/$other
if [ -x "$sibling/bin/piolet" ] && [ -f "$sibling/lib/libpiolet-mpiio.so" ]; then
    expect_exit 0 "$PIOLET" preload --print "$sibling/bin/piolet"
    [ "$(tr ':' '\n' <"$OUT" | tail -n 1)" = "$sibling/lib/libpiolet-mpiio.so" ] || fail "other MPI: $(cat "$OUT")"
fi

# ---- tables ----

for verb in hints strategies; do
    expect_exit 0 "$PIOLET" "$verb"
    [ -s "$OUT" ] || fail "$verb: nothing"
    awk 'length > 80 { print "too long: " $0; exit 1 }' "$OUT" >&2 || fail "$verb: does not fit 80 columns"
    cp "$OUT" table
    expect_exit 0 "$PIOLET" "$verb" --json
    jq -r '.[].name' "$OUT" >names
    [ -s names ] || fail "$verb: no names in JSON"
    while IFS= read -r name; do
        grep -q "^$name " table || fail "$verb: $name is not in the table"
    done <names
    expect_exit 2 "$PIOLET" "$verb" extra
    expect_in "$ERR" "takes no arguments"
done
