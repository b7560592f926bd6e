#!/usr/bin/env bash
# The comparison of extents.sh, for every program of the tests that accesses files, one by one, from both forms of a trace
# and on several numbers of ranks.
# proves: PHASE-10 PHASE-6
# It would fail as extents.sh; which scene fails is told.
# processors: 2
# timeout: 1800
# labels: long
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../extents.sh"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "a logger is preloaded before the sanitizer's library"

for scene in $("$PROGRAMS/extents_app" list); do
    for ranks in 1 3 4 5; do
        proved $ranks "$PROGRAMS/extents_app" "$scene"
    done
done
for ranks in 1 3 4; do
    proved $ranks "$PROGRAMS/model_app"
    proved $ranks "$PROGRAMS/replay_app"
    proved $ranks "$PROGRAMS/trace_fold" mix "extents$$"
    proved $ranks "$PROGRAMS/trace_calls" calls "extents$$" expected
    proved $ranks "$PROGRAMS/fresh_app" "extents$$"
    for kind in "views" "halo 4" "irregular 400" "files 60"; do
        # shellcheck disable=SC2086
        proved $ranks "$PROGRAMS/model_kinds" $kind
    done
done
for kind in madbench madbench2 btio; do # on a square of ranks
    proved 4 "$PROGRAMS/model_kinds" $kind
done
for subtype in full simple; do # epio writes without MPI-IO
    proved 4 "$PIOLET" btio --class S --dumps 4 --subtype $subtype --file "extents$$" -o apps.out
done
for files in shared unique; do
    proved 4 "$PIOLET" madbench --pixels 320 --files $files --file "extents$$" -o apps.out
done
for ranks in 1 2 3; do
    [ ! -x "$PROGRAMS/software_hdf5" ] || proved $ranks "$PROGRAMS/software_hdf5" write "extents$$.h5"
    [ ! -x "$PROGRAMS/software_hdf5" ] || proved $ranks "$PROGRAMS/software_hdf5" many "extents$$.h5"
    [ ! -x "$PROGRAMS/software_pnetcdf" ] || proved $ranks "$PROGRAMS/software_pnetcdf" "extents$$.nc"
done
