#!/usr/bin/env bash
# The folded trace of a program, expanded, is its full trace: every call, offset, size and event of communication, of C
# and of Fortran programs, above the MPI's own I/O and above the engine. It stays small, and survives every end.
# proves: PHASE-1 PHASE-2
# It would fail if folding lost or changed a call, if the tracer's own count of the file pointer went wrong, if what an
# MPI does inside of its calls were counted, if a killed or damaged trace were not told from a whole one, or if threads
# or many files confused it.
# processors: 2
# timeout: 300
source "$(dirname "$0")/../lib.sh"

cd "$TMP"
cp "$PROGRAMS/trace_fold" "$PROGRAMS/trace_dump" .

dumped() { ./trace_dump "$1" "$2" >"$1.$2.txt" || fail "$1/trace.$2 cannot be read"; }
last() { tail -n 1 "$1.$2.txt"; }

# same NAME RANKS PROGRAM MODE [OPTION…]: traced twice; sets nothing but files NAME.* and full.NAME.*
same()
{
    local name=$1 ranks=$2 program=$3 mode=$4 rank
    shift 4
    expect_exit 0 "$PIOLET" trace "$@" -n "$ranks" -o "$name" -- "./$program" "$mode" "data.$name.$$"
    rm -f "data.$name.$$"
    expect_exit 0 "$PIOLET" trace --full "$@" -n "$ranks" -o "full.$name" -- "./$program" "$mode" "data.$name.$$"
    for ((rank = 0; rank < ranks; rank++)); do
        [ "$(head -n 1 "$name/trace.$rank")" = "piolet-trace 5" ] || fail "$name: not folded"
        [ "$(head -n 1 "full.$name/trace.$rank")" = "piolet-trace 3" ] || fail "$name: not full"
        dumped "$name" $rank
        dumped "full.$name" $rank
        diff "$name.$rank.txt" "full.$name.$rank.txt" >&2 || fail "$name: rank $rank is not what it did"
        grep -q "^complete: $(grep -c '^call ' "full.$name/trace.$rank") calls" "$name.$rank.txt" || fail "$name: $(last "$name" $rank)"
    done
}

# ---- every call comes back ----

same mix1 1 trace_fold mix
same mix4 4 trace_fold mix
same engine 3 trace_fold mix --engine
# The odd ranks, backward, opened it together: the same number for both, and another than all ranks have.
grep -q "^file 1 data.mix4.$$ amode [0-9]* ranks 2 from 3 by -2 " mix4.1.txt || fail "members: $(grep '^file' mix4.1.txt)"
[ "$(grep '^file 1' mix4.1.txt)" = "$(grep '^file 1' mix4.3.txt)" ] || fail "ranks 1 and 3 do not agree on their file"
[ "$(grep -h '^file 0' mix4.?.txt | sort -u | wc -l)" = 1 ] || fail "the ranks do not agree on the first file"
[ "$(grep '^file 0' mix4.1.txt | sed 's/.*number//')" != "$(grep '^file 1' mix4.1.txt | sed 's/.*number//')" ] || fail "one number for two files"
grep -q '^MPI_File_set_view view - - - file 0 bytes -1 offset 4104 code 0 etype_bytes=4 size=32 extent=[0-9]* datarep="native" etype="MPI_INT" filetype="vector(4,2,8,MPI_INT)"$' \
    mix4.1.txt || fail "views: $(grep view mix4.1.txt)"
grep -q '^comm 2 1$' mix4.2.txt || fail "a broadcast and a sendrecv are two events"
grep -q '^MPI_Waitall read ind end individual file 0 ' mix4.0.txt || fail "no completion of reads"
grep -q '^MPI_File_write_at write ind block explicit file 0 bytes -1 offset 0 code 3 ' mix4.0.txt || fail "no failures: $(grep 'code [1-9]' mix4.0.txt)"

fortran=mpifort.$PIOLET_MPI
if command -v "$fortran" >/dev/null; then
    for binding in mpi mpi_f08; do
        define=-DNOTHING
        [ "$binding" = mpi ] || define=-DF08
        expect_exit 0 "$fortran" -cpp "-DBINDING=$binding" "$define" -fallow-argument-mismatch -w "$SOURCE/tests/mpi/trace_fold.F90" -o "$binding"
        same "f.$binding" 2 "$binding" -
        [ "$(grep -c '^MPI_File_write_at_all write coll block explicit file 0 bytes 64 ' "f.$binding.1.txt")" = 20 ] || fail "$binding: not 20 writes"
        grep -q '^MPI_Wait write ind end explicit file 0 ' "f.$binding.1.txt" || fail "$binding: no wait"
        [ "$(grep -c '^comm 2 2$' "f.$binding.1.txt")" -ge 19 ] || fail "$binding: communication is not counted: $(grep comm "f.$binding.1.txt" | sort | uniq -c)"
    done
