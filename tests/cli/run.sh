#!/usr/bin/env bash
# piolet run from the command line: help, plan, overrides, output, launching, progress, agreement of the outputs.
# proves: IOT-1 IOT-2 IOT-5 IOT-6
# It would fail if --dry-run touched a file or counted other bytes than a run writes, if an option were ignored, if a
# wrong launcher made every rank write the same file, if text, JSON and CSV disagreed, or if a resumed run measured a
# set twice or lost one.
# processors: 2
# timeout: 180
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

cat >a.in <<'END'
# two tests
timingsfilename kept.out
classname Lowlevel
testname single
filename single.dat
numfilesize 2
filesize 1 0.5
numblocksize 1
blocksize 0.03
classname Lowlevel
testname multiple
filename multiple.dat
numruns 1
filesize 2
blocksize 0.1
collective false
END

no_files_but() { [ "$(echo *)" = "$*" ] || fail "files: $(echo *)"; }

# ---- every form that the document has ----

# form NUMBER OF SETS, CLASS TEST, LINE...
form()
{
    printf 'class %s\ntestname %s\nfilename form.dat\n' "${2% *}" "${2#* }" >form.in
    printf '%s\n' "${@:3}" >>form.in
    expect_exit 0 "$PIOLET" run --dry-run -n 4 form.in
    grep -q "^In all $1 sets;" "$OUT" || fail "$2: not $1 sets: $(cat "$OUT")"
    rm form.in
}
form 1 "Low-Level multipleI" "numruns 1" "filesize 0.1" "blocksize 0.01" "tasklength 10"
form 1 "Lowlevel sinunix" "numruns 1" "filesize 0.1" "blocksize 0.01" "access_type write_mostly,sequential"
form 1 "Kernel transpose" "xsize 8" "ysize 8" "collective true"
form 2 "Kernel transpose" "numsizes 2" "xsize 8,16" "ysize 8,16" "numprocgrids 1" "xproc 4" "yproc 1" "collective true"
form 1 "Kernel gatherScat2D" "numsizes 1" "xsize 8" "ysize 8" "numprocgrids 1" "xproc 2" "yproc 2"

# ---- help and wrong use ----

expect_exit 0 "$PIOLET" --version
grep -qE "^piolet [0-9.]+ \($PIOLET_MPI\)$" "$OUT" || fail "version: $(cat "$OUT")"
expect_exit 0 "$PIOLET" run --help
for option in --ranks --output --set --dry-run --json --csv --progress --keywords; do
    expect_in "$OUT" "$option"
done
expect_exit 0 "$PIOLET" run --keywords all
for test in single multiple sinunix singleI multipleI; do
    grep -qE "^Lowlevel +$test " "$OUT" || fail "$test is not listed"
done
expect_exit 0 "$PIOLET" run --keywords multipleI
for keyword in filename filesize blocksize numruns collective layout tasklength kind check phases fuzzy seed cb_nodes hint.NAME info.NAME; do
    grep -qE "^  $keyword +[^ ]" "$OUT" || fail "keyword $keyword is not explained"
done
while read -r words arguments; do
    # shellcheck disable=SC2086  # several arguments
    expect_exit 2 "$PIOLET" run $arguments
    expect_in "$ERR" "${words//_/ }"
    [ ! -s "$OUT" ] || fail "$arguments: something on stdout"
done <<'END'
--ranks:_'0';_allowed:_whole_numbers_from_1 -n 0 a.in
--ranks:_'two';_allowed:_whole_numbers_from_1 -n two a.in
--ranks:_'-3';_allowed:_whole_numbers_from_1 -n -3 a.in
--ranks:_'1000001';_allowed:_whole_numbers_from_1 --ranks=1000001 a.in
not_KEY=VALUE --set seed a.in
not_KEY=VALUE --set =7 a.in
one_keyword_file_at_a_time a.in b.in
allowed:_auto,_always,_never --progress sometimes a.in
'nosuch'_is_not_a_test --keywords nosuch
nosuch --nosuch a.in
needs_a_value -o
END
no_files_but a.in

# ---- the plan ----

