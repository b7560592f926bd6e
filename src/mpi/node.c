#include "mpi/node.h"

#include "base/clock.h"
#include "base/limits.h"
#include "mpi/real.h"
#include "mpi/wait.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

enum {
    GROUP_PART = 8, /* a segment takes at most this part of the memory that is left to all processes of the node, */
    SPACE_PART = 4  /* and this one of a rank's address space */
};

/* MPICH 4.0.2 maps 4.2 MiB for each rank of the node with which it exchanges more than the shortest messages; where it
 * cannot, they are lost without an error. */
static const uint64_t MPI_SPACE = (uint64_t)6 << 20, MPI_SPACE_EACH = PIOLET_IS_OPENMPI ? 0 : (uint64_t)17 << 18;

/* Bytes of the segments that this process shares. What of them is not touched yet is left to the group still, and must
 * not be given away again: files that are open at once would together take more than there is. */
static _Atomic uint64_t promised;

/* What the first rank of a node tells the others of it. */
struct invitation {
    int64_t pid, fd;  /* fd < 0: it is not there */
    int64_t attached; /* number of a segment of System V; < 0: it is none */
    int64_t choice;   /* of the sizes */
    int64_t leader;
    uint64_t nonce;
};

static uint64_t fresh_nonce(const void *salt)
{
    const uint64_t now = (uint64_t)clock_read_ns(CLOCK_MONOTONIC);
    return now << 32 ^ now / 1000000000 ^ ((uint64_t)getpid() << 20) ^ (uintptr_t)salt ^ 1;
}

/* ---- two kinds of memory ---- */

static void *node_map(int fd, size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

/* A limit of file size holds for it, too. */
static bool found_file(struct node *node, struct invitation *invitation)
{
    const int fd = memfd_create("piolet", MFD_CLOEXEC);
    if (fd < 0)
        return false;
    node->segment = size_limit_truncate(fd, (off_t)node->bytes) == 0 ? node_map(fd, node->bytes) : NULL;
    if (!node->segment) {
        close(fd);
        return false;
    }
    invitation->fd = fd;
    return true;
}

static void *node_attach(int64_t number)
{
    void *memory = shmat((int)number, NULL, 0);
    return memory == (void *)-1 ? NULL : memory; /* NOLINT(performance-no-int-to-ptr) */
}

/* Neither a descriptor nor a limit of file size matters to it. Linux lets others attach what is marked already. */
static bool found_attached(struct node *node, struct invitation *invitation)
{
    const int number = shmget(IPC_PRIVATE, node->bytes, IPC_CREAT | 0600);
    if (number < 0)
        return false;
    node->segment = node_attach(number);
    shmctl(number, IPC_RMID, NULL);
    if (!node->segment)
        return false;
    node->attached = true;
    invitation->attached = number;
    return true;
}

static void found_segment(struct node *node, const size_t *sizes, int count, struct invitation *ret_invitation)
{
    const bool accounted = address_space_is_accounted(); /* then System V's is set aside as a whole */
    ret_invitation->pid = getpid();
    ret_invitation->nonce = fresh_nonce(node);
    for (int i = node->choice; i < count && !node->segment; i++) {
        node->bytes = sizes[i];
        ret_invitation->choice = i;
        if ((accounted || !found_file(node, ret_invitation)) && !found_attached(node, ret_invitation))
            continue;
        memcpy(node->segment, &ret_invitation->nonce, sizeof ret_invitation->nonce);
    }
}

static void *open_file_of(const struct invitation *invitation, size_t bytes, bool *ret_refused)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%lld/fd/%lld", (long long)invitation->pid, (long long)invitation->fd);
    const int fd = open(path, O_RDWR | O_CLOEXEC);
    *ret_refused = fd < 0 && (errno == EACCES || errno == EPERM);
    if (fd < 0)
        return NULL;
    void *memory = lseek(fd, 0, SEEK_END) == (off_t)bytes ? node_map(fd, bytes) : NULL;
    close(fd);
    return memory;
}

static void join_segment(struct node *node, const size_t *sizes, const struct invitation *invitation)
{
    node->choice = (int)invitation->choice;
    node->bytes = sizes[node->choice];
    node->attached = invitation->attached >= 0;
    if (node->attached) {
        node->segment = node_attach(invitation->attached);
        node->refused = !node->segment && (errno == EACCES || errno == EPERM);
    } else if (invitation->fd >= 0) {
        node->segment = open_file_of(invitation, node->bytes, &node->refused);
    }
    if (node->segment && memcmp(node->segment, &invitation->nonce, sizeof invitation->nonce) != 0)
        node_close(node); /* another process of that number, in another namespace */
}

/* ---- a node ---- */

static uint64_t group_left(void)
{
    const uint64_t left = cgroup_memory_left(), gone = atomic_load(&promised);
    return left == UINT64_MAX ? left : left - (gone < left ? gone : left);
}

