#include "mpiio/exchange/exchange_finish.h"

#include <stddef.h>

void exchange_finish_start(struct exchange_finish *finish, MPI_Comm comm, int rank, const struct pl_error *own)
{
    const int64_t late_rank = finish->late.status == PL_OK ? INT64_MAX : rank;
    finish->telling = false;
    agree_start(&finish->agree, comm, rank, own, &late_rank, 1);
}

enum step exchange_finish_step(struct exchange_finish *finish)
{
    if (!finish->telling) {
        const struct agree *agree = &finish->agree;
        if (agree_step(&finish->agree) == STEP_PENDING)
            return STEP_PENDING;
        if (agree->status != PL_OK || agree_least(agree, 0) == INT64_MAX)
            return STEP_DONE;
        agree_start(&finish->late_agree, agree->comm, agree->rank, &finish->late, NULL, 0);
        finish->telling = true;
    }
    return agree_step(&finish->late_agree);
}

pl_status exchange_finish_result(const struct exchange_finish *finish, struct pl_error *error)
{
    if (finish->agree.status != PL_OK)
        return agree_result(&finish->agree, error);
    if (!finish->telling || (finish->late.status != PL_OK && finish->late_heard))
        return PL_OK;
    return agree_result(&finish->late_agree, error);
}

bool exchange_finish_went_well(const struct exchange_finish *finish)
{
    return finish->agree.status == PL_OK;
}

struct pl_error exchange_finish_told(const struct exchange_finish *finish)
{
    return finish->telling ? finish->late : (struct pl_error){.status = PL_OK};
}
