#include "engine/mem.h"

#include "engine/fault/fault.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

void *mem_alloc(size_t bytes)
{
    if (fault_next(FAULT_malloc) != FAULT_NONE)
        return NULL;
    return malloc(bytes ? bytes : 1);
}

void *mem_zalloc(size_t count, size_t bytes)
{
    if (bytes && count > SIZE_MAX / bytes)
        return NULL;
    if (fault_next(FAULT_malloc) != FAULT_NONE)
        return NULL;
    return calloc(count ? count : 1, bytes ? bytes : 1);
}

void *mem_resize(void *memory, size_t bytes)
{
    if (fault_next(FAULT_malloc) != FAULT_NONE)
        return NULL;
    return realloc(memory, bytes ? bytes : 1);
}

char *mem_strdup(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *copy = mem_alloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

void mem_free(void *memory)
{
    free(memory);
}
