#!/usr/bin/env bash
# Every broken keyword file of keywords.txt gives the message that stands there, and touches nothing.
# proves: IOT-2 IOT-3 IOT-4 IOT-5 IOT-20 IOT-21 IOT-22 IOT-23 IOT-24 IOT-25
# It would fail if a mistake were let through, if a message named another line, keyword or set of allowed values, if it
# had more than one line, if the exit status were not 2, or if a test file or a results file appeared.
source "$(dirname "$0")/../lib.sh"

CASES=$SOURCE/tests/golden/keywords.txt
REALLY_RUN_EVERY=40 # cases that are also run on two ranks, unless they say for how many they are (-n)

# Which classes there are, which keywords a test has and how long a hint of this MPI may be is not the matter here.
cat >"$TMP/normalise" <<'SED'
s/^piolet run: //
s/^case\.in:/FILE:/
s/\(is not a class.*\|classname: has no value\); allowed: Lowlevel.*$/\1; allowed: CLASSES/
s/allowed: filename, .*, the MPI hints, hint\.NAME, info\.NAME$/allowed: KEYWORDS/
s/\(this MPI: \)[0-9]* and [0-9]*$/\1N and N/
SED

# One directory for each case: case.in, arguments, expected.
split_cases()
{
    awk -v top="$TMP/cases" '
        /^=== / {
            directory = top "/" $2
            if (system("test -d " directory) == 0) { print "two cases are called " $2; exit 1 }
            system("mkdir -p " directory)
            arguments = $0
            sub(/^=== [^ ]* ?/, "", arguments)
            print arguments >(directory "/arguments")
            out = directory "/case.in"
            printf "" >out
            print $2
            next
        }
        /^--- expect$/ { out = directory "/expected"; next }
        out && !(out ~ /expected$/ && $0 == "") { print >out }
    ' "$CASES"
}

# judge CASE COMMAND...: runs it in the case's directory
judge()
{
    local case=$1 arguments status=0
    shift
    cd "$TMP/cases/$case"
    read -r -a arguments <arguments || true
    "$@" "${arguments[@]}" case.in >"$OUT" 2>"$ERR" </dev/null || status=$?
    [ "$status" -eq 2 ] || fail "$case: exit status $status in the place of 2: $(cat "$OUT" "$ERR")"
    [ ! -s "$OUT" ] || fail "$case: something on stdout: $(cat "$OUT")"
    [ "$(wc -l <"$ERR")" -eq 1 ] || fail "$case: not one line: $(cat "$ERR")"
    sed -f "$TMP/normalise" "$ERR" >.got
    cmp -s expected .got || fail "$case: expected, got:"$'\n'"$(cat expected .got)"
    rm .got
    [ "$(echo *)" = "arguments case.in expected" ] || fail "$case: files appeared: $(echo *)"
    cmp -s case.in "$TMP/$case.before" || fail "$case: the keyword file was changed"
}

# mpiexec says more when ranks end with a status other than 0: only our own lines count.
on_two_ranks()
{
    local status=0
    mpirun_n 2 "$PIOLET" run "$@" 2>"$TMP/all-lines" || status=$?
    grep '^piolet ' "$TMP/all-lines" >&2 || true
    return "$status"
}

mkdir "$TMP/cases"
split_cases >"$TMP/names" || fail "$(cat "$TMP/names")"
number=0
while IFS= read -r name; do
    cp "$TMP/cases/$name/case.in" "$TMP/$name.before"
    grep -qE '^(FILE:[0-9]+|--set): ' "$TMP/cases/$name/expected" || fail "$name: expects a message without its place"
    ! is_mine $number || judge "$name" "$PIOLET" run --dry-run
    if [ $((number % REALLY_RUN_EVERY)) -eq 0 ] && ! grep -q '^-n' "$TMP/cases/$name/arguments"; then
        judge "$name" on_two_ranks
    fi
    number=$((number + 1))
done <"$TMP/names"
[ "$number" -ge 100 ] || fail "only $number cases"

# The list of keywords in a message is that of the test.
printf 'class Lowlevel\ntestname multiple\nfilname t.dat\n' >"$TMP/list.in"
expect_exit 2 "$PIOLET" run "$TMP/list.in"
for keyword in filename filesize numblocksize check seed collective layout hint.NAME; do
    grep -q "allowed: .*\b$keyword\b" "$ERR" || fail "$keyword is not among the allowed: $(cat "$ERR")"
done
expect_not_in "$ERR" tasklength
echo "$number broken keyword files, each with its one message"
