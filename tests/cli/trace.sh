#!/usr/bin/env bash
# piolet trace from the command line: wrong use, directories, arguments, exit statuses, programs of either MPI.
# proves: GPFS-7
# It would fail if a trace were mixed with another, if arguments or the exit status of the program got lost, if the
# launcher were preloaded, or if a program that cannot be traced were started all the same.
# processors: 2
source "$(dirname "$0")/../lib.sh"
[ -f "$BINARY/lib/libpiolet-trace.so" ] || fail "libpiolet-trace.so is not built"
cd "$TMP"

# ---- wrong use ----

expect_wrong_use trace <<'END'
2|which PROGRAM?|
2|which PROGRAM?|-o dir --
2|which PROGRAM?|--full -n 2
2|--ranks: '0'; allowed: a whole number from 1|-n 0 true
2|--ranks: '-3'; allowed: a whole number from 1|-n -3 -- true
2|'--nosuch' is not an option|--nosuch true
2|needs a value|-o
127|'nosuch-program' is in no directory of PATH|-- nosuch-program
127|cannot execute './nosuch': No such file or directory|-n 2 ./nosuch
126|cannot execute '/dev/null': Permission denied|/dev/null
126|cannot execute '/': Is a directory|/
2|'/usr/bin/mpiexec' starts programs and must not be preloaded itself|/usr/bin/mpiexec -n 2 true
END
[ -z "$(ls)" ] || fail "wrong use left: $(ls)"

# ---- the directory ----

mkdir full empty
touch full/file
expect_exit 2 "$PIOLET" trace -o full -- true
expect_in "$ERR" "'full' is there already, and not an empty directory"
touch file
expect_exit 2 "$PIOLET" trace -o file -- true
expect_exit 1 "$PIOLET" trace -o nosuch/deeper -- true
expect_in "$ERR" "cannot make the directory 'nosuch/deeper': No such file or directory"
expect_exit 0 "$PIOLET" trace -o empty -- true
expect_exit 0 "$PIOLET" trace -- true
expect_in "$ERR" "the trace goes to 'piolet-trace.20"
[ -d "$(echo piolet-trace.20*)" ] || fail "no directory with the name that was told"

# ---- program, arguments, environment, exit status ----

make_show '$PIOLET_TRACE_DIR $LD_PRELOAD ${PIOLET_LAUNCHED-none}'
expect_exit 7 "$PIOLET" trace -o one -- ./show 'a b' '' '--full' '-n' '*'
expect_in "$OUT" "<a b><><--full><-n><*> $PWD/one "
expect_in "$OUT" "libpiolet-trace.so"
expect_not_in "$OUT" "libpiolet-mpiio.so"
expect_in "$OUT" " none"
expect_exit 7 "$PIOLET" trace --full -o two ./show -o x # without --
expect_in "$OUT" "<-o><x> $PWD/two "
expect_exit 7 "$PIOLET" trace -n 2 -o "three four" ./show 'a b'
[ "$(grep -cF "<a b> $PWD/three four " "$OUT")" = 2 ] || fail "not on two ranks: $(cat "$OUT")"
PATH=$PWD:$PATH expect_exit 7 "$PIOLET" trace -o five show x
expect_in "$OUT" "<x> $PWD/five "
expect_exit 7 mpirun_n 2 "$PIOLET" trace -o six -- ./show x
[ "$(grep -cF "<x> $PWD/six " "$OUT")" = 2 ] || fail "under mpiexec: $(cat "$OUT")"
expect_exit 2 mpirun_n 2 "$PIOLET" trace -- ./show x
expect_in "$ERR" "name it with -o DIR"
expect_exit 2 mpirun_n 2 "$PIOLET" trace -n 2 -o seven -- ./show x
expect_in "$ERR" "-n starts an MPI job, but this is one already"

# What is preloaded already stays behind it.
if [ -z "${PIOLET_SANITIZE:-}" ]; then
    LD_PRELOAD=libdl.so.2 expect_exit 7 "$PIOLET" trace -o eight ./show x
    grep -q 'libpiolet-trace.so:libdl.so.2 none$' "$OUT" || fail "LD_PRELOAD: $(cat "$OUT")"
fi

# ---- which MPI ----

cat >hello.c <<'END'
#include <mpi.h>
#include <stdio.h>
int main(void)
{
    int size;
    MPI_File file;
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    printf("one of %d\n", size);
    MPI_File_open(MPI_COMM_SELF, "/dev/null", MPI_MODE_WRONLY, MPI_INFO_NULL, &file);
    MPI_File_close(&file);
    MPI_Finalize();
}
END
# Compiled here, as a user would: statically, and with the compiler of the other MPI.
echo 'int main(void) { return 0; }' >static.c
expect_exit 0 gcc -static static.c -o static
expect_exit 2 "$PIOLET" trace -o nine ./static
expect_in "$ERR" "'./static' is linked statically"
# A program file that ends in the middle of its tables is no reason to fall over.
head -c 100 static >piece
chmod +x piece
expect_exit 2 "$PIOLET" trace -o piece-trace ./piece

other=$([ "$PIOLET_MPI" = mpich ] && echo openmpi || echo mpich)
if [ -n "${PIOLET_SANITIZE:-}" ] || ! command -v "mpicc.$other" "mpicc.$PIOLET_MPI" >/dev/null; then
    exit 0
fi
expect_exit 0 "mpicc.$PIOLET_MPI" hello.c -o own
expect_exit 0 "mpicc.$other" hello.c -o other
expect_exit 0 "$PIOLET" trace --full -n 2 -o own-trace ./own
[ "$(grep -c 'one of 2' "$OUT")" = 2 ] || fail "own: $(cat "$OUT")"
[ "$(cat own-trace/trace.? | grep -c 'MPI_File_open 1 open')" = 2 ] || fail "own: no trace"

# A copy of this build has no sibling: it must refuse.
mkdir -p alone/mpi/bin
cp "$PIOLET" alone/mpi/bin/
cp -r "$BINARY/lib" alone/mpi/
expect_exit 2 alone/mpi/bin/piolet trace -n 2 -o refused ./other
expect_in "$ERR" "but this piolet was built for"
[ ! -e refused ] || fail "a refused program left a directory"
# With one it switches, and takes the other mpiexec as well.
sibling=$(dirname "$BINARY")/$other
if [ -x "$sibling/bin/piolet" ] && [ -f "$sibling/lib/libpiolet-trace.so" ]; then
    expect_exit 0 "$PIOLET" trace -n 2 -o other-trace ./other
    [ "$(grep -c 'one of 2' "$OUT")" = 2 ] || fail "other: $(cat "$OUT")"
    expect_in other-trace/trace.1 "mpi $other "
fi
# Under the wrong mpiexec every process would be alone.
status=0
timeout 60 "mpiexec.$other" -n 2 "$PIOLET" trace -o wrong ./own >"$OUT" 2>"$ERR" </dev/null || status=$?
[ "$status" -ne 0 ] || fail "the other MPI's mpiexec was not refused"
expect_in "$ERR" "and each would run alone"
# The library of the wrong MPI, preloaded by hand, refuses too.
status=0
LD_PRELOAD=$BINARY/lib/libpiolet-trace.so timeout 60 ./other >"$OUT" 2>"$ERR" </dev/null || status=$?
[ "$status" -ne 0 ] || fail "the wrong library was not refused"
expect_in "$ERR" "piolet-trace: this program uses"
