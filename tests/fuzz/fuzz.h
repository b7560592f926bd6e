/* What fuzz targets share. A target is one file fuzz_NAME.c with LLVMFuzzerTestOneInput(), and a folder corpus/NAME of
 * small inputs. It gives the bytes to a reader and then does with the result what the verbs do. Whatever the bytes, no
 * sanitizer may complain, and memory and time stay within the limits of tests/fuzz/run.sh. */
#ifndef PIOLET_FUZZ_H
#define PIOLET_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

/* A private folder of this process, on a file system in memory where there is one; removed at its end. */
const char *fuzz_folder(void);
/* Writes the bytes to the file `name` of the folder, over what was there; returns its path, good until the next call
 * with this name. */
const char *fuzz_file(const char *name, const uint8_t *bytes, size_t size);
/* The bytes as a text with an end; the caller frees it. */
char *fuzz_text(const uint8_t *bytes, size_t size);
/* Where to write what nobody reads. */
FILE *fuzz_nowhere(void);

#endif
