#!/usr/bin/env bash
# The example of the document's appendix C runs as it stands, with few and with more ranks than blocks.
# proves: IOT-2 IOT-3 IOT-12
# It would fail if a block larger than the file, ranks without a block, or a line of the document's own example were
# refused, or if a set were missing from the results.
# timeout: 300
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
EXAMPLE=$SOURCE/examples/appendix-c.in
cd "$TMP"

for ranks in 1 3 7; do
    expect_exit 0 mpirun_n $ranks "$PIOLET" run --set filename=example.dat -o example.$ranks "$EXAMPLE"
    expect_exit 0 "$PIOLET" analyze export --format json example.$ranks
    [ ! -s "$ERR" ] || fail "the results are not whole: $(cat "$ERR")"
    [ "$(jq -c '[.blocks[] | [.testname, (.sets | length)]]' "$OUT")" = '[["single",6],["multiple",2]]' ] ||
        fail "$ranks ranks: tests and sets are $(jq -c '[.blocks[] | [.testname, (.sets | length)]]' "$OUT")"
    [ "$(jq -c '[.blocks[].sets[].errors[]]' "$OUT")" = '[]' ] || fail "$ranks ranks: errors in the results"
    [ "$(jq -c '[.blocks[0].sets[].params | [.filesize_bytes, .blocksize_bytes] | map(tonumber)]' "$OUT")" = \
        '[[10000,10000],[10000,10000],[100000,10000],[100000,20000],[1000000,10000],[1000000,20000]]' ] ||
        fail "$ranks ranks: not all pairs in order, or blocks not cut to the file"
    with=$(jq '[.blocks[1].sets[0].series[] | select(.key == "w" and (.values | length) > 0)] | length' "$OUT")
    [ "$with" = $((ranks < 5 ? ranks : 5)) ] || fail "$ranks ranks, 5 blocks: $with ranks have timings"
done
[ "$(echo *)" = "example.1 example.3 example.7" ] || fail "files appeared: $(echo *)"

# The other examples at least say what they would do.
for file in "$SOURCE"/examples/*.in; do
    expect_exit 0 "$PIOLET" run --dry-run -n 4 --set filename=x.dat "$file"
    expect_in "$OUT" "Nothing was run."
done
