#!/usr/bin/env bash
# piolet analyze from the command line: tables, regions, exports, plots, messages, exit statuses.
# proves: IOT-6 IOT-14 IOT-30 IOT-31 IOT-32
# It would fail if text, JSON and CSV disagreed about a number, if a region took in other operations than asked for, if
# damage ended the analysis, or if a wrong selection came without a message that says what there is.
# needs: $PIOLET, the program
set -u
: "${PIOLET:?the path of the program piolet}"
golden=$(cd "$(dirname "$0")/../golden/results-0.1.0" && pwd)
case $PIOLET in */*) PIOLET=$(realpath "$PIOLET") ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $*" >&2
    failures=$((failures + 1))
}

# run STATUS ARGUMENT...: runs `piolet analyze`, output in out and err, and checks the exit status
run() {
    local expected=$1 got
    shift
    "$PIOLET" analyze "$@" >out 2>err
    got=$?
    [ "$got" = "$expected" ] || fail "exit $got instead of $expected: analyze $* ($(head -n 1 err))"
}

has() {
    grep -q -- "$2" "$1" || fail "no '$2' in $1: $(head -n 3 "$1")"
}

near() { # near WHAT VALUE EXPECTED RELATIVE
    awk -v v="$2" -v e="$3" -v r="$4" 'BEGIN { d = v - e; if (d < 0) d = -d; exit !(v != "" && d <= r * (e < 0 ? -e : e)) }' ||
        fail "$1: $2 instead of $3"
}

# ---- block files, written here by the rules of docs/block-format.md and not by the program under test ----

# XXH64 with seed 0 of a file, in the shell's own 64-bit arithmetic
xxh64() {
    local size hash word i
    local p1=$((0x9E3779B185EBCA87)) p2=$((0xC2B2AE3D27D4EB4F)) p3=$((0x165667B19E3779F9))
    local p4=$((0x85EBCA77C2B2AE63)) p5=$((0x27D4EB2F165667C5))
    rotl() { r=$((($1 << $2) | (($1 >> (64 - $2)) & ((1 << $2) - 1)))); }
    size=$(wc -c <"$1")
    local stripes=$((size / 32)) v=($((p1 + p2)) "$p2" 0 $((-p1)))
    i=0
    for word in $(head -c $((stripes * 32)) "$1" | od -An -v -t d8); do
        rotl $((v[i % 4] + word * p2)) 31
        v[i % 4]=$((r * p1))
        i=$((i + 1))
    done
    if [ "$stripes" -gt 0 ]; then
        hash=0
        for i in 0 1 2 3; do
            local turns=(1 7 12 18)
            rotl "${v[i]}" "${turns[i]}"
            hash=$((hash + r))
        done
        for i in 0 1 2 3; do
            rotl $((v[i] * p2)) 31
            hash=$(((hash ^ (r * p1)) * p1 + p4))
        done
    else
        hash=$p5
    fi
    hash=$((hash + size))
    local left=$((size % 32)) at=$((stripes * 32))
    for word in $(tail -c "$left" "$1" | head -c $((left / 8 * 8)) | od -An -v -t d8); do
        rotl $((word * p2)) 31
        rotl $((hash ^ (r * p1))) 27
        hash=$((r * p1 + p4))
    done
    at=$((at + left / 8 * 8))
    if [ $((size - at)) -ge 4 ]; then
        word=$(tail -c $((size - at)) "$1" | head -c 4 | od -An -v -t u4)
        rotl $((hash ^ (word * p1))) 23
        hash=$((r * p2 + p3))
        at=$((at + 4))
    fi
    if [ "$size" -gt "$at" ]; then
        for word in $(tail -c $((size - at)) "$1" | od -An -v -t u1); do
            rotl $((hash ^ (word * p5))) 11
            hash=$((r * p1))
        done
    fi
    hash=$(((hash ^ ((hash >> 33) & 0x7fffffff)) * p2))
    hash=$(((hash ^ ((hash >> 29) & 0x7ffffffff)) * p3))
    printf '%016x' $((hash ^ ((hash >> 32) & 0xffffffff)))
}

printf 'abc' >known
[ "$(xxh64 known)" = 44bc2cf5ad770999 ] || fail "the script's own hash is wrong: $(xxh64 known)"

# record KIND FILE: standard input as a record with its end line, appended to FILE
record() {
    cat >record.tmp
    cat record.tmp >>"$2"
    printf 'end-%s %d %s\n' "$1" "$(wc -l <record.tmp)" "$(xxh64 record.tmp)" >>"$2"
}

# series RANK KEY UNIT NUMBER...
series() {
    echo "series $1 $2 $3 $(($# - 3))"
    shift 3
    echo "$*" | tr ' ' '\n' | xargs -n 32
}

head_of() { # head_of TEST FILE
    echo "piolet-block 1" >>"$2"
    printf 'id 00112233aabbccdd\nclass Lowlevel\ntestname %s\ninput filename /scratch/a <b> & c\n' "$1" >head.tmp
    printf 'fact nprocs 2\nfact mpiio ROMIO\nfact filesystem ext4\n' >>head.tmp
    record head "$2" <head.tmp
}

set_of() { # set_of NUMBER FILESIZE BLOCKSIZE FIRST-TIME: ten writes and reads on each of two ranks
    echo "set $1"
    printf 'param filesize_bytes %d\nparam blocksize_bytes %d\nparam collective false\n' "$2" "$3"
    echo "time 0 pre_time 183220"
    local rank
    for rank in 0 1; do
        # shellcheck disable=SC2046
        series $rank w ns $(seq $(($4 + rank)) 1000 $(($4 + rank + 9000)))
        # shellcheck disable=SC2046
        series $rank r ns $(seq $(($4 * 2)) 10 $(($4 * 2 + 90)))
    done
}

head_of multiple a.pio
set_of 1 2000000 100000 50000 | record set a.pio
set_of 2 4000000 200000 70000 | record set a.pio
set_of 3 4000000 100000 60000 | record set a.pio
printf 'set 4\nparam blocksize_bytes 8\nerror E_SPACE 1 writing block 3: no space left\n' | record set a.pio
echo "end-block 4" >>a.pio

head_of multipleI i.pio
{
    printf 'set 1\nparam blocksize_bytes 1000\n'
    series 0 t ns 100 100
    series 0 w ns 60 60
    series 0 wI ns 5 5
    series 0 wtI ns 100 100
    series 0 wwI ns 5 5
} | record set i.pio
echo "end-block 1" >>i.pio

# one process of two runs the test: rank 1 has no sample, and there is no parameter `collective`
head_of single s.pio
for number in 1 2 3; do
    {
        printf 'set %d\nparam filesize_bytes 1000000\nparam blocksize_bytes %d\n' "$number" $((number > 2 ? 500000 : 100000))
        # shellcheck disable=SC2046
        series 0 w ns $(seq 1000 100 $((number > 2 ? 1100 : 1900)))
        echo 'series 1 w ns 0'
    } | record set s.pio
done
echo "end-block 3" >>s.pio

# ---- rawdata ----

run 0 rawdata --set 1 --op w a.pio
has out 'block 1, set 1: Lowlevel multiple'
has out 'asymptotic rate:'
[ -s err ] && fail "a whole file gave a message: $(cat err)"
narrow() { # no line of out is wider than 80 columns, whatever awk's locale makes of ± (two bytes)
    awk '{ gsub(/±/, "+") } length($0) > 80 { exit 1 }' out || fail "$1 is wider than 80 columns: $(awk '{ gsub(/±/, "+") } length($0) > 80' out | head -n 1)"
}
narrow "the table of rawdata"
awk '$1 == "all" && $2 == "w" { n = $3 } END { exit n != 20 }' out || fail "no line over all processes: $(cat out)"
has out '  w, all processes: call rate'
has out '  2 processes, file 2 MB, block 100 kB, collective false'
run 0 rawdata --set 1 --rank 1 a.pio
grep -q '^ all' out && fail "one process alone needs no line over all"

run 0 rawdata --set 1 --op w --rank 1 --from 2 --to 5 --json r.json --csv r.csv a.pio
awk '$1 == 1 && $2 == "w" { n = $3; mean = $5 } END { exit !(n == 4 && mean == "53.50") }' out || fail "text of a region: $(cat out)"
row='.sets[0].rows[0]'
[ "$(jq ".sets[0].rows | length" r.json)" = 1 ] || fail "more than the chosen rank in JSON"
[ "$(jq "$row.n" r.json)" = 4 ] || fail "n of a region in JSON"
near "mean in JSON" "$(jq "$row.mean_ns" r.json)" 53501 1e-12
near "median in JSON" "$(jq "$row.median_ns" r.json)" 53001 0.0005
near "rate in JSON" "$(jq "$row.rate_mb_per_s" r.json)" "$(awk 'BEGIN { print 4e5 * 1e3 / 214004 }')" 1e-5
near "mean in CSV" "$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i } NR == 2 { print $at["mean_ns"] }' r.csv)" 53501 1e-12
[ "$(awk -F, '{ print NF }' r.csv | sort -u)" = 25 ] || fail "columns of the CSV"

run 0 rawdata --set 1 --op w --rank 0 --skip 8 --json - a.pio
[ "$(jq "$row.n" out)" = 2 ] || fail "--skip 8 of 10"
[ "$(jq "$row.from" out)" = 8 ] || fail "--skip 8: first counter"
run 0 rawdata --skip auto a.pio
has out '(auto)'
has out 'failed: writing block 3: no space left'

run 0 rawdata i.pio
has out 'overlap 83.3 %'
has out 'exposed I/O time of a cycle 10 ns'

run 0 rawdata s.pio
has out '  1 of 2 processes, file 1 MB, block 100 kB'
grep -q 'all processes:' out && fail "one process is not all processes"

# ---- distribution ----

run 0 distribution --set 1 --op w --csv d.csv --json d.json a.pio
has out 'p99'
has out '####'
near "p50" "$(jq '.sets[0].rows[0].p50_ns' d.json)" 54000 0.0005
[ "$(jq '[.sets[0].rows[].bin_counts | add] | add' d.json)" = 20 ] || fail "bins of the distribution lose operations"
[ "$(wc -l <d.csv)" = 3 ] || fail "rows of the distribution's CSV"

# ---- allav ----

run 0 allav --op w --json v.json --csv v.csv a.pio
# 20 blocks of 100 kB / the slower rank's ten times
near "rate of set 1" "$(jq '.curves[0].points[0].rate_mb_per_s' v.json)" "$(awk 'BEGIN { print 20 * 1e5 * 1e3 / 545010 }')" 1e-5
[ "$(jq '.curves[0].points | length' v.json)" = 3 ] || fail "points of allav"
[ "$(jq '.remarks[0].failed | length' v.json)" = 1 ] || fail "the failed set is not told"
[ "$(awk -F, '$8 == "measured"' v.csv | wc -l)" = 3 ] || fail "points of allav in CSV"
has v.csv approximate
cat a.pio a.pio >twice.pio
run 0 allav --op w --json v2.json twice.pio
[ "$(jq '.curves[0].points[0].sets' v2.json)" = 2 ] || fail "equal sets are not averaged"
near "error of two equal sets" "$(jq '.curves[0].points[0].error_mb_per_s + 1' v2.json)" 1 1e-9
run 0 allav i.pio
has out 'overlap 83.3 %'
run 0 allav s.pio
has out 'single, operation w: 1 of 2 processes'
narrow "the table of allav"

# ---- plots ----

for tool in rawdata distribution allav; do
    run 0 $tool -o $tool.svg a.pio
    has $tool.svg '</svg>'
    if command -v xmllint >/dev/null; then
        xmllint --noout $tool.svg || fail "$tool.svg is not valid XML"
    fi
done
# every panel says what it shows; sets with other counts have axes of their own
has rawdata.svg '>multiple independent, file 2 MB, block 100 kB, rank 1<'
has allav.svg '>multiple independent, 2 processes: write (w)<'
has distribution.svg '>multiple independent, 2 processes: write (w)<'
run 0 rawdata -o s.svg s.pio
grep 'text-anchor="middle" font-size="11"' s.svg >counters # the ticks of the x axes
[ "$(grep -c '>8<' counters)" = 2 ] || fail "a long set does not have its own counters"
[ "$(grep -c '>1<' counters)" = 1 ] || fail "a short set does not have its own counters"
grep -q '\.' <(sed 's/.*>\(.*\)<.*/\1/' counters) && fail "a counter between two operations"
run 0 allav -o s.svg a.pio s.pio
has s.svg '>single, 1 of 2 processes: write (w)<'
# more than there is room for: repeats go first, and the rest is told
for _ in 1 2 3 4 5; do cat a.pio; done >many.pio
run 0 rawdata -o m.svg many.pio
has out 'rows of axes: 18 are not drawn'
has m.svg '18 more rows'
run 0 distribution -o m.svg many.pio
has out 'no room for 20 more curves'
run 0 rawdata -o m.svg --rank 0 s.pio s.pio s.pio s.pio s.pio
has out 'rows of axes: 5 are not drawn'
grep -q -- '--set 2<' m.svg && fail "a repeated set was drawn though there is no room"
if command -v rsvg-convert >/dev/null; then
    run 0 rawdata -o p.png a.pio
    [ "$(head -c 4 p.png | tail -c 3)" = PNG ] || fail "p.png is no PNG"
