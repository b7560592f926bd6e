#!/usr/bin/env bash
# PIOBENCH's command line: the plan, and mistakes. Fails when a wrong command runs anything, gives no message or another
# exit status than 2, or when the plan does not name what will be measured.
# proves: COLL-6
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

refused() { expect_refused piobench "$@"; }

refused "--ranks: '0'; allowed:" -n 0
refused "--algorithms: 'nave'; allowed: naive, independent," -a nave
refused "stands there twice" -a cbx,cbx
refused "allowed: naive without hints" -a naive:cb_nodes=1
refused "--blocks: '12'; allowed: multiples of 8" -b 12
refused "--distribution: distribution 'BLOK'" -d BLOK
refused "--width: '0%'; allowed:" --width 0%
refused "--max-repeat: 3 is less than --repeat, 5" --trials 5 --max-trials 3
refused "--ops: 'append'; allowed: write, read" --ops append
refused "multipartition needs a square number of processes" -n 2 -d multipartition
refused "it is only read, never written" -n 2 -d broadcast --ops write
refused "the file is too small" -n 2 -d CYCLIC -b 1m -s 64k
refused "is where the test file will be" -f same -o same
refused "'x.out' is named for two outputs" --json x.out --csv x.out
refused "--ranks: '1.5'; allowed: whole numbers" -n 1.5
refused "--dims: '4x2k'; allowed: elements" -n 2 --dims 4x2k
refused "'none/x.out' cannot be made: No such file or directory" -n 2 -o none/x.out
refused "'none/x.json' cannot be made" -n 2 --json none/x.json
refused "'.' is a directory; allowed: a file" -n 2 --csv .
refused "takes options only" some.in
refused "'none.out'" --resume none.out
refused "--mpis: 'lam'; allowed: mpich, openmpi" --mpis lam
refused "on how many ranks? Give -n" --mpis mpich
refused "--progress: 'often'; allowed:" --progress often
printf 'piolet-block 1\n' >held.out
refused "held.out" --resume held.out
refused "No such file or directory" -f none/x -a naive -s 64k
refused "is not a regular file" -f /dev/null -a naive -s 64k

expect_exit 0 "$PIOLET" piobench --dry-run -n 2,4 -s 64k -b 64,1k -d CYCLIC -d multipartition -d broadcast -a naive,ring \
    --buffers 64k,1m -o plan.out
expect_in "$OUT" "ring:cb_buffer_size=65536"
expect_in "$OUT" "write CYCLIC, block 64 B, file 64 KiB, 4 ranks"
expect_in "$OUT" "read broadcast, block 64 KiB, file 64 KiB, 2 ranks"
expect_in "$OUT" "Left out:"
expect_in "$OUT" "Nothing was run."
[ ! -e plan.out ] || fail "a plan was run"
! grep -nE '^.{81}' "$OUT" >&2 || fail "lines are too long"

expect_exit 1 "$PIOLET" analyze piobench held.out
