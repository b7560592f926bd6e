#!/usr/bin/env bash
# Places where files cannot be: each is named with its cause, the other tests of the keyword file run, nothing hangs.
# proves: IOT-5 IOT-7
# It would fail if an unwritable or missing directory ended the run, if the message did not name file and cause, or if a
# keyword file that is none were taken for one.
# timeout: 240
source "$(dirname "$0")/../lib.sh"
export MPIRUN_TIMEOUT=180
chmod 755 "$TMP"
mkdir "$TMP/locked" "$TMP/free" "$TMP/free/directory.dat"
touch "$TMP/free/readonly.out"
chmod 555 "$TMP/locked"
chmod 444 "$TMP/free/readonly.out"
chmod 777 "$TMP/free"
cd "$TMP/free"

# Permissions do not bind root.
ordinary=()
if [ "$(id -u)" -eq 0 ]; then
    command -v setpriv >/dev/null || skip "root needs setpriv (package util-linux)"
    ordinary=(setpriv --reuid 65534 --regid 65534 --clear-groups env HOME="$TMP/free" TMPDIR="$TMP/free")
    "${ordinary[@]}" test -x "$PIOLET" || skip "the program's directory is closed to ordinary users"
fi

# keywords TEST FILE [LINE...]
keywords()
{
    printf 'class Lowlevel\ntestname %s\nfilename %s\nnumruns 1\nfilesize 0.1\nblocksize 0.01\n' "$1" "$2"
    shift 2
    [ $# -eq 0 ] || printf '%s\n' "$@"
}

# ---- the test file: several places × ways of access, each followed by a test that can run ----

tests=("single" "sinunix" "multiple;collective true" "multiple;collective false" "multipleI;tasklength 5;collective true")
places=("$TMP/locked/t.dat" "$TMP/free/absent/t.dat" "$TMP/free/directory.dat" "$TMP/free/readonly.out/t.dat")
# Open MPI's build refuses names of more than 240 characters before anything runs.
[ "$PIOLET_MPI" = openmpi ] || places+=("$TMP/free/$(printf '%0300d' 0)")
for place in "${places[@]}"; do
    for test in "${tests[@]}"; do
        IFS=';' read -r -a words <<<"$test"
        keywords "${words[0]}" "$place" "${words[@]:1}"
        keywords "${words[0]}" "good.dat" "${words[@]:1}"
    done
done >places.in
failing=$((${#places[@]} * ${#tests[@]}))
expect_exit 1 "${ordinary[@]}" bash -c "source '$SOURCE/tests/lib.sh'; mpirun_n 2 '$PIOLET' run -o places.out '$PWD/places.in'"
expect_in "$ERR" "$failing sets failed"
[ "$(grep -c '^end-block 1$' places.out)" = $((2 * failing)) ] || fail "some tests did not run"
[ "$(grep -c '^error ' places.out)" = $failing ] || fail "errors in the results: $(grep -c '^error ' places.out)"
cause=("Permission denied" "No such file or directory" "is a directory" "Not a directory" "File name too long")
for i in "${!places[@]}"; do
    [ "$(grep -F -- "'${places[i]}" "$ERR" | grep -cF "${cause[i]}")" = ${#tests[@]} ] ||
        fail "not every test names ${places[i]} and '${cause[i]}': $(grep -F -- "${places[i]}" "$ERR" | head -n 5)"
done

# ---- the results ----

keywords single good.dat >one.in
rm -f good.dat
for place in "$TMP/locked/r.out" "$TMP/free/absent/r.out" "$TMP/free/readonly.out" "$TMP/free/directory.dat"; do
    expect_exit 2 "${ordinary[@]}" "$PIOLET" run -o "$place" one.in
    expect_in "$ERR" "'$place'"
    grep -qE 'Permission denied|No such file|is a directory' "$ERR" || fail "no cause: $(cat "$ERR")"
    [ "$(grep -vc "^Try 'piolet run --help'" "$ERR")" -eq 1 ] || fail "more than one message: $(cat "$ERR")"
    [ ! -e good.dat ] || fail "measured although the results had no place"
done

# ---- the keyword file ----

touch empty.in
keywords single good.dat >secret.in
chmod 000 secret.in
head -c 100000 "$PIOLET" >binary.in
printf 'class Lowlevel\ntestname single\nfilename good.dat\nnumruns 1\nfilesize 1\n\0\n' >zero.in
head -c 20000000 /dev/zero | tr '\0' '#' >huge.in
: >iotparams.in # the default name, empty
# file, words of the message
while read -r file words; do
    expect_exit 2 "${ordinary[@]}" "$PIOLET" run "$file"
    expect_in "$ERR" "$file"
    expect_in "$ERR" "$words"
    [ "$(wc -l <"$ERR")" -eq 1 ] || fail "$file: more than one line: $(cat "$ERR")"
    [ ! -e good.dat ] && [ ! -e all.out ] || fail "$file: files were touched"
done <<'END'
absent.in No such file or directory
secret.in Permission denied
directory.dat Is a directory
empty.in no test in this file
binary.in allowed:
zero.in zero.in:6: holds a zero byte
huge.in larger than 16 MiB
END
expect_exit 2 "$PIOLET" run
expect_in "$ERR" "iotparams.in:1: no test"
expect_exit 2 mpirun_n 2 "$PIOLET" run absent.in
[ "$(grep -c "opening 'absent.in': No such file or directory" "$ERR")" = 1 ] || fail "not one message: $(cat "$ERR")"
