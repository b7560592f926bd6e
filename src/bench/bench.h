/* The table of benchmarks, made from bench.def. */
#ifndef PIOLET_BENCH_BENCH_H
#define PIOLET_BENCH_BENCH_H

#include "lab/bench.h"

extern const struct bench *const BENCHES[]; /* ends with NULL */

/* By its name, or NULL. */
const struct bench *bench_find(const char *name);
/* The one that writes blocks of this class (upper and lower case alike), or NULL. */
const struct bench *bench_of_class(const char *class_name);
/* The one that wrote the block: by its class, and by its test where several benchmarks write the class. */
const struct bench *bench_of_block(const struct blockfile_block *block);

/* The quantities of one block of a file (from 0), with repetitions joined: the document has nothing else to offer where
 * the class is not known. The caller frees it. */
pl_status bench_results_of(struct blockfile *file, size_t number, struct result **ret_result, struct pl_error *error);

/* The document of what is selected, in every form that the request asks for: text, JSON, CSV, plot. */
pl_status bench_show(const struct bench *bench, const struct analysis_request *request,
                     const struct analysis_input *input, struct pl_error *error);

#endif
