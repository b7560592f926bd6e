#!/usr/bin/env bash
# proves: GPFS-1 COLL-8
# Fortran programs on the engine, in all three bindings: mpif.h in fixed form, the module mpi, the module mpi_f08. Each
# calls every function of the I/O chapter, and Fortran itself reads what is in the file. Fails when a function does not
# do in Fortran what it does in C, when an error handler or a conversion function written in Fortran is not called or
# gets other arguments, or when a call goes past the engine to the MPI's own I/O.
# processors: 2
# labels: asan
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

compiler=mpifort.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
is_openmpi=0
[ "$PIOLET_MPI" != openmpi ] || is_openmpi=1

# Only mpi_f08 says in every MPI that a buffer may be of any type. Lines are as long as macros make them.
build()
{
    local program=${1%.*} flags=(-cpp -ffree-line-length-none "-DPIOLET_IS_OPENMPI=$is_openmpi" -g "-J$TMP/modules.$1")
    case $1 in
    *_f08.F90) flags+=(-Wall -Wextra -Werror) ;;
    *.f) flags+=(-fallow-argument-mismatch -w -ffixed-line-length-none) ;;
    *) flags+=(-fallow-argument-mismatch -w) ;;
    esac
    [ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
    mkdir -p "$TMP/modules.$1"
    expect_exit 0 "$compiler" "${flags[@]}" "$SOURCE/tests/mpi/$1" -o "$TMP/$program"
}

# The engine's log names every function that moves data: none went past it.
check_log()
{
    local -x PIOLET_LOG=all PIOLET_LOG_DIR=$TMP/logs.$1
    local name
    mkdir "$PIOLET_LOG_DIR"
    expect_exit 0 engine_run 1 "$TMP/$1" "$TMP/file"
    for name in {i,}{read,write}{,_at,_all,_at_all,_shared} {read,write}{_at_all,_all,_ordered}_begin {read,write}_ordered; do
        grep -qw "MPI_File_$name" "$PIOLET_LOG_DIR"/* || fail "$1: MPI_File_$name did not reach the engine"
    done
}

for source in fortran_mpif.f fortran_mpi.F90 fortran_f08.F90; do
    build "$source"
    program=${source%.*}
    for ranks in 1 2 4; do
        expect_exit 0 engine_run "$ranks" "$TMP/$program" "$TMP/file"
        expect_in "$OUT" "$ranks ranks: $program is right"
    done
    check_log "$program"
done

# The test itself is complete: what C's header declares, but for large counts and handles between the languages.
echo '#include <mpi.h>' >"$TMP/header.c"
"mpicc.$PIOLET_MPI" -E "$TMP/header.c" | grep -oE '\bMPI_(File_[a-z_0-9]+|Register_datarep)[[:space:]]*\(' | tr -d ' \t(' |
    grep -vE '_(c|function|fn|c2f|f2c)$' | sort -u >"$TMP/declared"
grep -oE '\bMPI_(File_[a-z_0-9]+|Register_datarep)\(' "$SOURCE/tests/mpi/fortran_body.F90" | tr -d '(' | sort -u >"$TMP/called"
comm -23 "$TMP/declared" "$TMP/called" >"$TMP/missing"
[ ! -s "$TMP/missing" ] || fail "tests/mpi/fortran_body.F90 does not call: $(tr '\n' ' ' <"$TMP/missing")"
[ "$(wc -l <"$TMP/declared")" -ge 50 ] || fail "mpi.h declares too few functions: is the list right?"
