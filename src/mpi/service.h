/* Threads of ours that answer messages, and so must have ended before MPI does. */
#ifndef PIOLET_MPI_SERVICE_H
#define PIOLET_MPI_SERVICE_H

#include <mpi.h>

/* One for each rank of `comm`, also for those that have no thread: part of what it serves. */
struct service {
    MPI_Comm comm;
    void (*stop)(void *arg); /* ends the thread; no rank asks it any more */
    void *arg;
    MPI_Request farewell;
    struct service *next;
};

/* The thread level that the program itself asked MPI for; MPI_THREAD_SINGLE before it has. */
void service_set_program_level(int level);
int service_program_level(void);

void service_begin(struct service *service);
void service_end(struct service *service); /* also where it has not begun, or was stopped */

/* At the end of MPI, for what the program has forgotten to close. All ranks that share a service come here with it,
 * since files are closed by all or by none; until all have, it goes on. */
void service_stop_all_coll(void);

#endif
