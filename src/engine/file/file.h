/* A file that is open in our engine, as one rank knows it: what stands behind an MPI_File. What ranks do together with
 * it is in control/ and move/. */
#ifndef PIOLET_ENGINE_FILE_FILE_H
#define PIOLET_ENGINE_FILE_FILE_H

#include "engine/access/access.h"
#include "engine/error/error.h"
#include "engine/hint/hint.h"
#include "engine/log/log.h"
#include "engine/prefetch/prefetch.h"
#include "engine/shared/shared.h"
#include "engine/storage/storage.h"
#include "engine/view/view.h"
#include "mpi/agree.h"
#include "mpi/node.h"

#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

struct aux;
struct ring;
struct develop_track;
struct strategy;
struct peers_kit;
struct pending;
struct ship;

/* What exchanges keep between the calls of a file. */
struct file_memory {
    char *bytes;
    size_t capacity;
    bool reads_sleep; /* the last read of a window had to wait for a device */
};

struct file {
    uint32_t magic;  /* FILE_MAGIC while it is open: handles are checked by it */
    MPI_Fint number; /* its Fortran handle */
    MPI_Errhandler handler;

    MPI_File system; /* hint piolet_impl=system: the MPI's own file does everything; else MPI_FILE_NULL */
    bool is_system;

    MPI_Comm comm; /* of the kit */
    int rank, size;
    int amode;
    char *name; /* as the program gave it, without prefix */
    struct storage *storage;
    bool readable; /* the storage can also be read, whatever the access mode says */
    struct hints *hints;
    struct hint_values values; /* in force, the same on all ranks */
    struct peers_kit *kit;     /* what all the following are of */
    struct node node;
    struct shared *shared;
    struct shared_order *order;
    struct ring *ring; /* NULL where not all ranks share memory */
    struct aux *aux;   /* auxiliary processes that store what is written collectively; NULL: none */
    char auxiliary_text[128];
    int64_t map_bytes; /* what this rank may have mapped of its files, the same on all; 0: nothing. See control.c */
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
    const char *why_reading, *why_writing; /* the reason of the choice */
    bool small_reads, small_writes;        /* pieces of the view that is cut finest are */
    bool direct_reads;                     /* their pieces are so large that each rank for itself is likely quicker */
    bool tune_reads, tune_writes;          /* they may find out by trying whether they are the best */
    bool lock_writes;                      /* some rank may sieve its writes */
    int64_t sequence;                      /* collective data accesses so far */
    struct file_memory memory;             /* of exchanges by messages */
    int64_t buffer_most; /* for values.cb_buffer_size, agreed when the file was opened: little memory may be left */
    struct prefetch_memory prefetch; /* of this rank's own accesses */
    struct ship *ship;               /* data shipping; NULL: nobody has asked for it. See ship.h */
    pthread_rwlock_t ship_lock;      /* held by whoever ships; who changes it waits for them */
    struct pending *queue;           /* collective operations under way, in their order; see pending.h */
    struct file *next_active;
    struct pending *queue_last;
    void *spare;            /* memory of an operation, for a rank that has no other; see api.h */
    struct pending *split;  /* the split collective that was begun and not ended */
    atomic_int under_way;   /* operations that have not come to their end, */
    atomic_int together;    /* and the collective ones of them */
    struct error_late late; /* a failure that other ranks have not heard of: of a collective call, or a freed request */
    uint64_t lates;         /* of them so far */
    int64_t late_rank;      /* the first rank with one, as of the last agreement; INT64_MAX: none */
};

enum { FILE_MAGIC = 0x9f10fe71 };

/* ---- late failures ---- */

/* Notes a failure for the next meeting; `heard`: the program of this rank knows of it. One that it has not heard of
 * goes before one that it has. */
void file_note_late(struct file *file, const struct pl_error *error, bool heard);

/* The failure to tell, and whether there is one. */
struct error_late file_late(struct file *file);
bool file_has_late(struct file *file);

/* All ranks have heard of the one of this number (0: of none); another one that came in the meantime stays. */
void file_forget_late(struct file *file, uint64_t number);

/* The view in force, with a reference for the caller. */
struct view *file_view(struct file *file);

/* May a write read gaps and write them back? */
bool file_may_sieve_writes(const struct file *file);

/* How this rank's own accesses are to be done. */
struct access_options file_options(const struct file *file, MPI_Comm progress);

/* ---- what auxiliary processes store later ---- */

/* Is everything stored that this rank may rely on? Notes failures for the next meeting. The second one waits, and lets
 * MPI make progress by `progress` (as in wait.h). */
bool file_is_settled(struct file *file);
void file_settle(struct file *file, MPI_Comm progress);
/* Notes failures only. */
void file_hear_auxiliary(struct file *file);

#endif
