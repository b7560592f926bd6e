#!/usr/bin/env bash
# The kernel irregular on 1, 4, 6 and 9 ranks, collective and independent: one content of the file, whoever writes it.
# proves: IOT-27
# It would fail if the file depended on the number of ranks or on the way of access, if it did not hold a mesh that fills
# its box, if a rank could not read what another one wrote, if a time or a parameter were missing, if a changed file
# passed the check, if impossible keywords came as far as I/O, or if overlapping reads were made by independent calls where
# not OMPIO is in force.
# processors: 2
# timeout: 400
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
cd "$TMP"

# keywords FILE COLLECTIVE [LINE...]: 9 x 8 x 7 cells are 720 nodes and 3024 elements
keywords()
{
    local file=$1 collective=$2
    shift 2
    printf 'class Kernel\ntestname irregular\nfilename %s\nnumsizes 1\nxsize 9\nysize 8\nzsize 7\n' "$file"
    printf 'seed 7\nkeep true\ncollective %s\n' "$collective"
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# ---- one content, many writers ----

fields=("nodefields 2" "elemfields 3" "check full")
bytes=$((720 * 24 + 3024 * 32 + 2 * 720 * 8 + 3 * 3024 * 8))
keywords reference.dat false "${fields[@]}" >one.in
expect_exit 0 "$PIOLET" run -o results one.in
[ "$(stat -c %s reference.dat)" = $bytes ] || fail "the file has $(stat -c %s reference.dat) bytes, not $bytes"
for ranks in 1 4 6 9; do
    {
        keywords collective.dat true "${fields[@]}"
        keywords independent.dat false "${fields[@]}" "preallocate false"
        keywords window.$ranks.dat true "${fields[@]}" "window 1"
        keywords bare.$ranks.dat false "nodefields 0" "elemfields 0"
        keywords reference.dat true "${fields[@]}" "phases read"
        keywords reference.dat false "${fields[@]}" "phases read"
        keywords otherseed.dat true "${fields[@]}" "seed 8" | grep -v 'seed 7'
    } >many.in
    expect_exit 0 mpirun_n $ranks "$PIOLET" run -o results.$ranks many.in
    for file in collective independent; do
        cmp reference.dat $file.dat >&2 || fail "$file.dat of $ranks ranks is not what one process writes"
    done
    cmp window.1.dat window.$ranks.dat >&2 || fail "with window 1, $ranks ranks do not write what one writes"
    cmp bare.1.dat bare.$ranks.dat >&2 || fail "without fields, $ranks ranks do not write what one writes"
    ! cmp -s reference.dat window.$ranks.dat || fail "the window changes nothing"
    ! cmp -s reference.dat otherseed.dat || fail "another seed gives the same data"
done
cmp -n $((720 * 24 + 3024 * 32)) reference.dat bare.1.dat >&2 || fail "fields change what stands before them"

# More ranks than cells: some have nothing.
sed 's/^\([xyz]\)size .*/\1size 1/' one.in | sed 's/reference/tiny/' >tiny.in
expect_exit 0 "$PIOLET" run -o results tiny.in
mv tiny.dat tiny.1.dat
for access in true false; do
    expect_exit 0 mpirun_n 4 "$PIOLET" run -o results --set collective=$access tiny.in
    cmp tiny.1.dat tiny.dat >&2 || fail "a mesh of one cell differs on 4 ranks"
done

# ---- the file is a mesh: its tetrahedra fill the box, and name every node ----

od -A n -t f8 -v -w24 -N $((720 * 24)) reference.dat >nodes
od -A n -t d8 -v -w32 -j $((720 * 24)) -N $((3024 * 32)) reference.dat >elements
awk '
NR == FNR { x[NR - 1] = $1; y[NR - 1] = $2; z[NR - 1] = $3; next }
{
    for (i = 1; i <= 4; i++) { if (!($i in x)) { print "no node " $i; bad = 1 } named[$i] = 1 }
    for (i = 2; i <= 4; i++) { a[i] = x[$i] - x[$1]; b[i] = y[$i] - y[$1]; c[i] = z[$i] - z[$1] }
    v = (a[2] * (b[3] * c[4] - c[3] * b[4]) - b[2] * (a[3] * c[4] - c[3] * a[4]) + c[2] * (a[3] * b[4] - b[3] * a[4])) / 6
    if (v <= 0) { print "element " FNR - 1 " has volume " v; bad = 1 }
    total += v
}
END {
    if (total < 503.999999 || total > 504.000001) { print "the volume is " total ", not 504"; bad = 1 }
    if (length(named) != 720) { print length(named) " nodes of 720 are named"; bad = 1 }
    exit bad
}' nodes elements >&2 || fail "the file holds no mesh of 9 x 8 x 7 cells"

# ---- what the results hold ----

for key in pre_time palloc_time view_time write write_nodes write_elems write_nfield write_efield sync_time read \
    read_nodes read_elems read_nfield read_efield ghost post_time; do
    for rank in 0 1 2 3; do
        grep -q "^time $rank $key [0-9]*$" results.4 || fail "no time $key of rank $rank"
    done
done
for param in "nodes 720" "elements 3024" "filesize_bytes $bytes" "collective true" "window 4096" "owned_nodes_mean 180.0" \
    "owned_elements_mean 756.0"; do
    grep -qx "param $param" results.4 || fail "no 'param $param' in the results"
done
for param in owned_nodes_min owned_nodes_max owned_elements_min owned_elements_max node_runs_min node_runs_mean \
    element_runs_max ghost_nodes_max ghost_runs_mean ghost_bytes ghost_collective; do
    expect_in results.4 "param $param "
done
spread=$(awk '$2 == "owned_elements_min" { low = $3 } $2 == "owned_elements_max" { print (low < $3 && low > 0); exit }' results.4)
[ "$spread" = 1 ] || fail "all parts are equal, or one is empty"

# ---- overlapping reads are independent only where OMPIO would read rubbish ----

keywords ghost.dat true "keep false" | grep -v 'keep true' >ghost.in
# ghosts RUN: how ghost nodes were read in a collective run, and by which MPI-IO
ghosts()
{
    rm -f ghosts
    expect_exit 0 "$@" "$PIOLET" run -o ghosts ghost.in
    awk '$1 == "fact" && $2 == "mpiio" { by = $3 } $1 == "param" && $2 == "ghost_collective" { print by, $3 }' ghosts
}
[ "$(ghosts engine_run 4)" = "piolet true" ] || fail "on our engine: $(ghosts engine_run 4)"
own=$(ghosts mpirun_n 4)
case $own in
"ROMIO true") ;;
"OMPIO "*) [ "$PIOLET_MPI" = openmpi ] || fail "OMPIO on $PIOLET_MPI" ;;
*) fail "on the MPI's own: $own" ;;
esac
# Open MPI's two, each by its name or since the other is forbidden: neither may be taken for the other.
romio=
[ "$PIOLET_MPI" != openmpi ] || romio=$(ompi_info --parsable | sed -n 's/^mca:io:\(romio[^:]*\):.*/\1/p' | head -n 1)
if [ -n "$romio" ]; then
    for io in "$romio" ^ompio; do
        OMPI_MCA_io=$io expect_exit 0 mpirun_n 1 "$PIOLET" doctor
        grep -q '^MPI-IO  *ROMIO$' "$OUT" || fail "doctor with OMPI_MCA_io=$io: $(grep '^MPI-IO' "$OUT")"
        own=$(OMPI_MCA_io=$io ghosts mpirun_n 4)
        [ "$own" = "ROMIO true" ] || fail "on Open MPI's ROMIO, OMPI_MCA_io=$io: $own"
    done
    OMPI_MCA_io=ompio expect_exit 0 mpirun_n 1 "$PIOLET" doctor
    grep -q '^MPI-IO  *OMPIO$' "$OUT" || fail "doctor with OMPI_MCA_io=ompio: $(grep '^MPI-IO' "$OUT")"
    OMPI_MCA_io_ompio_priority=1 expect_exit 0 mpirun_n 1 "$PIOLET" doctor # loaded, but not in force
    grep -q '^MPI-IO  *ROMIO$' "$OUT" || fail "doctor with OMPIO of low priority: $(grep '^MPI-IO' "$OUT")"