fi
mkdir empty
PATH=$work/empty "$PIOLET" analyze rawdata -o q.png a.pio >out 2>err && fail "PNG without rsvg-convert must fail"
has err rsvg-convert

# ---- exports ----

run 0 export --format json -o x.json a.pio i.pio
run 0 export --format csv a.pio i.pio
mv out x.csv
[ "$(jq '.blocks | length' x.json)" = 2 ] || fail "blocks of the export"
[ "$(jq -r '.blocks[0].input[0].value' x.json)" = '/scratch/a <b> & c' ] || fail "input of the export"
jq -r '.blocks | to_entries[] | .key as $b | .value.sets[] | .set as $s |
       (.times[] | [$b + 1, $s, .rank, .key, "", .ns] | @csv),
       (.series[] | .rank as $r | .key as $k | .values | to_entries[] | [$b + 1, $s, $r, $k, .key, .value] | @csv)' x.json |
    tr -d '"' | sort >from-json
awk -F, 'NR > 1 { print $2 "," $5 "," $6 "," $7 "," $9 "," $10 }' x.csv | sort >from-csv
cmp -s from-json from-csv || fail "JSON and CSV exports differ: $(diff from-json from-csv | head -n 3)"
[ "$(wc -l <from-csv)" -gt 120 ] || fail "the export is too short"
near "mean of the export" "$(awk -F, '$5 == 1 && $6 == 0 && $7 == "w" && $2 == 1 { s += $10; n++ } END { print s / n }' x.csv)" \
    "$("$PIOLET" analyze rawdata --block 1 --set 1 --rank 0 --op w --json - a.pio | jq '.sets[0].rows[0].mean_ns')" 1e-9
