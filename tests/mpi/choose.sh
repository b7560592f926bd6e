#!/usr/bin/env bash
# piolet choose with real replays: every configuration in every round, ranks, results that are kept, and one
# configuration that fails while the other goes on.
# proves: PHASE-12
# It would fail if a replay were not started with the options that it has, if its results were not taken for those of
# the model, or if one configuration that fails lost the others.
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
"$PIOLET" replay --help >/dev/null 2>&1 || skip "this piolet has no replay"
mkdir a b
cp "$SOURCE/tests/support/models/choose.model" app.model
echo 'cb_nodes 1' >hints

expect_exit 0 "$PIOLET" choose app.model --on a --on b --mpiio system,piolet --rounds 1 --keep-results kept -o p.out
[ "$(grep -cE '^[1-4]( tie)? ' "$OUT")" -eq 4 ] || fail "not four places: $(cat "$OUT")"
[ "$(ls kept)" = $'choose-1.out\nchoose-2.out\nchoose-3.out\nchoose-4.out' ] || fail "kept: $(ls kept)"
[ "$(grep -c '^param kind total' p.out)" -eq 4 ] || fail "the block: $(cat p.out)"
expect_exit 0 "$PIOLET" predict app.model kept/*
[ "$(grep -cE '^1-3 +3 × write_at_all +0\.600 ' "$OUT")" -eq 4 ] || fail "predict: $(cat "$OUT")"

# What a user sees in /proc may be a directory that takes no files.
if [ "$(id -u)" -eq 0 ]; then
    expect_exit 1 "$PIOLET" choose app.model --on /proc --on a --hints hints --rounds 2
    expect_in "$ERR" "/proc, system, hints: the replay failed"
    expect_not_in "$ERR" "round 2 of 2: /proc"
    expect_in "$OUT" "a, system, cb_nodes=1"
fi
[ -z "$(find a b -mindepth 1)" ] || fail "files are left behind: $(find a b)"
