#!/usr/bin/env bash
# proves: GPFS-7
# The engine's own log by environment variables. Fails when a task or an open file has no log of its own, when a line
# lacks function, place, bytes or return code, when PIOLET_LOG=errors shows accesses or hides an error, when
# PIOLET_LOG_ABOVE lets lower accesses through, when a wrong setting is not told, or told by every rank, or when a log
# that cannot be written disturbs the program.
# processors: 2
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"


# Runs the program in an empty directory, with the log's settings; the logs are in $TMP/logs.
run_logged()
{
    local -x "$@"
    rm -rf "$TMP/files" "$TMP/logs"
    mkdir "$TMP/files" "$TMP/logs"
    expect_exit 0 engine_run 2 "$PROGRAMS/engine_log" "$TMP/files"
    expect_in "$OUT" "2 ranks: engine_log is right"
}

# The logs of one rank's Nth open file: exactly one.
log_of()
{
    local found
    found=$(find "$TMP/logs" -name "piolet-log.*.$1.$2.$3")
    [ -n "$found" ] && [ "$(wc -l <<<"$found")" -eq 1 ] || fail "no log, or several, of rank $1, open file $2: $(ls "$TMP/logs")"
    printf '%s' "$found"
}

# A line with these columns: function, offset, bytes, done; and a code that is 0 or not.
expect_line()
{
    local file=$1 code=$6
    awk -F '\t' -v f="$2" -v o="$3" -v b="$4" -v d="$5" -v c="$code" '
        NR > 1 && $2 == f && $3 == o && $4 == b && $5 == d && (c == 0 ? $7 == 0 : $7 != 0) { found = 1 }
        END { exit !found }' "$file" || { cat "$file" >&2; fail "no line '$2 $3 $4 $5' with code $code in ${file##*/}"; }
}

run_logged PIOLET_LOG=all "PIOLET_LOG_DIR=$TMP/logs"
[ "$(find "$TMP/logs" -type f | wc -l)" -eq 4 ] || fail "not one log for each rank and file: $(ls "$TMP/logs")"
for rank in 0 1; do
    first=$(log_of $rank 0 first_file) second=$(log_of $rank 1 second)
    head -n 1 "$first" | grep -qP '^time_s\tfunction\toffset\tbytes\tdone\tparameters\tcode\terror$' || fail "no line of names"
    expect_line "$first" MPI_File_write_at $((rank * 1000)) 1000 1000 0
    expect_line "$first" MPI_File_write_at_all $((1000000 + rank * 1000)) 1000 1000 0
    expect_line "$first" MPI_File_read_at $((1000000 + rank * 1000)) 1000 1000 0
    expect_line "$first" MPI_File_write_at - - 0 1
    expect_in "$first" "the count is -1"
    awk -F '\t' '$2 == "MPI_File_write_shared" && ($3 == 0 || $3 == 10) && $4 == 10 { found = 1 } END { exit !found }' "$second" ||
        fail "write_shared is not logged: $(cat "$second")"
    [ "$(awk -F '\t' 'NF != 8' "$first" "$second" | wc -l)" -eq 0 ] || fail "a line does not have 8 columns"
    # Not only accesses fail.
    expect_in "$second" "MPI_File_set_size"
done
expect_not_in "$ERR" "piolet:"

run_logged PIOLET_LOG=errors "PIOLET_LOG_DIR=$TMP/logs"
for rank in 0 1; do
    first=$(log_of $rank 0 first_file)
    [ "$(wc -l <"$first")" -eq 2 ] || fail "PIOLET_LOG=errors shows more or less than the one error: $(cat "$first")"
    expect_in "$first" "the count is -1"
done

run_logged PIOLET_LOG=all PIOLET_LOG_ABOVE=100k "PIOLET_LOG_DIR=$TMP/logs"
first=$(log_of 0 0 first_file)
expect_line "$first" MPI_File_write_at_all 1000000 1000 1000 0
expect_in "$first" "the count is -1"
! awk -F '\t' '$2 == "MPI_File_write_at" && $7 == 0 { found = 1 } END { exit !found }' "$first" || fail "an access below the limit is logged"

# Without a directory: where the program runs. Without PIOLET_LOG: nothing.
rm -rf "$TMP/logs" "$TMP/files"
mkdir "$TMP/logs" "$TMP/files"
cd "$TMP/logs"
PIOLET_LOG=errors expect_exit 0 engine_run 2 "$PROGRAMS/engine_log" "$TMP/files"
[ "$(find "$TMP/logs" -type f | wc -l)" -eq 4 ] || fail "no logs in the current directory: $(ls "$TMP/logs")"
cd "$TMP"
run_logged "PIOLET_LOG_DIR=$TMP/logs"
[ -z "$(ls "$TMP/logs")" ] || fail "something is logged without PIOLET_LOG"

# Wrong settings are told once; the program does not suffer.
run_logged PIOLET_LOG=everything "PIOLET_LOG_DIR=$TMP/logs"
[ "$(grep -c "PIOLET_LOG is 'everything'; allowed: errors, all" "$ERR")" -eq 1 ] || fail "a wrong PIOLET_LOG is not told once: $(cat "$ERR")"
run_logged PIOLET_LOG=all PIOLET_LOG_ABOVE=high "PIOLET_LOG_DIR=$TMP/logs"
[ "$(grep -c "PIOLET_LOG_ABOVE is 'high'; allowed: " "$ERR")" -eq 1 ] || fail "a wrong PIOLET_LOG_ABOVE is not told once: $(cat "$ERR")"
run_logged PIOLET_LOG=all "PIOLET_LOG_DIR=$TMP/no/such/directory"
expect_in "$ERR" "cannot be written and is given up: No such file or directory"
run_logged PIOLET_LOG=all PIOLET_LOG_DIR=/proc/self
expect_in "$ERR" "is given up"
run_logged PIOLET_LOG=all "PIOLET_LOG_DIR=$PROGRAMS/engine_log" # a file
expect_in "$ERR" "is given up: Not a directory"
