#!/usr/bin/env bash
# proves: GPFS-1
# bench/engine moves every pattern with the engine and with the MPI's own I/O, checks every byte, and prints tables of
# them; no time is looked at. Fails when a pattern is missing or wrong, when counts are not what they must be, when a
# file or memory that was tampered with passes for right, or when a table is wider than 80 columns.
# timeout: 600
source "$(dirname "$0")/../lib.sh"

[ "$BINARY" = "${BINARY%/*}/$PIOLET_MPI" ] || skip "the benchmarks preload the engine of build/mpich or build/openmpi"
command -v "mpicc.$PIOLET_MPI" >/dev/null || skip "mpicc.$PIOLET_MPI is not installed"
export COMMAND_TIMEOUT=240

bench()
{
    limited "$SOURCE/bench/engine" --mpi "$PIOLET_MPI" --build "${BINARY%/*}" --dir "$TMP" --mb 1 --reps 1 "$@"
}

is_narrow()
{
    ! grep -v '^# ' "$OUT" | grep -E '.{81}' >&2 || fail "a line of the table is wider than 80 columns"
}

patterns='a b c-128 c-1k c-8k c-64k d e f-1k f-1k+8 g-own g-order h i-1k i-256'
peer=romio
[ "$PIOLET_MPI" = mpich ] || peer=ompio

usage()
{
    expect_exit 0 bench --help
    expect_in "$OUT" Usage:
    expect_exit 2 bench --no-such-option
    expect_exit 2 bench --patterns z
    expect_exit 2 bench --ops forget
    expect_exit 2 bench --ranks 0
    expect_exit 2 bench --auto --counts
    expect_exit 2 bench --mpi lam
}

every_pattern()
{
    local pattern op contestant
    expect_exit 0 bench --ranks 4 --raw "$TMP/raw"
    is_narrow
    [ ! -s "$ERR" ] || fail "words on stderr: $(head -n 3 "$ERR")"
    for pattern in $patterns; do
        for op in fresh over read; do
            for contestant in piolet system limit; do
                awk -F '\t' -v p="$pattern" -v o="$op" -v c="$contestant" -v peer="$peer" \
                    '$1 == peer && $3 == c && $4 == p && $5 == o && $6 == 4 && $9 > 0 { n++ } END { exit n != 1 }' "$TMP/raw" ||
                    fail "not measured once: $contestant, pattern $pattern, $op"
            done
            [ "$(awk -v p="$pattern" -v o="$op" '$1 == p && $2 == o && $3 == 4' "$OUT" | wc -l)" -ge 2 ] ||
                fail "not in both tables: pattern $pattern, $op"
        done
    done
    [ -z "$(find "$TMP" -name 'engine.*')" ] || fail "files were left behind"
}

# Three ranks are no square, and divide nothing evenly.
odd_ranks()
{
    expect_exit 0 bench --ranks 3 --patterns a,b,d,e,i-1k --ops over,read --raw "$TMP/raw"
    awk -F '\t' '$4 == "d" { exit 1 }' "$TMP/raw" || fail "pattern d on three ranks"
    awk -F '\t' '$4 == "e" && $3 == "piolet" { n++ } END { exit !n }' "$TMP/raw" || fail "no pattern e on three ranks"
}

counts()
{
    expect_exit 0 bench --ranks 2 --patterns a,c-1k,i-256 --ops over,read --counts --raw "$TMP/raw"
    is_narrow
    # Writes and reads of all ranks have at least the bytes of the data; side by side and large, exactly those, and
    # without a message.
    awk -F '\t' -v peer="$peer" '
        $1 != peer || $2 != "piolet" { next }
        { rows++; moved = $4 == "read" ? $24 : $26; maps = $27 }
        moved < $6 && !maps { print "too few bytes: " $0; bad = 1 }
        $3 == "a" && ($19 != 0 || moved != $6) { print "not direct: " $0; bad = 1 }
        END { exit bad || rows != 6 }' "$TMP/raw" >&2 || fail "wrong counts"
    # The peer exchanges pieces of 1 KiB on MPICH: messages are seen where they are sent.
    [ "$PIOLET_MPI" != mpich ] ||
        awk -F '\t' '$2 == "system" && $3 == "c-1k" && $19 > 0 { n++ } END { exit n != 2 }' "$TMP/raw" ||
        fail "no messages of ROMIO were counted"
}

