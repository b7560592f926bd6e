/* What MADbench2 asks of its files in I/O mode, as arithmetic; and the calls that it makes for one request.
 *
 * `bins` matrices of pixels^2 doubles are dealt out in square blocks (`scatter`) to a square grid of ranks, as
 * ScaLAPACK does it: ranks own different numbers of elements. S writes each matrix; W reads each and writes as many
 * results; C reads those. A rank's part of a matrix is one request, of its elements and no byte more; matrices of a
 * rank are a stride apart, the largest request rounded up to the file block. In a shared file a rank has a region of
 * `bins` strides, region behind region; with unique files it has a file.
 *
 * With several gangs, S and the reads of W are as before: every rank has a part of every matrix. Then bin b belongs to
 * gang b mod gangs, and only ranks of that gang hold its result, in larger parts, with a stride of their own: these are
 * what W writes and C reads. W reads a round, one bin for each gang, then writes its one; it is two rounds ahead with
 * reading. */
#ifndef PIOLET_BENCH_APPS_MADBENCH_H
#define PIOLET_BENCH_APPS_MADBENCH_H

#include "bench/apps/apps.h"

enum madbench_files { MADBENCH_SHARED, MADBENCH_UNIQUE };
enum madbench_calls { MADBENCH_INDEPENDENT, MADBENCH_COLLECTIVE };
enum madbench_method { MADBENCH_MPI, MADBENCH_POSIX };
enum madbench_mode { MADBENCH_SYNC, MADBENCH_ASYNC };
enum madbench_function { MADBENCH_S, MADBENCH_W, MADBENCH_C, MADBENCH_FUNCTIONS };

struct madbench_options {
    int64_t pixels, bins, gangs;
    int64_t scatter;     /* rows and columns of the blocks that are dealt out */
    int64_t block_bytes; /* strides are a multiple of it */
    enum madbench_files files;
    enum madbench_calls calls;
    enum madbench_method method;
    enum madbench_mode mode;
    int64_t rmod, wmod; /* one of so many neighbouring ranks reads, writes at a time; 1: all at once */
    double work;        /* between requests: as many operations as the request has numbers, to this power; 0: none */
};

struct madbench_plan {
    struct madbench_options options;
    int ranks;
    int members;                 /* of a gang */
    int64_t stride_bytes;        /* of S, and of W's reads */
    int64_t result_stride_bytes; /* of W's writes, and of C */
    int64_t rounds;              /* bins / gangs */
    /* May results overwrite what other ranks are still to read? The original does not look at what it reads. */
    bool overwrites;
};

pl_status madbench_plan_make(const struct madbench_options *options, int ranks, struct madbench_plan *ret_plan,
                             struct pl_error *error);

struct madbench_request {
    enum madbench_function function;
    bool writes;
    bool is_result; /* of W, not a matrix of S: the data differ */
    int64_t number; /* the bin, or the round of a result */
    int64_t offset, bytes;
};

/* Bytes of a rank's part of a matrix, and of a result. */
int64_t madbench_plan_matrix_bytes(const struct madbench_plan *plan, int rank);
int64_t madbench_plan_result_bytes(const struct madbench_plan *plan, int rank);
bool madbench_plan_is_even(const struct madbench_plan *plan); /* do all ranks have the same? */

/* Requests of any rank, and request `index` of them in order. */
int64_t madbench_plan_requests(const struct madbench_plan *plan);
struct madbench_request madbench_plan_request(const struct madbench_plan *plan, int rank, int64_t index);

struct apps_cost madbench_plan_cost(const struct madbench_plan *plan);
int64_t madbench_plan_region_bytes(const struct madbench_plan *plan); /* of a rank, in S */

/* What stands at number `index` of a request: a function of seed, kind, rank and number. */
uint64_t madbench_data_seed(uint64_t seed, int rank, const struct madbench_request *request);
double madbench_value(uint64_t data_seed, int64_t index);

/* ---- requests while a run goes on ---- */

enum { MADBENCH_S_W, MADBENCH_W_R, MADBENCH_W_W, MADBENCH_C_R, MADBENCH_PHASES };

/* A request on its way, of mode async: one that writes and one that reads at most. */
struct madbench_flight {
    bool flies;
    struct madbench_request request;
    MPI_Request handle;
    double started_s; /* that the call took */
};

struct madbench {
    struct apps_run *run;
    const struct madbench_plan *plan;
    MPI_Comm all, gang; /* communicators of the original: of matrices, and of results */
    char name[APPS_PATH_MAX];
    MPI_Comm file_comm; /* of those that share it */
    MPI_File mpi;       /* MPI_FILE_NULL where UNIX calls are made */
    int fd;             /* -1 where MPI-IO is called */
    double *values[2];  /* of one request each: read, written; the same one in mode sync */
    struct apps_phase *phases[MADBENCH_PHASES];
    struct madbench_flight flights[2]; /* read, written */
    int64_t next;                      /* request to be made */
    double work_s;                     /* spent in busy-work of this function */
    double io_s[2];                    /* and in reading and writing */
    volatile double sum;               /* what the busy-work leaves, so that it is done */
    struct pl_error error;             /* the first of this rank; it goes on with nothing to give */
};

/* Collective over bench->file_comm with MPI-IO, else local. A failure is noted in bench->error. */
void madbench_open_coll(struct madbench *bench);
void madbench_close_coll(struct madbench *bench);

/* The original's call of a request: ranks of `comm` meet, make it (in turns, where they are asked to), meet. */
void madbench_io_coll(struct madbench *bench, MPI_Comm comm, bool writes);
/* And what it does before the memory of a request is used again: nothing in mode sync. */
void madbench_resync_coll(struct madbench *bench, bool writes);

#endif
