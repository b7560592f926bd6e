#include "bench/iot/iot_course.h"

static pl_status step_coll(struct iot_run *run, const struct iot_course *row, void *test, struct pl_error *error,
                           struct coll_verdict *verdict)
{
    const bool alone = row->when & IOT_ALONE;
    const bool takes_part = !alone || run->rank == 0 || (row->when & IOT_EVERYWHERE);
    pl_status status = PL_OK;
    if (!alone)
        MPI_Barrier(run->comm);
    if (takes_part) {
        const double begin = MPI_Wtime();
        status = row->step(test, error);
        if (row->key)
            samples_time(&run->samples, row->key, MPI_Wtime() - begin);
    }
    if (alone)
        coll_barrier_quiet_coll(run->comm); /* waiting ranks must not take the measured one's core */
    return coll_agree_coll(run->comm, status, error, verdict);
}

static bool applies(const struct iot_course *row, const struct iot_set *set)
{
    if (!row->step)
        return false;
    if ((row->when & IOT_WRITES) && set->write_bytes == 0)
        return false;
    return !(row->when & IOT_READS) || set->read_bytes > 0;
}

pl_status iot_course_coll(struct iot_run *run, const struct iot_course *course, size_t count, void *test,
                          struct pl_error *error, struct coll_verdict *ret_verdict)
{
    pl_status status = PL_OK;
    bool opened = false;
    for (size_t i = 0; i < count; i++) {
        const bool closes = course[i].when & IOT_CLOSES;
        if (!applies(&course[i], &run->set) || (closes ? !opened : status != PL_OK))
            continue;
        struct pl_error step_error = {PL_OK, ""};
        struct coll_verdict step_verdict;
        const pl_status done = step_coll(run, &course[i], test, &step_error, &step_verdict);
        if (done == PL_OK) {
            opened = opened || (course[i].when & IOT_OPENS);
        } else if (status == PL_OK) { /* the first failure is the one to report */
            status = done;
            *error = step_error;
            *ret_verdict = step_verdict;
        }
    }
    return status;
}
