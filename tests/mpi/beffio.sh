#!/usr/bin/env bash
# b_eff_io on both MPIs and on our engine: patterns, bytes, repeat factors, segments and values are those that an awk
# script makes of the raw results by the document's formulas; what is read is checked; a run that was cut goes on.
# proves: BIO-1 BIO-2 BIO-3 BIO-4 BIO-5 BIO-6 BIO-7 BIO-8 BIO-9 BIO-10 BIO-11
# It would fail if a pattern were missing, of another size or made by other calls, if a value were averaged otherwise, if partitions or hints
# were not heeded, if wrong data went unnoticed, if files were left behind, or if a changed setting could be resumed.
# processors: 2
# timeout: 300
[ ! -w /dev/shm ] || shm=/dev/shm # where syncing costs nothing: bytes and counts are the matter here
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
command -v jq >/dev/null || skip "needs jq"
cd "$TMP"
short=(beffio -T 0.5 --memory-node 256m)

# recompute FILE SETS: nothing is wrong, and both values are those of piolet's own report
recompute()
{
    local n value release
    awk -f "$SOURCE/tests/mpi/beffio.awk" "$1" >recomputed
    ! grep -v '^value' recomputed >&2 || fail "$1: the results are not what the document says"
    [ "$(grep -c '^end-set' "$1")" = "$2" ] || fail "$1: $(grep -c '^end-set' "$1") sets in the place of $2"
    expect_exit 0 "$PIOLET" analyze beffio --json "$1.json" "$1"
    while read -r _ n value release; do
        jq -e --argjson n "$n" --argjson v "$value" --argjson r "$release" '.partitions[-1] as $last
            | [.partitions[] | select(.processes == $n and .run == $last.run)][0]
            | ((.b_eff_io_mb_per_s / $v - 1) | fabs) < 1e-4 and ((.release_2_1_mb_per_s / $r - 1) | fabs) < 1e-4
              and .verdict == "NOT OFFICIAL" and (.reasons[0] | test("below 15 minutes"))
              and (.reasons | join(";") | test("cache") | not) and (.caches | length) == 3
              and .release_2_1_mb_per_s <= .release_2_1_kept_mb_per_s' "$1.json" >/dev/null ||
            fail "$1: $n processes: $value and $release MB/s recomputed, but reported: $(jq -c '.partitions[] | [.processes, .b_eff_io_mb_per_s, .release_2_1_mb_per_s]' "$1.json")"
    done <recomputed
    [ "$(grep -c '^value' recomputed)" -ge 1 ] || fail "$1: no value"
}

no_files_left()
{
    [ -z "$(find . -name '*piolet-beffio-*')" ] || fail "files are left: $(find . -name '*piolet-beffio-*')"
}

# All patterns, on the system's MPI-IO and on ours. The trace shows that each type uses its own kind of calls, the given
# number of them, and no file opened as unique (32).
expect_exit 0 mpirun_n 2 "$PIOLET" trace --full -o trace "$PIOLET" "${short[@]}" -o system.out --json export.json
awk '$3 == "MPI_File_open" && match($0, /-t[0-5]/) { type[$4] = substr($0, RSTART + 2, 1)
         if ($0 !~ /amode=(9|8|2) /) print "mode", $0 }
     $5 == "write" || $5 == "read" { print type[$4], $3 }' trace/trace.0 | sort | uniq -c | awk '{ print $2, $3, $1 }' >called
awk 'BEGIN { name[0] = name[4] = "_all"; name[1] = "_ordered" }
     /^param method/ { m = $3 == "read" ? "read" : "write" } /^param type/ { t = $3 }
     /^param calls/ { sum[t " MPI_File_" m name[t]] += $3 } END { for (k in sum) print k, sum[k] }' system.out | sort >counted
