/* Communicators, and processes that are not in the job from its beginning. */
#include "engine_progress.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static MPI_Comm made;
static MPI_Group group;

static void make_group(void)
{
    MPI_Comm_group(world, &group);
}

static void free_made(void)
{
    if (made != MPI_COMM_NULL)
        MPI_Comm_free(&made);
}

static void free_made_group(void)
{
    free_made();
    MPI_Group_free(&group);
}

#define ROW(name, prepare, clean)                                                                                      \
    {                                                                                                                  \
#name, prepare, row_##name, row_##name, clean, false                                                           \
    }
#define MAKING(name, ...)                                                                                              \
    static void row_##name(void)                                                                                       \
    {                                                                                                                  \
        MPI_##name(__VA_ARGS__, &made);                                                                                \
    }

MAKING(Comm_dup, world)
MAKING(Comm_dup_with_info, world, MPI_INFO_NULL)
MAKING(Comm_create, world, group)
MAKING(Comm_create_group, world, group, 3)
MAKING(Comm_split, world, 0, 0)
MAKING(Comm_split_type, world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL)

static void make(void)
{
    MPI_Comm_dup(world, &made);
}

/* These may return before the others are there. */
static void row_Comm_set_info(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Comm_set_info(made, info);
    MPI_Info_free(&info);
}

static void row_Comm_free(void)
{
    MPI_Comm_free(&made);
}

static void row_Comm_disconnect(void)
{
    MPI_Comm_disconnect(&made);
}

/* ---- with a shape ---- */

static const int periods[2] = {1, 1};

static void row_Cart_create(void)
{
    MPI_Cart_create(world, 1, &size, periods, 0, &made);
}

static MPI_Comm shaped;

static void make_shaped(void)
{
    MPI_Cart_create(world, 1, &size, periods, 0, &shaped);
}

static void free_shaped(void)
{
    free_made();
    MPI_Comm_free(&shaped);
}

static void row_Cart_sub(void)
{
    const int remain[1] = {1};
    MPI_Cart_sub(shaped, remain, &made);
}

static void row_Graph_create(void)
{
    int indices[64], edges[128];
    for (int i = 0; i < size; i++) {
        indices[i] = 2 * (i + 1);
        edges[2 * i] = (i + 1) % size;
        edges[2 * i + 1] = (i + size - 1) % size;
    }
    MPI_Graph_create(world, size, indices, edges, 0, &made);
}

static void row_Dist_graph_create(void)
{
    const int degree = 1, next = (rank + 1) % size;
    MPI_Dist_graph_create(world, 1, &rank, &degree, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made);
}

static void row_Dist_graph_create_adjacent(void)
{
    const int next = (rank + 1) % size, before = (rank + size - 1) % size;
    MPI_Dist_graph_create_adjacent(world, 1, &before, MPI_UNWEIGHTED, 1, &next, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &made);
}

/* ---- between two groups: the last rank, and the others ---- */

static MPI_Comm side, between;

static void make_side(void)
{
    MPI_Comm_split(world, rank == LAST, 0, &side);
}

static void row_Intercomm_create(void)
{
    MPI_Intercomm_create(side, 0, world, rank == LAST ? 0 : LAST, 5, &between);
}

static void free_between(void)
{
    MPI_Comm_free(&between);
    MPI_Comm_free(&side);
}

static void make_between(void)
{
    make_side();
    row_Intercomm_create();
}

static void row_Intercomm_merge(void)
{
    MPI_Intercomm_merge(between, rank == LAST, &made);
}

static void free_merged(void)
{
    free_made();
    free_between();
}

/* ---- other processes ---- */

static char port[MPI_MAX_PORT_NAME];

static void open_port(void)
{
    make_side();
    if (rank == LAST) {
        MPI_Open_port(MPI_INFO_NULL, port);
        memcpy(board->text, port, sizeof board->text < sizeof port ? sizeof board->text : sizeof port);
    }
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, LAST, world);
}

static void open_port_of_others(void)
{
    make_side();
    if (rank == 0)
        MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Bcast(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, world);
}

static void row_accept(void)
{
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, side, &between);
}

static void row_connect(void)
{
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, side, &between);
}

static void close_port(void)
{
    MPI_Comm_disconnect(&between);
    MPI_Comm_free(&side);
    if (rank == LAST)
        MPI_Close_port(port);
}

static void close_port_of_others(void)
{
    MPI_Comm_disconnect(&between);
    MPI_Comm_free(&side);
    if (rank == 0)
        MPI_Close_port(port);
}

static char *child_arguments[] = {NULL, "--child", NULL};

static void row_Comm_spawn(void)
{
    child_arguments[0] = (char *)path;
    MPI_Comm_spawn(program, child_arguments, 1, MPI_INFO_NULL, 0, world, &between, MPI_ERRCODES_IGNORE);
}

static void row_Comm_spawn_multiple(void)
{
    char *commands[2] = {program, program};
    char **arguments[2] = {child_arguments, child_arguments};
    const int counts[2] = {1, 1};
    const MPI_Info infos[2] = {MPI_INFO_NULL, MPI_INFO_NULL};
    child_arguments[0] = (char *)path;
    MPI_Comm_spawn_multiple(2, commands, arguments, counts, infos, 0, world, &between, MPI_ERRCODES_IGNORE);
}

static void leave_children(void)
{
    MPI_Comm_disconnect(&between);
}

/* Names need a server with MPICH; without one the call fails at once, which is no wait either. */
static void lookup(void)
{
    char found[MPI_MAX_PORT_NAME];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (atomic_load(&board->released) == 0)
        MPI_Lookup_name("piolet-progress", MPI_INFO_NULL, found);
}

