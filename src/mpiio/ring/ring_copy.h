/* Copies strided pieces as fast as the length of the pieces allows. */
#ifndef PIOLET_MPIIO_RING_COPY_H
#define PIOLET_MPIIO_RING_COPY_H

#include "mpiio/access/access_memory.h"

#include <stdint.h>

/* `count` pieces of `length` bytes from strided places to consecutive ones, and back. */
void ring_copy_gather(char *to, const char *from, int64_t length, int64_t stride, int64_t count);
void ring_copy_scatter(char *to, const char *from, int64_t length, int64_t stride, int64_t count);

/* The next `bytes` bytes of a rank's memory, to or from one place. */
void ring_copy_take(struct access_memory *memory, char *to, int64_t bytes);
void ring_copy_give(struct access_memory *memory, const char *from, int64_t bytes);

#endif
