/* Memory of the engine: as malloc and free, and the fault plan (fault/fault.h) may let any request fail. */
#ifndef PIOLET_ENGINE_MEM_H
#define PIOLET_ENGINE_MEM_H

#include <stddef.h>

void *mem_alloc(size_t bytes);                /* never 0 bytes: NULL always means failure */
void *mem_zalloc(size_t count, size_t bytes); /* zeroed; NULL also where count × bytes overflows */
void *mem_resize(void *memory, size_t bytes); /* on failure the old one stays */
char *mem_strdup(const char *text);
void mem_free(void *memory);

#endif