fi

# ---- changed between writing and reading ----

# tamper OFFSET TEXT: a byte of reference.dat changes; both ways of access, on 4 ranks, must tell with TEXT
tamper()
{
    local access
    turn=$((turn + 1)) # at the next byte, the other MPI
    for access in true false; do
        turn=$((turn + 1))
        is_mine $turn || continue
        found=$((found + 1))
        keywords t.dat $access "${fields[@]}" "phases write" >write.in
        keywords t.dat $access "${fields[@]}" "phases read" >read.in
        expect_exit 0 mpirun_n 4 "$PIOLET" run --overwrite -o results write.in
        printf 'X' | dd of=t.dat bs=1 seek="$1" conv=notrunc status=none
        expect_exit 1 mpirun_n 4 "$PIOLET" run -o changed read.in
        expect_in "$ERR" "$2"
        expect_in "$ERR" "byte $(($1 / 8 * 8)) of 't.dat'"
    done
}
turn=0 found=0
tamper $((100 * 24 + 8 + 2)) "checking node coordinates: number 1 of record 100,"
tamper $((720 * 24 + 3000 * 32 + 24 + 1)) "checking element nodes: number 3 of record 3000,"
tamper $((720 * 24 + 3024 * 32 + 720 * 8 + 5 * 8 + 3)) "checking node fields: number 0 of record 5,"
tamper $((bytes - 3)) "checking element fields: number 0 of record 3023,"
[ "$(grep -c '^error E_DATA ' changed)" = $found ] || fail "the results do not hold the errors"

