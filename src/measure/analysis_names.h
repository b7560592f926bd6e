/* How tests, sets and operations are named in tables, titles and legends. Every function writes into `text`, cuts what
 * does not fit, and returns it. */
#ifndef PIOLET_MEASURE_ANALYSIS_NAMES_H
#define PIOLET_MEASURE_ANALYSIS_NAMES_H

#include "measure/analysis_select.h"

enum { ANALYSIS_NAME_MAX = 128 };

/* A test that one process runs while the others wait: no `collective`, and samples of one rank only. */
bool analysis_one_process(const struct blockfile_set *set);
/* "2 processes", "1 of 2 processes"; `nprocs` may be NULL or empty. */
const char *analysis_processes_text(const char *nprocs, bool one_process, char text[ANALYSIS_NAME_MAX]);
/* "single", "multiple collective", "multiple independent"; `collective` is the parameter, NULL or empty for none. */
const char *analysis_access_text(const char *testname, const char *collective, char text[ANALYSIS_NAME_MAX]);
/* The same of a set. */
const char *analysis_test_text(const struct analysis_chosen *chosen, char text[ANALYSIS_NAME_MAX]);
/* "file 16 MB, block 4 kB"; empty when nothing is known. */
const char *analysis_sizes_text(const struct blockfile_set *set, char text[ANALYSIS_NAME_MAX]);
/* "write (w)", "read (r)"; others by their key. */
const char *analysis_op_text(const char *key, char text[ANALYSIS_NAME_MAX]);
/* A path in at most 40 columns: its end. */
const char *analysis_path_text(const char *path, char text[ANALYSIS_NAME_MAX]);
/* The last part of a path. */
const char *analysis_base_name(const char *path);

#endif
