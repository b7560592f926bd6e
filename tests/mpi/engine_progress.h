/* Parts of engine_progress: see engine_progress.c. */
#ifndef ENGINE_PROGRESS_H
#define ENGINE_PROGRESS_H

#include <mpi.h>

#include <stdatomic.h>
#include <stdbool.h>

/* One function of MPI. The last rank sits in it, or polls it, with its part of a collective write begun. The others
 * wait for their parts before they release it. */
struct row {
    const char *name;      /* of the function, without MPI_ */
    void (*prepare)(void); /* all ranks, before; may be NULL, as `clean` */
    void (*sit)(void);
    void (*release)(void);
    void (*clean)(void);
    bool may_return; /* nothing keeps the function from returning before it is released */
};
extern const struct row ROWS_COLLECTIVE[], ROWS_MESSAGE[], ROWS_COMM[], ROWS_WINDOW[], ROWS_FILE[];

bool run_scene(const char *name); /* of engine_progress_scene.c; false: there is none of that name */

/* Memory that all ranks map: seen without MPI. */
struct board {
    atomic_int begun;    /* rows whose write the last rank has begun */
    atomic_int released; /* ranks that have completed theirs, of this row */
    atomic_int word;     /* for rows that need one */
    char text[256];
};
extern struct board *board;

extern MPI_Comm world; /* of all ranks, for the rows */
extern int rank, size;
extern const char *path; /* of files that rows make, as a beginning */
extern char *program;    /* this one */

#define LAST (size - 1)
enum { INTS_MAX = 4096, BIG_BYTES = 1 << 20 };
extern int in[INTS_MAX], out[INTS_MAX];
extern char big_in[BIG_BYTES], big_out[BIG_BYTES];

void fail_row(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
