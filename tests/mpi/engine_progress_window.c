/* Windows: the last rank waits for an epoch of rank 0, or looks again and again at what rank 0 stores. */
#include "engine_progress.h"

#include <stddef.h>

static MPI_Win win;
static int *base;
static MPI_Group partner; /* of rank 0: the last rank; of the last rank: rank 0 */

static void make_win(void)
{
    MPI_Group all;
    const int other = rank == 0 ? LAST : 0;
    MPI_Win_allocate(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &base, &win);
    *base = 0;
    MPI_Comm_group(world, &all);
    MPI_Group_incl(all, 1, &other, &partner);
    MPI_Group_free(&all);
    MPI_Barrier(world);
}

static void free_win(void)
{
    MPI_Group_free(&partner);
    MPI_Win_free(&win);
}

/* ---- making and freeing them ---- */

static int memory[16];

#define MAKING(name, ...)                                                                                              \
    static void row_##name(void)                                                                                       \
    {                                                                                                                  \
        MPI_##name(__VA_ARGS__, &win);                                                                                 \
    }
MAKING(Win_create, memory, sizeof memory, 4, MPI_INFO_NULL, world)
MAKING(Win_allocate, 64, 4, MPI_INFO_NULL, world, &base)
MAKING(Win_allocate_shared, 64, 4, MPI_INFO_NULL, world, &base)
MAKING(Win_create_dynamic, MPI_INFO_NULL, world)
#ifdef MPICH_NUMVERSION
MAKING(Win_create_c, memory, sizeof memory, 4, MPI_INFO_NULL, world)
MAKING(Win_allocate_c, 64, 4, MPI_INFO_NULL, world, &base)
MAKING(Win_allocate_shared_c, 64, 4, MPI_INFO_NULL, world, &base)
#endif

static void row_Win_free(void)
{
    MPI_Win_free(&win);
}

/* May return before the others are there. */
static void row_Win_set_info(void)
{
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Win_set_info(win, info);
    MPI_Info_free(&info);
}

/* ---- active ---- */

static void row_Win_fence(void)
{
    MPI_Win_fence(0, win);
}

static void end_fence(void)
{
    MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
    free_win();
}

static void access_epoch(void)
{
    if (rank != 0 && rank != LAST)
        return;
    MPI_Win_start(partner, 0, win);
    MPI_Win_complete(win);
}

static void exposure_epoch(void)
{
    if (rank != 0 && rank != LAST)
        return;
    MPI_Win_post(partner, 0, win);
    MPI_Win_wait(win);
}

static void row_Win_test(void)
{
    int done = 0;
    for (MPI_Win_post(partner, 0, win); !done;)
        MPI_Win_test(win, &done);
}

/* ---- passive: rank 0 has the lock, or stores what the last rank looks for ---- */

static void make_locked(void)
{
    make_win();
    if (rank == 0)
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Barrier(world);
}

static void unlock_own(void)
{
    if (rank == 0)
        MPI_Win_unlock(0, win);
}

/* The lock may be taken as late as in unlock. */
static void row_Win_lock(void)
{
    int got;
    MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
    MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock(0, win);
}

static void row_Win_lock_all(void)
{
    int got;
    MPI_Win_lock_all(0, win);
    MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, win);
    MPI_Win_unlock_all(win);
}

static void store(void)
{
    const int one = 1;
    int before;
    if (rank != 0)
        return;
    MPI_Win_lock(MPI_LOCK_SHARED, LAST, 0, win);
    MPI_Fetch_and_op(&one, &before, MPI_INT, LAST, 0, MPI_REPLACE, win);
    MPI_Win_unlock(LAST, win);
}

#define POLLING(name, fetch, end)                                                                                      \
    static void row_##name(void)                                                                                       \
    {                                                                                                                  \
        int got = 0, zero = 0;                                                                                         \
        MPI_Request request = MPI_REQUEST_NULL;                                                                        \
        MPI_Win_lock(MPI_LOCK_SHARED, LAST, 0, win);                                                                   \
        while (got == 0) {                                                                                             \
            fetch;                                                                                                     \
            end;                                                                                                       \
        }                                                                                                              \
        (void)zero, (void)request;                                                                                     \
        MPI_Win_unlock(LAST, win);                                                                                     \
    }
#define FETCH MPI_Fetch_and_op(NULL, &got, MPI_INT, LAST, 0, MPI_NO_OP, win)
#define DONE  MPI_Wait(&request, MPI_STATUS_IGNORE)
POLLING(Win_flush, FETCH, MPI_Win_flush(LAST, win))
POLLING(Win_flush_all, FETCH, MPI_Win_flush_all(win))
POLLING(Win_flush_local, FETCH, MPI_Win_flush_local(LAST, win))
POLLING(Win_flush_local_all, FETCH, MPI_Win_flush_local_all(win))
POLLING(Get, MPI_Get(&got, 1, MPI_INT, LAST, 0, 1, MPI_INT, win), MPI_Win_flush(LAST, win))
POLLING(Get_accumulate, MPI_Get_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, LAST, 0, 1, MPI_INT, MPI_NO_OP, win),
        MPI_Win_flush(LAST, win))
