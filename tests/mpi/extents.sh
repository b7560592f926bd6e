#!/usr/bin/env bash
# Which bytes of its files a program accesses: what a logger of its own says (support/extents.c, which asks the MPI alone),
# what the expansion of the program's model says, and what the same logger says of the replay; and the files that are left.
# proves: PHASE-10 PHASE-6
# It would fail if a displacement, offset, size, filetype, pointer or file of a call were lost or changed on its way
# through trace (folded and full), model and replay, or if the replay's files had data at other places.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../extents.sh"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "a logger is preloaded before the sanitizer's library"

proved 4 "$PROGRAMS/extents_app" all
forms folded
proved 4 "$PIOLET" btio --class S --dumps 4 --file "extents$$" -o apps.out
if [ -x "$PROGRAMS/software_hdf5" ]; then
    proved 3 "$PROGRAMS/software_hdf5" many "extents$$.h5"
fi
if [ -x "$PROGRAMS/software_pnetcdf" ]; then
    proved 3 "$PROGRAMS/software_pnetcdf" "extents$$.nc"
fi

# Calls in no order are few phases, whatever their number, and few bytes each.
cd "$TMP"
for scene in mixed mixed_bursts mixed_kinds mixed_turns; do
    expect_exit 0 "$PIOLET" trace -n 4 -o "any.$scene" -- "$PROGRAMS/extents_app" "$scene"
    expect_exit 0 "$PIOLET" model "any.$scene" -o "$scene.model"
    phases=$(grep -c '^ *phase ' "$scene.model")
    [ "$phases" -le 6 ] || fail "$scene: $phases phases"
done

# The logger and the comparison see a byte that is somewhere else.
cd "$TMP/proof"
sed '0,/ offset=\([0-9]\)/s// offset=1\1/; /^end-steps/s/[^ ]*$/-/' folded.model >other.model
cmp -s folded.model other.model && fail "the model has no offset to change"
expect_exit 0 "$PIOLET" model --expand other.model
extents_of_model "$OUT" 0 >made
! cmp -s wanted.0 made || fail "an offset was changed, and the expansion is the same"
