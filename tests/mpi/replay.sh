#!/usr/bin/env bash
# piolet replay makes the calls of the program that the model is of: the trace of the replay against the program's own,
# call by call with offset, size, layout in memory, view, hints and order. Samples, targets without space, models that cannot be replayed.
# proves: PHASE-10 PHASE-12
# It would fail if a call had another argument or place in the order, if a file outside of the folder were touched or one
# left behind, or if a rank hung where the target fails in the middle.
# processors: 2
# timeout: 240
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
export MPIRUN_TIMEOUT=180
cd "$TMP"
mkdir target
data=replay$$ # Open MPI's jobs on one node disturb each other when their files have the same name

# ---- call by call ----

# calls DIR RANK OWN: what was asked of MPI-IO, without times; OWN: the opens of /dev/null are piolet's and left out
calls()
{
    awk -v own="$3" '
        $1 != "call" || $17 != 0 || $5 == "query" || $5 == "handler" || $3 == "MPI_File_seek" { next }
        {
            rest = ""
            for (i = 18; i <= NF; i++) {
                if ($i ~ /^name=/) {
                    name = $i
                    gsub(/^name="|"$/, "", name)
                    if ($5 == "open") left_out[$4] = own && name == "/dev/null"
                    sub(/.*\//, "", name)
                    if (own) sub(/-[0-9a-f]*$/, "", name)
                    gsub(/[^A-Za-z0-9._-]|\\x01/, "_", name)
                    rest = rest " " name
                } else if ($i !~ /^world_sequence=|^fresh=|^memory="\.\.\."/) rest = rest " " $i
            }
            if ($4 > 0 && left_out[$4]) next
            if ($5 == "open") files[$4] = name
            print $3, ($4 > 0 ? files[$4] : "-"), $9, $13 rest
        }' "$1/trace.$2"
}

# replayed RANKS WORD...: traces WORDS, makes a model, traces its replay, and compares
replayed()
{
    local ranks=$1 rank
    shift
    rm -rf was is
    expect_exit 0 "$PIOLET" trace --full -n "$ranks" -o was -- "$@"
    expect_exit 0 "$PIOLET" model was -o app.model
    expect_exit 0 "$PIOLET" trace --full -n "$ranks" -o is -- "$PIOLET" replay app.model --all --pace fast --on target -o replay.out
    for ((rank = 0; rank < ranks; rank++)); do
        calls was $rank "" >wanted
        calls is $rank own >made
        [ -s wanted ] || fail "$*: rank $rank has no calls"
        diff wanted made >&2 || fail "$*: rank $rank of the replay made other calls"
    done
    [ -z "$(ls -A target)" ] || fail "the replay left files: $(ls target)"
}

# layout WORD...: how accesses lay in memory in the replays so far
layout() { [ "$(sed -n 's/^fact memory_layout //p' replay.out | xargs)" = "$*" ] || fail "layouts: $(grep memory_ replay.out)"; }

replayed 4 "$PIOLET" btio --class S --file "$data" -o apps.out
layout recorded
grep -q ' memory="struct(' was/trace.0 || fail "the cells of btio have no layout"
replayed 4 "$PIOLET" btio --class S --dumps 4 --subtype simple --file "$data" -o apps.out
replayed 4 "$PIOLET" btio --class S --dumps 4 --subtype epio --iomethod mpi --file "$data" -o apps.out --hint cb_nodes=2
replayed 4 "$PIOLET" madbench --pixels 640 --file "$data" -o apps.out
replayed 4 "$PIOLET" madbench --pixels 320 --files unique --file "$data" -o apps.out
rm replay.out
for program in model_app replay_app; do
    replayed 4 "$PROGRAMS/$program"
done
layout partly contiguous # replay_app passes addresses
expect_in app.model "left_out=yes"
expect_in "$ERR" "are made from contiguous buffers"

# Ranks of an HDF5 program go different ways between the collectives: none may wait for ever.
if [ -x "$PROGRAMS/software_hdf5" ]; then
    replayed 3 "$PROGRAMS/software_hdf5" write "$data.h5"
fi

# ---- results, samples, both implementations ----

# params FILE KEY: the values of a parameter of the sets, in their order
params() { sed -n "s/^param $2 //p" "$1" | xargs; }

"$PIOLET" trace -n 4 -o bt -- "$PIOLET" btio --class W --file "$data" -o apps.out >/dev/null || fail "btio"
expect_exit 0 "$PIOLET" model bt -o bt.model
expect_exit 0 "$PIOLET" replay bt.model --on target --mpiio both --hint cb_nodes=1 --cache cold --json both.json -o both.out
[ "$(sed -n 's/^fact configuration //p' both.out | xargs -d '\n' printf '%s|')" = \
    "target, system, cb_nodes=1, cold|target, piolet, cb_nodes=1, cold|" ] || fail "configurations: $(grep configuration both.out)"
expect_in both.out "fact model_hash $(sed -n 's/^end-steps [0-9]* //p' bt.model)"
expect_in both.out "fact mpiio piolet"
expect_in both.out "series 3 phase ns 40"
expect_in both.out "fact config.filesystem"
expect_exit 0 "$PIOLET" analyze export --format json both.out

# Far less time than it needs: some turns only, the rest is extrapolated, and what is read is there.
expect_exit 0 "$PIOLET" replay bt.model --on target --pace recorded --limit 0.02 -o few.out
at=$(params few.out count | xargs -n 1 | grep -nx 40 | head -1 | cut -d : -f 1) # the writes
[ -n "$at" ] || fail "count: $(params few.out count)"
executed=$(params few.out executed | cut -d ' ' -f "$at")
[ "$executed" -ge 1 ] && [ "$executed" -lt 40 ] || fail "executed: $(params few.out executed)"
[ "$(params few.out total_high_ns | cut -d ' ' -f "$at")" -gt "$(params few.out total_ns | cut -d ' ' -f "$at")" ] || fail "no interval"
expect_exit 0 "$PIOLET" replay bt.model --on target --phase 2 --repeat 2 -o read.out
[ "$(params read.out phase)" = "2 2" ] || fail "phases: $(params read.out phase)"
[ -z "$(ls -A target)" ] || fail "the replay left files: $(ls target)"

# ---- what cannot be ----

# One rank may not write so far: all end, and what was measured before is there.
cat >limited <<'TEXT'
#!/usr/bin/env bash
[ "${PMI_RANK:-${OMPI_COMM_WORLD_RANK:-0}}" -ne 1 ] || ulimit -f 20480
exec "$@"
TEXT
chmod +x limited
"$PIOLET" trace -n 4 -o simple -- "$PIOLET" btio --class W --subtype simple --no-read --file "$data" -o apps.out >/dev/null
expect_exit 0 "$PIOLET" model simple -o simple.model
expect_exit 1 mpirun_n 4 ./limited "$PIOLET" replay simple.model --on target -o limited.out
expect_in "$ERR" "rank 1: phase 1: write_at"
expect_in limited.out "param kind failure"
expect_in limited.out "param kind phase"
expect_in limited.out "end-block"
# The first write fails: no phase was measured, whatever the ranks took.
PIOLET_FAULTS="pwrite:1=EIO" expect_exit 1 "$PIOLET" replay bt.model --mpiio piolet --on target -o nothing.out
expect_in nothing.out "param kind failure"
expect_not_in nothing.out "param kind phase"
[ -z "$(ls -A target)" ] || fail "the failed replay left files: $(ls target)"

# refused TEXT OPTION...: exit status 2, and a message that holds TEXT
refused()
{
    local text=$1
    shift
    expect_exit 2 "$PIOLET" replay "$@" -o refused.out
    expect_in "$ERR" "$text"
    [ ! -e refused.out ] || fail "results of what was refused: $*"
}
refused "which MODEL?" --on target
refused "--on is missing" bt.model
refused "No such file or directory" bt.model --on nowhere
refused "is no directory" bt.model --on bt.model
refused "the model is of 4 ranks" bt.model --on target -n 2
refused "the model has the phases 1 to 2" bt.model --on target --phase 3
refused "allowed: system, piolet, both" bt.model --on target --mpiio other
refused "allowed: a time" bt.model --on target --limit soon
refused "allowed: name=value" bt.model --on target --hint cb_nodes
head -n 20 bt.model >cut.model
refused "cut.model:" cut.model --on target
sed '/^set_view/s/contiguous/continuous/; /^end-steps/s/[^ ]*$/-/' bt.model >type.model
refused "this is no datatype" type.model --on target
sed '/^set_view/s/filetype=[^)]*/filetype=\\x22struct([1 .../; /^end-steps/s/[^ ]*$/-/' bt.model >long.model
refused "ends in '...'" long.model --on target
sed '0,/^comm ranks=0-3/s//comm ranks=0-2/; /^end-steps/s/[^ ]*$/-/' bt.model >wait.model
refused "wait for each other for ever" wait.model --on target
sed '0,/^open ranks=0-3/s//open ranks=0-2/; /^end-steps/s/[^ ]*$/-/' bt.model >open.model
sed -i '0,/processes=4/s//processes=3/' open.model
refused "open.model" open.model --on target
awk '/^close ranks=0-3/ && !done { print "sync ranks=1", $3; done = 1 } /^end-steps/ { $2++; $3 = "-" } { print }' bt.model >sync.model
refused "different collective calls" sync.model --on target
expect_exit 0 "$PIOLET" replay bt.model --dry-run
expect_in "$OUT" "Nothing was run."

small_fs 8M
expect_exit 1 "$PIOLET" replay bt.model --on "$SMALL_FS" --on target -o small.out
expect_in "$ERR" "are free"
expect_in small.out "fact configuration target, system" # the one behind it was replayed
