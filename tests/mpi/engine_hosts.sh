#!/usr/bin/env bash
# proves: GPFS-1 GPFS-6
# The engine on several hosts: shared file pointers in a window, exchange by messages over a network. Two network namespaces with
# host names and shared memory of their own stand for the hosts. Fails on wrong data, on a hang, or when no byte
# crosses the network between them.
# timeout: 300
# serial
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../engine.sh"

[ "$PIOLET_MPI" = openmpi ] || skip "several hosts are tried with Open MPI (MPICH over TCP may hang in MPI_Finalize)"
[ "$(id -u)" -eq 0 ] || skip "network namespaces need root"
for command in ip unshare mount hostname; do
    command -v "$command" >/dev/null || skip "network namespaces need the command '$command'"
done

bridge=plb$$
bridge=${bridge:0:12}
hosts=("plh$$a" "plh$$b")

remove_hosts()
{
    local host
    ip link delete "plv0$$" 2>/dev/null
    ip link delete "plv1$$" 2>/dev/null
    for host in "${hosts[@]}"; do
        ip netns pids "$host" 2>/dev/null | xargs -r kill -9 2>/dev/null
        ip netns delete "$host" 2>/dev/null
    done
    ip link delete "$bridge" 2>/dev/null
}
on_exit remove_hosts

make_hosts()
{
    local i
    ip link add "$bridge" type bridge && ip addr add 10.213.7.254/24 dev "$bridge" && ip link set "$bridge" up || return 1
    for i in 0 1; do
        ip netns add "${hosts[i]}" &&
            ip link add "plv$i$$" type veth peer name eth0 netns "${hosts[i]}" &&
            ip link set "plv$i$$" master "$bridge" && ip link set "plv$i$$" up &&
            ip -n "${hosts[i]}" addr add "10.213.7.$((i + 1))/24" dev eth0 &&
            ip -n "${hosts[i]}" link set eth0 up && ip -n "${hosts[i]}" link set lo up || return 1
    done
}
make_hosts 2>"$ERR" || skip "cannot make network namespaces: $(head -n 1 "$ERR")"

{
    echo "127.0.0.1 localhost"
    echo "10.213.7.254 $(hostname)"
    for i in 0 1; do echo "10.213.7.$((i + 1)) ${hosts[i]}"; done
} >"$TMP/hosts"

# What Open MPI calls in the place of ssh: agent HOST COMMAND...
cat >"$TMP/agent" <<AGENT
#!/bin/bash
host=\$1
shift
exec ip netns exec "\$host" unshare -u -m bash -c "hostname \$host; mount --bind $TMP/hosts /etc/hosts; mount -t tmpfs shm /dev/shm; \$*"
AGENT
chmod +x "$TMP/agent"

across_hosts()
{
    local ranks=$1
    shift
    timeout -k 10 120 unshare -m bash -c "mount --bind '$TMP/hosts' /etc/hosts; exec \"\$@\"" - \
        mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none --map-by node \
        --host "${hosts[0]}:$ranks,${hosts[1]}:$ranks" --mca plm_rsh_agent "$TMP/agent" \
        --mca pml ob1 --mca btl tcp,vader,self --mca btl_tcp_if_include eth0 --mca oob_tcp_if_include "eth0,$bridge" \
        --mca mpi_yield_when_idle 1 --mca osc pt2pt -x LD_PRELOAD="$BINARY/lib/libpiolet-mpiio.so" -n "$ranks" "$@"
}

bytes_sent()
{
    ip -n "${hosts[0]}" -s link show eth0 | awk '/TX:/ { getline; print $1 }'
}

if ! across_hosts 2 hostname >"$OUT" 2>"$ERR" </dev/null; then
    skip "Open MPI cannot start on two namespaces: $(grep -m 1 . "$ERR")"
fi
[ "$(sort -u "$OUT" | wc -l)" -eq 2 ] || fail "two hosts were wanted, but the ranks run on: $(sort -u "$OUT" | tr '\n' ' ')"

engine_fuzz_build
before=$(bytes_sent)
for ranks in 2 4; do
    across_hosts "$ranks" "$FUZZ" "$TMP/hosts-$ranks" --seed 3 --cases 40 --alarm 60 >"$OUT" 2>"$ERR" </dev/null || {
        tail -n 20 "$OUT" "$ERR" >&2
        fail "$ranks ranks on two hosts"
    }
done
sent=$(($(bytes_sent) - before))
[ "$sent" -gt 100000 ] || fail "only $sent bytes crossed the network"
