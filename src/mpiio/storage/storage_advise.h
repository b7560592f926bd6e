/* What may be said to the system of a file's pages in memory. Nothing here can fail: where the system does not know, it
 * does nothing. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_ADVISE_H
#define PIOLET_MPIIO_STORAGE_STORAGE_ADVISE_H

#include "mpiio/storage/storage.h"

enum storage_cached { STORAGE_NOT_CACHED, STORAGE_CACHED, STORAGE_UNKNOWN };

/* Are the first and the last byte in memory? (Cheap: looks at no others.) Behind the end of the file: STORAGE_CACHED.
 */
enum storage_cached storage_is_cached(struct storage *storage, int64_t offset, int64_t bytes);
/* Begins to fetch them; does not wait. False: the system takes no such advice. */
bool storage_fetch(struct storage *storage, int64_t offset, int64_t bytes);
/* Takes the pages that hold them and were not changed out of memory; false: the system takes no such advice. */
bool storage_release(struct storage *storage, int64_t offset, int64_t bytes);

#endif
