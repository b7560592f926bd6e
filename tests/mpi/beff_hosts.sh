#!/usr/bin/env bash
# b_eff on two hosts: the numbering of ranks is reported, and messages cross the network.
# proves: BEFF-4 BEFF-7
# It would fail if round-robin and sequential numbering were taken for each other or for one host, or if no message left
# a host. Two network namespaces with host names of their own stand for the hosts.
# timeout: 180
# serial
source "$(dirname "$0")/../lib.sh"
source "$(dirname "$0")/../hosts.sh"

on_hosts()
{
    HOSTS_TIMEOUT=60 hosts_mpiexec "$@"
}
two_hosts on_hosts
cd "$TMP"

quick=("$PIOLET" beff --quick --memory 1m --patterns 1)
before=$(hosts_bytes_sent 0)
expect_exit 0 on_hosts 4 --mca pml ob1 --mca btl tcp,vader,self "${quick[@]}" -o turns.out
expect_in "$OUT" "4 processes on 2 hosts, numbered round-robin"
[ $(($(hosts_bytes_sent 0) - before)) -gt 1000000 ] || fail "hardly a byte crossed the network"
expect_exit 0 on_hosts 4 --rank-by slot --mca pml ob1 --mca btl tcp,vader,self "${quick[@]}" -o sequence.out
expect_in "$OUT" "4 processes on 2 hosts, numbered sequentially"
expect_exit 0 on_hosts 2 --mca pml ob1 --mca btl tcp,vader,self "${quick[@]}" -o each.out
expect_in "$OUT" "2 processes on 2 hosts, one on each host"
