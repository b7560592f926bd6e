/* Where MPI makes progress, so do our pending operations. */
#ifndef PIOLET_MPIIO_API_HOOK_H
#define PIOLET_MPIIO_API_HOOK_H

/* Open MPI calls us from its progress engine. MPICH has no such place: there calls that wait are wrapped, and those
 * that cannot be taken apart stand between enter and leave: meanwhile a thread of ours steps, where MPI allows threads
 * (MPI_Init asks for it). Where it does not, enter goes on with what is pending until nothing moves. */
void api_hook_install(void);
void api_hook_remove(void);
void api_hook_wake(void); /* there is something pending now, perhaps while another thread waits in MPI */
void api_hook_enter(void);
void api_hook_leave(void);

/* The thread level to ask the MPI for, where the program asks for `wanted`. */
int api_hook_thread_level(int wanted);

#endif
