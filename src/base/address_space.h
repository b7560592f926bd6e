/* How much address space is left to this process: batch systems limit it (RLIMIT_AS), and so the size of its data
 * (RLIMIT_DATA). What we map, the program and its MPI cannot. */
#ifndef PIOLET_BASE_ADDRESS_SPACE_H
#define PIOLET_BASE_ADDRESS_SPACE_H

#include <stdbool.h>
#include <stdint.h>

/* Bytes; UINT64_MAX where there is no limit. Without one it costs two cheap system calls. */
uint64_t address_space_left(void);

/* Does the machine never promise more memory than it has (vm.overcommit_memory = 2)? Then a page of a file in memory
 * may be refused when it is touched, which is SIGBUS, unless it was allocated before. */
bool address_space_is_accounted(void);

#endif
