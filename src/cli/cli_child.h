/* A command that a verb starts and waits for: mpiexec, or piolet itself. However this program is ended, all that the
 * command started ends too, in bounded time. */
#ifndef PIOLET_CLI_CHILD_H
#define PIOLET_CLI_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

struct cli_child {
    pid_t pid;      /* 0: it has ended */
    pid_t group;    /* of its own; 0: ours */
    int status;     /* 128 + the number where a signal ended it */
    bool is_piolet; /* ends its own children: it gets the time for that */
};

/* In the child: becomes the command, does not return. */
typedef void cli_become(void *context);

/* From here, or from the first start, on signals that end a program are noted by cli_child_wait() alone. */
void cli_child_take_signals(void);

/* `own_group`: Ctrl-C reaches
 * this process only, which passes it on once. False: there is no process (errno). */
bool cli_child_start(struct cli_child *child, bool own_group, cli_become *become, void *context);

/* Looks; does not wait. */
bool cli_child_ended(struct cli_child *child);

/* Waits until a child ended, a signal came, or the time is over. The number of the signal, else 0. */
int cli_child_wait(double seconds);

/* The first signal that came; 0: none. */
int cli_child_signal(void);

/* Asks it to end, and after some seconds, or at a second signal, kills it and all that it left. */
void cli_child_end(struct cli_child *child);

/* Until it ended, or a signal came and it was ended; cli_child_signal() tells which. */
void cli_child_follow(struct cli_child *child);
/* The same for a program of the user's, which may take a signal otherwise than by ending: signals are passed on, but
 * for Ctrl-C, which reaches it anyway. */
void cli_child_follow_program(struct cli_child *child);

/* Was this process started by another piolet, which tells the user how it ended? */
bool cli_child_is_supervised(void);
/* In a program of the user's that this process becomes, nothing of us is left. */
void cli_child_forget(void);

#endif
