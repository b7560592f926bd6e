/* Metadata operations of one process, in a directory of its own. Local: no rank waits for another here. */
#ifndef PIOLET_BENCH_PEAK_META_H
#define PIOLET_BENCH_PEAK_META_H

#include "bench/peak/peak_file.h"

struct peak_meta {
    char path[PATH_MAX]; /* of its directory; "": none */
    int64_t files;       /* that are there */
};

pl_status peak_meta_begin(struct peak_meta *meta, const char *directory, struct pl_error *error);
/* pass->set says which operation; at most `files` of them. */
pl_status peak_meta_run(struct peak_meta *meta, struct peak_pass *pass, int64_t files, struct pl_error *error);
void peak_meta_end(struct peak_meta *meta); /* removes what is left; accepts one that never began */

#endif
