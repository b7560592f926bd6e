#!/usr/bin/env bash
# The command line of the MPI-IO/GPFS benchmarks: plans, and mistakes. Fails when a wrong command runs anything, gives no
# message or another exit status than 2, when a plan does not name what will be measured, or when results that were cut
# short cannot be read.
# proves: GPFS-8 GPFS-9
source "$(dirname "$0")/../lib.sh"
cd "$TMP"

refused() { expect_refused gpfs "$@"; }

refused "which benchmark? Allowed: contiguous, discontiguous, partitioning, access-range, strided, random, threads"
refused "'contigous' is no benchmark; allowed: contiguous," contigous
refused "'random': one benchmark at a time" strided random
refused "--ranks: '0'; allowed: whole numbers from 1 to 1000000" contiguous -n 0
refused "--record is no parameter of 'contiguous', which has --ranks, --collective, --size" contiguous --record 4k
refused "--size: 'big'; allowed: sizes from 1 to 1 TiB" contiguous -s big
refused "--collective: 'maybe'; allowed: no, yes" contiguous --collective maybe
refused "--contestants: 'romio' is none; allowed: posix, system," contiguous -c romio
refused "'ranges-99' is none" access-range -c ranges-99
refused "stands there twice" contiguous -c posix,posix
refused "--repeat: '0'; allowed: a whole number from 1 to 1000" contiguous --reps 0
refused "do not fit into a block of 4096" access-range -n 1 --block 4k --sub-blocks 2
refused "no whole number of blocks" discontiguous -n 1 --region 1000
refused "give 2 ranks no piece of 4096 bytes" random -n 2 --record 4k --file-size 8k
refused "have more than 100000 combinations" random --dry-run \
    --file-size "$(seq -s, 100000 100031)" --record "$(seq -s, 1 32)" --batch "$(seq -s, 1 32)" --buffer 0,1m,2m,3m
refused "is where the test file will be" contiguous -f same -o same
refused "'x.out' is named for two outputs" contiguous --json x.out --csv x.out
refused "'none/x.csv' cannot be made: No such file or directory" contiguous --csv none/x.csv
refused "--progress: 'often'; allowed:" contiguous --progress often
refused "'none.out'" --resume none.out
refused "leave out --output" -o x.out --resume none.out
refused "No such file or directory" contiguous -n 1 -f none/x -c posix -s 64k
refused "is not a regular file" contiguous -f /dev/null -c posix -s 64k
refused "bytes, but" contiguous -n 1 -s 1000g

# Plans: the document's parameters where nothing else is asked for.
expect_exit 0 "$PIOLET" gpfs contiguous --dry-run -n 2
expect_in "$OUT" "write, 2 ranks, collective no, size 333 MB, cache cold"
expect_in "$OUT" "2 cells, 70 repetitions; 46.6 GB moved; the largest file has 666 MB"
for benchmark in discontiguous partitioning access-range strided random threads; do
    expect_exit 0 "$PIOLET" gpfs "$benchmark" --dry-run -n 1,8 -o plan.out
    expect_in "$OUT" "8 ranks"
    expect_in "$OUT" "Nothing was run."
    ! grep -nE '^.{81}' "$OUT" >&2 || fail "lines are too long"
done
[ ! -e plan.out ] || fail "a plan was run"

# Results that a killed run left: what is whole counts.
expect_exit 0 "$PIOLET" gpfs contiguous -c posix -s 64k --reps 3 --ops write -o whole.out
sed '/^set 3/,$d' whole.out >cut.out
expect_exit 0 "$PIOLET" analyze gpfs cut.out
grep -q '^posix  *2 ' "$OUT" || fail "not the two whole repetitions"
expect_in "$ERR" "warning"
expect_exit 0 "$PIOLET" piobench -f try.dat -o other.out -s 64k -b 1k -d CYCLIC -a naive --trials 1 --max-trials 1
expect_exit 1 "$PIOLET" analyze gpfs other.out
expect_in "$ERR" "no results of gpfs are selected"
expect_exit 2 "$PIOLET" gpfs --resume other.out
expect_in "$ERR" "holds no results of gpfs"
# A resumed run is what it was.
cp whole.out before.out
expect_exit 2 "$PIOLET" gpfs --resume whole.out --size 1m
expect_in "$ERR" "--size: '1048576', but the run to resume has '65536'; leave it out"
expect_exit 2 "$PIOLET" gpfs strided --resume whole.out
expect_in "$ERR" "'strided', but the run to resume is of 'contiguous'; leave it out"
cmp whole.out before.out || fail "something was written"
