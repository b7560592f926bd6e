/* Random datatypes, with what they mean spelled out byte by byte.
 *
 * Each constructor here does two things side by side: it calls MPI, and it lists for itself, in the plainest way, where
 * each byte of the data lies. Neither MPI_Pack nor MPI_Type_get_contents is asked, so that a mistake in the flattening
 * of an MPI-IO implementation cannot be repeated here. */
#ifndef ENGINE_FUZZ_TYPE_H
#define ENGINE_FUZZ_TYPE_H

#include "engine_fuzz_base.h"

struct type {
    MPI_Datatype mpi; /* MPI_DATATYPE_NULL where the type belongs to another rank */
    int64_t size, lb, extent;
    int64_t *at;         /* where byte i of the data lies, in the order of the typemap */
    uint8_t *left;       /* how many bytes of its basic element follow byte i; tells basic elements apart */
    int64_t align;       /* displacements are multiples of this: no MPI pads then */
    bool is_uncountable; /* MPICH's MPI_Get_elements stops at darrays and pairs, Open MPI's takes a pair for one */
    bool is_marked;      /* has bounds that were set */
    char *text;          /* as the user would write it */
};

/* How to draw: files want data that ascend and do not overlap. */
struct type_style {
    bool is_file;
    bool is_mine; /* an MPI datatype is wanted, too */
    int64_t unit; /* displacements are multiples of this */
    int64_t most; /* bytes of data, and of extent / 8 */
};

enum { ETYPES = 12 };

/* The elementary types: `which` of ETYPES, or one of them that is allowed. */
struct type *type_etype(int which, bool is_mine);
int type_draw_etype(struct random *random);
bool type_has_gaps(int which);
bool type_is_bytes(int which);

/* Constructors over constructors over `base`, which stays the caller's. Never of size 0. */
struct type *type_draw(struct random *random, const struct type *base, const struct type_style *style);
struct type *type_dup(const struct type *type, bool is_mine);
void type_free(struct type *type); /* accepts NULL */

int64_t type_true_lb(const struct type *type);
int64_t type_true_ub(const struct type *type);

/* Single constructors, for views that tile a file among ranks. Each takes its kid over. Displacements in bytes. */
struct type *type_hindexed(struct type *kid, int n, const int64_t *lengths, const int64_t *displacements);
struct type *type_resized(struct type *kid, int64_t lb, int64_t extent);
struct type *type_contiguous(struct type *kid, int64_t count);

struct array {
    int dims, order;                                  /* MPI_ORDER_C or MPI_ORDER_FORTRAN */
    int sizes[4], part[4], start[4];                  /* subarray */
    int kinds[4], arguments[4], grid[4], rank, procs; /* darray */
};

struct type *type_subarray(struct type *kid, const struct array *array);
struct type *type_darray(struct type *kid, const struct array *array); /* may be of size 0 */

/* For the constructors: a type without data that continues `kid` (its text, alignment and whether it is mine). */
struct type *type_begin(const struct type *kid, const char *format, ...) __attribute__((format(printf, 2, 3)));
void type_append(struct type *type, const struct type *kid, int64_t displacement); /* data only */
/* Gives it bounds and compares them with MPI's; frees the kid. */
struct type *type_end(struct type *type, struct type *kid, int64_t lb, int64_t extent);

#endif
