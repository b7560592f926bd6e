/* All targets are looked at first; then one I/O node after the other is measured by its processes, while the others
 * sleep. Rank 0 writes the results. */
#include "bench/peak/peak_course.h"

#include "base/units.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_SHORT_NS = 100000000, PERIOD_LONG_NS = 1000000000 };
static const double SHORT_RUN_S = 120;

/* ---- hosts ---- */

static pl_status find_hosts_coll(struct peak_state *state, struct pl_error *error)
{
    const int code = MPI_Comm_split_type(state->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &state->node);
    if (code != MPI_SUCCESS) {
        state->node = MPI_COMM_NULL;
        return coll_fail_mpi(error, code, "finding the processes of this host");
    }
    MPI_Comm_rank(state->node, &state->node_rank);
    MPI_Comm_size(state->node, &state->node_size);
    const int first = state->node_rank == 0;
    int before = 0;
    MPI_Exscan(&first, &before, 1, MPI_INT, MPI_SUM, state->world);
    state->host = state->rank == 0 ? 0 : before;
    MPI_Bcast(&state->host, 1, MPI_INT, 0, state->node);
    MPI_Allreduce(&first, &state->host_count, 1, MPI_INT, MPI_SUM, state->world);
    return PL_OK;
}

/* ---- courses ---- */

static int64_t real_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* Storage of its own makes a host an I/O node; a server's storage is one, from wherever it is reached. */
static void name_node_coll(struct peak_course *course)
{
    const struct peak_state *state = course->state;
    const struct peak_target *target = course->target;
    const char *given = state->job->config->io_node;
    char host[64] = "host";
    gethostname(host, sizeof host - 1);
    if (given && state->job->config->dir_count == 1 && state->host_count == 1)
        snprintf(course->io_node, sizeof course->io_node, "%s", given);
    else if (given)
        snprintf(course->io_node, sizeof course->io_node, "%s:%s:%s", given, host, target->fs.directory);
    else if (target->local)
        snprintf(course->io_node, sizeof course->io_node, "%s:%s", host, target->fs.directory);
    else
        snprintf(course->io_node, sizeof course->io_node, "%s", target->fs.source);
    MPI_Bcast(course->io_node, sizeof course->io_node, MPI_CHAR, course->leader, state->world);
}

/* `host` -1: the processes of all hosts. */
static pl_status init_course_coll(struct peak_course *course, struct peak_state *state, int directory, int host,
                                  struct pl_error *error)
{
    const struct peak_config *config = state->job->config;
    struct coll_verdict verdict;
    *course = (struct peak_course){
        .state = state, .target = &state->targets[directory], .file.fd = -1, .start_ns = real_ns()};
    course->began = MPI_Wtime();
    course->active = host < 0 || host == state->host;
    const int mine[] = {course->active, course->active ? -state->rank : -state->size};
    int sum, most;
    MPI_Allreduce(&mine[0], &sum, 1, MPI_INT, MPI_SUM, state->world);
    MPI_Allreduce(&mine[1], &most, 1, MPI_INT, MPI_MAX, state->world);
    course->processes = sum;
    course->leader = -most;
    name_node_coll(course);
    pl_status status = PL_OK;
    if (course->active) /* without a size of its own each host has a file of twice its memory */
        status = peak_file_share(course->target->size_bytes, config->size_bytes ? sum : state->node_size, config,
                                 &course->file_bytes, error);
    status = coll_agree_coll(state->world, status, error, &verdict);
    return status == PL_E_PEER ? verdict.status : status;
}

static void begin_event(struct peak_course *course, int index)
{
    struct peak_state *state = course->state;
    const struct peak_event event = {.io_node = course->io_node,
                                     .set = &state->sets[index],
                                     .number = ++state->number,
                                     .sets = state->number_count,
                                     .elapsed_s = MPI_Wtime() - state->began,
                                     .limit_s = state->job->config->limit_s};
    if (state->rank == 0)
        state->job->observer->begin(state->job->observer->context, &event);
}

/* What the devices did meanwhile; samples are lost, not the run, where that fails. */
static pl_status write_devices_coll(struct peak_course *course, struct pl_error *error)
{
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    if (course->devices) {
        devices_stop(course->devices);
        status = devices_write(course->devices, course->state->writer, course->start_ns, 0, error);
        devices_free(course->devices);
    }
    return coll_agree_coll(course->state->world, status, error, &verdict);
}

