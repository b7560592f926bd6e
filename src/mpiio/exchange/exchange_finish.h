/* The end of a collective access in which the ranks have met: all learn whether anybody failed, and where nobody did,
 * whether anybody has an older failure to tell. One reduction where all is well. */
#ifndef PIOLET_MPIIO_EXCHANGE_FINISH_H
#define PIOLET_MPIIO_EXCHANGE_FINISH_H

#include "mpi/agree.h"

#include <stdbool.h>

struct exchange_finish {
    struct pl_error late; /* set by the caller: an earlier failure that the others have not heard of; PL_OK: none */
    bool late_heard;      /* this rank's program has heard of it */
    struct agree agree, late_agree;
    bool telling; /* the ranks meet once more for the older failure */
};

/* `own` must live until the end. */
void exchange_finish_start(struct exchange_finish *finish, MPI_Comm comm, int rank, const struct pl_error *own);
enum step exchange_finish_step(struct exchange_finish *finish);

/* After the last step: what all agreed on, or the older failure. */
pl_status exchange_finish_result(const struct exchange_finish *finish, struct pl_error *error);
/* Did nobody fail in this access? */
bool exchange_finish_went_well(const struct exchange_finish *finish);
/* The late failure that all ranks have heard of now; status PL_OK: none. */
struct pl_error exchange_finish_told(const struct exchange_finish *finish);

#endif
