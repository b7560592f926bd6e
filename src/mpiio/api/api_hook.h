/* Who carries pending collective operations on while the program does something else.
 *
 * Where MPI allows threads (MPI_THREAD_MULTIPLE; under MPICH MPI_Init asks for it), a thread of ours: it sleeps while
 * nothing is pending, and steps, with naps between, where no thread of the program does. Below that level Open MPI
 * calls us from its progress engine, and with MPICH the program's calls that wait or test do it (real_waiting.def).
 * Those that cannot be taken apart stand between enter and leave: the thread naps less meanwhile, and where there is
 * none, enter goes on with what is pending until nothing moves. */
#ifndef PIOLET_MPIIO_API_HOOK_H
#define PIOLET_MPIIO_API_HOOK_H

void api_hook_install(void);
void api_hook_remove(void);
void api_hook_wake(void); /* there is something pending now */
void api_hook_enter(void);
void api_hook_leave(void);

/* Which of the three it is, with an explanation: the value of the info key piolet_progress. */
const char *api_hook_describe(void);

/* The thread level to ask the MPI for, where the program asks for `wanted`. */
int api_hook_thread_level(int wanted);

#endif
