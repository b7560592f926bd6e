#!/usr/bin/env bash
# piolet history: results kept over time. Fails when a block comes back other than it went in, when concurrent or killed
# writers lose or break something, when noise is told as a regression or a regression is not told, or when a wrong or
# damaged file gets more than one message.
# proves: IOT-6
source "$(dirname "$0")/../lib.sh"

expect_exit 0 "$PIOLET" doctor "$TMP"
if grep -q 'SQLite *not found' "$OUT"; then
    expect_exit 1 "$PIOLET" history list
    expect_in "$ERR" "SQLite was not there"
    skip "piolet was built without SQLite"
fi
db=$TMP/h.db

# block_file NAME DAY RATES...: a block of one test, with a set for each of RATES (MB/s of writing).
block_file()
{
    python3 - "$@" <<'PYTHON'
import ctypes, random, sys
xxh = ctypes.CDLL("libxxhash.so.0").XXH64
xxh.restype, xxh.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
name, day, rates = sys.argv[1], sys.argv[2], [float(word) for word in sys.argv[3:]]
def record(lines, end):
    body = "".join(line + "\n" for line in lines)
    return body + "%s %d %016x\n" % (end, len(lines), xxh(body.encode(), len(body.encode()), 0))
head = ["id %016x" % random.getrandbits(64), "class Lowlevel", "testname single", "input filename x", "fact nprocs 1",
        "fact hostname here", "fact timestamp %sT10:00:00Z" % day, "fact mpi_library MPICH Version: 4.0.2",
        "fact product_version 0.1.0", "fact mpiio ROMIO", "fact filesystem ext4", "fact filesystem_source /dev/sda1"]
text = "piolet-block 1\n" + record(head, "end-head")
for number, rate in enumerate(rates, 1):
    text += record(["set %d" % number, "param filesize_bytes 8000000", "param blocksize_bytes %d" % (number * 1000),
                    "series 0 w ns 4", " ".join(["%d" % (number * 1000 * 1000 / rate)] * 4)], "end-set")
open(name, "w").write(text + "end-block %d\n" % len(rates))
PYTHON
}

# Rates around 100 * number with 3 % of noise, times the factor; the same for the same seed.
rates()
{
    awk -v seed="$1" -v factor="$2" 'BEGIN {
        srand(seed)
        for (i = 1; i <= 20; i++) {
            sum = -6
            for (j = 0; j < 12; j++) sum += rand()
            printf "%.3f ", 100 * i * exp(0.03 * sum) * (i <= 4 ? factor : 1)
        }
    }'
}

bytes_come_back()
{
    block_file "$TMP/a" 2026-01-01 100 200
    block_file "$TMP/b" 2026-01-02 110
    { cat "$TMP/a"; echo "some junk between"; cat "$TMP/b"; } >"$TMP/both"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/both" --label one
    expect_in "$OUT" "2 new, 0 known; 3 numbers; label one"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/b" "$TMP/a"
    expect_in "$OUT" "0 new, 1 known"
    expect_exit 0 "$PIOLET" history --db "$db" export --blocks "$TMP/back" --csv "$TMP/csv" --json "$TMP/json"
    cat "$TMP/a" "$TMP/b" | cmp - "$TMP/back" || fail "blocks came back otherwise"
    [ "$(wc -l <"$TMP/csv")" -eq 4 ] || fail "not a row for each number"
    jq -e '.runs | length == 2 and (.[0].numbers | length == 2)' "$TMP/json" >"$OUT" || fail "wrong JSON"
    expect_exit 0 "$PIOLET" history --db "$db" show last
    expect_in "$OUT" "110.0 MB/s  write rate: file 8 MB, block 1 kB"
    expect_exit 0 "$PIOLET" history --db "$db" remove one
    expect_exit 0 "$PIOLET" history --db "$db" list
    expect_in "$OUT" "0 runs"
}

# A run that is still going on, then damage.
broken_records()
{
    local id
    head -n 17 "$TMP/a" >"$TMP/going"
    printf 'set 2\nparam filesize' >>"$TMP/going"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/going"
    expect_in "$OUT" "1 new, 0 known; 0 numbers; 1 not complete"
    expect_in "$ERR" "warning:"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/a"
    expect_in "$OUT" "0 new, 0 known, 1 grown; 2 numbers"
    expect_exit 0 "$PIOLET" history --db "$db" export --blocks "$TMP/back"
    cmp "$TMP/a" "$TMP/back" || fail "the longer version was not kept"
    block_file "$TMP/damaged" 2026-01-03 100 200
    sed -i 's/^param blocksize_bytes 2000/param blocksize_bytes 2222/' "$TMP/damaged"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/damaged"
    expect_in "$OUT" "1 numbers; 1 not complete"
    expect_exit 1 "$PIOLET" history --db "$db" add "$0" "$TMP/a"
    expect_in "$OUT" "0 new, 1 known"
    [ "$(wc -l <"$ERR")" -eq 1 ] || fail "more than one message"
    id=$(sed -n 's/^id \(......\).*/\1/p' "$TMP/a")
    expect_exit 0 "$PIOLET" history --db "$db" remove "$id" last
}

