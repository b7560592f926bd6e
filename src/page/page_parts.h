/* Parts of the page that its files share.
 *
 * Columns of numbers stand all in one piece of binary memory behind the JSON: 32-bit unsigned where they fit, else
 * doubles (whole numbers up to 2^53 are exact). Little-endian, as every machine that opens pages is. */
#ifndef PIOLET_PAGE_PARTS_H
#define PIOLET_PAGE_PARTS_H

#include "base/json.h"
#include "base/progress.h"
#include "bench/bench.h"
#include "page/page.h"

#include <stdint.h>
#include <stdio.h>

struct page_columns {
    FILE *stream;   /* of open_memstream */
    int64_t length; /* bytes so far */
};

/* Appends the column, and writes where it is as [BYTE, COUNT, WIDTH] under `key`. */
void page_column_put(struct page_columns *columns, struct json *json, const char *key, const double *values,
                     size_t count);

/* A model as an object of the open array: its words, files and phases, and its accesses as columns. */
pl_status page_model_put(const struct page_file *file, int file_number, struct json *json, struct page_columns *columns,
                         struct pl_error *error);

/* Samples in all series of a file, and what it weighs in a progress of which each file is a step. */
int64_t page_samples_of(const struct page_file *file);
double page_weight_of(const struct page_file *file);
void page_progress_begin(const struct report *report, struct progress *progress);

/* Everything that the page knows, as JSON and as columns of numbers behind it. */
struct page_payload { /* both owned */
    char *json, *columns;
    size_t json_length, columns_length;
};

pl_status page_payload_make(struct report *report, struct page_payload *ret_payload, struct pl_error *error);
void page_payload_clear(struct page_payload *payload);

/* Deflated and in base64. */
pl_status page_encode(const void *bytes, size_t count, FILE *stream, struct pl_error *error);

/* The blocks of one file that a benchmark wrote: the file with a list of its own, which the caller frees. */
struct blockfile page_blocks_of(const struct page_file *file, const struct bench *bench);
/* What the benchmark says about them. PL_E_INPUT: there is nothing to say. */
pl_status page_result_of(struct blockfile *part, const struct bench *bench, struct result **ret_result,
                         struct pl_error *error);

#endif
