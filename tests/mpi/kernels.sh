#!/usr/bin/env bash
# The kernels on distributed arrays: whatever ranks, grid, distribution and way of access wrote it, the file is byte for
# byte that of a serial program, and any other number of ranks, grid and distribution reads it back.
# proves: IOT-20 IOT-21 IOT-23 IOT-25 COLL-1
# It would fail if one element were in a wrong place or missing, if a grid or a distribution made another file, if a
# file could be read only as it was written, if a rank had no part of its own to move, or if a time were missing.
# processors: 2
# timeout: 300
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: bytes and counts are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
# Files carry the number of this process: Open MPI's jobs on one node disturb each other, up to a hang in MPI_File_open,
# when their files have the same last part of the name (OMPIO makes a semaphore of it).
cp "$PROGRAMS/serial_matrix" serial_matrix

# Sizes that divide for every grid below, sizes that divide for none, and fewer elements than ranks.
declare -A SIZES=([even2]="144 288" [odd2]="53 37" [tiny2]="3 2" [even3]="48 36 24" [odd3]="17 13 11" [tiny3]="2 1 3")
for shape in "${!SIZES[@]}"; do
    read -r x y z <<<"${SIZES[$shape]} 1"
    ./serial_matrix 11 "$x" "$y" "${z%% *}" >"$shape.serial"
done

# block TEST SHAPE FILE [LINE...]
block()
{
    local test=$1 size
    read -r -a size <<<"${SIZES[$2]}"
    printf 'class Kernel\ntestname %s\nfilename %s\nkeep true\nseed 11\ncheck full\nnumsizes 1\n' "$test" "$3"
    printf 'xsize %d\nysize %d\n' "${size[0]}" "${size[1]}"
    [ ${#size[@]} -lt 3 ] || printf 'zsize %d\n' "${size[2]}"
    shift 3
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# grid X Y [Z]
grid()
{
    printf 'numprocgrids 1\nxproc %d\nyproc %d' "$1" "$2"
    [ $# -lt 3 ] || printf '\nzproc %d' "$3"
}

# cases RANKS: lines "SHAPE|GRID|DISTRIBUTION"; the first of each shape is also read by others
cases()
{
    local grids2 grids3 one first third
    case $1 in
    1) grids2=("1 1") grids3=("1 1 1") ;;
    4) grids2=("2 2" "4 1" "1 4") grids3=("2 2 1" "1 1 4") ;;
    6) grids2=("3 2" "1 6") grids3=("1 3 2" "6 1 1") ;;
    8) grids2=("2 4" "8 1") grids3=("2 2 2" "4 1 2") ;;
    9) grids2=("3 3" "9 1") grids3=("3 3 1" "1 3 3") ;;
    16) grids2=("4 4" "2 8") grids3=("4 2 2" "1 4 4") ;;
    esac
    for one in "${grids2[@]}"; do
        echo "even2|$one|BLOCK,BLOCK"
    done
    first=${grids2[0]} third=${grids3[0]}
    printf '%s\n' "odd2|$first|BALANCED,BALANCED" "odd2|$first|CYCLIC(3),BALANCED" "odd2|$first|CYCLIC,CYCLIC(5)" \
        "odd2|1 $1|*,BALANCED" "odd2|$1 1|CYCLIC(100),*" "odd2|$first|random(7)" "odd2|$first|scatter(100)" \
        "odd2|$1 1|random" "odd2|1 $1|scatter" "tiny2|$first|BALANCED,CYCLIC"
    for one in "${grids3[@]}"; do
        echo "even3|$one|BLOCK,BLOCK,BLOCK"
    done
    printf '%s\n' "odd3|$third|BALANCED,CYCLIC(2),BALANCED" "odd3|1 1 $1|*,*,CYCLIC(3)" "odd3|$1 1 1|BALANCED,*,*" \
        "odd3|$third|random(5)" "odd3|$third|scatter(64)" "tiny3|$third|CYCLIC,BALANCED,CYCLIC"
    case $1 in
    1 | 4 | 9 | 16) printf '%s\n' "odd3|$third|multipartition" "even3|$third|multipartition" "tiny3|$third|multipartition" ;;
    esac
}

