#!/usr/bin/env bash
# proves: GPFS-1
# Combinations of engine, program and launcher that cannot work are refused with a sentence: the engine of one MPI
# preloaded into a program of the other, and a program started by the other MPI's mpiexec, whose processes would each
# believe to be alone and write the same file. Fails when such a program runs, hangs, crashes without words, or has
# written something.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

for mpi in mpich openmpi; do
    command -v "mpicc.$mpi" >/dev/null || skip "mpicc.$mpi is not installed"
    command -v "mpiexec.$mpi" >/dev/null || skip "mpiexec.$mpi is not installed"
done
if [ "$PIOLET_MPI" = mpich ]; then
    other=openmpi own_name=MPICH other_name="Open MPI"
else
    other=mpich own_name="Open MPI" other_name=MPICH
fi
[ -f "$ENGINE" ] || fail "$ENGINE is not built"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "the sanitizer's library would have to come before the engine"

cat >"$TMP/program.c" <<'END'
#include <mpi.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    MPI_File file;
    int rank, size;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file) ||
        MPI_File_write_at_all(file, rank, "x", 1, MPI_BYTE, MPI_STATUS_IGNORE) || MPI_File_close(&file))
        MPI_Abort(MPI_COMM_WORLD, 1);
    printf("rank %d of %d has written\n", rank, size);
    MPI_Finalize();
    return 0;
}
END
# Compiled here: one of the two is a program of the MPI that this build is not for.
for mpi in mpich openmpi; do
    expect_exit 0 "mpicc.$mpi" "$TMP/program.c" -o "$TMP/program.$mpi"
done

# The program PROGRAM, on N ranks of MPIEXEC, with the engine of this build.
launch()
{
    local mpiexec=$1 ranks=$2 program=$3
    if [ "$mpiexec" = openmpi ]; then
        timeout -k 5 30 mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none \
            -x "LD_PRELOAD=$ENGINE" -n "$ranks" "$program" "$TMP/file"
    else
        timeout -k 5 30 mpiexec.mpich -genv LD_PRELOAD "$ENGINE" -n "$ranks" "$program" "$TMP/file"
    fi
}

expect_refused()
{
    local status=0
    launch "$@" >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -ne 0 ] || fail "exit status 0 of: $*"
    [ "$status" -ne 124 ] && [ "$status" -ne 137 ] || fail "hangs: $*"
    expect_not_in "$OUT" "has written"
    expect_not_in "$ERR" "Segmentation fault"
    [ ! -e "$TMP/file" ] || fail "something was written: $*"
}

# What belongs together works, also alone and without a launcher.
expect_exit 0 launch "$PIOLET_MPI" 2 "$TMP/program.$PIOLET_MPI"
expect_in "$OUT" "rank 1 of 2 has written"
[ "$(cat "$TMP/file")" = xx ] || fail "the file is not right"
rm "$TMP/file"
expect_exit 0 env LD_PRELOAD="$ENGINE" "$TMP/program.$PIOLET_MPI" "$TMP/file"
rm "$TMP/file"

# A program of the other MPI.
for ranks in 1 2; do
    expect_refused "$other" "$ranks" "$TMP/program.$other"
    expect_in "$ERR" "this program uses $other_name, but the preloaded library of piolet was built for $own_name"
done
status=0
LD_PRELOAD=$ENGINE timeout 20 "$TMP/program.$other" "$TMP/file" >"$OUT" 2>"$ERR" </dev/null || status=$?
[ "$status" -ne 0 ] || fail "a program of the other MPI runs alone"
expect_in "$ERR" "but the preloaded library of piolet was built for $own_name"
[ ! -e "$TMP/file" ] || fail "something was written"

# A program of this MPI, under the other launcher: N processes, each alone.
expect_refused "$other" 3 "$TMP/program.$PIOLET_MPI"
expect_in "$ERR" "started 3 processes, but this program is built for $PIOLET_MPI and each would run alone"
expect_in "$ERR" "mpiexec.$PIOLET_MPI"

# One process under the other launcher is what it seems to be: alone.
launch "$other" 1 "$TMP/program.$PIOLET_MPI" >"$OUT" 2>"$ERR" </dev/null || fail "one process is refused: $(cat "$ERR")"
expect_in "$OUT" "rank 0 of 1 has written"
