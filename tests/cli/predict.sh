#!/usr/bin/env bash
# piolet predict and piolet choose on results that were made by hand: times, usage, errors, estimates, ranks, exports, and
# what is wrong with files and command lines.
# proves: PHASE-11 PHASE-12
# It would fail if a replay of another model were taken, if a cut or hostile file broke the tables, if a table were wider
# than 80 columns, or if numbers differed from those computed by hand.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
cp "$PROGRAMS/make_blocks" blocks

# 10 phases of 4 writes of 1000 kB, and one of 10 times a write and a read, by each of 2 processes.
cp "$SOURCE/tests/support/models/predict.model" app.model
expect_exit 0 "$PIOLET" model --check app.model
sed 's/^program app/program other/' app.model >other.model
hash_of()
{
    expect_exit 0 "$PIOLET" predict "$1" --from from.out --json -
    sed -n 's/.*"model_hash":"\([0-9a-f]*\)".*/\1/p' "$OUT"
}

# replay FILE HASH CONFIGURATION DIR PHASE1_MS PHASE2_MS [HALF_MS]: one launch with one repetition.
replay()
{
    local half=${7:-0}
    ./blocks "$1" <<END
block Replay phases
input on $4
input mpiio system
fact model_hash $2
fact program app
fact configuration $3
head
set
param kind call
param step 1
param operation open
param repetition 1
param total_ns 2000000
endset
set
param kind phase
param phase 1
param count 10
param executed 10
param repetition 1
param total_ns ${5}000000
param total_low_ns $(($5 - half))000000
param total_high_ns $(($5 + half))000000
endset
set
param kind phase
param phase 2
param count 1
param repetition 1
param total_ns ${6}000000
endset
set
param kind device
param device sda
series 0 read B 1 2 3
endset
end
END
}

# peak FILE NODE DIR OPERATION ACCESS REQUEST MB_PER_S
peak()
{
    ./blocks "$1" <<END
block Peak device
input on $3
fact io_node $2
head
set
param operation $4
param access $5
param request_bytes $6
param bytes $((${7} * 1000000))
time 0 ${4}_time 1000000000
endset
end
END
}

# beffio FILE TYPE METHOD CHUNK MB_PER_S
beffio()
{
    ./blocks "$1" <<END
block beffio beffio
fact hostname h
fact filesystem ext4
head
set
param partition 2
param method $3
param type $2
param chunk_bytes $4
param bytes $(($5 * 1000000))
param time_ns 1000000000
endset
end
END
}

for chunk in 100000 10000000; do
    for type in 3 4; do
        beffio from.out $type write $chunk $((chunk / 10000)) # 10 and 1000 MB/s: 100 MB/s between
        beffio from.out $type read $chunk 200
    done
done
hash=$(hash_of app.model)
other=$(hash_of other.model)
[[ $hash =~ ^[0-9a-f]{16}$ && $hash != "$other" ]] || fail "the hashes are '$hash' and '$other'"

# ---- times and usage: eq. 1 to 5 ----

for ms in 390 400 410; do
    replay fast.out "$hash" "/a, system" /a "$ms" 500
done
replay slow.out "$hash" "/b, system" /b 900 505
replay tie.out "$hash" "/c, system" /c 401 500
replay alien.out "$other" "/d, system" /d 1 1
for node in one two; do
    peak peak.out $node /server/$node write sequential 1000000 100
    peak peak.out $node /server/$node read strided 1000000 50
done
expect_exit 0 "$PIOLET" predict app.model fast.out alien.out --peak peak.out
expect_in "$ERR" "alien.out:1: a replay of another model (program app, $other) is left out"
expect_in "$ERR" "/a: no peak was measured in this directory; BW_PK is the sum over all 2 I/O nodes"
# 80 MB in 0.4 s; 2.920 * 10 ms / sqrt 3; two nodes of 100 MB/s
grep -Eq '^1-10 +10 × write_at_all +80\.00 +400\.0 +383\.1 - 416\.9 +200\.0$' "$OUT" || fail "phase 1: $(cat "$OUT")"
grep -Eq '^11 +write_at,read_at +40\.00 +500\.0 +500\.0 - 500\.0 +80\.00$' "$OUT" || fail "phase 2: $(cat "$OUT")"
grep -Eq '^calls +open +2\.000' "$OUT" || fail "calls: $(cat "$OUT")"
grep -Eq '^total +902\.0 +885\.1 - 918\.9$' "$OUT" || fail "total: $(cat "$OUT")"
grep -Eq '^1-10 +sequential +1 MB +200\.0 +200\.0 +200\.0 +100\.0$' "$OUT" || fail "usage: $(cat "$OUT")"
# 20 MB at 200 (sequential, in the place of strided) and 20 MB at 100: 133.3, plain 150
grep -Eq '^11 +strided +1 MB +80\.00 +133\.3 +150\.0 +60\.00  sequential$' "$OUT" || fail "usage: $(cat "$OUT")"

