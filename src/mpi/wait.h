/* Waiting for something outside of MPI (a flag in shared memory, a lock of the file system) without stopping MPI.
 *
 * A rank that sleeps on a flag while a message of its own is still under way can keep its partner waiting for ever:
 * most MPIs move messages only inside of calls. Every wait of ours goes through here; it lets the MPI make progress in
 * between. */
#ifndef PIOLET_MPI_WAIT_H
#define PIOLET_MPI_WAIT_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Has what we wait for happened? Called often; must not wait itself. */
typedef bool wait_ready(void *arg);

/* Waits until ready(arg). `word`: the futex that its change wakes, or NULL to look again after a nap.
 * `comm`: a communicator of ours to make MPI progress with, or MPI_COMM_NULL where the thread may not call MPI. */
void wait_until(wait_ready *ready, void *arg, _Atomic uint32_t *word, MPI_Comm comm);

/* A bell in shared memory: whoever changes something that others wait for rings it. */
struct wait_bell {
    _Alignas(64) _Atomic uint32_t rings; /* since the beginning */
    _Alignas(64) _Atomic uint32_t sleepers;
};
static inline uint32_t wait_bell_heard(struct wait_bell *bell)
{
    return atomic_load(&bell->rings);
}
void wait_bell_ring(struct wait_bell *bell);
/* Waits, not for long, for a ring after the `heard` one. Who has a core for itself watches the bell; who shares one
 * (`crowded`) sleeps, so that others get on. `comm` as in wait_until(). */
void wait_bell_listen(struct wait_bell *bell, uint32_t heard, bool crowded, MPI_Comm comm);

/* Moves the calling thread to another core that it may run on, where there is one. */
void wait_change_core(void);

/* Wakes all who wait on `word`, in any process that maps it. */
void wait_wake(_Atomic uint32_t *word);

/* What else must go on while somebody waits here: operations of ours that are pending. */
struct wait_hooks {
    bool (*step)(void);  /* goes on with them; never waits */
    void (*enter)(void); /* a call of MPI that cannot be taken apart begins, */
    void (*leave)(void); /* and is over */
};
void wait_set_hooks(const struct wait_hooks *given);
/* The calling thread is one that pending operations may wait for: whatever it calls, it never goes on with them. */
void wait_steps_nothing(void);
bool wait_may_step(void);
void wait_enter(void);
void wait_leave(void);

/* Keeps MPI and the pending operations going once; nothing where `comm` is MPI_COMM_NULL. */
void wait_progress(MPI_Comm comm);

/* Waits for a request; MPI's code. */
int wait_request(MPI_Request *request);

/* Waits for messages that another thread, here or elsewhere, has to answer; MPI's code. It naps, so that an MPI with
 * one lock for all threads is left to them. `comm` as in wait_until(). */
enum { WAIT_ANSWERS_MAX = 4 };
int wait_answer(int count, MPI_Request *requests, MPI_Comm comm);

/* One turn, without anything to do, of a thread that looks for messages: often while some come, and later now and then,
 * at little cost. `idle` counts such turns; from WAIT_IDLE_LONGEST on the nap is a millisecond. `word`: a futex that
 * ends the nap when it is not `seen` any more, or NULL.
 */
enum { WAIT_IDLE_TURNS = 50, WAIT_IDLE_LONGEST = 55 };
void wait_idle(int *idle, _Atomic uint32_t *word, uint32_t seen);

/* One turn of a loop that tests MPI requests: lets other ranks of this core run when nothing has moved for a while. */
struct wait_pace {
    unsigned idle;
};
void wait_turn(struct wait_pace *pace);

#endif
