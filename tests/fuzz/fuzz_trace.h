/* What both kinds of traces are tried with: all that `piolet model` does. */
#ifndef PIOLET_FUZZ_TRACE_H
#define PIOLET_FUZZ_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* The bytes as the trace of a rank: its calls listed, a model of two ranks that did this, the model read back. */
void fuzz_trace(const uint8_t *bytes, size_t size);

#endif
