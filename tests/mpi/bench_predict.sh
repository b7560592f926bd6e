#!/usr/bin/env bash
# 'piolet bench predict' traces, models, replays, runs and compares; no error of a prediction is looked at.
# proves: PHASE-11 PHASE-12
# It would fail if a program, an MPI-IO or the total were missing, if something stayed behind, if what is measured were
# measured again by a resumed run, or if a program that is no MPI program got more than one message.
# processors: 2
# timeout: 180
source "$(dirname "$0")/../lib.sh"
cd "$TMP"
mkdir place temporary
export TMPDIR=$TMP/temporary
expect_exit 2 "$PIOLET" bench predict --programs nonsense
expect_in "$ERR" "'nonsense' is not one of them"
expect_exit 0 "$PIOLET" bench predict --programs mixed,segments --rounds 1 --on place -o p.out
for program in mixed segments; do
    for mpiio in system piolet; do
        awk -v p=$program -v m=$mpiio '$1 == p && $3 == m && $4 == "total" { n++ } END { exit n != 1 }' "$OUT" ||
            fail "no total of $program on $mpiio"
    done
done
# Open MPI's own folder may outlive its launcher for a moment.
[ -z "$(ls place; ls -I 'ompi.*' temporary)" ] || fail "something was left behind: $(ls place temporary)"
before=$(grep -c '^end-set' p.out)
expect_exit 0 "$PIOLET" bench predict --resume p.out
[ "$(grep -c '^end-set' p.out)" = "$before" ] || fail "a resumed run measured again"
expect_exit 0 "$PIOLET" analyze p.out
expect_in "$OUT" "total"

# ---- no MPI program ----

expect_exit 1 "$PIOLET" bench predict --rounds 1 --on place -o none.out -- /bin/true
[ "$(grep -c 'ended without a trace' "$ERR")" = 1 ] || fail "not one clear message: $(cat "$ERR")"
! grep -q 'trace\.0' "$ERR" || fail "it speaks of our files: $(cat "$ERR")"
