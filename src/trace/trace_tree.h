/* A rank's trace, folded: what it did is a list of nodes in the order of time, where what repeats is a loop. Pure data,
 * made by the reader of trace files (or by hand, in tests), walked by whoever makes a model.
 *
 * A call inside of loops has an offset that moves by a constant with each turn of each loop around it:
 *
 *     offset(i0, i1, …) = offset + i0 * stride[0] + i1 * stride[1] + …      i0: turn of the innermost loop, from 0
 *
 * unless `offsets` lists them one by one, in the order of time. Expanding a tree gives every single call back. */
#ifndef PIOLET_TRACE_TREE_H
#define PIOLET_TRACE_TREE_H

#include "base/status.h"
#include "trace/trace_record.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_LEVELS_MAX = 8 }; /* loops inside of each other */

enum trace_node_kind {
    TRACE_NODE_CALL, /* a function of MPI-IO */
    TRACE_NODE_COMM, /* communication: one or more calls of MPI that are no I/O, without I/O between them */
    TRACE_NODE_LOOP
};

/* Durations of all calls that a node stands for. */
struct trace_times {
    int64_t count;
    int64_t sum_ns, min_ns, max_ns;
    int64_t first_ns, last_ns;           /* begin of the first and of the last one, since MPI_Init returned */
    int64_t first_took_ns, last_took_ns; /* durations of these two; -1: not known */
    int64_t gap_ns;                      /* computing before them: since the call or communication before had ended */
};

struct trace_node {
    enum trace_node_kind kind;
    /* TRACE_NODE_LOOP */
    int64_t turns;
    struct trace_node *body;
    int body_count;
    const uint8_t
        *order; /* NULL, or which one of the body each turn is; such a loop is in no other, and has no others */
    /* TRACE_NODE_COMM */
    int64_t events;      /* calls of communication: each is a tick */
    int64_t collectives; /* of these, collective ones in which every rank of MPI_COMM_WORLD takes part */
    /* TRACE_NODE_CALL */
    const char *function; /* "MPI_File_write_at_all" */
    const char *class; /* the words of trace_format.h: read write open close delete view seek size sync info query … */
    const char *who, *how, *position; /* NULL where the class has none */
    int file;                         /* index into the rank's files; -1: none */
    int detail;     /* index into the rank's details (arguments that are no numbers below); -1: none */
    int64_t bytes;  /* asked for; -1: no access */
    int64_t offset; /* in etypes; -1: not known, as with the shared pointer */
    int64_t stride[TRACE_LEVELS_MAX]; /* of the loops around it, the innermost first */
    const int64_t *offsets;           /* NULL, or `times.count` of them */
    const int64_t *sizes;             /* NULL, or `times.count` of them, where `bytes` is only the first */
    int code;                         /* what it returned: 0 is MPI_SUCCESS */
    struct trace_times times;
};

struct trace_file { /* one MPI_File_open of this rank */
    const char *name;
    int amode;
    int ranks; /* of its communicator */
    int first_rank,
        world_stride;   /* the communicator as ranks of MPI_COMM_WORLD: first + i * stride; stride 0: see `members` */
    const int *members; /* NULL, or `ranks` of them */
    int64_t world_sequence; /* the same number on all ranks that opened it together, and on no others */
    int64_t fresh_read_bytes, fresh_written_bytes; /* of buffers that the program had never touched before */
    bool unlinked;                                 /* by POSIX, right behind its close */
};

/* What a view, an open or another call was given besides numbers: "KEY=VALUE" pairs in a fixed order, as text. A view
 * has disp, etype_bytes, filetype (a constructor tree, see docs/trace-format.md), extent, size, datarep; hints as
 * hint.KEY. */
struct trace_detail {
    const char *text;
};

/* When a call was, since MPI_Init returned. */
struct trace_stamp {
    int64_t begin_ns, end_ns;
};

struct trace_tree {
    int rank, size;
    const char *host, *mpi, *mpiio, *program;
    bool complete;                    /* the program ended MPI; else it was killed, and this is what was known */
    int64_t calls;                    /* of MPI-IO, in all */
    const struct trace_stamp *stamps; /* of each of them, in the order of time; NULL: the trace does not tell */
    struct trace_file *files;
    int file_count;
    struct trace_detail *details;
    int detail_count;
    struct trace_node *nodes;
    int node_count;
    void *owner, *bytes; /* what trace_tree_clear() frees; texts point into the bytes */
};

/* Reads DIR/trace.RANK. */
pl_status trace_tree_read(const char *directory, int rank, struct trace_tree *ret_tree, struct pl_error *error);
void trace_tree_clear(struct trace_tree *tree);

/* The tree of the records in an arena. Trusts nothing: the records may come from a damaged file. */

struct trace_records {
    const uint64_t *words;
    size_t count;
    const struct trace_control *control;
};

/* Files, details, nodes, calls and `complete` of the tree; the head of the file is its reader's. What there is of
 * `ret_tree` before is left alone; trace_tree_clear() frees what was made, after a failure as well. Texts of the tree
 * are those of the records, which must live as long as it does. */
pl_status trace_build(const struct trace_records *records, struct trace_tree *ret_tree, struct pl_error *error);

/* Memory that goes with the tree. Zeroed; NULL: there is none. */
void *trace_build_memory(struct trace_tree *tree, size_t count, size_t bytes);

/* Every single call of a tree, in the order of time. */

struct trace_expand {
    struct trace_expand_level {
        const struct trace_node *nodes;
        int count, at;
        int64_t turns, turn;
        const struct trace_node *mixed; /* the loop, where it has an order; `event` of it comes next */
        int64_t event;
    } levels[TRACE_LEVELS_MAX + 1];
    int depth;
    int64_t passed[UINT8_MAX + 1]; /* calls of each node of the loop that has an order */
};

struct trace_expanded {
    const struct trace_node *node; /* a call, or communication */
    int64_t offset, bytes;         /* of this call */
    double duration_ns;            /* of the first and last of a node as it was, else the mean of the others */
};

void trace_expand_init(struct trace_expand *expand, const struct trace_tree *tree);
bool trace_expand_next(struct trace_expand *expand, struct trace_expanded *ret_call); /* false: that was all */

#endif
