#!/usr/bin/env bash
# b_eff in rings of two, seen from below: how many messages of which length each method makes in a round, and from where.
# proves: BEFF-3 BEFF-5
# It would fail if a method sent one message of 2 L, or one in the place of two, to the neighbour on both sides; if the form of
# b_eff 3.6 sent two; if the messages counted were not those sent; or if messages of following rounds came from one address.
# processors: 2
# timeout: 120
source "$(dirname "$0")/../lib.sh"
command -v jq >/dev/null || skip "needs jq"
[ -z "${PIOLET_SANITIZE:-}" ] || skip "a library of C that is preloaded comes before the sanitizer"
cd "$TMP"

cat >below.c <<'C'
/* Between two barriers, of rank 0: calls with messages of 64 bytes, and their addresses. A line for each loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
enum { LENGTH = 64, MOST = 4096 };
static int sendrecvs, isends, waits, calls, count;
static const void *addresses[MOST];
static void note(const void *address)
{
    for (int i = 0; i < count; i++)
        if (addresses[i] == address)
            return;
    if (count < MOST)
        addresses[count++] = address;
}
int MPI_Sendrecv(const void *out, int n, MPI_Datatype type, int to, int tag, void *in, int in_count,
                 MPI_Datatype in_type, int from, int in_tag, MPI_Comm comm, MPI_Status *status)
{
    if (n == LENGTH) {
        sendrecvs++;
        note(out);
    }
    return PMPI_Sendrecv(out, n, type, to, tag, in, in_count, in_type, from, in_tag, comm, status);
}
int MPI_Isend(const void *out, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request *request)
{
    if (n == LENGTH) {
        isends++;
        note(out);
    }
    return PMPI_Isend(out, n, type, to, tag, comm, request);
}
int MPI_Waitall(int n, MPI_Request *requests, MPI_Status *statuses)
{
    waits += isends > 0;
    return PMPI_Waitall(n, requests, statuses);
}
int MPI_Alltoallv(const void *out, const int *counts, const int *at, MPI_Datatype type, void *in, const int *in_counts,
                  const int *in_at, MPI_Datatype in_type, MPI_Comm comm)
{
    if (counts[1] == LENGTH) {
        calls++;
        note((const char *)out + at[1]);
    }
    return PMPI_Alltoallv(out, counts, at, type, in, in_counts, in_at, in_type, comm);
}
int MPI_Barrier(MPI_Comm comm)
{
    const char *name = getenv("BELOW");
    int rank;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    FILE *file = rank == 0 && sendrecvs + isends + calls > 0 ? fopen(name, "a") : NULL;
    if (file) {
        if (sendrecvs)
            fprintf(file, "sendrecv %d %d\n", sendrecvs, count);
        if (isends)
            fprintf(file, "nonblocking %d/%d %d\n", isends, waits, count);
        if (calls)
            fprintf(file, "alltoallv %d %d\n", calls, count);
        fclose(file);
    }
    sendrecvs = isends = waits = calls = count = 0;
    return PMPI_Barrier(comm);
}
C
expect_exit 0 "mpicc.$PIOLET_MPI" -shared -fPIC below.c -o libbelow.so
below()
{
    expect_exit 0 mpirun_n 2 env LD_PRELOAD="$TMP/libbelow.so" BELOW="$TMP/$1.seen" "$PIOLET" beff --quick --time 10m --memory 1m \
        --patterns 1 "${@:2}" -o "$1.out"
}
below walk

# Of each pattern in its order: rounds of the loop and one before it, messages of a process in a round, each with an address of
# its own. Bisections: one message in a round, with MPI_Send in the place of Sendrecv.
expect_exit 0 "$PIOLET" analyze export --format json -o walk.json walk.out
for method in sendrecv alltoallv nonblocking; do
    jq -r --arg m $method '.blocks[0].sets[].params | select(.length_bytes == "64" and .pattern != "ping-pong" and
        ($m != "sendrecv" or (.pattern | endswith("bisection") | not))) | (.messages | tonumber / 2) as $each |
        ((.[$m + "_loops"] | tonumber) + 1) as $rounds |
        "\($m) \($each * $rounds)\(if $m == "nonblocking" then "/\($rounds)" else "" end) \($each * $rounds)"' walk.json | uniq >expected
    grep "^$method " walk.seen | uniq | diff expected - >&2 || fail "$method: other messages than the document's"
    [ "$(wc -l <expected)" -ge 20 ] || fail "$method: forms of one and of two messages do not alternate: $(cat expected)"
done

# The same addresses in each round: those of two messages.
below fixed --cached
awk '$3 > 2 { exit 1 }' fixed.seen || fail "--cached: more addresses than those of a round: $(sort -u fixed.seen)"
