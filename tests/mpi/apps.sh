#!/usr/bin/env bash
# piolet btio and madbench make the requests of the programs that they stand for, and every byte arrives: calls looked at
# with our tracer, files against one that a single process wrote without MPI; on the MPI's own I/O and on ours.
# proves: COLL-1 IOT-6 GPFS-1
# It would fail if a call had another size, offset or order, if ranks communicated more or less between two calls than
# in the originals, if subtypes or numbers of ranks gave different files, if a file outlived its run, or if what cannot be
# run were not refused with one message.
# processors: 2
# timeout: 300
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
# events RANK: the calls that move data and what else happens to the file, each behind the number of communication
# events since the one before, "4w 4w 6r"
events()
{
    awk '$1 == "comm" { n += $2 }
        $1 == "call" && $3 ~ /_(open|close|i?write.*|i?read.*|Wait)$/ {
            sub(/^MPI_(File_)?/, "", $3)
            printf "%s%d%s", (k++ ? " " : ""), n, $3
            n = 0
        } END { print "" }' "trace/trace.$1"
}
# repeated N TEXT
repeated() { for ((i = 0; i < $1; i++)); do printf ' %s' "$2"; done; }

# NPB 3.3's BT makes 13 + 24 (q - 1) calls in a step on q^2 ranks, one step before those that count, and a barrier.
for q in 1 2 3; do
    step=$((q > 1 ? 13 + 24 * (q - 1) : 0))
    rm -rf trace
    expect_exit 0 "$PIOLET" trace --full -n $((q * q)) -o trace -- "$PIOLET" btio --class S --dumps 2 --file "$data" -o traced.out
    for rank in 0 $((q * q - 1)); do
        [ "$(events $rank | sed 's/^[0-9]*//')" = "open $((6 * step + 1))write_at_all $((5 * step))write_at_all 0close 0open 0read_at_all 1read_at_all 1close" ] ||
            fail "btio on $((q * q)): rank $rank: $(events $rank)"
    done
done

# MADbench2: 500 pixels in blocks of 8. Ranks own different parts; the stride is the largest, rounded up to 4096 bytes.
bytes=(508032 499968 499968 492032)
bins="0 1 2 3 4 5 6 7 w 0r 1r 0 2r 1 3r 2 4r 3 5r 4 6r 5 7r 6 7 c 0r 1r 2r 3r 4r 5r 6r 7r"
# requests RANK STRIDE REGION BYTES I
requests()
{
    for bin in $bins; do
        case $bin in
        w | c) ;;
        *r) echo "MPI_File_$5read $(($1 * $3 + ${bin%r} * $2)) $4" ;;
        *) echo "MPI_File_$5write $(($1 * $3 + bin * $2)) $4" ;;
        esac
    done
}
W="6read 2read 4write$(repeated 6 "2read 4write") 4write"
traced madbench --pixels 500 --bins 8 --gangs 1
for rank in 0 1 2 3; do
    calls $rank all | cut -d ' ' -f 1,3,4 | diff - <(requests $rank 512000 4096000 "${bytes[rank]}" "") >&2 || fail "madbench: rank $rank made other calls"
    [ "$(events $rank | sed 's/^[0-9]*//')" = "open$(repeated 8 4write) $W 6read 2read$(repeated 6 4read) 9close" ] ||
        fail "madbench: rank $rank communicates otherwise: $(events $rank)"
done
[ ! -e "$data" ] || fail "madbench left its file"
traced madbench --pixels 640 --iomode async # two barriers more around each wait
calls 2 all | grep -v MPI_Wait | cut -d ' ' -f 1,3,4 | diff - <(requests 2 819200 6553600 819200 i) >&2 || fail "madbench async made other calls"
W="6iread 2Wait 2iread 4iwrite$(repeated 6 "2Wait 2iread 4Wait 2iwrite") 2Wait 4Wait 2iwrite 2Wait"
[ "$(events 2 | sed 's/^[0-9]*//')" = "open 4iwrite$(repeated 7 "4Wait 2iwrite") 2Wait $W 6iread 2Wait 2iread$(repeated 6 "4Wait 2iread") 4Wait 7close" ] ||
    fail "madbench async communicates otherwise: $(events 2)"

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
# In the files of the ranks, together, stands what is in the one file.
for run in mpirun_n engine_run; do
    expect_exit 0 "$run" 4 "$PIOLET" btio --class S --subtype epio --iomethod mpi --seed 7 --file "$data" --keep -o same.out
    cat "$data".[0-3] | od -An -v -tx8 -w8 | sort | cmp - <(od -An -v -tx8 -w8 reference | sort) || fail "$run: epio lost something"
done
# Records of Fortran: a cell of 6^3 points and its length before and behind it; 24 of them.
expect_exit 0 mpirun_n 4 "$PIOLET" btio --class S --subtype epio --seed 7 --file "$data" --keep --overwrite -o same.out
for rank in 0 1 2 3; do
    [ "$(stat -c %s "$data.$rank")" = $((24 * (8640 + 8))) ] || fail "epio: $(stat -c %s "$data.$rank") bytes"
    [ "$(od -An -v -td4 -w8648 "$data.$rank" | awk '$1 == 8640 && $NF == 8640' | wc -l)" = 24 ] || fail "epio: no records"
done
cat "$data".[0-3] | od -An -v -tx4 -w8648 | cut -d ' ' -f 3-2162 | tr -s ' ' '\n' | sort |
    cmp - <(od -An -v -tx4 -w4 reference | tr -d ' ' | sort) || fail "epio by records lost something"

rm -f "$data"* # what was there before a run would stay

# madbench RUN OPTION...: what is read is checked by the program itself
madbench() { expect_exit 0 "$1" 4 "$PIOLET" madbench --pixels 101 "${@:2}" --file "$data" -o same.out; }
madbench mpirun_n --files unique --iomethod posix --rmod 2 --wmod 4
madbench mpirun_n --gangs 4 --work 0.5 --iomode async
madbench mpirun_n --scatter 50 --rmod 4 --wmod 3 --iomode async
madbench engine_run --calls collective
madbench engine_run --files unique --iomode async
[ "$(grep -c '^end-block 1$' same.out)" = 13 ] || fail "not all runs are in the results"
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
jq -e '[.blocks[] | select(.testname == "btio")] | length == 1' two.json >/dev/null || fail "JSON does not hold the block"
expect_exit 0 "$PIOLET" analyze rawdata two.out

# ---- refused before anything runs ----

no_run() { expect_exit 2 "$@"; [ "$(grep -c "^piolet " "$ERR")" = 1 ] || fail "not one message: $(cat "$ERR")"; }
no_run "$PIOLET" btio -n 3 --file "$data" -o no.out
expect_in "$ERR" "the nearest are 1 and 4"
no_run mpirun_n 2 "$PIOLET" btio --file "$data" -o no.out
expect_in "$ERR" "the nearest are 1 and 4"
no_run "$PIOLET" btio -n 4 --class X --file "$data"
no_run "$PIOLET" madbench -n 4 --gangs 3 --file "$data"
no_run "$PIOLET" madbench -n 4 --iomode async --iomethod posix --file "$data"
no_run "$PIOLET" madbench -n 4 -o "$data" --file "$data"
no_run "$PIOLET" btio -n 4
expect_exit 0 "$PIOLET" btio --dry-run -n 4 --class W --file "$data" -o no.out
expect_in "$OUT" "22118400 bytes written by 160 requests"
[ ! -e no.out ] || fail "a refused run left results"
