#!/usr/bin/env bash
# proves: GPFS-1 GPFS-2 GPFS-6
# The engine on several hosts: shared file pointers in a window, exchange and data shipping by messages over a network. Two network namespaces with
# host names and shared memory of their own stand for the hosts. Fails on wrong data, on a hang, or when no byte
# crosses the network between them.
# timeout: 300
# serial
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"
source "$(dirname "$0")/../hosts.sh"

across_hosts()
{
    local ranks=$1
    shift
    hosts_mpiexec "$ranks" --mca pml ob1 --mca btl tcp,vader,self --mca osc pt2pt \
        -x LD_PRELOAD="$BINARY/lib/libpiolet-mpiio.so" "$@"
}
two_hosts across_hosts

before=$(hosts_bytes_sent 0)
for ranks in 2 4; do
    across_hosts "$ranks" "$FUZZ" "$TMP/hosts-$ranks" --seed 3 --cases 40 --alarm 60 >"$OUT" 2>"$ERR" </dev/null || {
        tail -n 20 "$OUT" "$ERR" >&2
        fail "$ranks ranks on two hosts"
    }
done
# where ranks of a node share no memory: every rank sends by itself, each piece or all of them
for name in twophase cb_c; do
    across_hosts 4 -x PIOLET_HINTS="piolet_strategy=$name" "$FUZZ" "$TMP/$name" --seed 5 --cases 15 --alarm 60 \
        >"$OUT" 2>"$ERR" </dev/null || {
        tail -n 20 "$OUT" "$ERR" >&2
        fail "$name on two hosts"
    }
done
sent=$(($(hosts_bytes_sent 0) - before))
[ "$sent" -gt 100000 ] || fail "only $sent bytes crossed the network"

# Agents answer over the network. With threads Open MPI has no windows across hosts: the shared file pointer has a server.
for name in busy owner; do
    expect_exit 0 across_hosts 4 -x PIOLET_THREADS=multiple "$PROGRAMS/engine_shipping" "$TMP/file" $name
    expect_in "$OUT" "4 ranks: $name is right"
done
hints="piolet_strategy=shipping IBM_io_buffer_size=256k"
for how in --quiet --unique; do
    across_hosts 4 -x PIOLET_HINTS="$hints" "$FUZZ" "$TMP/ship" --seed 4 --cases 30 --alarm 60 "$how" \
        >"$OUT" 2>"$ERR" </dev/null || {
        tail -n 20 "$OUT" "$ERR" >&2
        fail "data shipping on two hosts, $how"
    }
done
