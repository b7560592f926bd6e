/* What the programs on foreign libraries share: the ranks, and an end for all where something is wrong. */
#ifndef PIOLET_TESTS_SOFTWARE_H
#define PIOLET_TESTS_SOFTWARE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static int rank, ranks;

static void need(bool is_right, const char *what, int line)
{
    if (is_right)
        return;
    fprintf(stderr, "rank %d, line %d: %s\n", rank, line, what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

/* With so many arguments, which `words` names. */
static void software_begin(int argc, char **argv, int wanted, const char *words)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    need(argc == 1 + wanted, words, __LINE__);
}

#endif
