#!/usr/bin/env bash
# piolet analyze kernel from the command line: tables, comparisons, hint sweeps, summaries, plots, messages.
# proves: IOT-33
# It would fail if a rate, an imbalance or a ratio were another one than what can be computed by hand, if sets that are
# no repeats were averaged, if a failed set went into a mean, or if text, JSON and CSV disagreed.
# needs: $PIOLET, the program
set -u
: "${PIOLET:?the path of the program piolet}"
case $PIOLET in */*) PIOLET=$(realpath "$PIOLET") ;; esac
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
failures=0

# The functions that write block files and look at outputs are those of analyze.sh.
for name in fail run has near xxh64 record series narrow; do
    eval "$(sed -n "/^$name() {/,/^}/p" "$here/analyze.sh")"
done

# ---- block files ----

head_of() { # head_of CLASS TEST FILE [INPUT]
    echo "piolet-block 1" >>"$3"
    {
        printf 'id 00112233aabbccdd\nclass %s\ntestname %s\n' "$1" "$2"
        [ -z "${4-}" ] || echo "input $4"
        printf 'fact nprocs 2\nfact mpiio ROMIO\nfact filesystem ext4\n'
    } >head.tmp
    record head "$3" <head.tmp
}

matrix() { # matrix NUMBER XSIZE GRID-X GRID-Y [PARAM...]: the head of a set
    echo "set $1"
    printf 'param xsize %d\nparam ysize 50\nparam xproc %d\nparam yproc %d\n' "$2" "$3" "$4"
    printf 'param distribution BLOCK,BLOCK\nparam filesize_bytes %d\n' $(($2 * 400))
    shift 4
    [ $# = 0 ] || printf 'param %s\n' "$@"
}

times() { # times KEY NS-OF-RANK-0 [NS-OF-RANK-1]
    echo "time 0 $1 $2"
    [ $# -lt 3 ] || echo "time 1 $1 $3"
}

hint() { # hint KEY VALUE
    printf 'hint asked %s %s\nhint used %s %s\n' "$1" "$2" "$1" "$2"
}

head_of Kernel matrix2D k.pio
{ matrix 1 100 2 1 'collective true' && hint cb_nodes 1 && hint cb_buffer_size 1000 && times write 10000 20000 && times read 5000 4000 && times pre_time 7 9000000; } | record set k.pio
{ matrix 2 100 2 1 'collective true' && hint cb_nodes 1 && hint cb_buffer_size 2000 && times write 40000 10000 && times read 4000 4000; } | record set k.pio
{ matrix 3 100 2 1 'collective true' && hint cb_nodes 1 && hint cb_buffer_size 2000 && times write 20000 20000 && times read 4000 4000; } | record set k.pio
{ matrix 4 100 2 1 'collective true' && hint cb_nodes 1 && hint cb_buffer_size 2000 && times write 1 1 && echo 'error E_SPACE 1 no space left'; } | record set k.pio
{ matrix 5 200 2 1 'collective true' && hint cb_nodes 1 && hint cb_buffer_size 1000 && times write 10000 10000 && times read 10000 10000; } | record set k.pio
{ matrix 6 200 1 2 'collective true' && hint cb_nodes 1 && hint cb_buffer_size 1000 && echo 'error E_DATA 0 wrong data'; } | record set k.pio
echo "end-block 6" >>k.pio
head_of Kernel gatherscat2D k.pio
{ matrix 1 100 2 1 && times gather 10000 30000 && times write 5000 && times read 4000 && times scatter 6000 7000; } | record set k.pio
echo "end-block 1" >>k.pio
head_of Kernel transpose k.pio
{ matrix 1 100 2 1 'collective false' && times write 1000 1000 && times read 8000 16000 && times internal 4000 3000; } | record set k.pio
echo "end-block 1" >>k.pio

# blocks of 1000 bytes: two ranks read two each, and rank 0 updates one
head_of Kernel nonseq s.pio
for number in 1 2; do
    {
        printf 'set %d\nparam filesize_bytes %d\nparam blocksize_bytes 1000\nparam blocks 4\nparam tail_bytes %d\n' "$number" $((4010 - 10 * number)) $((10 * number - 10))
        printf 'param update_frac %s\n' "$([ $number = 1 ] && echo 0 || echo 0.25)"
        series 0 r ns 1000 3000
        series 1 r ns 1000 1000
        [ $number = 1 ] && echo 'series 0 u ns 0' || series 0 u ns 500
        echo 'series 1 u ns 0'
    } | record set s.pio
done
echo "end-block 2" >>s.pio
head_of Kernel sharedfp s.pio
{
    printf 'set 1\nparam filesize_bytes 5000\nparam blockmin_bytes 8\nparam blockmax_bytes 4000\nparam collective false\n'
    printf 'param written_bytes 4800\nparam balance_least_bytes 800\nparam balance_most_bytes 4000\n'
    series 0 w ns 1500 500
    series 0 b B 2000 2000
    series 1 w ns 1000
    series 1 b B 800
} | record set s.pio
echo "end-block 1" >>s.pio

# a kernel that this analysis has never heard of: `memory` is of the input, `residual` was found
head_of Kernel odd o.pio 'memory 1 2'
for number in 1 2 3; do
    {
        printf 'set %d\nparam n 64\nparam memory_bytes %d\nparam residual %d.5e-16\nparam ghost_bytes 3000\n' "$number" $((number > 2 ? 2000000 : 1000000)) "$number"
        times compute $((number * 1000000)) 500000
        times ghost 1000 2000
    } | record set o.pio
done
echo "end-block 3" >>o.pio

head_of Lowlevel multiple l.pio
{
    printf 'set 1\nparam filesize_bytes 4000\nparam blocksize_bytes 1000\nparam collective true\n'
    series 0 w ns 1000 1000
    series 1 w ns 1000 1000
} | record set l.pio
echo "end-block 1" >>l.pio

# ---- rates ----

run 0 kernel --json k.json --csv k.csv k.pio
[ -s err ] && fail "a whole file gave a message: $(cat err)"
narrow "the table of kernel"
# 40000 bytes / 20 µs; 20 / 15; of sets 2 and 3: (1000 + 2000) / 2, and t(90 %, 1) · 500
case_of() { # case_of TEST SIZE HINT: a filter of the JSON for its case
    echo ".cases[] | select(.testname == \"$1\" and .size == \"$2\" and (.hints.cb_buffer_size // \"\") == \"$3\" and .sets > 0)"
}
measure() { # measure KEY FIELD TEST SIZE HINT
    jq "$(case_of "$3" "$4" "$5") | .measures[] | select(.key == \"$1\") | .$2" k.json
}
near "rate of a write" "$(measure write rate_mb_per_s matrix2D 100x50 1000)" 2000 1e-12
near "imbalance" "$(measure write imbalance matrix2D 100x50 1000)" 1.3333333333 1e-9
near "rate of a read" "$(measure read rate_mb_per_s matrix2D 100x50 1000)" 8000 1e-12
[ "$(measure write rate_error_mb_per_s matrix2D 100x50 1000)" = null ] || fail "one set has no error"
near "mean of repeats" "$(measure write rate_mb_per_s matrix2D 100x50 2000)" 1500 1e-12
near "error of repeats" "$(measure write rate_error_mb_per_s matrix2D 100x50 2000)" 3156.8757573377297 1e-9
[ "$(jq "$(case_of matrix2D 100x50 2000) | .sets, .failed" k.json | xargs)" = '2 1' ] || fail "a failed set is not left out"
near "bytes of one writing rank" "$(measure write rate_mb_per_s gatherscat2D 100x50 '')" 8000 1e-12
[ "$(jq '[.remarks[].failed | length] | add' k.json)" = 2 ] || fail "failed sets are not told"
has out 'failed: no space left (E_SPACE, rank 1)'
# what is equal everywhere stands above, what differs has a column; the column of hints has the key as its name
has out '^  distribution BLOCK,BLOCK, collective, hint cb_nodes 1$'
grep -Eq '^  size +grid +cb_buffer_size +sets +write +± +imb +read +± +imb' out || fail "the columns: $(cat out)"
grep -Eq '^  100x50 +2x1 +1000 +1 +2000 +- +1\.33 +8000 +- +1\.11' out || fail "the first row: $(cat out)"
grep -Eq '^  100x50 +2x1 +2000 +2 +1500 +3157 +1\.30 +10000 +0\.00 +1\.00' out || fail "the row of the repeats: $(grep 'x50 2x1  2000' out)"
grep -Eq '^  200x50 +1x2 +1000 +0 .*failed$' out || fail "the row of a failed case: $(cat out)"
csv() { # csv TEST KEY COLUMN: of the first such row
    awk -v test="$1" -v key="$2" -v column="$3" 'NR == 1 { n = split($0, names, ","); next }
        { gsub(/"[^"]*"/, "quoted"); split($0, f, ","); for (i = 1; i <= n; i++) at[names[i]] = f[i] }
        at["testname"] == test && at["key"] == key { print at[column]; exit }' k.csv
}
near "rate in CSV" "$(csv matrix2D write rate_mb_per_s)" 2000 1e-12
near "longest time in CSV" "$(csv gatherscat2D gather longest_ns)" 30000 1e-12
[ "$(sed 's/"[^"]*"/quoted/g' k.csv | awk -F, '{ print NF }' | sort -u)" = 29 ] || fail "columns of the CSV"

# ---- against each other ----

near "gather and write against write" "$(jq '.gatherscat2D[0].write_ratio' k.json)" 1.75 1e-12
near "read and scatter against read" "$(jq '.gatherscat2D[0].read_ratio' k.json)" 2.2 1e-12
[ "$(jq '.gatherscat2D | length' k.json)" = 2 ] || fail "matrix2D against gatherscat2D: one for each value of the hint"
has out 'matrix2D against gatherscat2D'
grep -Eq '^  1000 +0\.020 +0\.035 +1\.75 +0\.005 +0\.011 +2\.20$' out || fail "the row of the comparison: $(grep -A 9 against out)"
near "transpose by the file against by messages" "$(jq '.transpose[0].ratio' k.json)" 4 1e-12
grep -Eq '^ +0\.016 +0\.004 +4\.00$' out || fail "the row of transpose: $(grep -A 5 transposing out)"
[ "$(jq -c '.hint_sweeps[0].cases | length' k.json)" = 2 ] || fail "the sweep of hints"
[ "$(jq -c '.hint_sweeps[0].best' k.json)" = '{"write":0,"read":1}' ] || fail "best hints: $(jq -c '.hint_sweeps' k.json)"
has out 'matrix2D, hints side by side'
grep -Eq '^  1000 +2000\* +8000$' out || fail "side by side, write: $(grep -A 7 'side by side' out)"
grep -Eq '^  2000 +1500 +10000\*$' out || fail "side by side, read: $(grep -A 7 'side by side' out)"

# ---- all times ----

run 0 kernel --times --test gatherscat2D k.pio
grep -Eq '^ +gather +write +read +scatter$' out || fail "names of times: $(cat out)"
grep -Eq '^ +0\.030 +0\.005 +0\.004 +0\.007$' out || fail "all times: $(cat out)"
run 0 kernel --times --set 1 --test matrix2D k.pio
has out ' pre$'
narrow "the table of all times"

# ---- series ----

run 0 kernel --json s.json s.pio
narrow "the tables of series"
# nonseq: four blocks / 4 µs of rank 0; mean 6 µs / 4; imbalance 4 / 3. A tail that is left out makes no other size.
has out '^  size 4 kB, block 1 kB$'
near "rate of r" "$(jq '[.cases[] | select(.testname == "nonseq") | .measures[] | select(.key == "r")][0].rate_mb_per_s' s.json)" 1000 1e-12
near "mean of r" "$(jq '[.cases[] | select(.testname == "nonseq") | .measures[] | select(.key == "r")][0].operation_ns' s.json)" 1500 1e-12
near "rate of u" "$(jq '[.cases[] | .measures[] | select(.key == "u")][0].rate_mb_per_s' s.json)" 2000 1e-12
[ "$(jq '[.cases[] | .measures[] | select(.key == "u")] | length' s.json)" = 1 ] || fail "updates without any"
near "rate of w" "$(jq '.cases[] | select(.testname == "sharedfp") | .measures[0].rate_mb_per_s' s.json)" 2400 1e-12
near "records" "$(jq '.cases[] | select(.testname == "sharedfp") | .measures[0].operations' s.json)" 3 1e-12
grep -Eq ' 1 +w +3 +2400 .* 800 B +4 kB$' out || fail "balance: $(cat out)"
has out 'block 8 B-4 kB'

# ---- a kernel without a name here ----

run 0 kernel --json o.json o.pio
[ "$(jq '.cases | length' o.json)" = 2 ] || fail "cases by memory"
[ "$(jq '.cases[0].sets' o.json)" = 2 ] || fail "a residual must not tell sets apart"
near "mean residual" "$(jq '.cases[0].values.residual' o.json)" 2e-16 1e-9
near "longest of an unknown time" "$(jq '.cases[0].measures[0].longest_ns' o.json)" 1500000 1e-12
near "rate of a time with its own bytes" "$(jq '.cases[0].measures[1].rate_mb_per_s' o.json)" 1500 1e-12
grep -Eq '^  memory_bytes +compute +ghost +ghost MB/s +n +residual$' out || fail "columns of an unknown kernel: $(cat out)"
grep -Eq '^  1000000 +1\.500 +0\.002 +1500 +64 +2e-16$' out || fail "row of an unknown kernel: $(cat out)"

# ---- selection ----

run 0 kernel --op read --json r.json k.pio
[ "$(jq '[.cases[].measures[].key] | unique | join(" ")' r.json)" = '"read"' ] || fail "--op read"
run 0 kernel --rank 0 --set 1 --test matrix2D --json r.json k.pio
[ "$(jq '.cases[0].measures[0].rate_mb_per_s' r.json)" = null ] || fail "one rank of two has no rate"
near "time of a chosen rank" "$(jq '.cases[0].measures[0].longest_ns' r.json)" 10000 1e-12
run 0 kernel --rank 0 --test gatherscat2D --op write --json r.json k.pio
near "all ranks that write are chosen" "$(jq '.cases[0].measures[0].rate_mb_per_s' r.json)" 8000 1e-12
run 0 kernel --test nonseq --op r --from 1 --json r.json s.pio
near "a region" "$(jq '.cases[0].measures[0].operation_ns' r.json)" 2000 1e-12
cat k.pio k.pio >twice.pio
run 0 kernel --test transpose --json r.json twice.pio
[ "$(jq '.cases[0].sets' r.json)" = 2 ] || fail "equal sets of two blocks are not averaged"
run 0 kernel k.pio l.pio
has out '1 sets are of no kernel'
run 1 kernel l.pio
has err 'no kernel'
run 1 kernel --test nosuch k.pio
has err 'nothing matches'
has err 'times write, read, pre_time; ranks 0-1'
run 1 kernel --op nosuch o.pio
run 1 kernel --set 6 k.pio
has err 'every selected set failed'
run 2 kernel
run 2 allav --times a.pio
has err 'belongs to .*kernel'

# ---- the other tools ----

for tool in rawdata distribution allav; do
    run 1 $tool --test transpose k.pio
    has err "'piolet analyze kernel' is the tool"
    [ "$(wc -l <err)" = 1 ] || fail "$tool says more than a sentence: $(cat err)"
    run 0 $tool s.pio
done

# ---- plots ----

run 0 kernel -o k.svg k.pio s.pio
has k.svg '>matrix2D, 2 processes: write<'
has k.svg '>nonseq, 2 processes: update<'
has k.svg '>problem size<'
has k.svg '>cb_buffer_size 1000<'
! grep -q 'no room' out || fail "something was left out: $(cat out)"
head_of Kernel matrix2D many.pio
for number in 1 2 3 4 5 6 7 8 9 10 11 12; do
    { matrix $number 100 2 1 'collective true' && hint cb_buffer_size $((number * 1000)) && times write 20000 20000; } | record set many.pio
done
echo "end-block 12" >>many.pio
run 0 kernel -o many.svg many.pio
narrow "the table of many hints"
[ "$(grep -c '^The plot has no room for: cb_buffer_size [0-9]*;' out)" = 2 ] || fail "what is left out is not named: $(cat out)"
has many.svg 'not drawn, but named below the table: 2'
for file in k.svg many.svg; do
    has $file '</svg>'
    if command -v xmllint >/dev/null; then
        xmllint --noout $file || fail "$file is not valid XML"
    fi
done
run 1 kernel --op compute -o none.svg o.pio
has err 'no plot'

# whatever a file holds: long values, control characters, nothing at all
head_of Kernel matrix2D odd.pio
for value in 1 2; do
    {
        matrix $value 100 2 1 'collective true'
        printf 'hint asked cb_config_list a,b<c>&"d"\\n%s%060d\n' "$value" 0
        printf 'hint asked another_hint_with_a_long_name_%s %0100d\n' "$value" $value
        times write 0 0
    } | record set odd.pio
done
printf 'set 3\n' | record set odd.pio
echo "end-block 3" >>odd.pio
run 0 kernel --json odd.json --csv odd.csv --times odd.pio
narrow "the table of long values"
jq . odd.json >jq.out || fail "JSON of odd values"

[ "$failures" = 0 ] || exit 1
echo "analyze kernel: all well"
