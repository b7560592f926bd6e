#!/usr/bin/env bash
# proves: GPFS-1
# Libraries as Debian ships them, unchanged, on the engine: parallel HDF5, and PnetCDF (Debian has it for Open MPI
# alone). Fails when a program does not read what it wrote, or when what it wrote through the engine is not what it
# writes through the MPI's own I/O.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

[ -z "${PIOLET_SANITIZE:-}" ] || skip "the libraries are not built with sanitizers"
# With the engine's log, which shows that it was the engine.
logged_run()
{
    local -x PIOLET_LOG=all PIOLET_LOG_DIR=$TMP/logs
    rm -rf "$TMP/logs"
    mkdir "$TMP/logs"
    engine_run "$@"
    grep -q MPI_File_write_at_all "$TMP"/logs/*
}

check_hdf5()
{
    local ranks=$1
    expect_exit 0 logged_run "$ranks" "$PROGRAMS/software_hdf5" write "$TMP/ours.h5"
    expect_exit 0 mpirun_n "$ranks" "$PROGRAMS/software_hdf5" write "$TMP/theirs.h5"
    expect_exit 0 "$PROGRAMS/software_hdf5" dump "$TMP/theirs.h5"
    cp "$OUT" "$TMP/theirs.txt"
    [ "$(wc -l <"$TMP/theirs.txt")" -gt 300 ] || fail "the dump of $TMP/theirs.h5 is too short"
    expect_exit 0 "$PROGRAMS/software_hdf5" dump "$TMP/ours.h5"
    cmp -s "$OUT" "$TMP/theirs.txt" || fail "HDF5 on $ranks ranks: the engine's file holds something else"
}

check_pnetcdf()
{
    local ranks=$1
    expect_exit 0 logged_run "$ranks" "$PROGRAMS/software_pnetcdf" "$TMP/ours.nc"
    expect_exit 0 mpirun_n "$ranks" "$PROGRAMS/software_pnetcdf" "$TMP/theirs.nc"
    cmp "$TMP/ours.nc" "$TMP/theirs.nc" >&2 || fail "PnetCDF on $ranks ranks: the engine's file is another"
}

looked_at=0
while IFS='|' read -r library package; do
    if [ ! -x "$PROGRAMS/software_$library" ]; then
        echo "not checked: $library (package $package)"
        continue
    fi
    looked_at=$((looked_at + 1))
    for ranks in 1 2 3; do
        "check_$library" "$ranks"
    done
done <<END
hdf5|libhdf5-$PIOLET_MPI-dev
pnetcdf|libpnetcdf-dev, for Open MPI
END
[ "$looked_at" -gt 0 ] || skip "neither HDF5 nor PnetCDF is installed for $PIOLET_MPI"
