/* Names of files. */
#ifndef PIOLET_BASE_PATH_H
#define PIOLET_BASE_PATH_H

#include <stdbool.h>

/* Do both names mean the same file, though it may not exist yet? */
bool path_same(const char *a, const char *b);

#endif
