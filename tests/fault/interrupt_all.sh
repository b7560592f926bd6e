#!/usr/bin/env bash
# Every verb x every way of interrupting it, at its start and in its middle, started by itself and by mpiexec.
# proves: IOT-6 IOT-7
# It would fail as interrupt.sh does.
# labels: long
# timeout: 1500
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../interrupt.sh"
cd "$TMP"
for verb in $(interrupt_verbs); do
    for signal in INT TERM HUP; do
        for whom in group alone twice; do
            for when in start middle; do
                interrupt "$verb" "$signal" "$whom" "$when"
            done
        done
    done
    interrupt "$verb" INT background middle
    [[ $verb =~ ^(run|beff|beffio|piobench|gpfs|peak|btio|madbench|replay)$ ]] || continue
    for signal in INT TERM HUP; do
        for whom in group alone twice; do
            interrupt "$verb" "$signal" "$whom" middle mpiexec
        done
    done
done
