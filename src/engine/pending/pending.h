/* Operations that go on while the program does something else.
 *
 * An operation of one rank alone is work for a thread. Collective ones wait in the queue of their file, and only the
 * first is stepped: so all ranks do them in the order in which they were started, whatever the order in which the
 * program waits for them. The program's threads step them in waits, in tests and wherever MPI makes progress, and a
 * thread of ours where they do not (api_hook.c). */
#ifndef PIOLET_ENGINE_PENDING_PENDING_H
#define PIOLET_ENGINE_PENDING_PENDING_H

#include "engine/move/move.h"
#include "engine/pool/pool.h"

struct pending {
    struct file *file;
    struct access_options options;
    struct move operation; /* its request, outcome and bytes done; of an operation alone no more than these */
    bool together, started;
    bool calls_program; /* its end calls functions of the program: a thread of ours leaves that to one of the program's
                         */
    /* Called once, by the thread that steps, when the operation has come to its end. The struct may go then. */
    void (*finish)(struct pending *pending);
    struct pool_work work;
    struct pending *next;
};

/* The operation's request, error and strategy are set. It must live until `finish`. */
void pending_start_alone(struct pending *pending);
void pending_start_together(struct pending *pending);

/* Goes on with everything that is pending, without waiting. Cheap where nothing is. False: nothing has moved. */
bool pending_step(void);
bool pending_step_in_thread(void); /* the same, in a thread of ours */

/* How many are under way; how many of them are collective, so that other ranks may wait for them; and a number that
 * changes when a thread of the program steps them. */
int pending_count(void);
int pending_collectives(void);
unsigned pending_turns(void);

/* Until the file has no collective operation under way any more: every collective call on a file begins with it. */
void pending_drain_some(struct file *file);
static inline void pending_drain(struct file *file)
{
    if (atomic_load(&file->together) > 0)
        pending_drain_some(file);
}

/* The same for all operations of the file: before it is closed. */
void pending_finish(struct file *file);

/* Until nothing is under way, or no operation has come to its end for so long: before calls that cannot be interrupted.
 */
void pending_settle(double patience_s);

#endif
