#!/usr/bin/env bash
# A sweep of hints: with `numhints` every set runs once for each value of the lists, with its own hints asked for and,
# where MPI takes them, in force.
# proves: IOT-5 IOT-33
# It would fail if a value were left out or used twice, if a hint with one value were not the same in all runs, or if what
# is reported were not what MPI was given.
# processors: 2
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: bytes and counts are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
# Files carry the number of this process: Open MPI's jobs on one node disturb each other, up to a hang in MPI_File_open,
# when their files have the same last part of the name (OMPIO makes a semaphore of it).

sweep='numhints 3\ncb_buffer_size 65536 131072 262144\ncb_nodes 1\nhint.romio_cb_write enable disable automatic\nhint.free a,b c d,e,f\n'
{
    printf 'class Kernel\ntestname matrix2D\nfilename a.dat\ncollective true\nnumsizes 2\nxsize 24 48\nysize 24 24\n'
    printf 'numprocgrids 1\nxproc 2\nyproc 1\nseed 4\ncheck full\n'"$sweep"
    printf 'class Kernel\ntestname nonseq\nfilename b.dat\nfilesize 0.1\nnumblocksize 1\nblocksize 0.01\nnumupdate 1\nupdate_frac 1\n'"$sweep"
    printf 'class Lowlevel\ntestname multiple\nfilename c.dat\nnumruns 1\nfilesize 0.1\nblocksize 0.01\ncollective true\nrepeat 2\n'"$sweep"
    printf 'class Kernel\ntestname sharedfp\nfilename d.dat\nfilesize 0.02\nnumblocksize 1\nblockmin 0.001\nblockmax 0.002\n'
    printf 'numhints 2\naccess_style write_once,sequential random\n'
    printf 'class Kernel\ntestname transpose\nfilename e.dat\ncollective true\nnumsizes 1\nxsize 8\nysize 8\ncb_nodes 1\n'
} | sed "s/^filename /filename $$-/" >sweep.in
expect_exit 0 "$PIOLET" run --dry-run -n 2 sweep.in
expect_exit 0 mpirun_n 2 "$PIOLET" run -o sweep.out sweep.in
expect_exit 0 "$PIOLET" analyze export --format json sweep.out
[ ! -s "$ERR" ] || fail "reading the results gave a warning: $(cat "$ERR")"
cp "$OUT" sweep.json

# of KIND KEY TEST: the values of a hint in all sets of a test
of() { jq -r "[.blocks[] | select(.testname == \"$3\").sets[] | [.hints[] | select(.kind == \"$1\" and .key == \"$2\").value] | join(\"|\")] | join(\" \")" sweep.json; }
expect_values()
{
    [ "$(of "$1" "$2" "$3")" = "$4" ] || fail "$3: $2 $1: '$(of "$1" "$2" "$3")', not '$4'"
}

for test in "matrix2D:2" "nonseq:1" "multiple:2"; do
    repeated=$(for ((i = 0; i < ${test#*:}; i++)); do echo "65536 131072 262144"; done | xargs)
    expect_values asked cb_buffer_size "${test%:*}" "$repeated"
    expect_values asked cb_nodes "${test%:*}" "$(for _ in $repeated; do echo 1; done | xargs)"
    expect_values asked free "${test%:*}" "$(for ((i = 0; i < ${test#*:}; i++)); do echo "a,b c d,e,f"; done | xargs)"
    [ "$PIOLET_MPI" != mpich ] || expect_values used cb_buffer_size "${test%:*}" "$repeated"
    [ "$PIOLET_MPI" != mpich ] || expect_values used romio_cb_write "${test%:*}" \
        "$(for ((i = 0; i < ${test#*:}; i++)); do echo "enable disable automatic"; done | xargs)"
done
expect_values asked access_style sharedfp "write_once,sequential random"
expect_values asked cb_nodes transpose 1
[ "$(jq -c '[.blocks[] | [.testname, (.sets | length)]]' sweep.json)" = \
    '[["matrix2D",6],["nonseq",3],["multiple",6],["sharedfp",2],["transpose",1]]' ] || fail "sets: $(jq -c '[.blocks[] | [.testname, (.sets | length)]]' sweep.json)"
# the variants of a set differ in nothing else
[ "$(jq -c '[.blocks[0].sets[] | .params] | [.[0:3], .[3:6]] | map(unique | length)' sweep.json)" = '[1,1]' ] || fail "variants with other parameters"
# from the command line too
expect_exit 0 mpirun_n 2 "$PIOLET" run --set numhints=2 --set "cb_buffer_size=1000 2000 3000" --set "hint.free=x" \
    --set "hint.romio_cb_write=enable" -o set.out --set access_style=random sweep.in
expect_exit 0 "$PIOLET" analyze export --format json set.out
cp "$OUT" sweep.json
expect_values asked cb_buffer_size nonseq "1000 2000"
expect_values asked free nonseq "x x"
