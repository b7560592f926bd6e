#include "mpi/node.h"

#include "mpi/real.h"
#include "mpi/wait.h"

#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

/* What the first rank of a node tells the others of it. */
struct invitation {
    int64_t pid, fd; /* fd < 0: there is no segment */
    int64_t leader;
    uint64_t nonce;
};

static uint64_t fresh_nonce(const void *salt)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return ((uint64_t)now.tv_nsec << 32) ^ (uint64_t)now.tv_sec ^ ((uint64_t)getpid() << 20) ^ (uintptr_t)salt ^ 1;
}

static void *map(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

static void found_segment(struct node *node, struct invitation *ret_invitation)
{
    ret_invitation->pid = getpid();
    ret_invitation->nonce = fresh_nonce(node);
    const int fd = memfd_create("piolet", MFD_CLOEXEC);
    if (fd < 0)
        return;
    if (ftruncate(fd, (off_t)node->bytes) == 0)
        node->segment = map(fd, node->bytes);
    if (!node->segment) {
        close(fd);
        return;
    }
    memcpy(node->segment, &ret_invitation->nonce, sizeof ret_invitation->nonce);
    ret_invitation->fd = fd;
}

static void join_segment(struct node *node, const struct invitation *invitation)
{
    if (invitation->fd < 0)
        return;
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)invitation->pid, (long long)invitation->fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return;
    void *memory = lseek(fd, 0, SEEK_END) == (off_t)node->bytes ? map(fd, node->bytes) : NULL;
    close(fd);
    if (memory && memcmp(memory, &invitation->nonce, sizeof invitation->nonce) != 0) {
        munmap(memory, node->bytes); /* another process of that number, in another namespace */
        memory = NULL;
    }
    node->segment = memory;
}

/* Everybody has looked; the node uses the segment only where all of it saw the same. */
static bool all_see_coll(const struct node *node, MPI_Comm comm)
{
    const int64_t mine = node->segment != NULL;
    int64_t least = 0;
    MPI_Request request;
    if (real.Iallreduce(&mine, &least, 1, MPI_INT64_T, MPI_MIN, comm, &request))
        return false;
    wait_request(&request);
    return least == 1;
}

static void share_coll(struct node *node, MPI_Comm comm, int comm_rank)
{
    struct invitation invitation = {.fd = -1, .leader = comm_rank};
    if (node->rank == 0)
        found_segment(node, &invitation);
    MPI_Request request;
    if (real.Ibcast(&invitation, sizeof invitation, MPI_BYTE, 0, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
    node->leader = (int)invitation.leader;
    if (node->rank != 0)
        join_segment(node, &invitation);
    const bool shared = all_see_coll(node, comm);
    if (node->rank == 0 && invitation.fd >= 0) {
        memset(node->segment, 0, sizeof invitation.nonce);
        close((int)invitation.fd);
    }
    if (!shared)
        node_close(node);
}

static void count_nodes_coll(struct node *node, MPI_Comm comm)
{
    const int64_t mine[2] = {node->rank == 0, node->segment ? 0 : 1};
    int64_t sum[2] = {0, 1};
    MPI_Request request;
    if (real.Iallreduce(mine, sum, 2, MPI_INT64_T, MPI_SUM, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
    node->count = (int)sum[0];
    node->everywhere = sum[1] == 0;
    node->alone = sum[0] == 1 && sum[1] == 0;
}

/* PIOLET_NODE_RANKS=n: nodes are taken to have at most n ranks, such as those of one NUMA domain. */
static int ranks_wanted(void)
{
    const char *text = getenv("PIOLET_NODE_RANKS");
    const long wanted = text ? strtol(text, NULL, 10) : 0;
    return wanted > 0 && wanted < INT_MAX ? (int)wanted : INT_MAX;
}

static int split_coll(MPI_Comm comm, int comm_rank, MPI_Comm *ret_node)
{
    MPI_Comm whole;
    int rank;
    int code = real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, comm_rank, MPI_INFO_NULL, &whole);
    if (code != MPI_SUCCESS)
        return code;
    real.Comm_rank(whole, &rank);
    code = real.Comm_split(whole, rank / ranks_wanted(), rank, ret_node);
    real.Comm_free(&whole);
    return code;
}

void node_open_coll(MPI_Comm comm, int comm_rank, int comm_size, size_t bytes, struct node *ret_node)
{
    *ret_node = (struct node){.size = 1, .count = 1, .bytes = bytes};
    if (comm_size == 1) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        ret_node->segment = memory == MAP_FAILED ? NULL : memory;
        ret_node->alone = ret_node->everywhere = ret_node->segment != NULL;
        return;
    }
    MPI_Comm node_comm;
    wait_enter();
    const int code = ranks_wanted() == INT_MAX
                         ? real.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, comm_rank, MPI_INFO_NULL, &node_comm)
                         : split_coll(comm, comm_rank, &node_comm);
    wait_leave();
    if (code != MPI_SUCCESS) {
        ret_node->count = comm_size;
        return;
    }
    real.Comm_rank(node_comm, &ret_node->rank);
    real.Comm_size(node_comm, &ret_node->size);
    share_coll(ret_node, node_comm, comm_rank);
    real.Comm_free(&node_comm);
    count_nodes_coll(ret_node, comm);
}

void node_close(struct node *node)
{
    if (node->segment)
        munmap(node->segment, node->bytes);
    node->segment = NULL;
}
