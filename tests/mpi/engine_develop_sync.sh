#!/usr/bin/env bash
# proves: GPFS-6
# PIOLET_DEVELOP=1: a rank that reads bytes, or asks for a size, that another rank wrote without MPI_File_sync, barrier,
# MPI_File_sync in between gets one warning for the file; with one MPI_File_sync a note; programs that are right get
# neither. Fails when a wrong program gets none or two, when a right one gets any, or when it comes without the mode.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"


# says COUNT KIND: so many lines of this kind on stderr
says()
{
    local found
    found=$(grep -c "^piolet: $2: MPI_File_.*rank [0-9]*, '.*MPI_File_sync, a barrier, MPI_File_sync" "$ERR") || true
    [ "$found" = "$1" ] || fail "$found lines '$2' in the place of $1: $(cat "$ERR")"
}

run_case()
{
    rm -f "$TMP"/file.*
    expect_exit 0 engine_run 3 "$PROGRAMS/engine_develop_sync" "$TMP/file" "$1" "$2"
}

export MPIRUN_TIMEOUT=180 PIOLET_DEVELOP=1
for hints in piolet_strategy=independent piolet_strategy=twophase; do
    run_case wrong_ "$hints"
    for case in read size end shared_end hole collective ordered shared strided request split after often; do
        [ "$(grep -c "^piolet: warning: .*, '$TMP/file.wrong_$case'" "$ERR")" = 1 ] ||
            fail "$hints, $case: not one warning: $(cat "$ERR")"
    done
    says 13 warning
    says 0 note
done
expect_in "$ERR" "MPI_File_get_size, rank 1, '$TMP/file.wrong_size': asks for the size of the file, which rank 0 changed by writing up to byte 99"
expect_in "$ERR" "MPI_File_read_at, rank 1, '$TMP/file.wrong_read': reads bytes 0 to 99, which rank 0 wrote"
run_case once piolet_strategy=independent
says 0 warning
says 1 note
for hints in piolet_strategy=independent piolet_strategy=twophase romio_cb_write=automatic; do
    run_case right "$hints"
    says 0 warning
    says 0 note
done

export PIOLET_DEVELOP=0
run_case wrong_often piolet_strategy=independent
says 0 warning
