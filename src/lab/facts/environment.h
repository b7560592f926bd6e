/* What a run runs on: host, memory, MPI, MPI-IO, clock, file system, preloaded libraries. */
#ifndef PIOLET_LAB_ENVIRONMENT_H
#define PIOLET_LAB_ENVIRONMENT_H

#include "base/blockfile.h"
#include "base/status.h"
#include "base/text.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

enum { ENVIRONMENT_TEXT_MAX = 256 };

struct environment_clock {
    double wtick_s; /* what MPI_Wtick says */
    double step_s;  /* smallest difference seen between two readings */
    double cost_s;  /* of one MPI_Wtime call */
};

struct environment_filesystem {
    char directory[4096];
    char type[64];       /* as the kernel names it: ext4, tmpfs, lustre, fuse.glusterfs, … */
    char source[256];    /* device or server */
    int64_t block_bytes; /* preferred I/O size */
    int64_t total_bytes;
    int64_t free_bytes; /* that an ordinary user may still fill */
};

/* The coarsest clock that a measurement accepts (IOT-8). */
#define ENVIRONMENT_CLOCK_LIMIT_S 1e-2

void environment_clock(struct environment_clock *ret_clock);
pl_status environment_clock_check(const struct environment_clock *clock, struct pl_error *error);

/* Of the directory that holds `path` (or would hold it), or of `path` itself if it is a directory. */
pl_status environment_filesystem(const char *path, struct environment_filesystem *ret_fs, struct pl_error *error);

/* Is libpiolet-mpiio.so preloaded? */
bool environment_has_engine(void);
/* What is in force: "ROMIO", "OMPIO", "piolet 0.1.0" or "unknown". Local; opens /dev/null through MPI-IO. */
void environment_mpiio(char ret_name[ENVIRONMENT_TEXT_MAX]);
/* The same of the MPI's own MPI-IO, whatever is preloaded before it. */
const char *environment_system_mpiio(void);
/* Open MPI's io components that are loaded: "romio321,ompio"; empty before the first open and with other MPIs. The
 * caller owns the text. */
void environment_io_components(struct text *ret_names);
void environment_mpi_library(char *text, int capacity); /* one line */

int64_t environment_memory_bytes(void);
int64_t environment_memory_available_bytes(void);
int environment_cores(void);

/* Ranks of the communicator on this rank's node. */
int environment_node_ranks_coll(MPI_Comm comm);

/* Calls `take` for each preloaded library; `suspect` tells those that can disturb a measurement. */
void environment_preloads(void (*take)(void *context, const char *name, bool suspect), void *context);

/* Writes the run-time facts of a block: every rank calls, rank 0 has the writer. */
void environment_facts_coll(MPI_Comm comm, const char *path, struct blockfile_writer *writer);

/* Is OMPIO in force, which some tests must go around? Not where ROMIO or our engine takes the calls. */
bool environment_is_ompio(void);

/* MPI_Wait for a request of a file that is to move `bytes`; a request that moved less shows in the status. Open
 * MPI 4.1's own MPI_Wait follows a null pointer where OMPIO's transfer has failed. */
int environment_wait_file(MPI_Request *request, int64_t bytes, MPI_Status *status);
/* The same of MPI_Test. */
int environment_test_file(MPI_Request *request, int64_t bytes, int *ret_done, MPI_Status *status);
/* The same where the caller knows that the request is OMPIO's, though another MPI-IO is in force. */
int environment_test_ompio(MPI_Request *request, int64_t bytes, int *ret_done, MPI_Status *status);
/* Waits for a request and leaves it as it is: may it be completed by any call, since it has moved all bytes? */
bool environment_moved_all(MPI_Request request, int64_t bytes);

#endif