"$PIOLET" analyze export --format csv - <a.pio >out1 2>err || fail "standard input as a file"
# shellcheck disable=SC2002
cat a.pio | "$PIOLET" analyze export --format csv - >out2 2>err || fail "a pipe as a file"
cmp -s out1 out2 || fail "a pipe and a file differ"

# Every row has what was set; one header and the same columns for every benchmark.
run 0 export --format csv "$golden"/{lowlevel,kernel,apps,beff,beffio,piobench,gpfs,peak}.out
[ "$(grep -c '^file,block,' out)" = 1 ] || fail "not one header"
sed 's/"[^"]*"/text/g' out | awk -F, 'NR == 1 { columns = NF } NF != columns { bad++ } $11 !~ /^[1-9][0-9]*$/ && NR > 1 { bad++ }
    END { exit bad > 0 || columns != 14 }' || fail "rows with other columns, or without ranks: $(head -n 3 out)"
awk -F, '$3 == "Lowlevel" && ($12 !~ /^[0-9]+$/ || $13 !~ /^[0-9]+$/ || $14 !~ "blocksize_bytes=" $13 ";") { exit 1 }' out ||
    fail "low-level tests: no sizes in each row"
grep -q 'apps.out,.*,btio,.*,4,829440,17280,class=S; subtype=full; .*filesize_bytes=829440; blocksize_bytes=17280' out ||
    fail "the settings of an application: $(grep -m1 btio out)"

