#!/usr/bin/env bash
# b_eff on two hosts: the numbering of ranks is reported, and messages cross the network.
# proves: BEFF-4 BEFF-7
# It would fail if round-robin and sequential numbering were taken for each other or for one host, or if no message left
# a host. Two network namespaces with host names of their own stand for the hosts.
# timeout: 180
# serial
source "$(dirname "$0")/../lib.sh"
source "$SOURCE/tools/hosts.sh"

[ "$PIOLET_MPI" = openmpi ] || skip "several hosts are tried with Open MPI (MPICH over TCP may hang in MPI_Finalize)"
why_not=$(hosts_why_not)
[ -z "$why_not" ] || skip "$why_not"
on_exit hosts_remove
hosts_make 2 "$TMP" 2>"$ERR" || skip "cannot make network namespaces: $(head -n 1 "$ERR")"
cd "$TMP"

on_hosts()
{
    HOSTS_TIMEOUT=60 hosts_mpiexec "$@"
}
if ! on_hosts 2 hostname >"$OUT" 2>"$ERR" </dev/null; then
    skip "Open MPI cannot start on two namespaces: $(grep -m 1 . "$ERR")"
fi

quick=("$PIOLET" beff --quick --memory 1m --patterns 1)
before=$(hosts_bytes_sent 0)
expect_exit 0 on_hosts 4 --mca pml ob1 --mca btl tcp,vader,self "${quick[@]}" -o turns.out
expect_in "$OUT" "4 processes on 2 hosts, numbered round-robin"
[ $(($(hosts_bytes_sent 0) - before)) -gt 1000000 ] || fail "hardly a byte crossed the network"
expect_exit 0 on_hosts 4 --rank-by slot --mca pml ob1 --mca btl tcp,vader,self "${quick[@]}" -o sequence.out
expect_in "$OUT" "4 processes on 2 hosts, numbered sequentially"
expect_exit 0 on_hosts 2 --mca pml ob1 --mca btl tcp,vader,self "${quick[@]}" -o each.out
expect_in "$OUT" "2 processes on 2 hosts, one on each host"
