#!/usr/bin/env bash
# The time limit of a replay, where ranks do not meet in each turn of a loop: in phases of calls of each rank's own, in phases of
# collective calls, and in loops of which no turn may be left out.
# proves: PHASE-10
# It would fail if a loop of 10^12 turns were done to its end, or looked at to its end before the replay begins, or if the
# rest were not told.
# processors: 2
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir on

# model NAME CALLS TURNS: each of two ranks writes, then reads what was written.
model()
{
    local name=$1 suffix=$2 turns=$3 bytes=$((2 * 8 * $3))
    phase()
    {
        printf 'phase %d count=1 numbers=%d ranks=0-1 weight=%d access=strided\n  loop %d\n' "$1" "$1" "$bytes" "$turns"
        printf '    %s_at%s file=1 size=8 offset=idP*8+n%%1000*16\n  end\nend\n' "$2" "$suffix"
    }
    cat >"$name.model" <<END
piolet-model 1
program app
ranks 2
file 1 name="a" type=shared processes=2 access=sequential pointer=explicit calls=$4 waits=blocking views=0 written=$bytes read=$bytes
steps
open ranks=0-1 file=1 name="a" with="amode=create|rdwr ranks=2 first=0 stride=1"
$(phase 1 write)
comm ranks=0-1 collectives=1
$(phase 2 read)
close ranks=0-1 file=1
end-steps 17 -
END
    sed -i 's/access=sequential pointer/access=strided pointer/' "$name.model"
    expect_exit 0 "$PIOLET" model --check "$name.model"
}

# limited_replay NAME: ends, with a note.
limited_replay()
{
    COMMAND_TIMEOUT=200 expect_exit 0 "$PIOLET" replay -n 2 --limit 1 --on on "$1.model" -o "$1.out"
    expect_in "$ERR" "time limit reached"
    [ -z "$(ls on)" ] || fail "$1: files were left behind"
}

model own "" 1000000000000 independent
limited_replay own
expect_in "$ERR" "of 1000000000000 turns of a loop"
expect_in "$OUT" "phase 1 write_at"
expect_in "$OUT" "phase 2 read_at"
model together _all 1000000000000 collective
limited_replay together
expect_in "$OUT" "phase 2 read_at_all"

# No turn may be left out: what is behind the loop is not done.
model whole "" 4 independent
sed -i 's/^phase 1/loop 1000000000000\n  set_atomicity ranks=0-1 file=1 offset=0\n  loop 2\n    comm ranks=0-1 collectives=1\n  end\nend\nphase 1/' whole.model
limited_replay whole
expect_in "$ERR" "no turn may be left out"

# Without a limit it would never end, and says so at once.
expect_exit 2 "$PIOLET" replay -n 2 --on on own.model -o own.out
expect_in "$ERR" "with --limit"