# Noise first, then four of twenty rates lose a fifth.
regressions()
{
    local run db=$TMP/regressions.db
    for run in 1 2 3 4 5 6 7 8; do
        # shellcheck disable=SC2046  # words
        block_file "$TMP/run$run" "2026-02-0$run" $(rates "$run" 1)
    done
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/run1" "$TMP/run2"
    expect_exit 0 "$PIOLET" history --db "$db" regressions
    expect_in "$OUT" "Too few runs: 3 earlier ones"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP"/run[3-8]
    expect_exit 0 "$PIOLET" history --db "$db" regressions
    expect_in "$OUT" "No regression in 20 numbers."
    expect_exit 0 "$PIOLET" history --db "$db" regressions --since 2026-02-06 --level 0.9
    # shellcheck disable=SC2046
    block_file "$TMP/slow" 2026-03-01 $(rates 99 0.75)
    expect_exit 0 "$PIOLET" history --db "$db" add --label slow "$TMP/slow"
    expect_exit 1 "$PIOLET" history --db "$db" regressions
    expect_in "$OUT" "4 of 20 numbers became worse."
    expect_in "$OUT" "n = 8, 1"
    expect_exit 1 "$PIOLET" history --db "$db" regressions --since slow
    awk 'length > 80' "$OUT" | grep . && fail "wider than 80 columns"
    expect_exit 0 "$PIOLET" history --db "$db" compare "$(sed -n 's/^id //p' "$TMP/run1")" slow
    expect_in "$OUT" "20 numbers compared"
    sed 's/nprocs 1/nprocs 2/; s/ext4/xfs/; /^end-head/d' "$TMP/slow" >"$TMP/other"
    python3 - "$TMP/run1" "$TMP/other" <<'PYTHON'
import ctypes, sys
xxh = ctypes.CDLL("libxxhash.so.0").XXH64
xxh.restype, xxh.argtypes = ctypes.c_uint64, [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_uint64]
text = open(sys.argv[2]).read().replace("fact nprocs 2", "fact nprocs 2\nfact other 1")
head, rest = text[len("piolet-block 1\n"):].split("set 1\n", 1)
head = "id 1234567812345678\n" + head.split("\n", 1)[1]
open(sys.argv[2], "w").write("piolet-block 1\n%send-head %d %016x\nset 1\n%s" % (
    head, head.count("\n"), xxh(head.encode(), len(head), 0), rest))
PYTHON
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/other"
    expect_exit 1 "$PIOLET" history --db "$db" compare slow 12345678
    expect_in "$OUT" "place: ext4 of /dev/sda1; host here | xfs of /dev/sda1; host here"
    expect_in "$OUT" "ranks: 1 | 2"
}

# Many writers at once, on a history that is not there yet; some are killed in the middle of it.
concurrent_and_killed()
{
    local db=$TMP/many.db number jobs=()
    for number in {1..12}; do
        block_file "$TMP/many$number" 2026-04-01 100 200 300
    done
    for number in {1..12}; do
        timeout 100 "$PIOLET" history --db "$db" add "$TMP/many$number" >"$TMP/many$number.log" 2>&1 &
        jobs+=($!)
    done
    for number in "${jobs[@]}"; do
        wait "$number" || fail "a concurrent add failed: $(cat "$TMP"/many*.log)"
    done
    expect_exit 0 "$PIOLET" history --db "$db" list
    expect_in "$OUT" "12 runs"
    # shellcheck disable=SC2046
    for number in {1..6}; do
        block_file "$TMP/big$number" 2026-05-01 $(seq 100 1 400)
    done
    cat "$TMP"/big? >"$TMP/big"
    for number in 1 2 3 4 5 6 7 8; do
        timeout -s KILL "0.0$number" "$PIOLET" history --db "$db" add "$TMP/big" >"$OUT" 2>&1 || true
        expect_exit 0 "$PIOLET" history --db "$db" list
        grep -qE '^1[28] runs' "$OUT" || fail "a killed add left a part of its file: $(tail -n 1 "$OUT")"
    done
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/big"
    expect_exit 0 "$PIOLET" history --db "$db" list
    expect_in "$OUT" "18 runs"
}

wrong_files()
{
    expect_exit 1 "$PIOLET" history --db "$TMP/absent.db" list
    expect_in "$ERR" "there is no history"
    [ ! -e "$TMP/absent.db" ] || fail "list made a history"
    expect_exit 1 "$PIOLET" history --db "$TMP/a" list
    expect_in "$ERR" "it is not an SQLite database"
    expect_exit 1 "$PIOLET" history --db "$TMP" add "$TMP/a"
    expect_exit 1 "$PIOLET" history --db "$TMP/no/such/folder.db" add "$TMP/a"
    python3 -c 'import sqlite3, sys; sqlite3.connect(sys.argv[1]).execute("CREATE TABLE x(y)")' "$TMP/foreign.db"
    expect_exit 1 "$PIOLET" history --db "$TMP/foreign.db" add "$TMP/a"
    expect_in "$ERR" "database of another program"
    head -c 6000 "$TMP/many.db" >"$TMP/cut.db"
    expect_exit 1 "$PIOLET" history --db "$TMP/cut.db" list
    expect_in "$ERR" "is damaged"
    [ "$(wc -l <"$ERR")" -eq 1 ] || fail "more than one message"
    expect_exit 2 "$PIOLET" history --db "$db" show nonsense
    expect_exit 2 "$PIOLET" history forget
    expect_exit 2 "$PIOLET" history list --label x
    expect_exit 2 "$PIOLET" history add
    expect_exit 2 "$PIOLET" history compare a
    expect_exit 2 "$PIOLET" history --db "$db" regressions --level 1
    expect_exit 2 "$PIOLET" history --db "$db" export
}

default_place()
{
    XDG_DATA_HOME=$TMP/data expect_exit 0 "$PIOLET" history add "$TMP/a"
    [ -s "$TMP/data/piolet/history.db" ] || fail "not in XDG_DATA_HOME"
}

bytes_come_back
broken_records
regressions
concurrent_and_killed
wrong_files
default_place
