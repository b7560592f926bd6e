/* What libpiolet-mpiio.so tells about itself, besides the MPI_* functions that it implements: a program that was
 * linked with it may call these; one that it may only be preloaded into looks them up with dlsym(). No MPI is needed,
 * but for what concerns an open file: include mpi.h before this header to get it. */
#ifndef PIOLET_MPIIO_H
#define PIOLET_MPIIO_H

#ifndef PIOLET_API
#define PIOLET_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The version; that there is such a symbol tells that our MPI-IO is in force. */
PIOLET_API extern const char piolet_mpiio_version[];

/* A hint: a key of MPI_Info that the engine understands. The texts are owned by the library and never freed. */
struct piolet_hint {
    const char *name;
    const char *default_value;
    const char *allowed; /* values, in words */
    const char *help;
    int changeable; /* by MPI_File_set_info, while the file is open */
};

/* Row `index`, from 0, of the table of hints. Returns 0, or -1 behind the last one; *ret is then left alone. */
PIOLET_API int piolet_hint_at(int index, struct piolet_hint *ret);

/* A strategy: a way of doing collective access, as the hint piolet_strategy names it. */
struct piolet_strategy {
    const char *name;
    const char *summary; /* one line */
    /* What makes it differ from the others, in words; "" where that is no part of it. */
    const char *order;    /* which ranks access which data when */
    const char *target;   /* how the file is spread over the ranks that access it for all */
    const char *agents;   /* who these ranks are */
    const char *exchange; /* how data come to them */
};

/* Row `index`, from 0, of the table of strategies; returns as piolet_hint_at(). */
PIOLET_API int piolet_strategy_at(int index, struct piolet_strategy *ret);

/* What one rank has done with a file since it was opened, and the agent of this rank (0 where it has none). Later
 * versions may append more. */
struct piolet_counters {
    long long shipped_bytes;  /* of data that this rank has shipped to agents */
    long long agent_requests; /* that the agent has served, for all ranks */
    long long agent_pieces;   /* ranges of the file in them */
    long long agent_reads;    /* system calls that they became, where the file is not partitioned */
    long long agent_writes;
    long long agent_combined; /* ranges that were accessed together with others */
    long long cached_hits;    /* ranges whose block the agent had in memory, where the file is partitioned */
    long long cached_misses;
    long long cached_writes;     /* blocks written late */
    long long prefetch_asked;    /* blocks whose fetching was asked for, by this rank and its agent */
    long long prefetch_accepted; /* of those: the system took it up, or they were there */
    long long prefetch_hit;      /* of those: they were there when they were accessed */
    long long prefetch_released; /* blocks given back to the system after use */
    long long prefetch_ahead;    /* the greatest number of blocks that are fetched ahead, as of now */
};

#ifdef MPI_VERSION
/* Fills the first `size` bytes of *ret_counters: give sizeof *ret_counters. An MPI error code. */
PIOLET_API int piolet_counters(MPI_File file, struct piolet_counters *ret_counters, int size);

/* File partitioning: until stop (or MPI_File_close) each part of the file is accessed by one agent alone, which keeps
 * what it has read and written in memory and writes it late: at the latest in MPI_File_sync, MPI_File_close and stop.
 * The caller promises that nobody else accesses the file meanwhile. All three are collective over the file's ranks, and
 * return MPI's error codes by the file's error handler, as functions of MPI do; they are no hints: what cannot be done
 * is an error, on all ranks.
 *
 * start: blocks (256 KiB, or that of the file system if it is larger) go round all ranks.
 * map: while started: parts of `partition_bytes` (rounded up to whole blocks; 0: one block) go round the list of
 * `count` ranks of the file's communicator, the same on all ranks, in which a rank may come any number of times;
 * count 0: all ranks in turn.
 * stop: everything is written, and the file is accessed as before. If that fails, the mode goes on and nothing is lost.
 * (A file opened with MPI_MODE_UNIQUE_OPEN and the hint piolet_strategy=shipping is partitioned from the beginning.) */
PIOLET_API int piolet_partition_start(MPI_File file);
PIOLET_API int piolet_partition_map(MPI_File file, long long partition_bytes, int count, const int *agents);
PIOLET_API int piolet_partition_stop(MPI_File file);

/* For dlsym(). */
typedef int piolet_counters_function(MPI_File file, struct piolet_counters *ret_counters, int size);
typedef int piolet_partition_start_function(MPI_File file);
typedef int piolet_partition_map_function(MPI_File file, long long partition_bytes, int count, const int *agents);
typedef int piolet_partition_stop_function(MPI_File file);
#endif

#ifdef __cplusplus
}
#endif
#endif
