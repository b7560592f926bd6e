#!/usr/bin/env bash
# piolet replay makes the calls of the program that the model is of: the trace of the replay against the program's own,
# call by call with offset, size, view, hints and order. Samples, targets without space, models that cannot be replayed.
# proves: PHASE-10 PHASE-12
# It would fail if a call had another argument or place in the order, if a file outside of the folder were touched or one
# left behind, or if a rank hung where the target fails in the middle.
# processors: 2
# timeout: 240
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
export MPIRUN_TIMEOUT=60
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
                } else if ($i !~ /^world_sequence=/) rest = rest " " $i
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
    expect_exit 0 "$PIOLET" trace --full -n "$ranks" -o is -- "$PIOLET" replay app.model --all --on target -o replay.out
    for ((rank = 0; rank < ranks; rank++)); do
        calls was $rank "" >wanted
        calls is $rank own >made
        [ -s wanted ] || fail "$*: rank $rank has no calls"
        diff wanted made >&2 || fail "$*: rank $rank of the replay made other calls"
    done
    [ -z "$(ls -A target)" ] || fail "the replay left files: $(ls target)"
}

replayed 4 "$PIOLET" btio --class S --file "$data" -o apps.out
replayed 4 "$PIOLET" btio --class S --dumps 4 --subtype simple --file "$data" -o apps.out
replayed 4 "$PIOLET" btio --class S --dumps 4 --subtype epio --file "$data" -o apps.out --hint cb_nodes=2
replayed 4 "$PIOLET" madbench --pixels 640 --file "$data" -o apps.out
replayed 4 "$PIOLET" madbench --pixels 320 --files unique --file "$data" -o apps.out
for program in model_app replay_app; do
    expect_exit 0 "$compiler" -std=c11 -Wall -Wextra -Werror "$SOURCE/tests/mpi/$program.c" -o "$program"
    replayed 4 "./$program"
done
