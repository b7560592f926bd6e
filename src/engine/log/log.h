/* Tracing of the engine itself by environment variable (GPFS-7): errors only, or errors and every read and write.
 *
 *   PIOLET_LOG=errors|all      nothing is written without it
 *   PIOLET_LOG_ABOVE=OFFSET    only accesses that end above this offset (k, m, g allowed); errors always
 *   PIOLET_LOG_DIR=DIR         default: the current directory
 *
 * One text file for each task and open file: piolet-log.JOB.RANK.SEQUENCE.NAME, SEQUENCE counting the opens of the
 * task and NAME being the file's last name; a second thread of the engine (an agent) gets ".agentN" behind it. JOB
 * keeps jobs apart. A log that cannot be written, or whose name is taken by anything but a regular file of the user's
 * own with one link, never disturbs the program: it is told once on stderr and given up. */
#ifndef PIOLET_ENGINE_LOG_LOG_H
#define PIOLET_ENGINE_LOG_LOG_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

struct log; /* of one open file */

/* One call, as the log shows it: a line of columns with tabs between, named by the first line of the file; "-" where
 * there is nothing, and tabs and line ends in texts are escaped. The time is in seconds since the log was opened. */
struct log_call {
    const char *function;         /* "MPI_File_write_at_all" */
    int64_t offset;               /* absolute byte of the file where the access begins; -1: none */
    int64_t bytes;                /* asked for; -1: none */
    int64_t done;                 /* transferred; -1: none */
    const char *parameters;       /* further ones as text: "count 3, datatype MPI_INT"; may be NULL */
    int code;                     /* what the program gets */
    const struct pl_error *error; /* NULL: success */
};

/* NULL without PIOLET_LOG (or where the log cannot be made): every function accepts that. `job` (shown as hexadecimal
 * number) and `rank` (in MPI_COMM_WORLD) name the file. A wrong setting is told once on stderr, by rank 0, with what is
 * allowed, and nothing is logged. */
struct log *log_open(uint64_t job, int rank, const char *file_name);

/* The log of agent `agent` of the same open file: its own text file, named as that of `log` with ".agentN" behind it,
 * and the same clock. Closed on its own. */
struct log *log_open_agent(const struct log *log, int agent);
void log_close(struct log *log);

/* Are accesses wanted at all? (errors always are, where there is a log) Lets callers avoid gathering parameters.
 * offset -1: a call that accesses nothing, such as an open; PIOLET_LOG_ABOVE is no matter for it. */
bool log_wants_access(const struct log *log, int64_t offset, int64_t bytes);

/* Writes the call if it failed (`error` is given, or `code` is not 0) or is wanted. Thread-safe; one write(2) a line.
 */
void log_call(struct log *log, const struct log_call *call);

#endif
