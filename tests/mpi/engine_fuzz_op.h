/* Data accesses: drawn for every rank, called by one, followed in the model by all. */
#ifndef ENGINE_FUZZ_OP_H
#define ENGINE_FUZZ_OP_H

#include "engine_fuzz_group.h"

enum where { AT, OWN, SHARED, ORDERED };
enum how { BLOCKING, NONBLOCKING, SPLIT };

struct op {
    bool is_write, is_collective, is_bottom;
    enum where where;
    enum how how;
    int seek;         /* -1, or MPI_SEEK_… that takes the individual pointer to its place before */
    int64_t position; /* etypes of the view */
    struct type *memory;
    int64_t count; /* of memory types */
    uint64_t id;   /* the bytes that are written follow from it */
};

/* A random access of `rank` within its view, of this kind (direction, where, how, collective): at most `most` bytes. */
struct op op_draw(struct group *group, int rank, struct random *random, const struct op *kind, int64_t most);
enum how op_draw_how(struct random *random, bool is_collective);
int64_t op_room(const struct group *group, int rank, bool is_write); /* etypes behind the view's base */
void op_clear(struct op *op);
int64_t op_bytes(const struct op *op);
/* The file pointer behind it. */
int64_t op_behind(const struct group *group, int rank, const struct op *op);
void op_describe(const struct group *group, const struct op *op);

/* What a call in flight needs. */
struct flight {
    MPI_Request request;
    MPI_Datatype absolute; /* of MPI_BOTTOM */
    uint8_t *memory, *wanted;
    int64_t bytes; /* of both */
    int64_t readable;
    const struct op *op; /* NULL when it has landed */
};

/* Calls MPI. The model must be in the state before the access. A non-blocking one is in flight until op_wait(). */
void op_start(struct group *group, const struct op *op, struct flight *flight);
void op_wait(struct group *group, struct flight *flight);
/* What an access of any rank does to the model: contents only. */
void op_follow(struct group *group, int rank, const struct op *op);

uint8_t op_value(const struct op *op, int64_t position); /* of the data as they lie in memory */

#endif