strategies()
{
    expect_exit 0 bench --ranks 2 --patterns c-8k --ops read --auto
    is_narrow
    expect_in "$OUT" "best fixed"
    expect_exit 0 bench --ranks 2 --patterns c-8k --ops over --strategy twophase --hint cb_buffer_size=1m
    is_narrow
    awk '$5 == "twophase" { n++ } END { exit !n }' "$OUT" || fail "no row of the strategy that was asked for"
    expect_exit 1 bench --ranks 2 --patterns c-8k --ops over --strategy nonsense
    expect_in "$ERR" "does not take the hint piolet_strategy=nonsense"
}

# A storage that does not keep a byte, and one that gives back another.
tampered()
{
    cat >"$TMP/tamper.c" <<'END'
#include <dlfcn.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int MPI_File_write_at_all(MPI_File file, MPI_Offset at, const void *memory, int count, MPI_Datatype type, MPI_Status *status)
{
    int (*next)(MPI_File, MPI_Offset, const void *, int, MPI_Datatype, MPI_Status *) = dlsym(RTLD_NEXT, "MPI_File_write_at_all");
    const int code = next(file, at, memory, count, type, status);
    char byte;
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Barrier(MPI_COMM_WORLD);
    const int fd = rank == 1 ? open(getenv("TAMPER_FILE"), O_RDWR) : -1;
    if (fd >= 0 && pread(fd, &byte, 1, 50001) == 1) {
        byte ^= 4;
        if (pwrite(fd, &byte, 1, 50001) != 1)
            abort();
        close(fd);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return code;
}
int MPI_File_read_at_all(MPI_File file, MPI_Offset at, void *memory, int count, MPI_Datatype type, MPI_Status *status)
{
    int (*next)(MPI_File, MPI_Offset, void *, int, MPI_Datatype, MPI_Status *) = dlsym(RTLD_NEXT, "MPI_File_read_at_all");
    const int code = next(file, at, memory, count, type, status);
    ((char *)memory)[atoi(getenv("TAMPER_MEMORY"))] ^= 4;
    return code;
}
END
    expect_exit 0 "mpicc.$PIOLET_MPI" -D_GNU_SOURCE -shared -fPIC "$TMP/tamper.c" -o "$TMP/tamper.so"
    export BENCH_PRELOAD=$TMP/tamper.so TAMPER_FILE=$TMP/engine.piolet TAMPER_MEMORY=777
    # Byte 50001 is part of the word at 50000.
    for op in fresh over; do
        expect_exit 1 bench --ranks 4 --patterns d --ops "$op"
        expect_in "$ERR" "wrong data of piolet, pattern d, $op, 4 ranks: byte 50000 of the file is "
    done
    expect_exit 1 bench --ranks 2 --patterns c-1k --ops read
    expect_in "$ERR" "wrong data of piolet, pattern c-1k, read, 2 ranks: what was read from byte "
    TAMPER_MEMORY=0 expect_exit 1 bench --ranks 4 --patterns d --ops read # a ghost point
    expect_in "$ERR" "a read changed byte 0 of the memory, which is no part of its type"
    [ "$(grep -c 'wrong data' "$ERR")" = "$(grep -c . "$ERR")" ] || fail "more words than one message for each launch"
    unset BENCH_PRELOAD
}

every_pattern
counts
if is_mine 0; then # what the script does with its options is the same on both
    usage
    odd_ranks
    strategies
fi
! is_mine 1 || tampered
