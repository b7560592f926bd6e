/* What the ranks share for shipping: memory on each node, and a communicator where there are several. */
#include "mpi/comm.h"
#include "mpi/real.h"
#include "mpi/wait.h"
#include "mpiio/error/error.h"
#include "mpiio/mem.h"
#include "mpiio/ship/ship_core.h"

#include <sys/mman.h>

/* ---- memory ---- */

/* A rank that shares memory with nobody is a node of its own. */
static void stand_alone(struct node *node)
{
    node_close(node);
    node->rank = 0;
    node->size = 1;
    node->bytes = ship_segment_bytes(1);
    void *memory = mmap(NULL, node->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    node->segment = memory == MAP_FAILED ? NULL : memory;
}

static pl_status open_memory_coll(const struct file *file, struct node *ret_node, struct pl_error *error)
{
    const size_t bytes = ship_segment_bytes(file->node.size);
    node_open_coll(file->comm, file->rank, file->size, &bytes, 1, ret_node);
    if (!ret_node->segment || ret_node->size != file->node.size)
        stand_alone(ret_node);
    if (!ret_node->segment)
        return pl_fail(error, PL_E_NOMEM, "no memory for the boxes of data shipping");
    struct ship_segment *segment = ret_node->segment;
    atomic_store(&segment->bells[ret_node->rank].rank, file->rank);
    return PL_OK;
}

/* ---- messages ---- */

enum { LEVEL_STARVES = -1 };

/* Seen with MPICH 4.0.2: threads of the program that wait in MPI keep its one lock so busy that an agent may get no
 * answer through for a minute. */
static int64_t usable_level(int level)
{
    return !PIOLET_IS_OPENMPI && service_program_level() == MPI_THREAD_MULTIPLE ? LEVEL_STARVES : level;
}

static const char *what_is_missing(const struct node *node, int64_t least_level)
{
    if (node->alone || least_level == MPI_THREAD_MULTIPLE)
        return NULL;
    if (least_level == LEVEL_STARVES)
        return "the ranks are on several nodes, and several threads of the program call MPI: MPICH lets agents starve "
               "then";
    return node->count > 1 ? "the ranks are on several nodes, and the MPI was not initialised with MPI_THREAD_MULTIPLE"
                           : "the ranks cannot share memory, and the MPI was not initialised with MPI_THREAD_MULTIPLE";
}

static pl_status open_messages_coll(const struct file *file, MPI_Comm *ret_comm, struct pl_error *error)
{
    const int code = comm_dup_coll(file->comm, ret_comm);
    if (code == MPI_SUCCESS)
        return PL_OK;
    return error_from_mpi(code, "duplicating the communicator for data shipping", error);
}

/* ---- opening and closing ---- */

static void free_coll(struct ship *ship)
{
    service_end(&ship->service);
    ship_agent_free(ship->agent);
    wait_enter();
    if (ship->comm != MPI_COMM_NULL)
        real.Comm_free(&ship->comm);
    wait_leave();
    node_close(&ship->node);
    pthread_mutex_destroy(&ship->lock);
    mem_free(ship->setting.map.ranks);
    mem_free(ship->wanted.ranks);
    mem_free(ship);
}

/* MPI ends, and the file is still open. */
static void stop(void *arg)
{
    struct ship *ship = arg;
    struct pl_error lost = {0}; /* nobody is left to be told */
    if (ship->agent)
        ship_agent_flush(ship->agent, &lost);
    ship_agent_free(ship->agent);
    ship->agent = NULL;
}

static void init(struct ship *ship, const struct node *node)
{
    pthread_mutex_init(&ship->lock, NULL);
    ship->node = *node;
    ship->segment = node->segment;
    ship->comm = MPI_COMM_NULL;
    atomic_init(&ship->free, SHIP_BOXES);
    for (int i = 0; i < SHIP_BOXES; i++)
        ship_segment_box(ship->segment, node->size, node->rank, i)->index = i;
}

void ship_open_coll(struct file *file)
{
    struct pl_error error = {0};
    struct node node = {0};
    struct agree agree;
    int level = MPI_THREAD_SINGLE;
    struct ship *ship = mem_zalloc(1, sizeof *ship);
    if (!ship)
        pl_fail(&error, PL_E_NOMEM, "no memory for data shipping");
    open_memory_coll(file, &node, &error);
    real.Query_thread(&level);
    const int64_t mine = usable_level(level);
    if (agree_run_coll(&agree, file->comm, file->rank, &error, &mine, 1) != PL_OK || !ship) { /* on all ranks */
        node_close(&node);
        mem_free(ship);
        return;
    }
    init(ship, &node);
    ship->missing = what_is_missing(&node, agree_least(&agree, 0));
    if (!node.alone && !ship->missing)
        open_messages_coll(file, &ship->comm, &error);
    if (agree_run_coll(&agree, file->comm, file->rank, &error, NULL, 0) != PL_OK) {
        free_coll(ship);
        return;
    }
    if (ship->comm != MPI_COMM_NULL) {
        ship->service = (struct service){.comm = ship->comm, .stop = stop, .arg = ship};
        service_begin(&ship->service);
    }
    file->ship = ship;
}

pl_status ship_close_coll(struct file *file, struct pl_error *error)
{
    struct ship *ship = file->ship;
    if (!ship)
        return PL_OK;
    struct agree agree;
    struct pl_error own = {0};
    agree_run_coll(&agree, file->comm, file->rank, &own, NULL, 0); /* nobody ships any more */
    if (ship->agent && ship_agent_flush(ship->agent, &own) != PL_OK && error->status == PL_OK)
        *error = own;
    free_coll(ship);
    file->ship = NULL;
    return error->status;
}
