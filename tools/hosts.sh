# Several hosts on one machine, for tests and benchmarks: network namespaces on a bridge, each with a host name and
# shared memory of its own. Open MPI starts processes there by an agent in the place of ssh.
#   hosts_why_not            words why there can be none here; nothing: there can
#   hosts_make N DIR         makes N hosts; files that they need go to DIR; HOSTS are their names
#   hosts_mpiexec RANKS OPTION... PROGRAM ARG...
#                            ranks are dealt to the hosts in turn; options of mpiexec.openmpi
#   hosts_bytes_sent I       what host I has sent over its network up to now
#   hosts_remove             call it at the end, whatever happened: ends processes and removes what was made
# shellcheck shell=bash

HOSTS=()
HOSTS_DIR=
HOSTS_BRIDGE=plb$$
HOSTS_NET=10.213.$(($$ % 250)) # another for each user at the same time

hosts_why_not()
{
    local command
    [ "$(id -u)" -eq 0 ] || { echo "network namespaces need root"; return; }
    for command in ip unshare mount hostname mpiexec.openmpi; do
        command -v "$command" >/dev/null || { echo "several hosts need the command '$command'"; return; }
    done
}

hosts_remove()
{
    local i
    for ((i = 0; i < ${#HOSTS[@]}; i++)); do
        ip link delete "plv$i$$"
        ip netns pids "${HOSTS[i]}" | xargs -r kill -9
        ip netns delete "${HOSTS[i]}"
    done 2>/dev/null
    ip link delete "$HOSTS_BRIDGE" 2>/dev/null
    HOSTS=()
}

hosts_add()
{
    local i=$1 host=$2
    ip netns add "$host" &&
        ip link add "plv$i$$" type veth peer name eth0 netns "$host" &&
        ip link set "plv$i$$" master "$HOSTS_BRIDGE" && ip link set "plv$i$$" up &&
        ip -n "$host" addr add "$HOSTS_NET.$((i + 1))/24" dev eth0 &&
        ip -n "$host" link set eth0 up && ip -n "$host" link set lo up
}

hosts_make()
{
    local count=$1 i host
    HOSTS_DIR=$2
    ip link add "$HOSTS_BRIDGE" type bridge && ip addr add "$HOSTS_NET.254/24" dev "$HOSTS_BRIDGE" &&
        ip link set "$HOSTS_BRIDGE" up || return
    printf '127.0.0.1 localhost\n%s.254 %s\n' "$HOSTS_NET" "$(hostname)" >"$HOSTS_DIR/hosts"
    for ((i = 0; i < count; i++)); do
        host=plh$$n$i
        HOSTS+=("$host")
        hosts_add "$i" "$host" || return
        echo "$HOSTS_NET.$((i + 1)) $host" >>"$HOSTS_DIR/hosts"
    done
    # What Open MPI calls in the place of ssh: agent HOST COMMAND...
    cat >"$HOSTS_DIR/agent" <<AGENT
#!/bin/bash
host=\$1
shift
exec ip netns exec "\$host" unshare -u -m bash -c "hostname \$host; mount --bind $HOSTS_DIR/hosts /etc/hosts; mount -t tmpfs shm /dev/shm; \$*"
AGENT
    chmod +x "$HOSTS_DIR/agent"
}

hosts_mpiexec()
{
    local ranks=$1 slots
    shift
    slots=$(printf "%s:$ranks," "${HOSTS[@]}")
    timeout -k 10 "${HOSTS_TIMEOUT:-120}" unshare -m bash -c "mount --bind '$HOSTS_DIR/hosts' /etc/hosts; exec \"\$@\"" - \
        mpiexec.openmpi --allow-run-as-root --oversubscribe --bind-to none --map-by node --host "${slots%,}" \
        --mca plm_rsh_agent "$HOSTS_DIR/agent" --mca btl_tcp_if_include eth0 \
        --mca oob_tcp_if_include "eth0,$HOSTS_BRIDGE" --mca mpi_yield_when_idle 1 -n "$ranks" "$@"
}

hosts_bytes_sent()
{
    ip -n "${HOSTS[$1]}" -s link show eth0 | awk '/TX:/ { getline; print $1 }'
}
