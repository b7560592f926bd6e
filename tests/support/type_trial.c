#include "type_trial.h"

#include <mpi.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "engine/mem.h"

int failures;

void complain(int line, const char *format, ...)
{
    fprintf(stderr, "line %d: ", line);
    va_list args;
    va_start(args, format);
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    if (++failures >= 10)
        MPI_Abort(MPI_COMM_WORLD, 1);
}

_Atomic int64_t live_blocks;
int64_t fail_in = -1;

static bool may_alloc(void)
{
    return fail_in < 0 || fail_in-- > 0;
}

void *mem_zalloc(size_t count, size_t bytes)
{
    void *memory = may_alloc() ? calloc(count, bytes) : NULL;
    live_blocks += memory != NULL;
    return memory;
}

void *mem_alloc(size_t bytes)
{
    return mem_zalloc(1, bytes);
}

void *mem_resize(void *memory, size_t bytes)
{
    return may_alloc() ? realloc(memory, bytes) : NULL;
}

void mem_free(void *memory)
{
    live_blocks -= memory != NULL;
    free(memory);
}

uint64_t seed;

uint64_t random64(void)
{
    return seed = rng_mix(seed + 1);
}

int pick(int low, int high)
{
    return low + (int)(random64() % (uint64_t)(high - low + 1));
}

void describe_in(char *text, size_t room, const char *format, ...)
{
    const size_t used = strlen(text);
    va_list args;
    va_start(args, format);
    vsnprintf(text + used, room - used, format, args);
    va_end(args);
}
