#!/usr/bin/env bash
# proves: GPFS-6
# What the engine stands on (src/mpi): waiting that keeps MPI going, agreement among ranks, memory that a node shares.
# Fails when a rank that waits for a flag keeps its own message from arriving (it then hangs), when ranks come to
# different verdicts or one loses its own words, when ranks do not see each other's writes, when ranks that cannot share
# memory (containers) believe that they do, or when something is left in /dev/shm.
# processors: 2
# serial
source "$(dirname "$0")/../lib.sh"

compiler=mpicc.$PIOLET_MPI
command -v "$compiler" >/dev/null || skip "$compiler is not installed"
flags=(-std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -g -I"$SOURCE/src" "-DPIOLET_MPI_NAME=\"$PIOLET_MPI\"")
[ "$PIOLET_MPI" != openmpi ] || flags+=(-DPIOLET_IS_OPENMPI=1)
[ -z "${PIOLET_SANITIZE:-}" ] || flags+=("-fsanitize=$PIOLET_SANITIZE" -fno-sanitize-recover=all)
sources=("$SOURCE"/src/mpi/{real,wait,agree,node}.c "$SOURCE"/src/base/{address_space,cgroup,size_limit,status}.c "$SOURCE/tests/mpi/ground.c")
expect_exit 0 "$compiler" "${flags[@]}" "${sources[@]}" -o "$TMP/ground" -ldl -pthread

expect_exit 0 mpirun_n 2 "$TMP/ground" wait
expect_in "$OUT" "2 ranks: wait is right"

for ranks in 1 2 3 5 8; do
    expect_exit 0 mpirun_n "$ranks" "$TMP/ground" agree
    expect_in "$OUT" "$ranks ranks: agree is right"
done

# Other jobs of this machine have files there, too; ours would be named after us or be seen as open by a rank.
for ranks in 1 2 5; do
    expect_exit 0 mpirun_n "$ranks" "$TMP/ground" node
    expect_in "$OUT" "$ranks ranks: node is right"
done
[ -z "$(find /dev/shm -name '*piolet*' -newer "$TMP/ground" 2>/dev/null)" ] || fail "something is left in /dev/shm"

# Ranks that do not see each other's /proc. MPICH's own transport (UCX) needs it and hangs now and then without.
# shellcheck disable=SC2016 # the inner shell's
apart=(unshare --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh)
if [ "$PIOLET_MPI" = openmpi ] && "${apart[@]}" true 2>/dev/null; then
    expect_exit 0 mpirun_n 3 "${apart[@]}" "$TMP/ground" apart
    expect_in "$OUT" "3 ranks: apart is right"
else
    echo "not checked: ranks that cannot share memory (no namespaces here, or MPICH)"
fi

# Without the pokes the same program hangs: so the test above proves something. Over shared memory Open MPI may send
# the message at once; MPICH needs the sender.
if [ "$PIOLET_MPI" = mpich ]; then
    status=0
    MPIRUN_TIMEOUT=4 mpirun_n 2 "$TMP/ground" bare >"$OUT" 2>"$ERR" || status=$?
    [ "$status" -ne 0 ] || fail "a wait that leaves MPI alone does not hang: this test proves nothing"
    expect_not_in "$OUT" "is right"
fi
