#!/usr/bin/env bash
# The command line of b_eff_io: plans without MPI, refuses what cannot be with one message and status 2.
# proves: BIO-1 BIO-3 BIO-7 BIO-9
# It would fail if a wrong option started a run, if a plan were not the document's schedule, or if it touched a file.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

refused() { expect_refused beffio "$@"; }

refused "time: 'soon'" -n 2 -T soon
refused "allowed: a time from 0.5 s to 1e+06 s" -n 2 -T 0
refused "as 2,4,8" -n 2 -N 2,2
refused "--partitions: '0'; allowed: whole numbers from 1" -n 2 -N 0
refused "4 processes, but the job has only 2 ranks" -n 2 -N 2,4
refused "--memory-node: 'much'; allowed: a size" -n 2 --memory-node much
refused "to 2047 GiB" -n 2 --memory-node 3t
refused "--partitions: ''; allowed: whole numbers" -n 2 -N ''
refused "--per-node: '0'; allowed: 1" -n 2 --per-node 0
refused "--memory-node: '0'; allowed: a size" -n 2 --memory-node 0
refused "--seed: '-1'; allowed: a whole number from 0" -n 2 --seed -1
refused "--order: '3.0'; allowed: document, 2.0" -n 2 --order 3.0
refused "No such file or directory" -n 2 -p missing
refused "--on: making a file in '/proc'" -n 2 --on /proc
touch plain
refused "Not a directory" -n 2 -p plain
refused "making a file in '/proc'" -n 2 -p /proc
refused "--assume belongs to --dry-run" -n 2 --assume 1g
refused "--assume: 'fast'; allowed: a size from 1" --dry-run --assume fast
refused "'plain': beffio takes options only" -n 2 plain
refused "is not an option" --no-such-thing
refused "cannot read 'absent'" -n 2 --hints absent
refused "cannot read 'absent'" -n 2 --hints @absent
refused "hints:1: '9' is not a number behind 'type'" -n 2 --hints 'type 9 a b'
refused "No such file" -n 2 --resume absent
refused "is where the results go" -n 2 -o r.out --json r.out
refused "'./x' is named for two outputs" -n 2 --json x --csv ./x
refused "--csv: '/nowhere/x' cannot be made: No such file" -n 2 --csv /nowhere/x
refused "--json: '/' is a directory" -n 2 --json /
printf 'all cb_nodes 1\ntype 9 a b\n' >hints
refused "hints:2: '9' is not a number behind 'type'; allowed: 0 to 5" -n 2 --hints hints
printf 'pattern 3 a\n' >hints
refused "hints:1: a hint and its value" -n 2 --hints hints
printf 'some a b\n' >hints
refused "hints:1: 'some'; allowed: all, type N or pattern N" -n 2 --hints hints

expect_exit 0 "$PIOLET" beffio -n 4 --dry-run --memory-node 16g --assume 300m -N 2,4
[ "$(ls)" = "$(printf 'hints\nplain')" ] || fail "a dry run made files: $(ls)"
awk 'length > 80 { print; bad = 1 } END { exit bad }' "$OUT" >&2 || fail "a plan wider than 80 columns"
[ "$(grep -cE '^ *[0-9]+ +(1k|32k|1M|M_PART|fill)' "$OUT")" = 43 ] || fail "not 43 patterns"
expect_in "$OUT" " 1  M_PART  134217728  134217728  4      18.750"
expect_in "$OUT" " 7  1k+8         1032    1056768  2       9.375"
expect_in "$OUT" "2 partitions of T = 900 s in 1 folder: 1800.0 s are scheduled"
expect_not_in "$OUT" "NOT OFFICIAL"
# 300 MiB/s for 22/64 of 300 s, and one call more
expect_in "$OUT" "n = 2: 32.4 GB in the file of type 0"
expect_exit 0 "$PIOLET" beffio -n 2 --dry-run -T 15m --order 2.0
expect_in "$OUT" "NOT OFFICIAL"
# all writes and reads, but only type 0 rewritten: (64 + 22 + 64)/192 of T
expect_in "$OUT" "703.1 s are scheduled"
# release 2.1: its order, unless another one is given, and its largest M_PART
expect_exit 0 "$PIOLET" beffio -n 2 --dry-run -T 15m --release 2.1 --memory-node 256g
expect_in "$OUT" "NOT OFFICIAL"
expect_in "$OUT" "703.1 s are scheduled"
expect_in "$OUT" "M_PART is 1073741824 bytes"
expect_exit 0 "$PIOLET" beffio -n 2 --dry-run -T 15m --release 2.1 --order document
expect_in "$OUT" "900.0 s are scheduled"
refused "--release: '2.2'; allowed: document, 2.1" -n 2 --release 2.2
expect_exit 2 "$PIOLET" analyze beffio --rank 1 plain
expect_in "$ERR" "not to beffio"