diff called counted >&2 || fail "the calls made are not those of the pattern types, or not as many as the results say"
expect_in "$OUT" "verdict: NOT OFFICIAL"
expect_in "$OUT" "caches: part of the data may have stayed in memory"
expect_in "$OUT" "b_eff_io of the system: none"
expect_in "$OUT" "coffee-cup rule"
[ "$(jq '.results.partitions[0].patterns | length' export.json)" = 129 ] || fail "the export lacks patterns"
[ "$(grep -c '^param filesize_bytes [1-9]' system.out)" = 129 ] || fail "sets without the size of their file"
recompute system.out 129
no_files_left
expect_exit 0 engine_run 3 "$PIOLET" "${short[@]}" -o engine.out
expect_in "$OUT" "MPI-IO piolet"
recompute engine.out 129
no_files_left

# Partitions in release 2.0's order, the random type, hints for a type and a pattern, cold, two folders.
printf '# hints\nall cb_nodes 1\ntype 0 cb_nodes 2\npattern 5 romio_cb_write enable\n' >hints
mkdir one two
expect_exit 0 mpirun_n 4 "$PIOLET" "${short[@]}" -N 2,4 --order 2.0 --random --cold --hints hints -p one -p two -o many.out
[ "$(grep -c '2.0 schedule, not official: only' "$OUT")" = 4 ] || fail "the 2.0 schedule is not called so four times"
no_files_left
# for each folder and partition 43 + 8 patterns written and read, 9 + 8 rewritten
[ "$(grep -c '^end-set' many.out)" = $((4 * (2 * 51 + 17))) ] || fail "$(grep -c '^end-set' many.out) sets"
awk '/^param partition/ { n = $3 } /^param method/ { print $3, n }' many.out | uniq | head -n 6 | tr '\n' ';' >sequence
[ "$(cat sequence)" = "write 2;write 4;rewrite 2;rewrite 4;read 2;read 4;" ] || fail "order: $(cat sequence)"
awk '/^param pattern/ { p = $3 } /^hint asked/ { print p, $3, $4 }' many.out | sort -u >asked
expect_in asked "5 romio_cb_write enable"
expect_in asked "4 cb_nodes 2"
expect_in asked "9 cb_nodes 1"
expect_not_in asked "6 romio_cb_write"
expect_exit 0 "$PIOLET" analyze beffio many.out system.out -o many.svg --csv many.csv
expect_in many.svg ">M_PART<"
expect_in many.svg ">32k+8<"
[ "$(grep -c '' many.csv)" = $((1 + 4 * (2 * 51 + 17) + 129)) ] || fail "$(grep -c '' many.csv) rows of CSV"

# A run that was cut behind its rewrites goes on, and finds the byte that somebody changed.
expect_exit 0 mpirun_n 3 "$PIOLET" "${short[@]}" --keep -o whole.out
awk '{ print } /^end-set/ && ++sets == 86 { exit }' whole.out >cut.out
for file in piolet-beffio-*-t2-r1; do
    printf 'X' | dd of="$file" bs=1 seek=3 conv=notrunc status=none
done
expect_exit 2 mpirun_n 3 "$PIOLET" beffio --resume cut.out -T 1
expect_in "$ERR" "time: '1', but the run to resume has '0.5'"
expect_exit 2 mpirun_n 2 "$PIOLET" beffio --resume cut.out
expect_in "$ERR" "ranks: 2, but the run to resume has 3"
expect_exit 1 mpirun_n 3 "$PIOLET" beffio --resume cut.out
expect_in "$ERR" "type 2 ends here: rank 1: pattern 17, call 0: wrong data at byte 0 of the call"
[ "$(grep -c '^error' cut.out)" = 1 ] || fail "one pattern should have failed"
[ "$(grep -c '^end-set' cut.out)" = $((129 - 7)) ] || fail "$(grep -c '^end-set' cut.out) sets after the resume"
expect_in "$OUT" "type 2 failed in read: pattern 17"
expect_exit 2 mpirun_n 3 "$PIOLET" beffio --resume cut.out
expect_in "$ERR" "nothing to resume"