# The default check meets a lost stretch, another run's file and a short one.
sed -i '/^check/d' read.in
cp reference.dat t.dat
expect_exit 0 mpirun_n 4 "$PIOLET" run -o results read.in
dd if=/dev/zero of=t.dat bs=16384 count=1 seek=4 conv=notrunc status=none
expect_exit 1 mpirun_n 4 "$PIOLET" run -o results read.in
expect_in "$ERR" "checking element nodes"
cp otherseed.dat t.dat
expect_exit 1 mpirun_n 4 "$PIOLET" run -o results read.in
expect_in "$ERR" "was written"
truncate -s 100000 t.dat
expect_exit 1 mpirun_n 4 "$PIOLET" run -o results read.in
expect_in "$ERR" "'t.dat' has only 100000 bytes of the $bytes to read"

# ---- refused before any I/O ----

# refuse TEXT LINE...: the keywords with these lines in the place of those that they have
refuse()
{
    local text=$1 line
    shift
    keywords refused.dat true >refused.in
    for line in "$@"; do
        sed -i "/^${line%% *} /d" refused.in
        echo "$line" >>refused.in
    done
    expect_exit 2 "$PIOLET" run -o refused.out refused.in
    expect_in "$ERR" "$text"
    [ ! -e refused.dat ] || fail "the file was made though '$*' was refused"
}
refuse "ysize: the list holds 1 value, but numsizes is 2; allowed: at least 2" "numsizes 2" "xsize 9 10"
refuse "makes a file of 2.75e+20 bytes; allowed: less than" "xsize 1000000000" "ysize 100000000" "zsize 10"
refuse "gives one of 1 processes up to 6000000000 elements; allowed: up to 2147483647" "xsize 1000" "ysize 1000" "zsize 1000"
refuse "xsize: " "xsize 0"
refuse "window: " "window 0"
refuse "nodefields: " "nodefields -1"
refuse "collective: " "collective perhaps"
keywords refused.dat true "phases read" | grep -v seed >refused.in
expect_exit 2 "$PIOLET" run refused.in
expect_in "$ERR" "'read' cannot check the data without the seed"

# The example runs, and leaves nothing behind.
expect_exit 0 mpirun_n 2 "$PIOLET" run -o results --set filename=example.dat "$SOURCE/examples/irregular.in"
[ ! -e example.dat ] || fail "keep false left the file"
