#include "mpiio/ring/ring_copy.h"

#include <string.h>

/* With the length a constant, the copy of a piece is a few instructions instead of a call. */
#define COPY_LOOP(n, to_step, from_step)                                                                               \
    for (int64_t i = 0; i < count; i++, to += (to_step), from += (from_step))                                          \
        memcpy(to, from, (size_t)(n));

#define COPY_BY_LENGTH(to_step, from_step)                                                                             \
    switch (length) {                                                                                                  \
    case 1:                                                                                                            \
        COPY_LOOP(1, to_step, from_step) break;                                                                        \
    case 4:                                                                                                            \
        COPY_LOOP(4, to_step, from_step) break;                                                                        \
    case 8:                                                                                                            \
        COPY_LOOP(8, to_step, from_step) break;                                                                        \
    case 16:                                                                                                           \
        COPY_LOOP(16, to_step, from_step) break;                                                                       \
    case 24:                                                                                                           \
        COPY_LOOP(24, to_step, from_step) break;                                                                       \
    case 32:                                                                                                           \
        COPY_LOOP(32, to_step, from_step) break;                                                                       \
    case 40:                                                                                                           \
        COPY_LOOP(40, to_step, from_step) break;                                                                       \
    case 64:                                                                                                           \
        COPY_LOOP(64, to_step, from_step) break;                                                                       \
    case 128:                                                                                                          \
        COPY_LOOP(128, to_step, from_step) break;                                                                      \
    case 256:                                                                                                          \
        COPY_LOOP(256, to_step, from_step) break;                                                                      \
    default:                                                                                                           \
        COPY_LOOP(length, to_step, from_step) break;                                                                   \
    }

void ring_copy_gather(char *to, const char *from, int64_t length, int64_t stride, int64_t count)
{
    COPY_BY_LENGTH(length, stride)
}

void ring_copy_scatter(char *to, const char *from, int64_t length, int64_t stride, int64_t count)
{
    COPY_BY_LENGTH(stride, length)
}

/* Not pointer arithmetic: with MPI_BOTTOM the base is NULL and displacements are addresses. */
static char *address(const struct access_memory *memory, int64_t displacement)
{
    return (char *)((uintptr_t)memory->base + (uintptr_t)displacement); /* NOLINT(performance-no-int-to-ptr) */
}

void ring_copy_take(struct access_memory *memory, char *to, int64_t bytes)
{
    while (bytes > 0) {
        struct typemap_run run;
        const int64_t moved = typemap_cursor_run(&memory->cursor, bytes, &run);
        ring_copy_gather(to, address(memory, run.displacement), run.length, run.stride, run.count);
        to += moved;
        bytes -= moved;
    }
}

void ring_copy_give(struct access_memory *memory, const char *from, int64_t bytes)
{
    while (bytes > 0) {
        struct typemap_run run;
        const int64_t moved = typemap_cursor_run(&memory->cursor, bytes, &run);
        ring_copy_scatter(address(memory, run.displacement), from, run.length, run.stride, run.count);
        from += moved;
        bytes -= moved;
    }
}
