#!/usr/bin/env bash
# Every call of b_eff_io, rank by rank, beside a naive list from the document's Table 2 and rules (beffio_calls.awk): which
# call, which bytes, how often, in which order; repeat factors, segments and fill-ups of types 3 and 4; sync, close, delete.
# proves: BIO-1 BIO-2 BIO-3 BIO-5 BIO-8
# It would fail if a call had another offset or length, were collective where it must not be or the other way round, if a
# loop of types 3 and 4 made another number of calls than the rule says, if a sync were missing, if a file were opened as
# unique, or if a run by release 2.1's schedule decided otherwise than behind each call.
# processors: 2
# timeout: 300
[ ! -w /dev/shm ] || shm=/dev/shm
TMPDIR=${TMPDIR:-${shm:-/tmp}} source "$(dirname "$0")/../lib.sh"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "the sanitizer's library would have to be preloaded before the logging one"
cd "$TMP"

# logged FILE N OPTION...: a run on N ranks, its calls in calls.RANK
logged()
{
    local results=$1 n=$2
    shift 2
    # shellcheck disable=SC2016
    BEFFIO_CALLS=$TMP/calls expect_exit 0 mpirun_n "$n" bash -c \
        'LD_PRELOAD=$PROGRAMS/libbeffio_calls.so${LD_PRELOAD:+:$LD_PRELOAD} exec "$@"' - \
        "$PIOLET" beffio -T 0.5 --memory-node 256m -o "$results" "$@"
}

# compare FILE N RELEASE: what each rank did is what it had to do
compare()
{
    local rank
    for ((rank = 0; rank < $2; rank++)); do
        awk -v n="$2" -v rank="$rank" -v release="$3" -f "$SOURCE/tests/mpi/beffio_calls.awk" "$1" >"wanted.$rank"
        grep -v '^barrier\|^bcast' "calls.$rank" >"made.$rank"
        cmp -s "wanted.$rank" "made.$rank" ||
            fail "$1, rank $rank: $(diff "wanted.$rank" "made.$rank" | head -n 8)"
        [ "$(grep -c '^write\|^read' "made.$rank")" -ge 129 ] || [ "$3" = 2.1 ] || fail "$1: too few calls"
        [ "$(grep -c '^sync' "made.$rank")" -ge 52 ] || fail "$1: too few syncs"
    done
}

# decided N: behind each access, and before anything else, barrier and broadcast; a sync lies between barriers
decided()
{
    local rank
    for ((rank = 0; rank < $1; rank++)); do
        awk '/^(write|read)/ { if (before) print "no decision behind call " NR; before = 2; next }
             /^barrier/ && before == 2 { before = 1; next }
             /^bcast/ && before == 1 { before = 0; next }
             before { print "line " NR ": " $0 " before the decision"; before = 0 }
             /^sync/ && last != "barrier" { print "line " NR ": no barrier before the sync" }
             last == "sync" && !/^barrier/ { print "line " NR ": no barrier behind the sync" }
             { last = $1 }' "calls.$rank" >decisions
        [ ! -s decisions ] || fail "release 2.1 on $1, rank $rank: $(head -n 5 decisions)"
    done
}

for n in 2 3; do
    logged "document.$n" "$n"
    compare "document.$n" "$n" document
done
logged release.out 3 --release 2.1
compare release.out 3 2.1
decided 3
[ -z "$(find . -name 'piolet-beffio-*')" ] || fail "files are left: $(find . -name 'piolet-beffio-*')"

# Files that are kept are not deleted.
logged kept.out 2 --release 2.1 --keep
compare kept.out 2 2.1
decided 2
[ "$(find . -name 'piolet-beffio-*-t?' | wc -l)" = 4 ] || fail "kept: $(find . -name 'piolet-beffio-*')"
