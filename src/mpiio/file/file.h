/* A file that is open in our engine: what stands behind an MPI_File. */
#ifndef PIOLET_MPIIO_FILE_FILE_H
#define PIOLET_MPIIO_FILE_FILE_H

#include "mpi/agree.h"
#include "mpi/node.h"
#include "mpiio/access/access.h"
#include "mpiio/exchange/exchange.h"
#include "mpiio/hint/hint.h"
#include "mpiio/log/log.h"
#include "mpiio/prefetch/prefetch.h"
#include "mpiio/ring/ring.h"
#include "mpiio/shared/shared.h"
#include "mpiio/shared/shared_order.h"
#include "mpiio/storage/storage.h"
#include "mpiio/view/view.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct aux;
struct develop_track;
struct strategy;
struct pending;
struct ship;

struct file {
    uint32_t magic;  /* FILE_MAGIC while it is open: handles are checked by it */
    MPI_Fint number; /* its Fortran handle */
    MPI_Errhandler handler;

    MPI_File system; /* hint piolet_impl=system: the MPI's own file does everything; else MPI_FILE_NULL */
    bool is_system;

    MPI_Comm comm; /* a duplicate of ours */
    int rank, size;
    int amode;
    char *name; /* as the program gave it, without prefix */
    struct storage *storage;
    bool readable; /* the storage can also be read, whatever the access mode says */
    struct hints *hints;
    struct hint_values values; /* in force, the same on all ranks */
    struct node node;
    struct shared shared;
    struct shared_order order;
    struct ring *ring; /* NULL where not all ranks share memory */
    struct aux *aux;   /* auxiliary processes that store what is written collectively; NULL: none */
    char auxiliary_words[128];
    int64_t map_bytes; /* what this rank may have mapped of its files, the same on all; 0: nothing. See file_map.c */
    int map_ranks;     /* of the job on this node: they share what is left */
    struct log *log;
    bool develop;                /* develop mode: on for all ranks where any asks for it */
    struct develop_track *track; /* its view of who has written what; NULL: none */

    pthread_mutex_t lock; /* of what follows */
    int64_t position;     /* individual file pointer, in etypes */
    struct view *view;
    bool atomic;

    /* State of the whole file, changed only where all ranks meet. */
    const struct strategy *reading, *writing;
    const char *why_reading, *why_writing; /* the words of the choice */
    bool small_reads, small_writes;        /* pieces of the view that is cut finest are */
    bool tune_reads, tune_writes;          /* they may find out by trying whether they are the best */
    bool lock_writes;                      /* some rank may sieve its writes */
    int64_t sequence;                      /* collective data accesses so far */
    struct exchange_memory memory;
    int64_t buffer_most; /* for values.cb_buffer_size, agreed when the file was opened: little memory may be left */
    struct prefetch_memory prefetch; /* of this rank's own accesses */
    struct ship *ship;               /* data shipping; NULL: nobody has asked for it. See ship.h */
    pthread_rwlock_t ship_lock;      /* held by whoever ships; who changes it waits for them */
    struct pending *queue;           /* collective operations under way, in their order; see pending.h */
    struct file *next_active;
    struct pending *queue_last;
    void *spare;           /* memory of an operation, for a rank that has no other; see api_operation.h */
    struct pending *split; /* the split collective that was begun and not ended */
    atomic_int under_way;  /* operations that have not come to their end, */
    atomic_int together;   /* and the collective ones of them */
    struct pl_error late;  /* a failure that other ranks have not heard of: of a collective call, or a freed request */
    bool late_heard;       /* the program of this rank knows of it */
    int64_t late_rank;     /* the first rank with one, as of the last agreement; INT64_MAX: none */
};

enum { FILE_MAGIC = 0x9f10fe71 };

/* MPI_File_open without its handles: every rank of `comm` calls it; fails on all or none. `own`: what was wrong with
 * the arguments here. With the hint piolet_impl=system only `is_system` is set up. */
pl_status file_open_coll(MPI_Comm comm, const char *name, int amode, MPI_Info info, const struct pl_error *own,
                         struct file *file, struct pl_error *error);

/* Puts the hints in force, after they have changed; the same on all ranks. */
void file_take_values(struct file *file);

/* Closes in any case; what failed is told. */
pl_status file_close_coll(struct file *file, struct pl_error *error);

