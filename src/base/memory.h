/* Memory for tools that work alone: without it there is nothing left to do but to say so and to end with status 1.
 * For code that no other rank waits for and that runs in a process of ours: never in the engine or the tracer. */
#ifndef PIOLET_BASE_MEMORY_H
#define PIOLET_BASE_MEMORY_H

#include <stddef.h>

void *memory_new(size_t count, size_t size); /* zeroed; free() ends it */
void *memory_more(void *array, size_t count, size_t size);
char *memory_text(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_copy(const char *text); /* NULL: NULL */

/* Room for one more element behind `count` in an array that doubles: `array = memory_grow(array, count, sizeof *array)`
 * whenever one is added; the new element is zeroed. */
void *memory_grow(void *array, size_t count, size_t size);

#endif
