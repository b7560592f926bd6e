/* The ranks that share one file in one case, and all that each of them knows of the others. */
#ifndef ENGINE_FUZZ_GROUP_H
#define ENGINE_FUZZ_GROUP_H

#include "engine_fuzz_model.h"

struct group {
    MPI_Comm comm;
    int rank, procs;
    struct random random; /* the same on every rank */
    char path[1024];
    MPI_File file;
    int amode;
    char hints[256];
    struct view *views; /* of each rank */
    bool same_view;     /* needed for shared pointers */
    int64_t *own;       /* individual pointers */
    int64_t shared;
    bool is_atomic;
    bool is_tainted;   /* an error has been seen by some rank */
    bool saw_error;    /* … by this one, since the last agreement */
    bool has_reported; /* an error of an access to the caller, since ranks last agreed that all is well */
    bool is_unchecked; /* with faults: where the data went is unknown */
    bool is_lost;      /* with faults: the file could not be opened, or has no view */
    struct model model;
};

static inline bool can_read(const struct group *group)
{
    return !(group->amode & MPI_MODE_WRONLY) && has(FEATURE_read);
}

static inline bool can_write(const struct group *group)
{
    return !(group->amode & MPI_MODE_RDONLY) && has(FEATURE_write);
}

/* An error code of a call on `file`: a failure of the test, or with --faults a thing to remember. True for success. */
bool group_check(struct group *group, int code, const char *call);
/* The same for a call that synchronises: every rank hears of a failure, but one that has told of its own already may
 * leave it at that. Ends with all ranks knowing of errors; true where no rank saw one. */
bool group_check_coll(struct group *group, int code, const char *call);
void group_learn_coll(struct group *group);

void group_draw_views(struct group *group); /* new views of all ranks, not yet set */
void group_set_view_coll(struct group *group);
void group_sync_coll(struct group *group); /* sync, barrier, sync */

/* A case: whatever the seed says. */
void group_run_coll(struct group *group);

/* One random step. */
void step_coll(struct group *group);
void step_accesses_coll(struct group *group); /* data accesses; the rest of step_coll() */
void step_shared_coll(struct group *group);
bool group_open_coll(struct group *group, int amode);
void group_close_coll(struct group *group);
void group_compare(struct group *group, bool is_gone); /* the file with the model; one rank alone */

#endif