fi

if [ -x "$PROGRAMS/software_hdf5" ]; then
    cp "$PROGRAMS/software_hdf5" hdf5
    same h5 2 hdf5 write
    [ "$(last h5 1 | sed 's/.* in //; s/ .*//')" -lt 400 ] || fail "HDF5: $(last h5 1)"
fi

# ---- ends that nobody wished for ----

for mode in kill abort; do
    status=0
    timeout 60 "$PIOLET" trace -n 2 -o "$mode" -- ./trace_fold "$mode" "data.$mode.$$" >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -ne 0 ] && [ "$status" -ne 124 ] || fail "$mode: exit status $status"
    for rank in 0 1; do
        dumped "$mode" $rank
        [ "$(grep -c '^MPI_File_write_at ' "$mode.$rank.txt")" = 5000 ] || fail "$mode: rank $rank lost writes"
        [ "$(grep -c '^MPI_File_read_at ' "$mode.$rank.txt")" = 500 ] || fail "$mode: rank $rank lost reads"
        [ "$(last "$mode" $rank | sed 's/.* in //; s/ .*//')" -lt 40 ] || fail "$mode: $(last "$mode" $rank)"
    done
done
grep -q '^killed: 5501 calls' <(last kill 0) || fail "a killed program: $(last kill 0)"
grep -q '^complete: 5501 calls' abort.0.txt abort.1.txt || fail "MPI_Abort did not end a trace"

# ---- threads, many files ----

expect_exit 0 "$PIOLET" trace -o threads -- ./trace_fold threads "data.t.$$"
dumped threads 0
[ "$(grep -c '^MPI_File_write_at ' threads.0.txt)" = 2000 ] || fail "threads: $(last threads 0)"
[ "$(awk '$1 == "comm" { n += $2 } END { print n }' threads.0.txt)" = 2000 ] || fail "threads: communication is missing"

expect_exit 0 "$PIOLET" trace -o files -- ./trace_fold files "data.f.$$"
dumped files 0
grep -q '^complete: 30000 calls' <(last files 0) || fail "files: $(last files 0)"
[ "$(grep -c '^file ' files.0.txt)" = 10000 ] || fail "files: $(grep -c '^file ' files.0.txt)"
[ "$(stat -c %s files/trace.0)" -lt 5000000 ] || fail "files: $(stat -c %s files/trace.0) bytes"

# ---- damage is refused with a word ----

refused() # WORDS
{
    expect_exit 1 ./trace_dump bad 0
    expect_in "$ERR" "trace_dump: 'bad/trace.0': "
    expect_in "$ERR" "$1"
}
mkdir bad
expect_exit 1 ./trace_dump bad 0
expect_in "$ERR" "No such file"
bytes=$(stat -c %s mix1/trace.0)
head -c $((bytes - 100)) mix1/trace.0 >bad/trace.0
refused "it is shorter than it was"
head -c 3000 mix1/trace.0 >bad/trace.0
refused "it ends before its records"
cp mix1/trace.0 bad/trace.0
printf 'x' | dd of=bad/trace.0 bs=1 seek=$((bytes - 200)) conv=notrunc status=none
refused "its records are not what they were"
sed '1s/5/7/' mix1/trace.0 >bad/trace.0
refused "it has version 7; this piolet reads 3 (full), 4 and 5 (folded)"
sed '2s/0/1/' mix1/trace.0 >bad/trace.0
refused "its head is not what it was"
echo hello >bad/trace.0
refused "it is no trace"
sed '/^call 7 /s/ 16 / 17 /' full.mix1/trace.0 >bad/trace.0
refused "lines are not what they were"
# A killed trace has no checksum: whatever stands there, reading it ends with a word or a tree.
for place in $(seq 8200 97 11000); do
    cp kill/trace.0 bad/trace.0
    printf '\377\001' | dd of=bad/trace.0 bs=1 seek="$place" conv=notrunc status=none
    status=0
    timeout 10 ./trace_dump bad 0 >/dev/null 2>"$ERR" || status=$?
    [ "$status" -le 1 ] || fail "byte $place damaged: exit status $status"
done
