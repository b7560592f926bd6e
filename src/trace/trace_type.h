/* A datatype as the trace tells it (docs/trace-format.md): the text of its constructors, as a tree. */
#ifndef PIOLET_TRACE_TYPE_H
#define PIOLET_TRACE_TYPE_H

#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum { TRACE_TYPE_NUMBERS = 3, TRACE_TYPE_LISTS = 4 };

enum trace_type_kind {
    TRACE_TYPE_NAMED,
    TRACE_TYPE_DUP,
    TRACE_TYPE_CONTIGUOUS,
    TRACE_TYPE_VECTOR,
    TRACE_TYPE_HVECTOR,
    TRACE_TYPE_INDEXED,
    TRACE_TYPE_HINDEXED,
    TRACE_TYPE_INDEXED_BLOCK,
    TRACE_TYPE_HINDEXED_BLOCK,
    TRACE_TYPE_STRUCT,
    TRACE_TYPE_SUBARRAY,
    TRACE_TYPE_DARRAY,
    TRACE_TYPE_RESIZED,
    TRACE_TYPE_F90_REAL,
    TRACE_TYPE_F90_COMPLEX,
    TRACE_TYPE_F90_INTEGER
};

/* The basic types: their place in the table of names. */
enum trace_type_name {
#define TYPE(name, c)    TRACE_TYPE_NAME_##name,
#define PAIR(name, a, b) TRACE_TYPE_NAME_##name,
#include "trace/trace_type.def"
#undef TYPE
#undef PAIR
    TRACE_TYPE_NAMES
};

enum trace_type_distribution { TRACE_TYPE_BLOCK, TRACE_TYPE_CYCLIC, TRACE_TYPE_NONE };

struct trace_type_list {
    int64_t *values;
    int count, room;
};

/* Numbers, lists and types in the order in which the text has them; distributions of a darray are list 1. */
struct trace_type {
    enum trace_type_kind kind;
    enum trace_type_name name; /* of TRACE_TYPE_NAMED */
    int64_t numbers[TRACE_TYPE_NUMBERS];
    int number_count;
    struct trace_type_list lists[TRACE_TYPE_LISTS];
    int list_count;
    bool is_fortran; /* the order of an array */
    struct trace_type *types;
    int type_count;
};

/* A text that was cut off ("...") is refused. Numbers that are an int in MPI are one here; lists may hold anything. */
pl_status trace_type_parse(const char *text, struct trace_type *ret_type, struct pl_error *error);
void trace_type_clear(struct trace_type *type);

const char *trace_type_kind_text(enum trace_type_kind kind);

#endif
