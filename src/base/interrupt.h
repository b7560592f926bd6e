/* The end that somebody else asks for: Ctrl-C, kill, the end of a batch job's time.
 *
 * One module for all verbs. SIGINT, SIGTERM and SIGHUP end the program at once, wherever it is: what was registered
 * here is removed, one line says what is kept, and the exit status is 128 and the signal's number. Nothing waits for
 * other ranks: a launcher kills them a second later anyway, and a rank that waits in MPI cannot be asked. Results stay
 * valid because a block file is complete after each set.
 *
 * The list of what to remove stands in shared memory. In an MPI job a process of its own, the cleaner, sleeps beside
 * each rank and removes what is listed when the rank was ended by what no handler sees: SIGKILL, or memory that ran
 * out.
 *
 * See docs/adr/0018-interrupts.md. */
#ifndef PIOLET_BASE_INTERRUPT_H
#define PIOLET_BASE_INTERRUPT_H

#include <signal.h>
#include <stdbool.h>

/* For main(), first of all. `name`, as "piolet run", stands before the line; it is not copied. */
void interrupt_start(const char *name);

/* This process prints no line: it is one of several ranks, or who started it prints one. */
void interrupt_be_silent(void);

/* Removes a file, or a folder with all that is in it, if the program ends before interrupt_keep(). Only for what this
 * run made or was allowed to replace. A link stands for what it leads to; what is neither file nor folder stays. Each
 * rank that may make the file registers it before it does. Twice is once. */
void interrupt_remove(const char *path);
/* It is gone, or is to stay. */
void interrupt_keep(const char *path);

/* mkdtemp() and mkstemp(), and what they made is registered. */
char *interrupt_mkdtemp(char *name);
int interrupt_mkstemp(char *name);

/* The block file, or the folder, that this run adds to: named in the line where something came into it, and removed
 * where this run made it and nothing did. `go_on` is the command that goes on with it, NULL: there is none. For one
 * process of a job; the first call counts. */
void interrupt_results(const char *path, const char *go_on);

/* Between them a signal is only noted: for what must not be cut off, as a transaction. The second one ends the program
 * where one came meanwhile. They may be nested. */
void interrupt_hold(void);
void interrupt_release(void);
/* The number of the signal that came meanwhile, or 0. */
int interrupt_noted(void);

/* For processes that start others and wait for them: the signals are blocked from here on, and waited for. The set
 * holds those that end a program and SIGCHLD. */
void interrupt_take(sigset_t *ret_waited_for);
/* Does this signal, taken by sigtimedwait(), end the program? Not where it was ignored at the start, as in nohup. */
bool interrupt_counts(const siginfo_t *info);
/* Signals as they were at the start: in a child, or before this program becomes another one. */
void interrupt_restore(void);

/* Prints the line, and removes what is listed; returns the exit status. For those that took the signals. */
int interrupt_end(int number);

/* In an MPI job, before MPI_Init: a copy of this process while it is small, and before MPI has memory that must not be
 * copied. Without a second process, the handlers alone remove what is listed. */
void interrupt_cleaner_start(void);
/* All is removed: the cleaner ends. Else it does its work when this process ends. */
void interrupt_cleaner_stop(void);
#define INTERRUPT_CLEANER_NAME "piolet-cleaner" /* in /proc/PID/comm */

#endif
