/* Block files as JSON and as CSV, number by number: integers stand there exactly as in the block file, and memory does
 * not grow with the samples. docs/analysis.md describes both. */
#ifndef PIOLET_LAB_EXPORT_H
#define PIOLET_LAB_EXPORT_H

#include "base/blockfile.h"
#include "base/json.h"

/* The blocks of all files in one document. The caller owns files and stream, and looks at ferror(). */
pl_status export_json(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error);

/* The same as members of an open object. */
pl_status export_put_json(struct blockfile *files, size_t file_count, struct json *json, struct pl_error *error);

/* How a block becomes JSON: for whoever reads it, or as the page takes it, with rows that have no keys. */
struct export_form {
    bool compact;
    void *context;
    /* Members of the open object of a series: its numbers. */
    pl_status (*put_values)(void *context, struct json *json, struct blockfile *file,
                            const struct blockfile_series *series, struct pl_error *error);
};
/* An element of the open array. */
pl_status export_put_block(const struct export_form *form, struct json *json, struct blockfile *file,
                           const struct blockfile_block *block, struct pl_error *error);

/* file,block,class,testname,set,rank,key,unit,index,value,ranks,filesize_bytes,blocksize_bytes,settings: one row for
 * each number; `block` counts over all files. The columns are the same for every benchmark; new ones come at the end.
 */
pl_status export_csv(struct blockfile *files, size_t file_count, FILE *stream, struct pl_error *error);

#endif