static void publish(void)
{
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    while (atomic_load(&board->released) == 0) {
        MPI_Publish_name("piolet-progress", MPI_INFO_NULL, "nowhere");
        MPI_Unpublish_name("piolet-progress", MPI_INFO_NULL, "nowhere");
    }
}

static void nothing(void)
{
}

static void join_name(struct sockaddr_un *address)
{
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    snprintf(address->sun_path, sizeof address->sun_path, "/tmp/piolet-join.%d", (int)getppid());
}

static int listening = -1, joined = -1;

/* A socket between the last rank and rank 0. */
static void connect_sockets(void)
{
    struct sockaddr_un address;
    join_name(&address);
    if (rank == LAST) {
        unlink(address.sun_path);
        listening = socket(AF_UNIX, SOCK_STREAM, 0);
        if (bind(listening, (struct sockaddr *)&address, sizeof address) != 0 || listen(listening, 1) != 0)
            fail_row("no socket");
    }
    MPI_Barrier(world);
    if (rank == 0) {
        joined = socket(AF_UNIX, SOCK_STREAM, 0);
        if (connect(joined, (struct sockaddr *)&address, sizeof address) != 0)
            fail_row("no connection");
    }
    if (rank == LAST) {
        joined = accept(listening, NULL, NULL);
        close(listening);
        unlink(address.sun_path);
    }
}

static void row_Comm_join(void)
{
    if (rank == 0 || rank == LAST)
        MPI_Comm_join(joined, &between);
}

static void close_sockets(void)
{
    if (rank != 0 && rank != LAST)
        return;
    if (between != MPI_COMM_NULL)
        MPI_Comm_disconnect(&between);
    close(joined);
}

#ifdef MPICH_NUMVERSION
/* ---- sessions, and what MPICH adds ---- */

MAKING(Comm_create_from_group, group, "piolet", MPI_INFO_NULL, MPI_ERRORS_RETURN)

static void row_Session(void) /* the world is there already: it does not wait */
{
    MPI_Session session;
    while (atomic_load(&board->released) == 0)
        if (MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &session) == MPI_SUCCESS)
            MPI_Session_finalize(&session);
}

static void row_Comm_shrink(void)
{
    MPIX_Comm_shrink(world, &made);
}

static void row_Comm_agree(void)
{
    int flag = 1;
    MPIX_Comm_agree(world, &flag);
}

static MPI_Group other_group;

static void make_groups(void)
{
    MPI_Comm_group(world, &group);
    MPI_Group both = group;
    MPI_Group_incl(both, 1, &(int){LAST}, &group);
    MPI_Group_excl(both, 1, &(int){LAST}, &other_group);
    MPI_Group_free(&both);
}

static void row_Intercomm_create_from_groups(void)
{
    if (rank == LAST)
        MPI_Intercomm_create_from_groups(group, 0, other_group, 0, "piolet", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
    else
        MPI_Intercomm_create_from_groups(other_group, 0, group, 0, "piolet", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made);
}

static void free_groups(void)
{
    free_made_group();
    MPI_Group_free(&other_group);
}
#endif

const struct row ROWS_COMM[] = {
    ROW(Comm_dup, NULL, free_made),
    ROW(Comm_dup_with_info, NULL, free_made),
    ROW(Comm_create, make_group, free_made_group),
    ROW(Comm_create_group, make_group, free_made_group),
    ROW(Comm_split, NULL, free_made),
    ROW(Comm_split_type, NULL, free_made),
    {"Comm_set_info", make, row_Comm_set_info, row_Comm_set_info, free_made, true},
    {"Comm_free", make, row_Comm_free, row_Comm_free, NULL, true},
    {"Comm_disconnect", make, row_Comm_disconnect, row_Comm_disconnect, NULL, true},
    ROW(Cart_create, NULL, free_made),
    ROW(Cart_sub, make_shaped, free_shaped),
    ROW(Graph_create, NULL, free_made),
    ROW(Dist_graph_create, NULL, free_made),
    {"Dist_graph_create_adjacent", NULL, row_Dist_graph_create_adjacent, row_Dist_graph_create_adjacent, free_made,
     false},
    ROW(Intercomm_create, make_side, free_between),
    ROW(Intercomm_merge, make_between, free_merged),
    {"Comm_accept", open_port, row_accept, row_connect, close_port, false},
    {"Comm_connect", open_port_of_others, row_connect, row_accept, close_port_of_others, false},
    ROW(Comm_spawn, NULL, leave_children),
    ROW(Comm_spawn_multiple, NULL, leave_children),
    {"Comm_join", connect_sockets, row_Comm_join, row_Comm_join, close_sockets, false},
    {"Lookup_name", NULL, lookup, nothing, NULL, false},
    {"Publish_name", NULL, publish, nothing, NULL, false},
    {"Unpublish_name", NULL, publish, nothing, NULL, false},
#ifdef MPICH_NUMVERSION
    ROW(Comm_create_from_group, make_group, free_made_group),
    {"Session_finalize", NULL, row_Session, nothing, NULL, false},
    {"Intercomm_create_from_groups", make_groups, row_Intercomm_create_from_groups, row_Intercomm_create_from_groups,
     free_groups, false},
    {"X_Comm_shrink", NULL, row_Comm_shrink, row_Comm_shrink, free_made, false},
    {"X_Comm_agree", NULL, row_Comm_agree, row_Comm_agree, NULL, false},
#endif
    {.name = NULL},
};
