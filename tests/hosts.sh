# Two hosts for a test, or it is skipped; by tools/hosts.sh, whose functions work then.
#   two_hosts START    START RANKS PROGRAM ARG... is the function by which the test will start programs there
# shellcheck shell=bash
source "$SOURCE/tools/hosts.sh"

two_hosts()
{
    local start=$1 why_not
    [ "$PIOLET_MPI" = openmpi ] || skip "several hosts are tried with Open MPI (MPICH over TCP may hang in MPI_Finalize)"
    why_not=$(hosts_why_not)
    [ -z "$why_not" ] || skip "$why_not"
    on_exit hosts_remove
    hosts_make 2 "$TMP" 2>"$ERR" || skip "cannot make network namespaces: $(head -n 1 "$ERR")"
    "$start" 2 hostname >"$OUT" 2>"$ERR" </dev/null ||
        skip "Open MPI cannot start on two namespaces: $(grep -m 1 . "$ERR")"
    [ "$(sort -u "$OUT" | wc -l)" -eq 2 ] ||
        fail "two hosts were wanted, but the ranks run on: $(sort -u "$OUT" | tr '\n' ' ')"
}
