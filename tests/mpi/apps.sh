#!/usr/bin/env bash
# piolet btio and madbench make the requests of the programs that they stand for, and every byte arrives: calls looked at
# with our tracer, files against one that a single process wrote without MPI; on the MPI's own I/O and on ours.
# proves: COLL-1 IOT-6 GPFS-1
# It would fail if a call had another size, offset or order, if subtypes or numbers of ranks gave different files,
# or if what cannot be run were not refused with one message.
# processors: 2
# timeout: 180
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
command -v jq >/dev/null || skip "needs jq"
export MPIRUN_TIMEOUT=180
cd "$TMP"
data=apps$$ # Open MPI's jobs on one node disturb each other when their files have the same name

# ---- calls ----

# calls RANK CLASS: function offset byte asked, of the reads and writes or of one of them
calls() { awk -v class="$2" '$1 == "call" && ($5 == class || class == "all" && ($5 == "read" || $5 == "write")) { print $3, $9, $10, $13 }' "trace/trace.$1"; }
traced() { rm -rf trace; expect_exit 0 "$PIOLET" trace --full -n 4 -o trace -- "$PIOLET" "$@" --file "$data" -o traced.out; }

traced btio --class W --dumps 3
for rank in 0 1 2 3; do
    [ "$(calls $rank write | cut -d ' ' -f 1,2,4 | xargs)" = "$(for i in 0 3456 6912; do echo "MPI_File_write_at_all $i 138240"; done | xargs)" ] ||
        fail "full, rank $rank writes: $(calls $rank write)"
    [ "$(calls $rank read | cut -d ' ' -f 2,4)" = "$(calls $rank write | cut -d ' ' -f 2,4)" ] || fail "full, rank $rank reads otherwise"
    grep -q 'etype_bytes=40 filetype_bytes=138240 filetype_extent=552960 ' "trace/trace.$rank" || fail "not the view of BT-IO"
done
traced btio --class W --dumps 2 --subtype simple
for rank in 0 3; do
    [ "$(calls $rank write | awk '$1 == "MPI_File_write_at" && $4 == 480' | wc -l)" = 576 ] || fail "simple: not 288 writes of 480 bytes a dump"
done
# Rank 1 begins at x = 12 of the lowest slab; its second cell is at x = 0, y = 12, z = 12. Offsets are doubles.
[ "$(calls 1 write | awk '{ print $2 }' | sed -n '1p;2p;145p;289p' | xargs)" = \
    "60 180 $((5 * 24 * (12 + 24 * 12))) $((60 + 5 * 24 * 24 * 24))" ] || fail "simple: offsets $(calls 1 write | head -n 3)"
traced madbench --pixels 640 --bins 8 --gangs 1
for rank in 0 2; do
    calls $rank all >made
    for bin in 0 1 2 3 4 5 6 7 w 0r 1r 0 2r 1 3r 2 4r 3 5r 4 6r 5 7r 6 7 c 0r 1r 2r 3r 4r 5r 6r 7r; do
        case $bin in
        w | c) ;;
        *r) echo "MPI_File_read $((rank * 6553600 + ${bin%r} * 819200)) 819200" ;;
        *) echo "MPI_File_write $((rank * 6553600 + bin * 819200)) 819200" ;;
        esac
    done >wanted
    cut -d ' ' -f 1,3,4 made | diff - wanted >&2 || fail "madbench: rank $rank made other calls"
done

# ---- contents: both subtypes, several numbers of ranks, both implementations ----

cp "$PROGRAMS/serial_btio" serial_btio
./serial_btio 7 12 12 >reference
# same_file RUN RANKS SUBTYPE
same_file()
{
    expect_exit 0 "$1" "$2" "$PIOLET" btio --class S --subtype "$3" --seed 7 --file "$data" --keep -o same.out
    cmp "$data" reference || fail "$*: not the bytes of one process"
}
same_file mpirun_n 4 full
same_file mpirun_n 4 simple
same_file engine_run 1 full
same_file engine_run 4 full
same_file engine_run 4 simple
# Cells of 22, 21 and 21 points: ranks differ.
./serial_btio 7 64 1 >uneven
for run in mpirun_n engine_run; do
    expect_exit 0 "$run" 9 "$PIOLET" btio --class A --dumps 1 --seed 7 --file "$data" --keep -o uneven.out
    cmp "$data" uneven || fail "$run: uneven cells are not at their places"
done
[ "$(grep -c '^series [0-8] b B 1$' uneven.out)" = 18 ] || fail "the bytes of uneven requests are not in the results"
for run in mpirun_n engine_run; do # in the files of the ranks, together, stands what is in the one file
    expect_exit 0 "$run" 4 "$PIOLET" btio --class S --subtype epio --seed 7 --file "$data" --keep -o same.out
    cat "$data".[0-3] | od -An -v -tx8 -w8 | sort | cmp - <(od -An -v -tx8 -w8 reference | sort) || fail "$run: epio lost something"
done

rm -f "$data"* # what was there before a run would stay

# madbench RUN OPTION...: what is read is checked by the program itself
madbench() { expect_exit 0 "$1" 4 "$PIOLET" madbench --pixels 101 "${@:2}" --file "$data" -o same.out; }
madbench mpirun_n --files unique --iomethod posix --rmod 2 --wmod 4
madbench mpirun_n --gangs 4 --work 0.5
madbench engine_run --calls collective
madbench engine_run --files unique
[ "$(grep -c '^end-block 1$' same.out)" = 11 ] || fail "not all runs are in the results"
[ "$(grep -c '^fact mpiio piolet' same.out)" = 6 ] || fail "the engine was not used"
for file in "$data"*; do
    case $file in "$data" | "$data".[0-3]) fail "$file is left, without --keep" ;; esac
done

# ---- results ----

rm -f "$data"*
expect_exit 0 "$PIOLET" btio -n 4 --class S --repeat 2 --hint cb_nodes=1 --file "$data" -o two.out --json two.json --csv two.csv
[ ! -e "$data" ] || fail "the test file is left"
[ "$(grep -c '^end-set ' two.out)" = 2 ] || fail "not a set for each run"
[ "$(grep -c '^series [0-3] [wr] ns 12$' two.out)" = 16 ] || fail "not 12 writes and reads of each rank"
expect_in two.out "hint asked cb_nodes 1"
[ "$(grep -cE ',[wr],ns,' two.csv)" = 192 ] || fail "CSV: $(wc -l <two.csv) lines"
jq -e '[.. | objects | select(.testname? == "btio")] | length == 1' two.json >/dev/null || fail "JSON does not hold the block"
expect_exit 0 "$PIOLET" analyze rawdata two.out

# ---- refused before anything runs ----

no_run() { expect_exit 2 "$@"; [ "$(grep -c "^piolet " "$ERR")" = 1 ] || fail "not one message: $(cat "$ERR")"; }
no_run "$PIOLET" btio -n 3 --file "$data" -o no.out
expect_in "$ERR" "the nearest are 1 and 4"
no_run mpirun_n 2 "$PIOLET" btio --file "$data" -o no.out
expect_in "$ERR" "the nearest are 1 and 4"
no_run "$PIOLET" btio -n 4 --class X --file "$data"
no_run "$PIOLET" madbench -n 4 --gangs 3 --file "$data"
no_run "$PIOLET" madbench -n 4 -o "$data" --file "$data"
no_run "$PIOLET" btio -n 4
expect_exit 0 "$PIOLET" btio --dry-run -n 4 --class W --file "$data" -o no.out
expect_in "$OUT" "22118400 bytes written by 160 requests"
[ ! -e no.out ] || fail "a refused run left results"
