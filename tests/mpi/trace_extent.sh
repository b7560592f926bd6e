#!/usr/bin/env bash
# proves: PHASE-1 PHASE-2
# What --dump tells of a trace: the bytes of the file that each access touches, through views with holes that move, and
# which times are not in the trace. It would fail if a byte were told that the program did not write, or one were left
# out (the program's file is compared with the extents byte by byte), or if an interpolated time had no mark.
# processors: 2
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
cp "$PROGRAMS/trace_extent" app

# Marks every byte that the extents name; the file is allocated byte by byte where the program wrote a letter.
covered() { # DUMP
    awk 'NR > 1 && $3 ~ /write/ && $10 != "-" { n = split($10, piece, ","); for (i = 1; i <= n; i++) print piece[i] }' "$1" |
        awk -F+ '{ for (b = $1; b < $1 + $2; b++) seen[b] = 1; if ($1 + $2 > end) end = $1 + $2 }
                 END { for (b = 0; b < end; b++) printf "%s", seen[b] ? "x" : "." }'
}

for form in "" --full; do
    expect_exit 0 mpirun_n 2 "$PIOLET" trace $form -o "trace$form" -- ./app data
    expect_exit 0 "$PIOLET" model --dump --extents all "trace$form"
    cp "$OUT" "all$form"
    covered "all$form" >told
    tr '\0' . <data >wrote
    cmp told wrote || fail "extents of the dump ($form) are not the bytes that were written"
done
awk '{ print $1, $3, $4, $6, $9, $10 }' all >folded
awk '{ print $1, $3, $4, $6, $9, $10 }' all--full >full
diff folded full || fail "the two forms tell different accesses"

# Times: a full trace has all of them, a folded one the first and the last of each node.
grep -q '~' all--full && fail "a full trace has interpolated times"
grep -q '~' all || fail "no time of a folded trace is marked"
awk 'NR > 1 && $3 == "MPI_File_open" && ($7 ~ /~/ || $8 ~ /~/) { exit 1 }' all || fail "the time of a single call is marked"
[ "$(grep -c '~' all)" -lt "$(wc -l <all)" ] || fail "every time is marked"

# Short lines: rows of pieces, and a range.
expect_exit 0 "$PIOLET" model --dump trace
expect_in "$OUT" "1000..1076 1000+4:8*10"
expect_exit 2 "$PIOLET" model --extents all trace
