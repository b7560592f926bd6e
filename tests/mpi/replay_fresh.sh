#!/usr/bin/env bash
# Memory that a program touches for the first time when it reads is told by trace and model, and untouched in the replay:
# the tracer looks at the replay, too. So is a file that is removed right behind a close. No time is looked at.
# proves: PHASE-10 PHASE-11
# It would fail if warm buffers counted as fresh, if fresh ones were missed (each page is a fault inside of the call),
# or if a rank of the replay had other pages to fault in than that of the program.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
export MPIRUN_TIMEOUT=100
cd "$TMP"
mkdir target
mib=1048576

# fresh DIR WORD: bytes of untouched buffers that all ranks read, by large accesses, of the file whose name has WORD in it
fresh()
{
    cat "$1"/trace.* | awk -v word="$2" '
        $1 == "call" && $5 == "open" { is[$4] = index($0, word) > 0 }
        $1 == "call" && $5 == "read" && is[$4] && $13 >= 1048576 { for (i = 18; i <= NF; i++) if (sub(/^fresh=/, "", $i)) sum += $i }
        END { printf "%d\n", sum }'
}

# about WHAT BYTES WANTED: within 5 %, and a page for each of the ranks
about()
{
    [ $((($2 - $3) * 20)) -le $(($3 + 20 * 8192)) ] && [ $((($3 - $2) * 20)) -le $(($3 + 20 * 8192)) ] ||
        fail "$1: $2 bytes are fresh, and not about $3"
}

for form in --full ""; do
    rm -rf was is app.model
    expect_exit 0 "$PIOLET" trace $form -n 2 -o was -- "$PROGRAMS/fresh_app" "$TMP/fresh$$"
    expect_exit 0 "$PIOLET" model was -o app.model
    told=$(sed -n 's/^fresh [0-9]* read_bytes=\([0-9]*\).*/\1/p' app.model | awk '{ sum += $1 } END { print sum + 0 }')
    [ "$(grep -c '^fresh .*unlinked=1' app.model)" = 1 ] || fail "removed files, $form: $(grep "^fresh" app.model)"
    about "the model of a trace $form" "$told" $((18 * mib)) # of each rank 6 new buffers and one line by line; a header of rank 0
done
expect_exit 0 "$PIOLET" trace --full -n 2 -o is -- "$PIOLET" replay app.model --all --pace fast --on target -o replay.out
about "the replay of new buffers" "$(fresh is news)" $((16 * mib))
mkdir first
cp is/trace.0 first
about "the rank that reads a header, too" "$(fresh first news)" $((10 * mib))
[ "$(grep -c "^unlink " is/trace.0)" = 1 ] || fail "the replay did not remove its file behind the close"
about "the replay of one buffer" "$(fresh is same)" 0