POLLING(Fetch_and_op, MPI_Fetch_and_op(&zero, &got, MPI_INT, LAST, 0, MPI_SUM, win), MPI_Win_flush(LAST, win))
POLLING(Compare_and_swap, MPI_Compare_and_swap(&zero, &zero, &got, MPI_INT, LAST, 0, win), MPI_Win_flush(LAST, win))
POLLING(Rget, MPI_Rget(&got, 1, MPI_INT, LAST, 0, 1, MPI_INT, win, &request), DONE)
POLLING(Rget_accumulate,
        MPI_Rget_accumulate(NULL, 0, MPI_INT, &got, 1, MPI_INT, LAST, 0, 1, MPI_INT, MPI_NO_OP, win, &request), DONE)
#ifdef MPICH_NUMVERSION
POLLING(Get_c, MPI_Get_c(&got, 1, MPI_INT, LAST, 0, 1, MPI_INT, win), MPI_Win_flush(LAST, win))
POLLING(Get_accumulate_c, MPI_Get_accumulate_c(NULL, 0, MPI_INT, &got, 1, MPI_INT, LAST, 0, 1, MPI_INT, MPI_NO_OP, win),
        MPI_Win_flush(LAST, win))
POLLING(Rget_c, MPI_Rget_c(&got, 1, MPI_INT, LAST, 0, 1, MPI_INT, win, &request), DONE)
POLLING(Rget_accumulate_c,
        MPI_Rget_accumulate_c(NULL, 0, MPI_INT, &got, 1, MPI_INT, LAST, 0, 1, MPI_INT, MPI_NO_OP, win, &request), DONE)
#endif

/* ---- memory that is read without MPI, but for MPI_Win_sync ---- */

static void make_shared(void)
{
    MPI_Group all;
    MPI_Win_allocate_shared(sizeof(int), sizeof(int), MPI_INFO_NULL, world, &base, &win);
    *base = 0;
    MPI_Comm_group(world, &all);
    partner = all;
    MPI_Win_lock_all(0, win);
    MPI_Barrier(world);
}

static void row_Win_sync(void)
{
    while (*(volatile int *)base == 0)
        MPI_Win_sync(win);
}

static void store_shared(void)
{
    MPI_Aint bytes;
    int unit, *theirs;
    if (rank != 0)
        return;
    MPI_Win_shared_query(win, LAST, &bytes, &unit, &theirs);
    *(volatile int *)theirs = 1;
    MPI_Win_sync(win);
}

static void free_shared(void)
{
    MPI_Win_unlock_all(win);
    free_win();
}

static void free_made(void)
{
    MPI_Win_free(&win);
}

#define ROW_MAKING(name)                                                                                               \
    {                                                                                                                  \
#name, NULL, row_##name, row_##name, free_made, false                                                          \
    }
#define ROW_POLLING(name)                                                                                              \
    {                                                                                                                  \
#name, make_win, row_##name, store, free_win, false                                                            \
    }

const struct row ROWS_WINDOW[] = {
    ROW_MAKING(Win_create),
    ROW_MAKING(Win_allocate),
    ROW_MAKING(Win_allocate_shared),
    ROW_MAKING(Win_create_dynamic),
    {"Win_free", make_win, row_Win_free, row_Win_free, NULL, false},
    {"Win_set_info", make_win, row_Win_set_info, row_Win_set_info, free_win, true},
    {"Win_fence", make_win, row_Win_fence, row_Win_fence, end_fence, false},
    {"Win_start", make_win, access_epoch, exposure_epoch, free_win, false},
    {"Win_complete", make_win, access_epoch, exposure_epoch, free_win, false},
    {"Win_post", make_win, exposure_epoch, access_epoch, free_win, false},
    {"Win_wait", make_win, exposure_epoch, access_epoch, free_win, false},
    {"Win_test", make_win, row_Win_test, access_epoch, free_win, false},
    {"Win_lock", make_locked, row_Win_lock, unlock_own, free_win, false},
    {"Win_unlock", make_locked, row_Win_lock, unlock_own, free_win, false},
    {"Win_lock_all", make_locked, row_Win_lock_all, unlock_own, free_win, false},
    {"Win_unlock_all", make_locked, row_Win_lock_all, unlock_own, free_win, false},
    ROW_POLLING(Win_flush),
    ROW_POLLING(Win_flush_all),
    ROW_POLLING(Win_flush_local),
    ROW_POLLING(Win_flush_local_all),
    ROW_POLLING(Get),
    ROW_POLLING(Get_accumulate),
    ROW_POLLING(Fetch_and_op),
    ROW_POLLING(Compare_and_swap),
    ROW_POLLING(Rget),
    ROW_POLLING(Rget_accumulate),
    {"Win_sync", make_shared, row_Win_sync, store_shared, free_shared, false},
#ifdef MPICH_NUMVERSION
    ROW_MAKING(Win_create_c),
    ROW_MAKING(Win_allocate_c),
    ROW_MAKING(Win_allocate_shared_c),
    ROW_POLLING(Get_c),
    ROW_POLLING(Get_accumulate_c),
    ROW_POLLING(Rget_c),
    ROW_POLLING(Rget_accumulate_c),
#endif
    {.name = NULL},
};