expect_exit 0 "$PIOLET" run --dry-run -n 3 a.in
expect_in "$OUT" "Plan for 3 ranks"
expect_in "$OUT" "a.in:4: single, file 'single.dat'"
expect_in "$OUT" "file 990 kB, block 30 kB"
expect_in "$OUT" "10 kB" # left out
expect_in "$OUT" "3 sets; 3470000 bytes written and 3470000 read; largest file 2 MB"
expect_in "$OUT" "memory of a rank up to"
expect_in "$OUT" "appended to 'kept.out'"
expect_in "$OUT" "Nothing was run."
[ ! -s "$ERR" ] || fail "a plan needs no words on stderr: $(cat "$ERR")"
expect_exit 0 "$PIOLET" run --dry-run --set phases=write --set filesize=1,1 -o other.out a.in
expect_in "$OUT" "2980000 bytes written and 0 read"
expect_in "$OUT" "appended to 'other.out'"
expect_exit 0 "$PIOLET" run --dry-run --set filesize=80000,80000 --set blocksize=0.008 a.in # 10^7 samples
expect_in "$OUT" "20000000"
grep -q "memory of a rank up to 320 MB" "$OUT" || fail "memory of 2·10^7 timings: $(grep memory "$OUT")"
no_files_but a.in

# ---- running ----

expect_exit 0 "$PIOLET" run -n 2 --json r.json --csv r.csv --set info.remark="a b" a.in
cp "$OUT" text
[ ! -s "$ERR" ] || fail "progress where there is no terminal: $(cat "$ERR")"
expect_in text "results: kept.out"
no_files_but a.in kept.out r.csv r.json text
[ "$(grep -c '^input info.remark a b$' kept.out)" = 2 ] || fail "the remark is not in every block"
written=$(jq '[.blocks[].sets[].params.filesize_bytes | tonumber] | add' r.json)
[ "$written" = 3470000 ] || fail "the plan told 3470000 bytes, the run wrote $written"

# Text, JSON and CSV say the same: rate = bytes of all ranks / time in which at least one was in a call, by their stamps.
rates='.blocks[] | .sets[] | .params.blocksize_bytes as $b | . as $s | ["w", "r"] | map(. as $k |
    [$s.series[] | select(.key == $k) | . as $t | ($s.series[] | select(.key == $k + ".start" and .rank == $t.rank).values) as $gaps |
     foreach range($gaps | length) as $i (0; . + $gaps[$i] + $t.values[$i]; [. - $t.values[$i], .])] | sort | . as $spans |
    reduce $spans[] as $x ({busy: 0, end: 0}; ([.end, $x[0]] | max) as $from |
        if $x[1] > $from then {busy: (.busy + $x[1] - $from), end: $x[1]} else . end) |
    ($spans | length) * ($b | tonumber) * 1000 / .busy) | @tsv'
jq -r "$rates" r.json >from-json
awk 'NR > 1 && $1 ~ /single|multiple/ { print $(NF - 1) "\t" $NF }' text >from-text
[ "$(wc -l <from-json)" = 3 ] || fail "not three sets"
paste from-json from-text | awk '{ for (i = 1; i <= 2; i++) { d = $i - $(i + 2); if (d < 0) d = -d; if (d > 0.06 + 0.001 * $i) exit 1 } }' ||
    fail "rates of JSON and text differ: $(paste from-json from-text)"
jq -r '.blocks | to_entries[] | .key as $b | .value.sets[] | .set as $s | .series[] | .rank as $r | .key as $k |
    .values | to_entries[] | [$b + 1, $s, $r, $k, .key, .value] | @csv' r.json | tr -d '"' | sort >samples-json
awk -F, 'NR > 1 && $9 != "" { print $2 "," $5 "," $6 "," $7 "," $9 "," $10 }' r.csv | sort >samples-csv
cmp samples-json samples-csv >&2 || fail "samples of JSON and CSV differ"
timings=$(grep -c ',[wr],[0-9]*,' samples-csv) # of what the stamps and clocks are beside
[ "$timings" = $((2 * (33 + 16 + 20))) ] || fail "$timings samples"

# Exports hold what this run measured, not what stood in the results before.
expect_exit 0 "$PIOLET" run --json again.json a.in
[ "$(jq '.blocks | length' again.json)" = 2 ] || fail "an export holds earlier runs"
[ "$(grep -c '^piolet-block' kept.out)" = 4 ] || fail "the second run did not append"

