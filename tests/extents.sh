# Helpers of the tests that compare bytes: behind lib.sh,  source "$(dirname "$0")/../extents.sh"
#   proved RANKS WORD...      runs WORDS under support/extents.c, traces them folded and full, and fails unless the expansion
#                             of each model and its replay access the same bytes, in the same order on each rank, and the
#                             replay leaves files of the same size with data in the same places
#   forms FORM...             which forms of a trace the next ones look at: folded, full, or both (the default)
# In $TMP/proof are afterwards logged (where the program ran), program.RANK and the models folded.model and full.model.
# shellcheck shell=bash

FORMS=(folded full)
forms() { FORMS=("$@"); }

# extents_run RANKS FOLDER WORD...: with our logger in front, whose lines go to FOLDER
extents_run()
{
    local ranks=$1 folder=$2 preload=$PROGRAMS/libextents.so limit=(timeout -k 10 "${MPIRUN_TIMEOUT:-300}")
    shift 2
    mkdir -p "$folder"
    if [ "$PIOLET_MPI" = openmpi ]; then
        EXTENTS_DIR=$folder "${limit[@]}" mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none \
            --mca mpi_yield_when_idle 1 --mca btl_base_warn_component_unused 0 -x EXTENTS_DIR \
            -x "LD_PRELOAD=$preload" -n "$ranks" "$@"
        return
    fi
    EXTENTS_DIR=$folder "${limit[@]}" mpiexec.mpich -genv LD_PRELOAD "$preload:$(yield_preload)" -n "$ranks" "$@"
}

# What a rank accessed, by what it logged: with the file and what was done, or without. Where the shared pointer decides,
# nobody knows the place but the MPI-IO; among ranks that do not wait for each other it is another one each time.
extents_of_log()
{
    [ -f "$1" ] || return 0
    awk -v whole="$2" '{
        if (whole) { sub(/-[0-9a-f]+$/, "", $2); print }
        else print $1, $3, $1 ~ /_(shared|ordered)/ ? "-" : $4
    }' "$1"
}

# The same by the expansion of a model: rank, file, operation, offset, tick, bytes, extents.
extents_of_model()
{
    awk -v rank="$2" '$1 == rank && $3 ~ /^i?(read|write)/ && $3 !~ /_end$/ {
        print $3, $6, $3 ~ /_(shared|ordered)/ || $6 == 0 || $7 == "?" ? "-" : $7
    }' "$1"
}

# extents_same WANTED FOUND WHAT: fails with the first differences
extents_same()
{
    cmp -s "$1" "$2" && return
    diff "$1" "$2" | cut -c 1-200 | head -n 12 >&2 || true
    fail "$3"
}

# extents_files FOLDER: sizes and places of data of the files there that the program accessed. What it removes without
# MPI-IO its replay leaves behind.
extents_files()
{
    find "$1" -type f -exec "$PROGRAMS/allocated" {} + | LC_ALL=C sort | awk '
        FILENAME != "-" { accessed[$2] = 1; next }
        $1 in accessed' program.* -
}

# extents_replay RANKS MODEL WHAT
extents_replay()
{
    local ranks=$1 model=$2 what=$3 rank
    rm -rf target replay
    mkdir target
    expect_exit 0 extents_run "$ranks" "$PWD/replay" "$PIOLET" replay "$model" --all --pace fast --keep --on target -o replay.out
    for ((rank = 0; rank < ranks; rank++)); do
        extents_of_log replay/extents.$rank whole >made
        extents_same program.$rank made "$what: rank $rank of the replay accessed other bytes"
    done
    extents_files logged >wanted
    extents_files target | awk 'FILENAME != "-" { left[$1] = 1; next } $1 in left' wanted - >made
    extents_same wanted made "$what: the files of the replay are others"
}

proved()
{
    local ranks=$1 rank form what how
    shift
    rm -rf "$TMP/proof"
    mkdir -p "$TMP/proof/logged"
    cd "$TMP/proof/logged"
    expect_exit 0 extents_run "$ranks" "$TMP/proof/log" "$@"
    cd ..
    for ((rank = 0; rank < ranks; rank++)); do
        extents_of_log log/extents.$rank whole >program.$rank
        extents_of_log log/extents.$rank "" >wanted.$rank
    done
    [ -n "$(cat program.*)" ] || fail "$*: no accesses"
    for form in "${FORMS[@]}"; do
        what="$* ($ranks ranks, $form)"
        mkdir "traced.$form"
        cd "traced.$form"
        [ "$form" = folded ] && how=() || how=(--full)
        expect_exit 0 "$PIOLET" trace "${how[@]}" -n "$ranks" -o "../trace.$form" -- "$@"
        cd ..
        expect_exit 0 "$PIOLET" model "trace.$form" -o "$form.model"
        expect_exit 0 "$PIOLET" model --expand "$form.model"
        cp "$OUT" "$form.expanded"
        for ((rank = 0; rank < ranks; rank++)); do
            extents_of_model "$form.expanded" $rank >made
            extents_same wanted.$rank made "$what: rank $rank of the model accesses other bytes"
        done
        # A model of the same steps is replayed once.
        if [ ! -f folded.model ] || [ "$form" = folded ] ||
            ! cmp -s <(sed -n '/^end-steps/q; p' folded.model) <(sed -n '/^end-steps/q; p' full.model); then
            extents_replay "$ranks" "$form.model" "$what"
        fi
    done
    cd "$TMP"
}