# ---- a measured run: eq. 6 and 7 ----

{
    cat app.model
    printf 'observed\nmpi x\nmpiio system\nfailed_calls 0\nincomplete_ranks 0\n'
    printf 'seen 1 open calls=2 sum_ns=2 slowest_ns=1000000 min_ns=1 max_ns=1 first_ns=1 gap_ns=0\n'
    printf 'seen 3 write_at_all calls=80 sum_ns=2 slowest_ns=500000000 min_ns=1 max_ns=1 first_ns=1 gap_ns=0\n'
    printf 'seen 5 write_at calls=20 sum_ns=2 slowest_ns=300000000 min_ns=1 max_ns=1 first_ns=1 gap_ns=0\n'
    printf 'seen 6 read_at calls=20 sum_ns=2 slowest_ns=100000000 min_ns=1 max_ns=1 first_ns=1 gap_ns=0\n'
    printf 'end-observed 9 -\n'
} | sed 's/name="a" with/name="else" with/; s/name="a" type/name="else" type/' >run.model
sed 's/slowest_ns=500/slowest_ns=300/' run.model >run2.model
expect_exit 0 "$PIOLET" predict app.model fast.out --measured run.model --measured run2.model -o p.out --json p.json --csv p.csv
grep -Eq '^1-10 +400\.0 +400\.0 +0\.000 +200\.0 +200\.0 +0\.000 +35\.36 +2\.500$' "$OUT" || fail "errors: $(cat "$OUT")"
grep -Eq '^11 +500\.0 +400\.0 +25\.00 +80\.00 +100\.0 +20\.00 +0\.000 +0\.000$' "$OUT" || fail "errors: $(cat "$OUT")"
grep -Eq '^open +2\.000 +1\.000 +100\.0 ' "$OUT" || fail "errors: $(cat "$OUT")"
expect_in p.out "param error_bw_percent 20"
expect_in p.out "class Prediction"
expect_in p.out "interval_percent 90"
grep -q '"interval_percent": *90' p.json || fail "JSON: $(cat p.json)"
grep -q '"error_time_percent":25' p.json || fail "JSON: $(cat p.json)"
grep -q '^phase,"/a, system",2,11,"write_at,read_at",40000000,1,500000000,' p.csv || fail "CSV: $(cat p.csv)"
expect_exit 0 "$PIOLET" analyze export --format json p.out

# ---- ranks ----

expect_exit 0 "$PIOLET" choose app.model slow.out tie.out fast.out -o p.out
grep -Eq '^1 tie +902\.0 +885\.1 - 918\.9 +1\.000  /a, system$' "$OUT" || fail "ranks: $(cat "$OUT")"
grep -Eq '^1 tie +903\.0 .*/c, system$' "$OUT" || fail "ranks: $(cat "$OUT")"
grep -Eq '^3 +1407 .*/b, system$' "$OUT" || fail "ranks: $(cat "$OUT")"
tr '\n' ' ' <"$OUT" | tr -s ' ' >flat
expect_in flat "/b, system: 1.56 times the time of /a, system: phase 1-10 (write_at_all) takes 900 ms and not 400 ms, 99 % of the difference"
expect_in flat "/c, system: tie with /a, system: the 90 % intervals overlap"

# ---- estimates ----

