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
store=$TMP # of the histories: in memory where that can be, since each change waits for the disk
if [ -w /dev/shm ]; then
    store=$(mktemp -d /dev/shm/piolet-history-test.XXXXXX)
    on_exit rm -rf "$store"
fi
db=$store/h.db


# block_file NAME DAY SETS [SEED [FACTOR [RANKS [FILESYSTEM [HOST]]]]]
block_file()
{
    rm -f "$TMP/$1"
    expect_exit 0 "$PROGRAMS/make_block" "$TMP/$1" "$2T10:00:00Z" "${6:-1}" "${7:-ext4}" "$3" "${4:-0}" "${5:-1}" "${8:-here}"
}

bytes_come_back()
{
    block_file a 2026-01-01 2
    block_file b 2026-01-02 1
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
    expect_in "$OUT" "100.0 MB/s  write rate, by calls: file 8 MB, block 1 kB"
    expect_exit 0 "$PIOLET" history --db "$db" remove one
    expect_exit 0 "$PIOLET" history --db "$db" list
    expect_in "$OUT" "0 runs"
}

# Hosts and places of any length fit into 80 columns, and are whole in what is exported.
narrow()
{
    local host=login-0017.batch.cluster.research.example.org place=filer.example.org:/exports/of/a/long/path/æøåæøåæøå
    block_file wide 2026-01-04 1 0 1 100000 "$place" "$host"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/wide" --label "a-label-of-many-characters-in-one-word"
    expect_exit 0 "$PIOLET" history --db "$db" list
    expect_in "$OUT" "login-0017,"
    expect_in "$OUT" "filer.exa…"
    iconv -f UTF-8 -t UTF-8 "$OUT" >/dev/null || fail "characters were cut"
    awk 'length > 80' "$OUT" | grep . && fail "wider than 80 columns"
    expect_exit 0 "$PIOLET" history --db "$db" export --json "$TMP/json"
    jq -e --arg host "$host" '.runs[0].host == $host' "$TMP/json" >"$OUT" || fail "the host is not whole in JSON"
    expect_exit 0 "$PIOLET" history --db "$db" remove last
}

# A run that is still going on, then damage.
broken_records()
{
    local id
    sed "/^end-head/q" "$TMP/a" >"$TMP/going"
    printf 'set 1\nparam filesize' >>"$TMP/going"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/going"
    expect_in "$OUT" "1 new, 0 known; 0 numbers; 1 not complete"
    expect_in "$ERR" "warning:"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/a"
    expect_in "$OUT" "0 new, 0 known, 1 grown; 2 numbers"
    expect_exit 0 "$PIOLET" history --db "$db" export --blocks "$TMP/back"
    cmp "$TMP/a" "$TMP/back" || fail "the longer version was not kept"
    block_file damaged 2026-01-03 2
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
    local run db=$store/regressions.db
    for run in 1 2 3 4 5 6 7 8; do
        block_file "run$run" "2026-02-0$run" 20 "$run"
    done
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/run1" "$TMP/run2"
    expect_exit 0 "$PIOLET" history --db "$db" regressions
    expect_in "$OUT" "Too few runs: 3 earlier ones"
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP"/run[3-8]
    expect_exit 0 "$PIOLET" history --db "$db" regressions
    expect_in "$OUT" "No regression in 20 numbers."
    expect_exit 0 "$PIOLET" history --db "$db" regressions --since 2026-02-06 --level 0.9
    block_file slow 2026-03-01 20 9 0.75
    expect_exit 0 "$PIOLET" history --db "$db" add --label slow "$TMP/slow"
    expect_exit 1 "$PIOLET" history --db "$db" regressions
    expect_in "$OUT" "4 of 20 numbers became worse."
    expect_in "$OUT" "n = 8, 1"
    expect_exit 1 "$PIOLET" history --db "$db" regressions --since slow
    awk 'length > 80' "$OUT" | grep . && fail "wider than 80 columns"
    expect_exit 0 "$PIOLET" history --db "$db" compare "$(sed -n 's/^id //p' "$TMP/run1")" slow
    expect_in "$OUT" "20 numbers compared"
    block_file other 2026-03-02 20 0 1 2 xfs
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/other"
    expect_exit 1 "$PIOLET" history --db "$db" compare slow last
    expect_in "$OUT" "place: ext4 of /dev/sda1; host here | xfs of /dev/sda1; host here"
    expect_in "$OUT" "ranks: 1 | 2"
}

# The journal is there from the first change to the end of the transaction.
kill_in_transaction()
{
    while [ ! -s "$2" ] && kill -0 "$1" 2>/dev/null; do
        :
    done
    kill -KILL "$1" 2>/dev/null || true
    wait "$1" 2>/dev/null || true
}

# Many writers at once, on a history that is not there yet; some are killed in the middle of it.
concurrent_and_killed()
{
    local db=$store/many.db number jobs=()
    for number in {1..12}; do
        block_file "many$number" 2026-04-01 3
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
    for number in {1..6}; do
        block_file "big$number" 2026-05-01 1000
    done
    cat "$TMP"/big? >"$TMP/big"
    for number in 1 2 3 4; do
        "$PIOLET" history --db "$db" add "$TMP/big" >"$TMP/killed.log" 2>&1 &
        kill_in_transaction $! "$db-journal"
        expect_exit 0 "$PIOLET" history --db "$db" list
        grep -qE '^1[28] runs' "$OUT" || fail "a killed add left a part of its file: $(tail -n 1 "$OUT")"
    done
    expect_exit 0 "$PIOLET" history --db "$db" add "$TMP/big"
    expect_exit 0 "$PIOLET" history --db "$db" list
    expect_in "$OUT" "18 runs"
}

wrong_files()
{
    expect_exit 1 "$PIOLET" history --db "$store/absent.db" list
    expect_in "$ERR" "there is no history"
    [ ! -e "$store/absent.db" ] || fail "list made a history"
    expect_exit 1 "$PIOLET" history --db "$TMP/a" list
    expect_in "$ERR" "it is not an SQLite database"
    expect_exit 1 "$PIOLET" history --db "$TMP" add "$TMP/a"
    expect_exit 1 "$PIOLET" history --db "$TMP/no/such/folder.db" add "$TMP/a"
    cp "$store/many.db" "$store/foreign.db"
    printf none | dd of="$store/foreign.db" bs=1 seek=68 conv=notrunc status=none # its application id
    expect_exit 1 "$PIOLET" history --db "$store/foreign.db" add "$TMP/a"
    expect_in "$ERR" "database of another program"
    head -c 6000 "$store/many.db" >"$store/cut.db"
    expect_exit 1 "$PIOLET" history --db "$store/cut.db" list
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
narrow
broken_records
regressions
concurrent_and_killed
wrong_files
default_place
