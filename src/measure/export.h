/* Block files as JSON and as CSV, number by number: integers stand there exactly as in the block file, and memory does
 * not grow with the samples. docs/analysis.md describes both. */
#ifndef PIOLET_MEASURE_EXPORT_H
#define PIOLET_MEASURE_EXPORT_H

#include "base/blockfile.h"

/* The blocks of all files in one document. The caller owns files and stream, and looks at ferror(). */
pl_status export_json(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error);

/* file,block,class,testname,set,rank,key,unit,index,value: one row for each number; `block` counts over all files. */
pl_status export_csv(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error);

#endif