grep -q 'beffio.out,.*; input.time=[0-9]' out || fail "b_eff_io without its T: $(grep -m1 beffio.out out)"
grep -q 'lowlevel.out,.*; input\.' out || fail "no inputs of a low-level test: $(grep -m1 lowlevel.out out)"
grep -q '; \([a-z_]*\)=.*; input.\1=' out && fail "an input that a parameter says already"

# ---- damage ----

head -c -40 a.pio >cut.pio
run 0 rawdata cut.pio
has err 'piolet analyze: warning: cut.pio:'
sed 's/^52000 \|50000 /51111 /' a.pio >bad.pio
run 0 allav --op w --json v3.json bad.pio
has err 'hash is wrong'
[ "$(jq '.curves[0].points | length' v3.json)" = 2 ] || fail "the damaged set was used"
echo hello >garbage
run 1 rawdata garbage
has err "'garbage' holds no block"
: >nothing
run 1 rawdata nothing
has err 'is empty'
run 0 rawdata garbage a.pio
run 1 rawdata absent.pio
has err 'absent.pio'

# ---- wrong use ----

run 1 rawdata --test nosuch a.pio
has err 'nothing matches'
has err 'block 1: test multiple'
has err 'operations w (0-9), r (0-9); ranks 0-1'
run 1 rawdata --from 10 a.pio
run 1 rawdata --set 4 a.pio
has err 'every selected set failed'
run 2
run 2 rawdata
run 2 nosuch a.pio
has err "'nosuch' is not a tool"
run 2 rawdata --rank 5-2 a.pio
has err "--rank: '5-2'"
run 2 rawdata --from 5 --to 4 a.pio
run 2 rawdata --skip -1 a.pio
run 2 rawdata --block 0 a.pio
run 2 rawdata --set 99999999999999999999 a.pio
run 2 rawdata -o plot.gif a.pio
has err '.svg or .png'
run 2 rawdata --json - --csv - a.pio
run 2 export a.pio
for option in '--block 1' '--test multiple' '--set 1' '--op w' '--rank 0' '--from 1' '--to 5' '--skip 1'; do
    # shellcheck disable=SC2086
    run 2 export --format csv $option a.pio
    has err "${option%% *} belongs to "
    has err "not to export"
done
run 2 rawdata --nosuch a.pio
run 2 rawdata -o nosuch/p.svg a.pio
has err 'nosuch/p.svg'
if [ -e /dev/full ]; then
    "$PIOLET" analyze rawdata a.pio >/dev/full 2>err && fail "a full device must be noticed"
    has err 'standard output'
fi

[ "$failures" = 0 ] || exit 1
echo "analyze: all well"
