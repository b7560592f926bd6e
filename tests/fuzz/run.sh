#!/usr/bin/env bash
# Runs a fuzz target: run.sh fuzz|fuzz_long NAME, where PIOLET_BINARY_DIR is build/fuzz. First all inputs of the corpus,
# which has those of earlier findings; then new ones made from them, for a second or a million times.
# What is found stays in build/fuzz/found; add it to corpus/NAME with its correction.
set -euo pipefail

kind=$1 name=$2
program=$PIOLET_BINARY_DIR/fuzz/fuzz_$name
corpus=$PIOLET_SOURCE_DIR/tests/fuzz/corpus/$name
found=$PIOLET_BINARY_DIR/found grown=$PIOLET_BINARY_DIR/grown/$name
mkdir -p "$found" "$grown"

# Bounds for each input: seconds (on a busy machine, under sanitizers), memory in all and at once.
limits=(-timeout=60 -rss_limit_mb=2048 -malloc_limit_mb=1024 -max_len=16384)
common=("${limits[@]}" -artifact_prefix="$found/$name-" -print_final_stats=1 -verbosity=0)

[ -n "$(ls "$corpus")" ] || { echo "tests/fuzz/corpus/$name is empty" >&2; exit 1; }
status=0
"$program" "${common[@]}" "$corpus"/* 2>&1 || status=$?
if [ "$status" -eq 0 ]; then
    if [ "$kind" = fuzz ]; then
        runs=(-max_total_time=1)
    else
        runs=(-runs=1000000)
    fi
    "$program" "${common[@]}" "${runs[@]}" "$grown" "$corpus" 2>&1 || status=$?
fi
[ "$status" -eq 0 ] || echo "what was found is in $found: run it again with $program FILE" >&2
exit "$status"
