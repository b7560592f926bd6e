#!/usr/bin/env bash
# The commands of docs/worked-example.md, taken out of it, on places that are everywhere and in one round.
# proves: PHASE-10 PHASE-11 PHASE-12
# It would fail if a command of the document were refused, or did not say what the document says that it does.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir -p here
PATH=$(dirname "$PIOLET"):$PATH
shm=$(mktemp -d "/dev/shm/piolet-example.XXXXXX") || skip "there is no /dev/shm to write to"
on_exit rm -rf "$shm"

# Open MPI's jobs on one node disturb each other when their files have the same name.
sed -n 's/^    \(piolet .*\)$/\1/p' "$SOURCE/docs/worked-example.md" |
    sed -e "s| --on places/throttled||; s| /dev/shm/data| $shm/data|; s|/dev/shm |$shm |; s|here/data|here/data$$|" \
        -e 's|--repeat 3|--repeat 2|; s|--repeat 5|--repeat 2|; s|madbench|& --pixels 160|' >commands
[ "$(wc -l <commands)" -eq 10 ] || fail "the document has other commands: $(cat commands)"
while IFS= read -r command; do
    case $command in
    *" run."[23]" "* | "piolet peak "*) continue ;; # more of the same; peak has tests of its own
    esac
    command=${command/ --peak peak.out/}
    command=${command/ --measured run.2 --measured run.3/}
    read -r -a words <<<"$command"
    expect_exit 0 "${words[@]}"
    cp "$OUT" "said.${words[1]}"
done <commands
expect_in said.model "5 phases"
expect_in said.choose "Time_io"
expect_in said.choose "$shm, system, cold"
expect_in said.predict "total"
