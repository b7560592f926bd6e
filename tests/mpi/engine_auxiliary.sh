#!/usr/bin/env bash
# proves: COLL-4
# Collective writes on auxiliary processes (PIOLET_AUXILIARY). Fails when a write stores anything itself while they are
# held back, when sync, close, size or a read does not wait for them, when a byte is wrong, when a failure of theirs is
# not told, when anything hangs after their death, or when a process of theirs is left behind or holds what is not its
# own. Nothing depends on a clock: they are held back by a file that is not there (PIOLET_AUXILIARY_GATE).
# processors: 2
# timeout: 600
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

cd "$TMP" || exit
unset PIOLET_FAULTS PIOLET_HINTS
touch "$TMP/open"
export PIOLET_AUXILIARY PIOLET_AUXILIARY_BYTES=32m PIOLET_AUXILIARY_GATE=$TMP/gate PIOLET_HINTS PIOLET_FAULTS

# Processes of this test that live. One that has ended and was not collected has no environment.
left()
{
    local process
    for process in /proc/[0-9]*; do
        if grep -qs piolet-aux "$process/comm" && grep -qsF "PIOLET_AUXILIARY_GATE=$TMP/" "$process/environ"; then
            echo "${process##*/}"
        fi
    done
}

# They end by themselves, soon after the last rank; the time is only for a machine that is busy.
expect_none_left()
{
    local i
    for ((i = 0; i < 300; i++)); do
        [ -n "$(left)" ] || return 0
        sleep 0.1
    done
    left | xargs -r kill -9
    fail "auxiliary processes are left behind after: $1"
}

scene()
{
    local ranks=$1 name=$2
    rm -f "$TMP/file" "$TMP/gate"
    expect_exit 0 engine_run "$ranks" "$PROGRAMS/engine_auxiliary" "$name" "$TMP/file"
    expect_none_left "$name on $ranks ranks, hints '$PIOLET_HINTS'"
}

info()
{
    scene 2 info
    expect_in "$OUT" "piolet_auxiliary: $1"
}

PIOLET_HINTS=
PIOLET_AUXILIARY='' info "none: PIOLET_AUXILIARY is not set"
PIOLET_AUXILIARY=0 info "none: "
PIOLET_AUXILIARY=many info "none: "
PIOLET_AUXILIARY=1 info "1 process, "
PIOLET_AUXILIARY=3 info "3 processes, "

row=0
while read -r PIOLET_AUXILIARY ranks PIOLET_HINTS; do
    row=$((row + 1))
    is_mine $row || continue
    scene "$ranks" later
    scene "$ranks" killed
    PIOLET_AUXILIARY_GATE=$TMP/open PIOLET_FAULTS='pwrite:*=ENOSPC' scene "$ranks" failure
done <<'END'
1 2 piolet_strategy=twophase
2 3 piolet_strategy=twophase
1 3 piolet_strategy=ring
2 2
END

for PIOLET_AUXILIARY in 1 2; do
    is_mine "$PIOLET_AUXILIARY" || continue
    PIOLET_HINTS=
    PIOLET_AUXILIARY_BYTES=1m scene 3 killed-full
    scene 2 descriptors
    PIOLET_AUXILIARY_GATE=$TMP/open scene 3 part
    PIOLET_AUXILIARY_GATE=$TMP/open PIOLET_FAULTS='pwrite:?0.3=short pwrite:?0.2=EINTR' scene 2 data
    for PIOLET_HINTS in romio_ds_write=enable piolet_strategy=twophase; do
        PIOLET_AUXILIARY_GATE=$TMP/open PIOLET_AUXILIARY_BYTES=1m scene 3 data
    done
    PIOLET_HINTS=

    # What was handed over before the ranks have gone is stored all the same, though the gate stays shut.
    for name in abort kill-ranks; do
        rm -f "$TMP/file" "$TMP/gate"
        engine_run 3 "$PROGRAMS/engine_auxiliary" "$name" "$TMP/file" >"$OUT" 2>"$ERR" </dev/null && fail "$name ends well"
        expect_none_left "$name"
        WRITTEN_BY=3 PIOLET_AUXILIARY='' expect_exit 0 engine_run 1 "$PROGRAMS/engine_auxiliary" verify "$TMP/file"
    done
done

# Random calls, against a model that keeps every byte.
seed=${ENGINE_FUZZ_SEED:-0}
while read -r PIOLET_AUXILIARY ranks cases PIOLET_HINTS; do
    seed=$((seed + 1))
    is_mine "$seed" || continue
    PIOLET_AUXILIARY_GATE=$TMP/open PIOLET_AUXILIARY_BYTES=1m \
        engine_fuzz engine_run "$ranks" "fuzz.$$" --avoid "$ENGINE_LACKS" --seed "$seed" --cases "$cases"
    expect_in "$OUT" "seed $seed: $cases cases on $ranks ranks are right"
    expect_none_left "the fuzz"
done <<'END'
1 2 100
2 2 100 piolet_strategy=twophase
2 3 80 piolet_strategy=ring
1 3 80 romio_ds_write=enable
2 5 40
END
