/* Rules of MPI's I/O chapter that the MPI-IO in force keeps or breaks: the suite behind `piolet doctor --mpiio`.
 *
 * A rule is a small program of all ranks that uses standard MPI calls only. What it wrote is looked at through the
 * kernel, so that a write and a read that are wrong in the same way do not hide each other. An area is one file
 * rule_AREA.c with a table of rules, and one line in rule.def; to add a rule: one function and one row. */
#ifndef PIOLET_BENCH_MPIIO_RULE_H
#define PIOLET_BENCH_MPIIO_RULE_H

#include <limits.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RULE_WORDS_MAX = 400, RULE_RANKS_MAX = 64 };

/* One rule while it runs. In rules it is always named `test`. */
struct rule_context {
    MPI_Comm comm;
    int rank, nprocs;    /* at most RULE_RANKS_MAX */
    char path[PATH_MAX]; /* the rule's own file: not there when the rule begins, removed when it ends */
    bool broken;         /* on this rank; the words are those of the first thing that was wrong */
    char expected[RULE_WORDS_MAX], seen[RULE_WORDS_MAX];
};

struct rule {
    const char *name;
    const char *section; /* of MPI-4.0 */
    const char *text;    /* the rule, in our words */
    int ranks;           /* it needs so many at least */
    /* Every rank calls it, and none leaves before the others: a rank that sees something wrong notes it and goes on. */
    void (*run_coll)(struct rule_context *test);
};

enum rule_outcome { RULE_KEPT, RULE_BROKEN, RULE_SKIPPED, RULE_HANGS, RULE_CRASHES, RULE_OUTCOMES };

struct rule_finding {
    enum rule_outcome outcome;
    char expected[RULE_WORDS_MAX], seen[RULE_WORDS_MAX];
};

/* ---- the registry ---- */

/* Rules in the order in which they run; NULL behind the last. PIOLET_DOCTOR_TEST=hang, crash or broken in the
 * environment adds one that does so, in front: for tests of what watches over the rules. */
const struct rule *rule_at(int index);
int rule_find(const char *name); /* its index, or -1 */
const char *rule_outcome_name(enum rule_outcome outcome);

/* Runs a rule in the directory `folder`; the finding is the same on all ranks. */
void rule_run_coll(const struct rule *rule, MPI_Comm comm, const char *folder, struct rule_finding *ret_finding);

/* ---- for rules: what is expected and what is seen ---- */

/* The first call on a rank counts. The words of both stand in one text, with a line feed between. */
void rule_break(struct rule_context *test, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A call succeeds; `what` is its text, of which the name of the function is told. */
void rule_fine(struct rule_context *test, int code, const char *what);
#define DO(call) rule_fine(test, call, #call)

void rule_refused(struct rule_context *test, int code, const char *what);          /* with any error */
void rule_class(struct rule_context *test, int code, int class, const char *what); /* with this one */
void rule_same(struct rule_context *test, const char *what, int64_t seen, int64_t wanted);
void rule_true(struct rule_context *test, bool holds, const char *what);
void rule_count(struct rule_context *test, const char *what, const MPI_Status *status, MPI_Datatype type, int wanted);
void rule_bytes(struct rule_context *test, const char *what, const void *seen, const void *wanted, size_t bytes);

/* ---- for rules: files ---- */

enum { RULE_NEW = MPI_MODE_CREATE | MPI_MODE_RDWR };

/* Opens the rule's file; false on all ranks where it fails on one. */
bool rule_open_coll(struct rule_context *test, int amode, MPI_File *ret_file);
bool rule_open_with_coll(struct rule_context *test, int amode, MPI_Info info, MPI_File *ret_file);
void rule_close_coll(struct rule_context *test, MPI_File *file);
void rule_view_coll(struct rule_context *test, MPI_File file, MPI_Offset displacement, MPI_Datatype etype,
                    MPI_Datatype filetype);

/* Writes `count` items of a type, reads them back and compares: at an offset of the view, by this rank alone. */
void rule_echo(struct rule_context *test, MPI_File file, MPI_Offset offset, const void *data, void *found, int count,
               MPI_Datatype type, size_t bytes);

/* Sync, barrier, sync: from here on every rank sees what all wrote, and the size that the file has by that. */
void rule_settle_coll(struct rule_context *test, MPI_File file);

/* Without MPI-IO, by rank 0: makes the file with this content (NULL: dots); compares its content and size. */
void rule_put_coll(struct rule_context *test, const void *data, size_t bytes);
void rule_file_coll(struct rule_context *test, const void *wanted, size_t bytes);
int64_t rule_size_coll(struct rule_context *test); /* -1: there is none */

/* What rank `rank` writes as its byte i: letters. */
char rule_letter(int rank, int i);
void rule_letters(char *data, int rank, int bytes);

#endif