other() { [ "$1" = true ] && echo false || echo true; }

# Both ways of access, or with many ranks, for the sake of time, one of them in turn.
accesses() { if [ "$1" -le 4 ]; then echo true false; else other "$([ $(($2 % 2)) = 0 ] || echo true)"; fi; }

# keywords RANKS: writes run.in, and expected: lines "FILE SHAPE". In a second block of the same run the other way of
# access reads with another grid: nothing but the bytes may pass from one to the other.
keywords()
{
    local number=0 shape one distribution file access test words
    : >expected
    while IFS='|' read -r shape one distribution; do
        read -r -a words <<<"$one"
        test=matrix${#words[@]}D
        number=$((number + 1))
        for access in $(accesses "$1" $number); do
            file=$number.$access.$$.dat
            block "$test" "$shape" "$file" "$(grid "${words[@]}")" "distribution $distribution" "collective $access"
            echo "$file $shape" >>expected
            [ "$distribution" = "${distribution#BLOCK}" ] ||
                block "$test" "$shape" "$file" "$(grid_reversed "${words[@]}")" "phases read" \
                    "distribution $(rev_distribution "${words[@]}")" "collective $(other "$access")"
        done
    done < <(cases "$1")
    for access in true false; do
        block transpose even2 transpose.$access.$$.dat "collective $access"
        echo "transpose.$access.$$.dat even2" >>expected
    done
    block transpose even2 transpose.true.$$.dat "phases read" "collective false"
    while IFS='|' read -r shape one distribution; do
        [ "$shape" = even2 ] || continue
        read -r -a words <<<"$one"
        file=gather.${one/ /x}.$$.dat
        block gatherscat2D even2 "$file" "$(grid "${words[@]}")"
        echo "$file even2" >>expected
    done < <(cases "$1")
    block matrix2D even2 "$file" "$(grid 1 "$1")" "phases read" "collective true"
}

grid_reversed() { if [ $# -eq 3 ]; then grid "$3" "$2" "$1"; else grid "$2" "$1"; fi; }

rev_distribution()
{
    [ $# -eq 2 ] && echo "CYCLIC(5),BALANCED" || echo "BALANCED,CYCLIC(4),BALANCED"
}

# The times of IOT-20, IOT-23 and IOT-25 on every rank that moves something, and parameters that say what was run.
cat >judge.jq <<'JQ'
.blocks[] | . as $block | (.facts[] | select(.key == "nprocs").value | tonumber) as $ranks
| def wrong($what): "\($block.testname) on \($ranks) ranks, block \($block.id): \($what)";
  (if .complete | not then wrong("not complete") else empty end),
  (.sets[] | . as $set | .params as $p
   | ([$block.input[] | select(.key == "phases").value][0] // "both") as $phases
   | (.errors[] | wrong(.)),
     (if $p.xsize == null or $p.ysize == null or $p.distribution == null or $p.filesize_bytes == null
      then wrong("parameters: \($p)") else empty end),
     (if ($p.xproc | tonumber) * ($p.yproc | tonumber) * (($p.zproc // "1") | tonumber) != $ranks
         and ($p.distribution | test("multipartition|random|scatter") | not) then wrong("grid: \($p)") else empty end),
     (if ($p.xsize | tonumber) * ($p.ysize | tonumber) * (($p.zsize // "1") | tonumber) * 8 != ($p.filesize_bytes | tonumber)
      then wrong("file size: \($p)") else empty end),
     (range($ranks) as $rank
      | $block.testname as $test
      | (if $phases != "read" then ["palloc_time", "sync_time", "write"] else [] end) as $writing
      | (if $test == "gatherscat2D" then
            (if $rank == 0 then ["post_time", "pre_time", "read"] + $writing else [] end) +
            (if $phases != "read" then ["gather"] else [] end) + ["scatter"]
         else ["post_time", "pre_time", "read"] + $writing +
            (if $test == "transpose" then ["internal", "turn_time"] else [] end) +
            (if $test == "transpose" and $phases != "read" then ["view_time"] else [] end)
         end | sort) as $wanted
      | [.times[] | select(.rank == $rank).key] | sort | select(. != $wanted) | wrong("rank \($rank): times \(.)")))
JQ

reads=0
previous=
for ranks in 1 4 6 8 9 16; do
    keywords $ranks >run.in
    if [ "$previous" ]; then # a second run, on another number of ranks, reads what the one before left
        number=0
        while IFS='|' read -r shape one distribution; do
            read -r -a words <<<"$one"
            number=$((number + 1))
            [ $ranks -lt 9 ] || [ $((number % 4)) -eq 0 ] || continue
            block "matrix${#words[@]}D" "$shape" "$shape.from-$previous.$$.dat" "$(grid "${words[@]}")" "phases read" \
                "distribution $distribution" "collective $(other "$(accesses 16 $number)")"
            reads=$((reads + 1))
        done < <(cases $ranks) >>run.in
        block transpose even2 even2.from-$previous.$$.dat "phases read" "collective true" >>run.in
        block gatherscat2D even2 even2.from-$previous.$$.dat "phases read" "$(grid $ranks 1)" >>run.in
    fi
    expect_exit 0 mpirun_n $ranks "$PIOLET" run -o results.$ranks run.in
    while read -r file shape; do
        cmp "$file" "$shape.serial" >&2 || fail "$ranks ranks: $file is not what one process writes: $(grep -A 12 "filename $file" run.in | head -n 13)"
        mv "$file" "$shape.from-$ranks.$$.dat"
    done <expected
    "$PIOLET" analyze export --format json results.$ranks >results.json 2>"$ERR" || fail "$(cat "$ERR")"
    [ ! -s "$ERR" ] || fail "reading the results gave a warning: $(cat "$ERR")"
    [ "$(jq '.blocks | length' results.json)" = "$(grep -c '^testname' run.in)" ] || fail "blocks are missing"
    jq -r -f judge.jq results.json >wrong
    [ ! -s wrong ] || fail "$(wc -l <wrong) findings in the results; the first: $(head -n 5 wrong)"
    rm -f ./*.from-"${previous:-none}".$$.dat
    previous=$ranks
done
[ $reads -ge 60 ] || fail "only $reads blocks read what other ranks wrote"

# Several sizes and grids in one block: every size with every grid, each with its own data when no seed is given.
printf 'class Kernel\ntestname matrix2D\nfilename many.%d.dat\ncollective true\nrepeat 2\nnumsizes 2\nxsize 12 24 7\nysize 6, 12\n' $$ >many.in
printf 'numprocgrids 3\nxproc 1 2 3 5\nyproc 6 3 2\n' >>many.in
expect_exit 0 mpirun_n 6 "$PIOLET" run -o many.out many.in
expect_exit 0 "$PIOLET" analyze export --format json many.out
[ "$(jq -c '[.blocks[].sets[].params | [.xsize, .ysize, .xproc, .yproc] | join(" ")]' "$OUT")" = \
    "$(jq -nc '["12 6 1 6", "12 6 2 3", "12 6 3 2", "24 12 1 6", "24 12 2 3", "24 12 3 2"] | . + .')" ] ||
    fail "sets: $(jq -c '[.blocks[].sets[].params]' "$OUT")"

# A grid that does not fit is refused before anything is made.
rm -f many.$$.dat
expect_exit 2 mpirun_n 4 "$PIOLET" run -o refused.out many.in
expect_in "$ERR" "many.in:10: xproc: a process grid of 1 x 6 has 6 processes, but 4 run"
[ ! -e many.$$.dat ] && [ ! -e refused.out ] || fail "files were made for a grid that does not fit"
echo "$reads blocks read what other ranks wrote"
