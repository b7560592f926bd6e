/* Inside MADbench2: the file by MPI-IO or by plain UNIX calls, and one request. */
#ifndef PIOLET_BENCH_APPS_MADBENCH_IO_H
#define PIOLET_BENCH_APPS_MADBENCH_IO_H

#include "bench/apps/madbench_plan.h"

struct madbench_file {
    char name[APPS_PATH_MAX];
    MPI_Comm comm; /* of those that share it */
    MPI_File mpi;  /* MPI_FILE_NULL where UNIX calls are made */
    int fd;        /* -1 where MPI-IO is called */
};

/* Collective over file->comm with MPI-IO, else local. */
pl_status madbench_file_open_coll(struct apps_run *run, enum madbench_method method, struct madbench_file *file,
                                  struct pl_error *error);
pl_status madbench_file_close_coll(struct madbench_file *file, struct pl_error *error);

/* One seek and one transfer between `values` and the file; timed. Collective if the plan's calls are. */
pl_status madbench_transfer(const struct madbench_plan *plan, struct madbench_file *file,
                            const struct madbench_request *request, double *values, struct apps_phase *phase,
                            struct pl_error *error);
/* The part of a rank that failed before, in a collective call: nothing. */
void madbench_transfer_nothing_coll(const struct madbench_file *file, bool writes, double *values);

#endif
