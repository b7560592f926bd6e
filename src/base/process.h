/* The one starter of processes. A command that a verb starts and waits for: mpiexec, or piolet itself; however this
 * program is ended, all that the command started ends too, in bounded time. */
#ifndef PIOLET_BASE_PROCESS_H
#define PIOLET_BASE_PROCESS_H

#include "base/status.h"
#include "base/text.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct process {
    pid_t pid;      /* 0: it has ended */
    pid_t group;    /* of its own; 0: ours */
    int status;     /* 128 + the number where a signal ended it */
    bool is_piolet; /* ends its own children: it gets the time for that */
};

/* In the child: becomes the command, does not return. */
typedef void process_become(void *context);

/* From here, or from the first start, on signals that end a program are noted by process_wait() alone. */
void process_take_signals(void);

/* `own_group`: Ctrl-C reaches
 * this process only, which passes it on once. False: there is no process (errno). */
bool process_start(struct process *child, bool own_group, process_become *become, void *context);

/* Looks; does not wait. */
bool process_ended(struct process *child);

/* Waits until a child ended, a signal came, or the time is over. The number of the signal, else 0. */
int process_wait(double seconds);

/* The first signal that came; 0: none. */
int process_signal(void);

/* Asks it to end, and after some seconds, or at a second signal, kills it and all that it left. */
void process_end(struct process *child);

/* Until it ended, or a signal came and it was ended; process_signal() tells which. */
void process_follow(struct process *child);
/* The same for a program of the user's, which may take a signal otherwise than by ending: signals are passed on, but
 * for Ctrl-C, which reaches it anyway. */
void process_follow_program(struct process *child);

/* ---- short helpers ---- */

/* Runs a program of PATH to its end, with these descriptors as its standard streams; -1 is /dev/null. Words end with
 * NULL and are never seen by a shell. PL_E_UNSUPPORTED: there is no such program; PL_E_SYSTEM: it failed. */
pl_status process_run(const char *const *words, int in, int out, int err, struct pl_error *error);
/* The same with its standard output appended to a text, also where it fails, and without one variable of the
 * environment. */
pl_status process_read(const char *const *words, const char *without, struct text *output, struct pl_error *error);

/* This program's own file; false: not known (errno). */
bool process_self(char ret_path[PATH_MAX]);

/* Was this process started by another piolet, which tells the user how it ended? */
bool process_is_supervised(void);
/* In a program of the user's that this process becomes, nothing of us is left. */
void process_forget(void);

#endif
