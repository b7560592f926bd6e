/* clang-format off */
/* The text of a trace: what one rank asked of MPI-IO, call by call. Pure: knows neither MPI nor clock nor file.
 *
 * A trace is a directory with one file trace.RANK a rank. The file:
 *
 *     piolet-trace 3
 *     rank 0
 *     size 4
 *     host node7
 *     mpi mpich MPICH Version: 4.0.2
 *     mpiio system
 *     program /opt/app
 *     pid 4711
 *     start_ns 1763204400000000000
 *     columns sequence function file class who how position offset byte count type_bytes asked done begin_ns end_ns code
 *     end-head 9 9a0f1c2b3d4e5f60
 *     call 0 MPI_File_open 1 open - - - -1 -1 -1 -1 -1 -1 180 912345 0 name="a.dat" amode=5 ranks=4 hint.cb_nodes="2"
 *     call 1 MPI_File_write_at 1 write ind block explicit 10 80 100 8 800 800 920000 931000 0
 *     end-calls 2 0011223344556677
 *     end-trace 2
 *
 * - `piolet-trace MAJOR` opens it; a reader refuses a major version that it does not know, and passes over lines whose
 *   first word it does not know. Then facts, KEY VALUE, the value to the end of the line with \\, \n, \t and \xHH for
 *   backslash and control characters. start_ns: CLOCK_REALTIME at the end of MPI_Init, where the times of the calls
 *   begin to count. mpiio: "piolet VERSION", or "system" for the MPI's own.
 * - `call`: the columns named above, one blank between. -1 and - stand for what does not exist or is not known.
 *     sequence    from 0 in the order in which the calls returned
 *     function    its name without the P of PMPI
 *     file        a number for each MPI_File_open of this rank, from 1; 0: no file that it had opened
 *     class       read write open close delete view seek size sync info query handler
 *     who         coll, ind (independent)             } of reads and writes
 *     how         block, nonblock, begin, end         }
 *     position    explicit, individual, shared        }
 *     offset      in etypes of the view: as passed, or where the individual pointer stood before; -1 for shared ones
 *     byte        the same place as a byte of the file
 *     count, type_bytes, asked    elements, size of one, their product
 *     done        bytes that the status tells; -1 for nonblock and begin, and after a failure
 *     begin_ns, end_ns            CLOCK_MONOTONIC, since MPI_Init returned
 *     code        what the function returned
 *   Fields of the call follow as KEY=VALUE: a number, or text in quotes, escaped as above with \x22 for a quote.
 * - `comm EVENTS COLLECTIVES BEGIN_NS END_NS GAP_NS`: calls of communication since the line before, and of these,
 *   collective ones of all ranks of MPI_COMM_WORLD; when the first began and the last ended, and how long the rank
 *   computed before and between them.
 * - `end-head LINES HASH` and `end-calls LINES HASH` follow the lines that were written with one write(2): their number
 *   (without the first line of the file) and the XXH64 (seed 0, 16 hexadecimal digits) of their bytes.
 * - `end-trace CALLS` is the last line. Without it the process was killed: what stands before the last `end-calls` is
 *   whole. */
/* clang-format on */
#ifndef PIOLET_TRACE_FORMAT_H
#define PIOLET_TRACE_FORMAT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

#define TRACE_FIRST_LINE        "piolet-trace 3\n"
#define TRACE_FIRST_LINE_FOLDED "piolet-trace 5\n" /* trace_record.h; 4 had no lists of sizes */
#define TRACE_COLUMNS                                                                                                  \
    "sequence function file class who how position offset byte count type_bytes asked done begin_ns end_ns code"

/* The words of the columns class, who, how and position: string literals, or NULL for "-". */
struct trace_kind {
    const char *class, *who, *how, *position;
};

struct trace_call {
    const char *function;
    struct trace_kind kind;
    int64_t sequence;
    int64_t offset, byte, count, type_bytes, asked, done; /* -1: none, or not known */
    int64_t begin_ns, end_ns;
    int64_t gap_ns; /* computing before it; not in its line: it follows from the line before */
    int64_t fresh;  /* bytes of its buffer that the program had never touched before; in its line as a field */
    int file;
    int code;
};

/* A line; `fields` as trace_add_field_*() made them. */
void trace_add_call(struct text *text, const struct trace_call *call, const char *fields);

struct trace_comm {
    int64_t events, collectives, begin_ns, end_ns, gap_ns;
};

void trace_add_comm(struct text *text, const struct trace_comm *comm);

void trace_add_field_int(struct text *fields, const char *key, int64_t value);
void trace_add_field_text(struct text *fields, const char *key, const char *value);

/* A line KEY VALUE of the head. */
void trace_add_fact(struct text *text, const char *key, const char *value);

/* Closes the lines that stand in `text` from byte `from` on: "end-WHAT LINES HASH". */
void trace_add_end(struct text *text, size_t from, const char *what);

/* Fields, read again. One field at *at, which is moved behind it; false at the end. Quotes are taken away and escapes
 * undone. */
struct trace_field {
    char *key, *value; /* owned: trace_field_clear() */
};
bool trace_field_next(const char **at, struct trace_field *ret_field);
void trace_field_clear(struct trace_field *field);

/* The value of a key (caller frees), or NULL. */
char *trace_detail_text(const char *detail, const char *key);
int64_t trace_detail_number(const char *detail, const char *key, int64_t otherwise);

#endif