static pl_status run_course_coll(struct peak_course *course, struct pl_error *error)
{
    struct peak_state *state = course->state;
    struct coll_verdict verdict;
    struct pl_error ignored;
    pl_status status = peak_head_coll(course, error);
    if (status == PL_OK && state->rank == 0 && course->leader == 0)
        course->devices = devices_start(course->target->directory,
                                        state->job->config->limit_s <= SHORT_RUN_S ? PERIOD_SHORT_NS : PERIOD_LONG_NS,
                                        &ignored);
    for (int i = 0; i < state->set_count && status == PL_OK && !course->stopped; i++) {
        begin_event(course, i);
        status = peak_set_coll(course, i, error);
    }
    peak_file_close(&course->file);
    peak_meta_end(&course->meta);
    const pl_status sampled = write_devices_coll(course, status == PL_OK ? error : &ignored);
    status = status == PL_OK ? sampled : status;
    if (status == PL_OK && state->rank == 0)
        status = blockfile_end(state->writer, error);
    return coll_agree_coll(state->world, status, error, &verdict);
}

/* ---- all ---- */

/* Courses of a directory: one for each host where hosts have storage of their own. */
static int course_count(const struct peak_state *state, int directory)
{
    return state->targets[directory].local && state->host_count > 1 ? state->host_count : 1;
}

static pl_status look_coll(struct peak_state *state, struct pl_error *error)
{
    const struct peak_config *config = state->job->config;
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    state->targets = calloc((size_t)config->dir_count, sizeof *state->targets);
    if (!state->targets)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for %d targets", config->dir_count);
    for (int i = 0; i < config->dir_count && status == PL_OK; i++)
        status = peak_target_look(config, config->dirs[i], true, &state->targets[i], error);
    if (coll_agree_coll(state->world, status, error, &verdict) != PL_OK)
        return verdict.status;
    for (int i = 0; i < config->dir_count; i++) {
        int local = state->targets[i].local, all_local;
        MPI_Allreduce(&local, &all_local, 1, MPI_INT, MPI_MIN, state->world);
        state->targets[i].local = all_local;
        state->number_count += course_count(state, i) * state->set_count;
    }
    struct peak_course course; /* sizes too, before anything is run */
    for (int i = 0; i < config->dir_count && status == PL_OK; i++)
        for (int c = 0; c < course_count(state, i) && status == PL_OK; c++)
            status = init_course_coll(&course, state, i, course_count(state, i) > 1 ? c : -1, error);
    return status;
}

static pl_status run_all_coll(struct peak_state *state, struct pl_error *error)
{
    const struct peak_config *config = state->job->config;
    const double limit_s = config->limit_s * state->set_count / state->number_count;
    pl_status status = PL_OK;
    for (int i = 0; i < config->dir_count && status == PL_OK; i++)
        for (int c = 0; c < course_count(state, i) && status == PL_OK; c++) {
            struct peak_course course;
            status = init_course_coll(&course, state, i, course_count(state, i) > 1 ? c : -1, error);
            course.limit_s = limit_s;
            if (status == PL_OK)
                status = run_course_coll(&course, error);
        }
    return status;
}

static pl_status open_results_coll(struct peak_state *state, struct pl_error *error)
{
    struct coll_verdict verdict;
    pl_status status = PL_OK;
    if (state->rank == 0)
        status = blockfile_writer_open(state->job->output, &state->writer, error);
    return coll_agree_coll(state->world, status, error, &verdict);
}

pl_status peak_run_coll(MPI_Comm world, const struct peak_job *job, bool *ret_began, int64_t *ret_failed,
                        struct pl_error *error)
{
    struct peak_state state = {.job = job, .world = world, .node = MPI_COMM_NULL, .began = MPI_Wtime()};
    struct coll_verdict verdict;
    MPI_Comm_rank(world, &state.rank);
    MPI_Comm_size(world, &state.size);
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error of its set, not the end of the run */
    state.set_count = peak_plan_make(job->config, state.sets);
    pl_status status = coll_agree_coll(world, find_hosts_coll(&state, error), error, &verdict);
    if (status == PL_OK)
        status = look_coll(&state, error);
    if (status == PL_OK)
        status = open_results_coll(&state, error);
    *ret_began = status == PL_OK;
    if (status == PL_OK)
        status = run_all_coll(&state, error);
    struct pl_error closing;
    if (state.rank == 0 && blockfile_writer_close(state.writer, status == PL_OK ? error : &closing) != PL_OK)
        status = status == PL_OK ? error->status : status;
    status = coll_agree_coll(world, status, error, &verdict);
    if (state.node != MPI_COMM_NULL)
        MPI_Comm_free(&state.node);
    free(state.targets);
    *ret_failed = state.failed;
    return status;
}
