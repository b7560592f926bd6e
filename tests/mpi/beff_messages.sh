#!/usr/bin/env bash
# b_eff in rings of two, seen from below: how many messages of which length each method makes in a round, and from where.
# proves: BEFF-3 BEFF-5
# It would fail if a method sent one message of 2 L, or one in the place of two, to the neighbour on both sides; if the form of
# b_eff 3.6 sent two; if the messages counted were not those sent; or if messages of following rounds came from one address.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "a library of C that is preloaded comes before the sanitizer"
cd "$TMP"

below()
{
    expect_exit 0 mpirun_n 2 env LD_PRELOAD="$PROGRAMS/libbeff_below.so" BELOW="$TMP/$1.seen" "$PIOLET" beff --quick --time 10m --memory 1m \
        --patterns 1 "${@:2}" -o "$1.out"
}
below walk

# Of each pattern in its order: rounds of the loop and one before it, messages of a process in a round, each with an address of
# its own. Bisections: one message in a round, with MPI_Send in the place of Sendrecv.
expect_exit 0 "$PIOLET" analyze export --format json -o walk.json walk.out
for method in sendrecv alltoallv nonblocking; do
    jq -r --arg m $method '.blocks[0].sets[].params | select(.length_bytes == "64" and .pattern != "ping-pong" and
        ($m != "sendrecv" or (.pattern | endswith("bisection") | not))) | (.messages | tonumber / 2) as $each |
        ((.[$m + "_loops"] | tonumber) + 1) as $rounds |
        "\($m) \($each * $rounds)\(if $m == "nonblocking" then "/\($rounds)" else "" end) \($each * $rounds)"' walk.json | uniq >expected
    grep "^$method " walk.seen | uniq | diff expected - >&2 || fail "$method: other messages than the document's"
    [ "$(wc -l <expected)" -ge 20 ] || fail "$method: forms of one and of two messages do not alternate: $(cat expected)"
done

# The same addresses in each round: those of two messages.
below fixed --cached
awk '$3 > 2 { exit 1 }' fixed.seen || fail "--cached: more addresses than those of a round: $(sort -u fixed.seen)"