expect_exit 0 "$PIOLET" predict app.model fast.out --from from.out
grep -Eq '^1-10 +10 × write_at_all +80\.00 +0\.800 +100\.0$' "$OUT" || fail "estimate: $(cat "$OUT")"
# 20 MB at 100 MB/s and 20 MB at 200 MB/s
grep -Eq '^11 +write_at,read_at +0\.300 +0\.500 +40\.00$' "$OUT" || fail "estimate: $(cat "$OUT")"
tr '\n' ' ' <"$OUT" | tr -s ' ' >flat
expect_in flat "phase 1-10: b_eff_io type 4 (segmented collective), write, 2 processes at 1 MB"
expect_in flat "phase 11: b_eff_io type 3 (segmented), write, 2 processes at 1 MB (nearest: not strided)"
expect_in flat "the mix was not measured, its parts are added"
expect_not_in "$OUT" "OUTSIDE"
beffio low.out 4 write 1000 10
beffio low.out 4 write 2000 20
expect_exit 1 "$PIOLET" predict app.model --from low.out
expect_in "$OUT" "OUTSIDE of what was"
expect_in "$OUT" "no characterisation has a read"
expect_in "$OUT" "no total: no result for phase 11"

# ---- wrong files ----

replay cut.out "$hash" "/e, system" /e 400 500
sed -i '/^set 3$/q' cut.out
expect_exit 1 "$PIOLET" choose app.model cut.out slow.out
expect_in "$OUT" "/e, system: not ranked, no result for phase 11"
expect_in "$ERR" "cut.out:"
replay hostile.out "$hash" '\x1b[31m<script>alert(1)</script> 長い名前 a,"b"' '/x\ny' 400 500
expect_exit 0 "$PIOLET" choose app.model hostile.out --json - --csv hostile.csv
expect_in "$OUT" '<script>alert(1)</script>'
expect_exit 0 "$PIOLET" choose app.model hostile.out fast.out
! grep -q $'\x1b' "$OUT" || fail "a control character went to the terminal"
! grep -E ".{81}" "$OUT" || fail "a line is too long"
./blocks failed.out <<END
block Replay phases
fact model_hash $hash
fact configuration f
head
set
param kind phase
param phase 1
param count 10
param total_ns 1
error E_SPACE 1 no space left
endset
set
param kind phase
param phase 7
endset
set
param kind phase
param phase 2
param count 3
endset
end
END
expect_exit 1 "$PIOLET" predict app.model failed.out
expect_in "$ERR" "is left out: it failed on rank 1: no space left"
expect_in "$ERR" "is left out: phase 7 is none of the model"
expect_in "$ERR" "is left out: its count 3 is not that of the model, 1"
echo nonsense >nonsense.out

# ---- wrong use ----

mkdir place && touch file && echo 'cb_nodes 2' >hints && echo cb_nodes >bad.hints
while IFS='|' read -r status words arguments; do
    # shellcheck disable=SC2086  # several arguments
    expect_exit "$status" "$PIOLET" $arguments
    expect_in "$ERR" "$words"
done <<'END'
2|which MODEL?|predict
2|which RESULTS?|predict app.model
2|cannot read 'nosuch.model'|predict nosuch.model fast.out
2|no file holds a replay of the model 'app.model'|predict app.model alien.out
2|nonsense.out|predict app.model nonsense.out
2|'fast.out' holds no results that can be used here|predict app.model fast.out --peak fast.out
2|--configuration: there is none of this name; there are:|predict app.model fast.out --configuration x
2|--measured belongs to one configuration|predict app.model fast.out slow.out --measured run.model
2|'app.model' has no observed part|predict app.model fast.out --measured app.model
2|cannot both go to standard output|predict app.model fast.out --json - --csv -
2|'/nosuch/x' cannot be made|predict app.model fast.out -o /nosuch/x
2|which configurations?|choose app.model
2|RESULTS ('fast.out') and --on exclude each other|choose app.model fast.out --on place
2|without --on nothing is run|choose app.model fast.out --rounds 2
2|--on 'nosuch': No such file or directory|choose app.model --on nosuch
2|--on 'file': this is not a directory|choose app.model --on place --on file
2|bad.hints:1: a hint is a line name=value or name value|choose app.model --on place --hints bad.hints
2|--mpiio: 'romio'; allowed: system, piolet|choose app.model --on place --mpiio system,romio
2|--repeat: '0'; allowed: a whole number from 1 to 1000|choose app.model --on place --rounds 0
2|--keep-results '.': this is not an empty directory|choose app.model --on place --keep-results .
END

expect_exit 0 "$PIOLET" choose app.model --on place --on . --mpiio system,piolet --hints none --hints hints --rounds 2 --dry-run -- --cache cold
expect_in "$OUT" "2 rounds of 8 replays:"
expect_in "$OUT" "replay app.model --on . --mpiio piolet --repeat 1 -n 2 -o DIR/choose-8.out --hints hints --cache cold"
