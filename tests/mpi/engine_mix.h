/* Parts of engine_mix: see engine_mix.c. */
#ifndef ENGINE_MIX_H
#define ENGINE_MIX_H

#include "engine_random.h"

#include <mpi.h>

#include <stdbool.h>
#include <stdint.h>

/* ---- base ---- */

struct random {
    uint64_t state;
};

int64_t draw(struct random *random, int64_t least, int64_t most);

struct mix {
    const char *path;
    int64_t seed, first, cases;
    bool faults, verbose; /* faults: calls on files may fail, by a plan in the environment */
    int rank, ranks;
    int64_t number; /* of the case */
    int event;
    struct random plan, own; /* what all ranks draw alike; what each draws for itself */
    int failures;
    int handler_calls; /* of the files' error handler */
    char doing[256];
};

extern struct mix mix;

#define complain(...) random_complain(&mix.failures, mix_where(), mix.doing, __VA_ARGS__)
#define doing(...)    random_doing(mix.doing, sizeof mix.doing, mix.verbose ? mix_where() : NULL, __VA_ARGS__)
const char *mix_where(void); /* "seed 1 case 2 event 3, rank 0 of 4" */
void *allocate(int64_t bytes);

/* ---- files ---- */

enum { SLOTS_MAX = 3 };

enum place { AT, INDIVIDUAL, SHARED, ORDERED };
enum mode { BLOCKING, NONBLOCKING, SPLIT };

/* One data access of this rank. It is a write of a place of its own, or a read of such a place. */
struct access {
    struct slot *slot;
    struct access *next; /* of the slot */
    enum place place;
    bool write, together;
    bool known; /* it has come to its end without error */
    int64_t offset, bytes;
    int number;                      /* of its slot */
    char *memory;                    /* while it is under way */
    int64_t block_bytes, step_bytes; /* of memory, equal where it is dense */
};

/* A file. Each rank has its own bytes of it, in its view or in a part of the file. */
struct slot {
    int index;
    char path[4200];
    MPI_Comm comm;
    int rank, ranks, colour;
    MPI_File file; /* MPI_FILE_NULL: it could not be opened, which faults may bring about */
    bool strided;  /* the ranks' pieces take turns; else one view for all, with shared pointer */
    int64_t piece_bytes;
    int64_t next[2]; /* the first byte of AT and INDIVIDUAL that was not used yet */
    int accesses;
    bool split_is_active; /* on all ranks, by the plan */
    struct access *split; /* NULL as well where beginning it failed */
    struct access *first;
};

void slot_open_coll(struct slot *slot, int index);
void slot_close_coll(struct slot *slot);
void slot_check(struct slot *slot);
void slot_event_coll(struct slot *slot);
void slot_end_split_coll(struct slot *slot);

/* A request of the access has come to its end. `status` NULL: it was ignored. */
void access_end(struct access *access, int code, const MPI_Status *status);

/* ---- requests ---- */

/* What a request is of: a data access, a message (`words` of them received from rank `from`), or neither. */
struct subject {
    struct access *access;
    int *words;
    int count, from, tag;
};

void request_add(MPI_Request request, struct subject subject);
/* Completes a few of the requests, in one of many ways, or none. */
void requests_complete_some(void);
void requests_complete_all(void);

/* ---- messages and collectives ---- */

int word_of(int from, int tag, int i);
void message_check(int *words, int count, int from, int tag);
void message_event(void);
void collective_event_coll(void);

#endif
