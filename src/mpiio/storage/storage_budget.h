/* How much of its files a process may have mapped. Mapped pages are those of the page cache, but count as memory of the
 * process, and batch systems end jobs for that. */
#ifndef PIOLET_MPIIO_STORAGE_STORAGE_BUDGET_H
#define PIOLET_MPIIO_STORAGE_STORAGE_BUDGET_H

#include <stdint.h>

/* An eighth of what the job's memory control groups and the machine leave (base/cgroup.h), or of `job_bytes` if that is
 * less, is for all ranks of the node together; this is what one of `ranks` gets, in whole MiB. At most an eighth of its
 * free address space, and never more than 512 MiB. UINT64_MAX: no limit. */
int64_t storage_budget(uint64_t job_bytes, int ranks);

/* The same from numbers. */
int64_t storage_budget_of(uint64_t memory_left, uint64_t addresses_left, int ranks);

#endif