bool node_affords(const struct node *node)
{
    if (node->rank != 0 || node->promised == 0)
        return true;
    const uint64_t left = cgroup_memory_left(), gone = atomic_load(&promised) - node->promised;
    return left == UINT64_MAX || (left > gone && node->bytes <= (left - gone) / GROUP_PART);
}

/* The first of the sizes that is a small part of what is left; the last one is asked for in any case. */
static int first_affordable(struct node *node, const size_t *sizes, int count)
{
    assert(node->size > 0 && node->rank < node->size);
    const uint64_t space = address_space_left(), group = node->rank == 0 ? group_left() : UINT64_MAX;
    const uint64_t each = group == UINT64_MAX ? group : group / (uint64_t)node->size;
    int i = 0;
    while (i + 1 < count && (sizes[i] > space / SPACE_PART || sizes[i] > group / GROUP_PART))
        i++;
    node->left = space < each ? space : each;
    node->scarce = space < MPI_SPACE + MPI_SPACE_EACH * (uint64_t)(node->size - 1);
    return i;
}

static int64_t node_reduce_coll(int64_t mine, MPI_Op op, MPI_Comm comm, int64_t otherwise)
{
    int64_t all = otherwise;
    MPI_Request request;
    if (real.Iallreduce(&mine, &all, 1, MPI_INT64_T, op, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
    return all;
}

static void share_coll(struct node *node, const size_t *sizes, int count, MPI_Comm comm, int comm_rank)
{
    struct invitation invitation = {.fd = -1, .attached = -1, .leader = comm_rank};
    node->choice = (int)node_reduce_coll(first_affordable(node, sizes, count), MPI_MAX, comm, 0);
    if (node->rank == 0)
        found_segment(node, sizes, count, &invitation);
    MPI_Request request;
    if (real.Ibcast(&invitation, sizeof invitation, MPI_BYTE, 0, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
    node->leader = (int)invitation.leader;
    if (node->rank == 0)
        node->choice = (int)invitation.choice;
    else
        join_segment(node, sizes, &invitation);
    /* Everybody has looked; the node uses the segment only where all of it saw the same. */
    const bool shared = node_reduce_coll(node->segment != NULL, MPI_MIN, comm, 0) == 1;
    if (node->rank == 0 && node->segment)
        memset(node->segment, 0, sizeof invitation.nonce);
    if (node->rank == 0 && invitation.fd >= 0)
        close((int)invitation.fd);
    if (!shared)
        node_close(node);
    assert(!shared || node->segment);
    node->promised = node->segment ? node->bytes : 0;
    atomic_fetch_add(&promised, node->promised);
}

static void node_count_coll(struct node *node, MPI_Comm comm)
{
    const int64_t mine[4] = {node->rank == 0, node->segment ? 0 : 1, node->refused, node->scarce};
    int64_t sum[4] = {0, 1, 0, 0};
    MPI_Request request;
    if (real.Iallreduce(mine, sum, 4, MPI_INT64_T, MPI_SUM, comm, &request) == MPI_SUCCESS)
        wait_request(&request);
    node->count = (int)sum[0];
    node->everywhere = sum[1] == 0;
    node->refused = sum[2] > 0;
    node->scarce = sum[3] > 0;
    node->alone = sum[0] == 1 && sum[1] == 0;
    if (node->everywhere && !node->alone)
        node->choice = (int)node_reduce_coll(node->choice, MPI_MAX, comm, node->choice);
}

/* Nobody to share with. */
static void node_stand_alone(struct node *node, const size_t *sizes, int count)
{
    for (int i = first_affordable(node, sizes, count); i < count && !node->segment; i++) {
        void *memory = mmap(NULL, sizes[i], PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        node->segment = memory == MAP_FAILED ? NULL : memory;
        node->bytes = sizes[i];
        node->choice = i;
    }
    node->alone = node->everywhere = node->segment != NULL;
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

void node_open_coll(MPI_Comm comm, int comm_rank, int comm_size, const size_t *sizes, int count, struct node *ret_node)
{
    assert(comm_rank >= 0 && comm_rank < comm_size && count > 0);
    *ret_node = (struct node){.size = 1, .count = 1, .left = UINT64_MAX};
    if (comm_size == 1) {
        node_stand_alone(ret_node, sizes, count);
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
    share_coll(ret_node, sizes, count, node_comm, comm_rank);
    real.Comm_free(&node_comm);
    node_count_coll(ret_node, comm);
}

void node_close(struct node *node)
{
    if (node->segment && node->attached)
        shmdt(node->segment);
    else if (node->segment)
        munmap(node->segment, node->bytes);
    node->segment = NULL;
    assert(atomic_load(&promised) >= node->promised);
    atomic_fetch_sub(&promised, node->promised);
    node->promised = 0;
}
