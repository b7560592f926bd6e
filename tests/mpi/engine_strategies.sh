#!/usr/bin/env bash
# proves: COLL-2 COLL-3 COLL-8
# Every strategy of the table, on several of one to eight ranks: the random calls of the fuzz, and patterns of some megabytes. Fails
# when a byte or a count is wrong, when a strategy that was asked for is not in force, when one that gathers needs more
# than a tenth on top of the data for small irregular pieces, when one that sends piece by piece does not, when cbx sends
# more than one message for each pair and block, or when what all read alike is read more than once with broadcast.
# processors: 2
# labels: asan
# timeout: 300
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

cd "$TMP" || exit
unset PIOLET_FAULTS PIOLET_HINTS

# The rows, from the engine itself: new ones are tested with the others.
expect_exit 0 "$PIOLET" strategies --json
cp "$OUT" table
mapfile -t names < <(jq -r '.[].name' table)
[ "${#names[@]}" -gt 5 ] || fail "only ${#names[@]} strategies: ${names[*]}"

# ---- fuzz: three numbers of ranks for each row; ENGINE_FUZZ_SCALE multiplies the cases, ENGINE_FUZZ_SEED turns the
# numbers, so that two runs see them all ----

counts=(1 2 3 5 8) seed=${ENGINE_FUZZ_SEED:-100}
for name in "${names[@]}"; do
    for ((i = 0; i < 3; i++)); do
        ranks=${counts[2 * seed % 5]} own=$seed
        seed=$((seed + 1))
        is_mine "$own" || continue
        cases=$((${ENGINE_FUZZ_SCALE:-1} * (24 / ranks + 1)))
        engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --strategy "$name" \
            --seed "$own" --cases "$cases"
        expect_in "$OUT" "seed $own: $cases cases on $ranks ranks are right"
    done
done

# ---- patterns, and what they cost ----

# cost PATTERN: "data pieces messages message_bytes broadcasts read_bytes" of the last run
cost()
{
    sed -n "s/^$1: \([0-9]*\) bytes of data, \([0-9]*\) pieces, \([0-9]*\) messages of \([0-9]*\) bytes, \([0-9]*\) broadcasts, \([0-9]*\) bytes read$/\1 \2 \3 \4 \5 \6/p" "$OUT"
}

# at_most WHAT NUMBER LIMIT
at_most()
{
    [ "$2" -le "$3" ] || fail "$name on $ranks ranks: $1: $2, more than $3"
}

# A sanitizer has functions of its own in the place of those that are counted: bytes are checked, costs are not.
[ -n "${PIOLET_SANITIZE:-}" ] || ENGINE_BEHIND=$PROGRAMS/libcount.so
for name in "${names[@]}"; do
    exchange=$(jq -r --arg name "$name" '.[] | select(.name == $name).exchange' table)
    ranks=3
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_strategies" "$TMP/file.$$" "$name"
    expect_in "$OUT" "$ranks ranks: engine_strategies is right"
    [ -n "$ENGINE_BEHIND" ] || continue
    read -r bytes pieces messages sent _ _ < <(cost irregular)
    case $exchange in
    *"each pair"*) at_most "bytes for $bytes of data" "$sent" $((bytes + bytes / 10)) ;;
    *"each piece"*) at_most "pieces in $messages messages" "$pieces" "$messages" ;;
    esac
    # in blocks of 1 MiB, each pair has one greeting and one message for each block of the range
    [ "$name" != cbx ] || at_most "messages" "$messages" $((ranks * (bytes * 3 / 1048576 + 4)))
    read -r _ _ _ _ broadcasts got < <(cost same)
    if [ "$name" = broadcast ]; then
        at_most "bytes that were read" "$got" 5242957 # those of the file, once
        at_most "windows" 6 "$broadcasts"
    fi
done