# Options: another place for the results, keywords from the command line, the file from standard input.
rm -f ./*.dat
expect_exit 0 "$PIOLET" run --output=mine.out --set filename=mine.dat --set repeat=1 --set keep=false a.in
[ ! -e mine.dat ] || fail "keep false left the file"
[ "$(grep -c '^piolet-block' mine.out)" = 2 ] && [ "$(grep -c '^piolet-block' kept.out)" = 4 ] || fail "-o was not taken"
[ "$(grep -c '^input filename mine.dat' mine.out)" = 2 ] || fail "--set was not taken"
timeout 60 "$PIOLET" run -o stdin.out - <a.in >"$OUT" 2>"$ERR" || fail "a keyword file from standard input: $(cat "$ERR")"
cp a.in iotparams.in
expect_exit 0 "$PIOLET" run -o default.out
mpirun_n 2 "$PIOLET" run -o pipe.out - <a.in >"$OUT" 2>"$ERR" || fail "standard input under mpiexec: $(cat "$ERR")"

# ---- starting it the wrong way ----

mkdir wrong
cp a.in wrong
cd wrong
expect_exit 2 mpirun_n 2 "$PIOLET" run -n 2 a.in
expect_in "$ERR" "-n starts an MPI job, but this is one already"
other=$([ "$PIOLET_MPI" = mpich ] && echo openmpi || echo mpich)
if command -v "mpiexec.$other" >/dev/null; then
    status=0
    timeout -k 10 60 "mpiexec.$other" -n 2 "$PIOLET" run a.in >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -ne 0 ] || fail "the other MPI's mpiexec was not refused"
    expect_in "$ERR" "started 2 processes, but this piolet is built for $PIOLET_MPI"
    expect_in "$ERR" "mpiexec.$PIOLET_MPI"
fi
no_files_but a.in
cd ..

# ---- progress ----

expect_exit 0 "$PIOLET" run --progress always a.in
[ "$(grep -cE '^\[[123]/3\] (single|multiple): ' "$ERR")" = 3 ] || fail "progress: $(cat "$ERR")"
grep -q '; about .* left' "$ERR" || fail "no time left: $(cat "$ERR")"
expect_exit 0 mpirun_n 2 "$PIOLET" run --progress always a.in
[ "$(grep -cE '^\[[123]/3\] ' "$ERR")" = 3 ] || fail "progress not once for each set: $(cat "$ERR")"
if command -v script >/dev/null; then
    for ranks in "" "-n 2"; do # what takes less than two seconds is silent on a terminal
        timeout 60 script -qec "'$PIOLET' run $ranks a.in" /dev/null >"$OUT" 2>&1 </dev/null || fail "on a terminal: $(cat "$OUT")"
        expect_not_in "$OUT" "[1/3]"
        timeout 60 script -qec "'$PIOLET' run $ranks --progress always a.in" /dev/null >"$OUT" 2>&1 </dev/null || fail "on a terminal: $(cat "$OUT")"
        [ "$(grep -cE '^\[[123]/3\] ' "$OUT")" = 3 ] || fail "no progress on a terminal ($ranks): $(cat "$OUT")"
    done
fi

# ---- going on with a run that was killed ----

cat >many.in <<'END'
classname Lowlevel
testname multiple
filename many.dat
numruns 2
filesize 1 2
blocksize 0.001 0.002
collective false
repeat 6
numhints 2
cb_nodes 1 2
classname Kernel
testname matrix2D
filename matrix.dat
numsizes 2
xsize 20 40
ysize 20 20
numprocgrids 1
xproc 2
yproc 1
collective true
END
sets_of() { # FILE: a line for each set that ended well: class, test, parameters, hints
    "$PIOLET" analyze export --format json "$1" 2>/dev/null | jq -r '.blocks[] | .class as $c | .testname as $t | .sets[] |
        select(.errors | length == 0) | [$c, $t, (.params | tostring), ([.hints[]? | select(.used | not)] | tostring)] | @tsv' | sort
}
ended_sets() { cat many.out 2>/dev/null | grep -c '^end-set' || true; }
# On a fast machine it may end before it is killed: then a longer one is tried.
for repeat in 6 100; do
    rm -f many.out
    "$PIOLET" run -n 2 --set repeat=$repeat -o many.out many.in >"$OUT" 2>&1 </dev/null &
    job=$!
    for _ in $(seq 600); do
        [ "$(ended_sets)" -lt 3 ] || break
        sleep 0.05
    done
    kill_ranks
    wait "$job" || true
    grep -q 'testname matrix2D' many.out || break
done
before=$(ended_sets)
[ "$before" -ge 3 ] || fail "the run that was to be killed measured $before sets: $(cat "$OUT")"
echo "$before sets before it was killed"
expect_exit 0 timeout 120 "$PIOLET" run -n 2 --overwrite --set repeat=$repeat --resume many.out many.in
expect_exit 0 timeout 120 "$PIOLET" run -n 2 --overwrite --set repeat=$repeat -o whole.out many.in
sets_of many.out >resumed
sets_of whole.out >whole
[ "$(wc -l <whole)" = $((repeat * 2 * 2 + (repeat * 2))) ] || fail "a whole run has $(wc -l <whole) sets"
cmp resumed whole >&2 || fail "the resumed run has other sets than a whole one: $(diff resumed whole | head -n 5)"
# all is there: nothing is measured again
blocks=$(grep -c '^piolet-block' many.out)
expect_exit 0 "$PIOLET" run -n 2 --overwrite --set repeat=$repeat --resume many.out many.in
[ "$(grep -c '^piolet-block' many.out)" = "$blocks" ] || fail "a finished run was measured again"
# other keywords are another run
expect_exit 0 "$PIOLET" run -n 2 --overwrite --set repeat=1 --resume many.out many.in
[ "$(grep -c '^piolet-block' many.out)" = $((blocks + 2)) ] || fail "other keywords were taken for measured ones"
expect_exit 2 "$PIOLET" run --resume own.none many.in
expect_in "$ERR" "own.none"

# ---- resumed on another number of ranks: refused; without -n: on as many as it had; without keyword file: said ----

cat >other.in <<'END'
class Lowlevel
testname multiple
filename other.dat
numruns 1
filesize 0.1
blocksize 0.01
collective false
END
expect_exit 0 "$PIOLET" run -n 2 other.in -o other.out
expect_exit 2 "$PIOLET" run -n 3 other.in --resume other.out
expect_in "$ERR" "ranks: 3, but the run to resume has 2; allowed: the same"
expect_exit 2 mpirun_n 3 "$PIOLET" run other.in --resume other.out
expect_in "$ERR" "ranks: 3, but the run to resume has 2; allowed: the same"
mkdir bare # no iotparams.in here
(cd bare && expect_exit 2 "$PIOLET" run --resume ../other.out)
expect_in "$ERR" "--resume '../other.out': give the keyword file of that run again, as in 'run FILE --resume ../other.out'"
expect_exit 0 "$PIOLET" run other.in --resume other.out
expect_exit 0 "$PIOLET" run -n 2 other.in --resume other.out
[ "$(grep -c '^end-set' other.out)" = 1 ] || fail "measured again, or on another number of ranks"

# ---- nothing of the user is lost ----

cat >own.in <<'END'
class Lowlevel
testname single
filename own.dat
numruns 1
filesize 0.1
blocksize 0.01
END
expect_exit 2 "$PIOLET" run -o own.dat own.in
expect_in "$ERR" "own.in:3: filename: 'own.dat' is where the results go"
expect_exit 0 "$PIOLET" run -o own.out own.in
for option in --json --csv; do
    expect_exit 2 "$PIOLET" run -o own.out $option own.out own.in
    expect_in "$ERR" "$option: 'own.out' is where the results go"
    expect_exit 2 "$PIOLET" run -o own.out $option own.in own.in
done
[ "$(grep -c '^end-block 1$' own.out)" = 1 ] || fail "the results were touched"
ln -s later.out link.dat # leads to the results, which are not there yet
expect_exit 2 "$PIOLET" run -o later.out --set filename=link.dat own.in
expect_in "$ERR" "is where the results go"

# Under -n a mistake is still one message, without the launcher's.
expect_exit 2 "$PIOLET" run -n 2 --set blocksize=x own.in
[ "$(wc -l <"$ERR")" = 1 ] || fail "more than one line: $(cat "$ERR")"

# What cannot be printed is an error.
status=0
"$PIOLET" help >/dev/full 2>"$ERR" || status=$?
[ "$status" = 1 ] || fail "exit status $status with a full standard output"
expect_in "$ERR" "standard output"

# ---- a program for each class, and one for all (IOT-1) ----

bin=$(dirname "$PIOLET")
for program in iot_all iot_low_level; do
    expect_exit 0 "$bin/$program" -o "$program.out" own.in
    [ "$(grep -c '^end-block 1$' $program.out)" = 1 ] || fail "$program: no block in its results"
done
expect_exit 2 "$bin/iot_kernel" own.in
expect_in "$ERR" "iot_kernel: own.in:1: classname: 'Lowlevel' is not a class; allowed: Kernel"
expect_exit 0 "$bin/iot_kernel" --keywords all
expect_in "$OUT" "matrix2D"
expect_not_in "$OUT" "sinunix"

# Longer names than the MPI can bear are refused, and do not end the job in the middle.
expect_exit 2 "$PIOLET" run --set filename="$(printf '%05000d' 0)" own.in
expect_in "$ERR" "own.in:2: filename: has 5000 characters; allowed with this MPI: up to"
