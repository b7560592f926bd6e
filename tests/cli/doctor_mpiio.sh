#!/usr/bin/env bash
# piolet doctor --mpiio from the command line: options, the list of rules, JSON, wrong use, what is left behind.
# proves: GPFS-1
# It would fail if a wrong command line ran something, if the list did not fit 80 columns or named a rule twice, if the
# output were not JSON, if a finding did not name its rule and section, or if files stayed behind.
# processors: 2
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"

# ---- wrong use ----

while IFS='|' read -r words arguments; do
    # shellcheck disable=SC2086  # several arguments
    expect_exit 2 "$PIOLET" doctor $arguments
    expect_in "$ERR" "$words"
    [ ! -s "$OUT" ] || fail "$arguments: something on stdout"
done <<'END'
'--nosuch' is not an option|--mpiio --nosuch
--ranks goes with --mpiio|-n 2
--list goes with --mpiio|--list
--on goes with --mpiio|--dir .
--ranks: '0'; allowed: a whole number from 1 to 64|--mpiio -n 0
--ranks: 'two'; allowed: a whole number from 1 to 64|--mpiio -n two
--ranks: '65'; allowed: a whole number from 1 to 64|--mpiio -n 65
--limit: '0'; allowed: a time from 1 s to 3600 s|--mpiio --limit 0
'nosuch' is no rule|--mpiio --rule nosuch
the directory is given by --on, not as '.'|--mpiio .
the directory is given by --on, not as 'x'|--mpiio x open-create
needs a value|--mpiio --rule
END
expect_exit 1 "$PIOLET" doctor --mpiio --dir ./nosuch
expect_in "$ERR" "'./nosuch': No such file or directory"
expect_exit 2 mpirun_n 2 "$PIOLET" doctor --mpiio -n 2
expect_in "$ERR" "-n starts an MPI job, but this is one already"
[ "$(grep -c 'starts an MPI job' "$ERR")" = 1 ] || fail "more than one rank speaks"

mkdir -p alone/bin
cp "$PIOLET" alone/bin/
expect_exit 1 alone/bin/piolet doctor --mpiio --engine
expect_in "$ERR" "libpiolet-mpiio.so' is not there"

# ---- the list ----

expect_exit 0 "$PIOLET" doctor --mpiio --list
cp "$OUT" list
awk 'length > 80 { print "too long: " $0; exit 1 }' list >&2 || fail "the list does not fit 80 columns"
expect_exit 0 "$PIOLET" doctor --mpiio --list --json
jq -r '.[].name' "$OUT" >names
[ "$(wc -l <names)" -ge 60 ] || fail "only $(wc -l <names) rules"
[ -z "$(sort names | uniq -d)" ] || fail "twice in the list: $(sort names | uniq -d)"
jq -e 'all(.[]; (.section | test("^(14|9)\\.[0-9.]+$")) and (.rule | test("\\.$")) and .ranks >= 1)' "$OUT" >/dev/null ||
    fail "a rule without section, text or ranks"
while IFS= read -r name; do
    grep -q "^$name " list || fail "$name is not in the table"
done <names

# ---- one rule ----

mkdir there
expect_exit 0 "$PIOLET" doctor --mpiio -n 1 --dir there --rule open-create
expect_in "$OUT" "1 rule kept, 0 broken"
expect_in "$OUT" "directory  $(realpath there)"
expect_exit 0 "$PIOLET" doctor --mpiio -n 1 --rule open-create --json
jq -e '.ranks == 1 and .kept == 1 and .broken == 0 and (.mpi | length > 0) and (.mpiio | length > 0) and
    (.rules | length == 1) and .rules[0].name == "open-create" and .rules[0].outcome == "kept"' "$OUT" >/dev/null ||
    fail "JSON: $(cat "$OUT")"
expect_exit 0 "$PIOLET" doctor --mpiio -n 1 --rule atomic-gaps
expect_in "$OUT" "0 rules kept, 0 broken, 1 not tried (too few ranks)"
expect_exit 0 mpirun_n 2 "$PIOLET" doctor --mpiio --rule open-create
expect_in "$OUT" "1 rule kept, 0 broken"
[ "$(grep -c kept "$OUT")" = 1 ] || fail "more than one rank prints"

# ---- a rule that nobody keeps ----

export PIOLET_DOCTOR_TEST=broken
expect_exit 1 "$PIOLET" doctor --mpiio -n 2 --rule broken
awk 'length > 80 { print "too long: " $0; exit 1 }' "$OUT" >&2 || fail "a finding does not fit 80 columns"
expect_in "$OUT" "expected  ranks is 0"
expect_in "$OUT" "seen      on rank 0: 2"
expect_in "$OUT" "0 rules kept, 1 broken"
expect_exit 1 "$PIOLET" doctor --mpiio -n 2 --rule broken --json
jq -e '.broken == 1 and .rules[0].expected == "ranks is 0" and .rules[0].seen == "on rank 0: 2"' "$OUT" >/dev/null ||
    fail "JSON: $(cat "$OUT")"
expect_exit 1 mpirun_n 2 "$PIOLET" doctor --mpiio --rule broken
expect_in "$OUT" "0 rules kept, 1 broken"
unset PIOLET_DOCTOR_TEST

[ -z "$(ls there)" ] || fail "left behind: $(ls there)"
[ -z "$(find . -name 'piolet-doctor*')" ] || fail "left behind: $(find . -name 'piolet-doctor*')"