/* All ranks' outcomes: the same answer on each. `values` as in agree.h, one fewer of them; the agreement itself stays
 * in *agree. It also finds out whether anybody has a late failure to tell. */
pl_status file_agree_coll(struct file *file, struct agree *agree, const int64_t *values, int count,
                          struct pl_error *error);

/* Notes a failure for the next meeting; `heard`: the program of this rank knows of it. One that it has not heard of
 * goes before one that it has. */
void file_note_late(struct file *file, const struct pl_error *error, bool heard);

/* The failure to tell, and whether it has been heard of here; status PL_OK: none. */
struct pl_error file_late(struct file *file, bool *ret_heard);

/* All ranks have heard of it; another one that came in the meantime stays. */
void file_forget_late(struct file *file, const struct pl_error *late);

/* The view in force, with a reference for the caller. */
struct view *file_view(struct file *file);

/* The last thing that a synchronising call does, where it has gone well on all ranks: those that have not heard of a
 * late failure get it as their error, though what the call had to do is done. Ranks meet only where there is one. */
pl_status file_tell_late_coll(struct file *file, struct pl_error *error);

/* Sets the view on all ranks, resets both pointers, takes hints where any rank brings some, chooses the strategies.
 * Takes over the reference to `view`, which is NULL where `error` tells why this rank has none. */
pl_status file_set_view_coll(struct file *file, struct view *view, MPI_Info info, struct pl_error *error);

pl_status file_set_size_coll(struct file *file, int64_t bytes, struct pl_error *error);
pl_status file_preallocate_coll(struct file *file, int64_t bytes, struct pl_error *error);
pl_status file_set_atomicity_coll(struct file *file, bool atomic, struct pl_error *error);
pl_status file_sync_coll(struct file *file, struct pl_error *error);
pl_status file_set_info_coll(struct file *file, MPI_Info info, struct pl_error *error);
pl_status file_seek_shared_coll(struct file *file, int64_t offset, int whence, struct pl_error *error);

/* Where an offset leads, in etypes, in the sense of MPI_File_seek; `current` is the pointer that moves. */
pl_status file_seek_target(struct file *file, const struct view *view, int64_t offset, int whence, int64_t current,
                           int64_t *ret_target, struct pl_error *error);

/* May a write read gaps and write them back? */
bool file_may_sieve_writes(const struct file *file);

/* Rejects the hint piolet_strategy where no strategy has that name; `keep` holds then, or the default (NULL). */
void file_check_strategy(struct hints *hints, const char *keep);

/* Chooses the strategies of both directions; the facts are the same on all ranks. */
struct strategy_facts;
void file_choose(struct file *file, const struct strategy_facts *facts);
/* Puts the hint piolet_strategy to a row of the table, the same on all ranks. */
pl_status file_set_strategy_coll(struct file *file, const char *name, struct pl_error *error);

/* ---- file_auxiliary.c: what auxiliary processes store later ---- */

/* At open, before the ranks agree: where this process knows of any, it introduces the file and tells the others of its
 * node at `place` (FILE_AUXILIARY_BYTES of its segment). True: it did. */
enum { FILE_AUXILIARY_BYTES = 128 };
bool file_offer_auxiliary(struct file *file, void *place);
/* After it, where any rank did. */
void file_join_auxiliary_coll(struct file *file, const void *place);
/* Before the storage is closed: everything is stored, and the processes have closed the file. */
void file_close_auxiliary(struct file *file);

/* Is everything stored that this rank may rely on? Notes failures for the next meeting. The second one waits, and keeps
 * MPI going by `poke` (as in wait.h). */
bool file_is_settled(struct file *file);
void file_settle(struct file *file, MPI_Comm poke);
/* Notes failures only. */
void file_hear_auxiliary(struct file *file);

/* ---- file_map.c: parts of the file as memory ---- */

/* Local: what each rank of this node may have mapped. The least of all ranks holds, by file_map_apply(). */
int64_t file_map_budget(struct file *file);
void file_map_apply(struct file *file, int64_t bytes);

/* For MPI_File_get_info. */
struct file_map_state {
    const char *effective, *why; /* the hint piolet_map as it is in force, and the reason */
    int64_t rank_bytes, node_bytes;
};
void file_map_describe(struct file *file, struct file_map_state *ret_state);

/* How this rank's own accesses are to be done. */
struct access_manner file_manner(const struct file *file, MPI_Comm poke);

#endif
