#include "base/memory.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *memory_or_end(void *memory)
{
    if (memory)
        return memory;
    fputs("piolet: not enough memory\n", stderr);
    exit(EXIT_FAILURE);
}

void *memory_new(size_t count, size_t size)
{
    return memory_or_end(calloc(count ? count : 1, size));
}

void *memory_more(void *array, size_t count, size_t size)
{
    return memory_or_end(count > SIZE_MAX / size ? NULL : realloc(array, count ? count * size : 1));
}

void *memory_grow(void *array, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0) /* full: capacities are powers of two */
        array = memory_more(array, count ? 2 * count : 1, size);
    memset((char *)array + count * size, 0, size);
    return array;
}

char *memory_copy(const char *text)
{
    return text ? memory_or_end(strdup(text)) : NULL;
}

char *memory_text(const char *format, ...)
{
    char *text = NULL;
    va_list args;
    va_start(args, format);
    const int length = vasprintf(&text, format, args);
    va_end(args);
    return memory_or_end(length < 0 ? NULL : text);
}
