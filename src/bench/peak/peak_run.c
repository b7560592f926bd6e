/* One I/O node after the other is measured by its processes, while the others sleep. Rank 0 writes the results; each
 * set is there as soon as it is measured. A set that fails ends its node, not the run. */
#include "bench/peak/peak.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/notes.h"
#include "lab/facts/devices.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PERIOD_SHORT_NS = 100000000, PERIOD_LONG_NS = 1000000000, NODE_MAX = PATH_MAX + 128 };
static const double SHORT_RUN_S = 120;

/* The hosts of a run, and the one this rank is on. */
struct peak_hosts {
    int host, count;
    int node_rank, node_size; /* among the ranks of this host */
};

/* One I/O node: a directory, on one host or on all. */
struct peak_course {
    struct lab_run *run;
    const struct peak_config *config;
    const struct peak_hosts *hosts;
    const struct peak_target *target;
    const struct peak_set *sets;
    int set_count;
    char io_node[NODE_MAX];
    bool active; /* this rank takes part */
    int processes, leader;
    int64_t file_bytes; /* of this process, as planned */
    struct peak_file file;
    struct peak_meta meta;
    struct devices *devices; /* rank 0, where it is on that host */
    int64_t start_ns;        /* CLOCK_REALTIME */
    double began, limit_s;   /* of this course */
    bool stopped;            /* a set failed */
};

/* ---- hosts and nodes ---- */

static pl_status peak_find_hosts_coll(const struct lab_run *run, struct peak_hosts *ret_hosts, struct pl_error *error)
{
    struct peak_hosts hosts = {.host = 0};
    struct coll_verdict verdict;
    MPI_Comm node = MPI_COMM_NULL;
    const int code = MPI_Comm_split_type(run->world, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    const pl_status mine = code == MPI_SUCCESS ? PL_OK
                                               : coll_fail_mpi(error, code, "finding the processes of this host");
    const pl_status status = coll_agree_coll(run->world, mine, error, &verdict);
    if (status == PL_OK) {
        int before = 0;
        MPI_Comm_rank(node, &hosts.node_rank);
        MPI_Comm_size(node, &hosts.node_size);
        const int first = hosts.node_rank == 0;
        MPI_Exscan(&first, &before, 1, MPI_INT, MPI_SUM, run->world);
        hosts.host = run->rank == 0 ? 0 : before;
        MPI_Bcast(&hosts.host, 1, MPI_INT, 0, node);
        MPI_Allreduce(&first, &hosts.count, 1, MPI_INT, MPI_SUM, run->world);
    }
    if (mine == PL_OK)
        MPI_Comm_free(&node);
    *ret_hosts = hosts;
    return status;
}

/* Storage of its own makes a host an I/O node; a server's storage is one, from wherever it is reached. */
static void peak_name_node_coll(struct peak_course *course)
{
    const struct peak_target *target = course->target;
    const char *given = course->config->io_node;
    char host[64] = "host";
    gethostname(host, sizeof host - 1);
    if (given && course->config->target_count == 1 && course->hosts->count == 1)
        snprintf(course->io_node, sizeof course->io_node, "%s", given);
    else if (given)
        snprintf(course->io_node, sizeof course->io_node, "%s:%s:%s", given, host, target->fs.directory);
    else if (target->local)
        snprintf(course->io_node, sizeof course->io_node, "%s:%s", host, target->fs.directory);
    else
        snprintf(course->io_node, sizeof course->io_node, "%s", target->fs.source);
    MPI_Bcast(course->io_node, sizeof course->io_node, MPI_CHAR, course->leader, course->run->world);
}

/* `host` -1: the processes of all hosts. */
static pl_status peak_course_init_coll(struct peak_course *course, int host, struct pl_error *error)
{
    struct lab_run *run = course->run;
    struct coll_verdict verdict;
    course->file.fd = -1;
    course->start_ns = clock_read_ns(CLOCK_REALTIME);
    course->began = MPI_Wtime();
    course->active = host < 0 || host == course->hosts->host;
    const int mine[] = {course->active, course->active ? -run->rank : -run->size};
    int most;
    MPI_Allreduce(&mine[0], &course->processes, 1, MPI_INT, MPI_SUM, run->world);
    MPI_Allreduce(&mine[1], &most, 1, MPI_INT, MPI_MAX, run->world);
    course->leader = -most;
    assert(course->processes > 0 && course->leader < run->size);
    peak_name_node_coll(course);
    pl_status status = PL_OK;
    if (course->active) /* without a size of its own each host has a file of twice its memory */
        status = peak_file_share(course->target->size_bytes,
                                 course->config->size_bytes ? course->processes : course->hosts->node_size,
                                 course->config, &course->file_bytes, error);
    return coll_agree_coll(run->world, status, error, &verdict);
}

/* ---- the head ---- */

static void peak_put_conditions(struct blockfile_writer *writer, const struct peak_course *course)
{
    const struct peak_config *config = course->config;
    const struct peak_target *target = course->target;
    blockfile_fact(writer, "io_node", "%s", course->io_node);
    blockfile_fact(writer, "start_ns", "%lld", (long long)course->start_ns);
    blockfile_fact(writer, "seed", "%llu", (unsigned long long)config->seed);
    blockfile_fact(writer, "cache", "%s",
                   target->in_memory     ? "memory only"
                   : target->direct      ? "direct I/O"
                   : config->drop_caches ? "dropped before each reading"
                                         : "file of 2 x memory or more, forgotten before each reading");
    blockfile_fact(writer, "time_rule", "time in which at least one process was in a call; fsync belongs to writing");
    for (int i = 0; i < target->warning_count; i++)
        blockfile_fact(writer, "warning", "%s", target->warnings[i]);
}

static void peak_add_fact(void *context, const char *key, const char *value)
{
    notes_add(context, key, value);
}

static void peak_put_fact(void *context, const char *key, const char *value)
{
    blockfile_fact(context, key, "%s", value);
}

/* The configuration of the host that is measured, which may not be that of rank 0. */
static void peak_put_record_coll(const struct peak_course *course)
{
    const struct lab_run *run = course->run;
    struct text lines = {0};
    if (run->rank == course->leader)
        record_all(course->target->directory, &course->config->given, peak_add_fact, &lines);
    if (course->leader != 0 && run->rank == course->leader) {
        const int64_t length = (int64_t)lines.length;
        MPI_Send(&length, 1, MPI_INT64_T, 0, 0, run->world);
        MPI_Send(text_get(&lines), (int)length, MPI_CHAR, 0, 0, run->world);
    }
    if (course->leader != 0 && run->rank == 0) {
        int64_t length;
        MPI_Recv(&length, 1, MPI_INT64_T, course->leader, 0, run->world, MPI_STATUS_IGNORE);
        char *received = memory_new((size_t)length + 1, 1);
        MPI_Recv(received, (int)length, MPI_CHAR, course->leader, 0, run->world, MPI_STATUS_IGNORE);
        text_add(&lines, received);
        free(received);
    }
    if (run->rank == 0)
        notes_each(&lines, peak_put_fact, run->writer);
    text_clear(&lines);
}

static pl_status peak_head_coll(struct peak_course *course, struct pl_error *error)
{
    struct lab_run *run = course->run;
    run->place = course->target->directory;
    lab_block_begin(run, PEAK_CLASS, PEAK_TEST);
    if (run->rank == 0)
        peak_put_conditions(run->writer, course);
    peak_put_record_coll(course);
    return lab_block_head_coll(run, course->target->directory, error);
}

/* ---- before a set ---- */

static bool peak_is_data(const struct peak_set *set)
{
    return set->operation == PEAK_WRITE || set->operation == PEAK_READ;
}

static const char *peak_series_key(const struct peak_set *set)
{
    return set->operation == PEAK_WRITE  ? "w"
           : set->operation == PEAK_READ ? "r"
                                         : PEAK_OPERATION_NAMES[set->operation];
}

static pl_status peak_open(struct peak_course *course, struct pl_error *error)
{
    const struct peak_config *config = course->config;
    const uint64_t seed = (uint64_t)config->seed * 1000003 + (uint64_t)course->run->rank; /* no two files are alike */
    const pl_status status = peak_file_open(&course->file, course->target->directory, course->target->direct,
                                            config->requests[0], seed, error);
    course->file.bytes = course->file_bytes;
    course->file.stride = config->stride;
    return status;
}

/* The caches that a reading must not find the data in. */
static pl_status peak_empty_caches(struct peak_course *course, struct pl_error *error)
{
    if (!course->target->direct)
        peak_file_forget(&course->file);
    if (course->config->drop_caches && course->hosts->node_rank == 0)
        return peak_target_drop_caches(error);
    return PL_OK;
}

/* File or directory are made when the first set needs them; a set of metadata begins when the file is gone. */
static pl_status peak_ready(struct peak_course *course, struct samples *samples, struct peak_pass *pass,
                            struct pl_error *error)
{
    const struct peak_set *set = pass->set;
    pl_status status = PL_OK;
    if (!course->active)
        return samples_add(samples, peak_series_key(set), "ns", 0, &pass->series, error);
    if (peak_is_data(set) && course->file.fd < 0)
        status = peak_open(course, error);
    if (!peak_is_data(set) && !course->meta.path[0]) {
        peak_file_close(&course->file);
        status = peak_meta_begin(&course->meta, course->target->directory, error);
    }
    if (status == PL_OK && set->operation == PEAK_READ)
        status = peak_empty_caches(course, error);
    const int64_t count = status != PL_OK     ? 0
                          : peak_is_data(set) ? peak_file_operations(&course->file, set)
                                              : course->config->files;
    struct pl_error ignored;
    const pl_status added = samples_add(samples, peak_series_key(set), "ns", count, &pass->series,
                                        status == PL_OK ? error : &ignored);
    return status == PL_OK ? added : status;
}

/* ---- a set, measured at the same time on all processes of the I/O node ---- */

/* All begin together; those that wait for the others sleep. */
static pl_status peak_measure_coll(struct peak_course *course, struct peak_pass *pass, double slice_s,
                                   struct pl_error *error)
{
    MPI_Comm world = course->run->world;
    pl_status status = PL_OK;
    MPI_Bcast(&slice_s, 1, MPI_DOUBLE, 0, world);
    MPI_Barrier(world);
    pass->deadline = MPI_Wtime() + slice_s;
    if (course->active && peak_is_data(pass->set))
        status = peak_file_run(&course->file, pass, error);
    else if (course->active)
        status = peak_meta_run(&course->meta, pass, course->config->files, error);
    coll_barrier_quiet_coll(world);
    return status;
}

static void peak_note_number(struct text *params, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)value);
    notes_add(params, key, text);
}

/* What identifies a set, also in results that are resumed. */
static void peak_note_identity(const struct peak_course *course, const struct peak_set *set, struct text *params)
{
    notes_add(params, "operation", PEAK_OPERATION_NAMES[set->operation]);
    if (peak_is_data(set)) {
        notes_add(params, "access", PEAK_ACCESS_NAMES[set->access]);
        peak_note_number(params, "request_bytes", set->request_bytes);
        if (set->operation == PEAK_WRITE)
            notes_add(params, "fresh", set->makes_file ? "yes" : "no");
    }
    peak_note_number(params, "processes", course->processes);
}

/* What all processes did together. */
static void peak_note_sums_coll(const struct peak_course *course, const struct peak_pass *pass, struct lab_set *set)
{
    int64_t mine[] = {pass->bytes, pass->series->count, course->file.fd >= 0 ? course->file.bytes : 0, pass->cut};
    int64_t sums[4];
    MPI_Allreduce(mine, sums, 4, MPI_INT64_T, MPI_SUM, course->run->world);
    if (peak_is_data(pass->set)) {
        peak_note_number(&set->params, "file_bytes", sums[2]);
        notes_add(&set->params, "direct", course->target->direct ? "yes" : "no");
        peak_note_number(&set->params, "bytes", sums[0]);
        if (pass->set->access == PEAK_STRIDED)
            peak_note_number(&set->params, "stride", course->config->stride);
    }
    peak_note_number(&set->params, "operations", sums[1]);
    if (sums[3])
        notes_add(&set->warnings, NULL,
                  pass->set->makes_file ? "the time limit was reached first: the file is smaller than asked for"
                                        : "the time limit was reached before the whole file was accessed");
}

static void peak_note_times(const struct peak_course *course, const struct peak_pass *pass, struct samples *samples)
{
    const enum peak_operation operation = pass->set->operation;
    if (!course->active)
        return;
    samples_time(samples,
                 operation == PEAK_WRITE  ? "write_time"
                 : operation == PEAK_READ ? "read_time"
                                          : "loop_time",
                 pass->seconds);
    if (operation == PEAK_WRITE)
        samples_span(samples, "sync_time", pass->sync_begin, pass->sync_end);
}

static pl_status peak_set_coll(struct peak_course *course, int index, struct pl_error *error)
{
    struct lab_run *run = course->run;
    const struct peak_set *what = &course->sets[index];
    struct lab_set set = {.label = ""};
    struct peak_pass pass = {.set = what};
    struct pl_error failure;
    char label[PEAK_LABEL_MAX];
    double span_s[2] = {MPI_Wtime() - course->began};
    snprintf(set.label, sizeof set.label, "%.60s: %s", course->io_node, peak_set_label(what, label));
    pl_status mine = peak_ready(course, &set.samples, &pass, &failure);
    const double slice_s = peak_slice_s(course->limit_s, MPI_Wtime() - course->began, what, course->set_count - index);
    if (coll_agree_coll(run->world, mine, &failure, &set.verdict) == PL_OK) {
        span_s[0] = MPI_Wtime() - course->began;
        mine = peak_measure_coll(course, &pass, slice_s, &failure);
        coll_agree_coll(run->world, mine, &failure, &set.verdict);
    }
    span_s[1] = MPI_Wtime() - course->began;
    assert(span_s[1] >= span_s[0]);
    course->stopped = set.verdict.status != PL_OK;
    peak_note_identity(course, what, &set.params);
    peak_note_sums_coll(course, &pass, &set);
    peak_note_number(&set.params, "begin_ns", llround(span_s[0] * 1e9));
    peak_note_number(&set.params, "end_ns", llround(span_s[1] * 1e9));
    peak_note_times(course, &pass, &set.samples);
    const pl_status status = lab_set_write_coll(run, run->world, &set, error);
    lab_set_clear(&set);
    return status;
}

/* ---- a course ---- */

/* Which sets an earlier run has: a file that is missing is made again where a set needs it. Returns how many are left.
 */
static int peak_find_done_coll(struct peak_course *course, bool done[PEAK_SETS_MAX])
{
    int left = 0, left_data = 0;
    course->run->node = course->io_node;
    for (int i = 0; i < course->set_count; i++) {
        struct text params = {0};
        peak_note_identity(course, &course->sets[i], &params);
        done[i] = lab_is_measured_coll(course->run, PEAK_TEST, &params);
        left += !done[i];
        left_data += !done[i] && peak_is_data(&course->sets[i]);
        text_clear(&params);
    }
    done[0] = done[0] && left_data == 0;
    for (int i = 0; i < course->set_count && left; i++) /* metadata operations need the files that create makes */
        if (!peak_is_data(&course->sets[i]) && !done[i])
            for (int k = 0; k < i; k++)
                done[k] = done[k] && peak_is_data(&course->sets[k]);
    return left;
}

/* What the devices did meanwhile, and the end of the block. */
static pl_status peak_end_coll(struct peak_course *course, pl_status status, struct pl_error *error)
{
    struct lab_run *run = course->run;
    if (run->rank == 0 && status == PL_OK && course->devices) {
        devices_stop(course->devices);
        status = devices_write(course->devices, run->writer, course->start_ns, 0, error);
    }
    devices_free(course->devices);
    return lab_block_end_coll(run, status, error);
}

static pl_status peak_course_run_coll(struct peak_course *course, struct pl_error *error)
{
    struct lab_run *run = course->run;
    struct pl_error ignored;
    bool done[PEAK_SETS_MAX];
    const double weight = course->limit_s / course->set_count;
    if (peak_find_done_coll(course, done) == 0) {
        for (int i = 0; i < course->set_count; i++)
            lab_skip(run, weight);
        return PL_OK;
    }
    pl_status status = peak_head_coll(course, error);
    if (status == PL_OK && run->rank == 0 && course->leader == 0)
        course->devices = devices_start(course->target->directory,
                                        course->config->limit_s <= SHORT_RUN_S ? PERIOD_SHORT_NS : PERIOD_LONG_NS,
                                        &ignored);
    for (int i = 0; i < course->set_count && status == PL_OK && !course->stopped; i++) {
        char label[PEAK_LABEL_MAX];
        if (done[i]) {
            lab_skip(run, weight);
            continue;
        }
        lab_step(run, weight, "%s: %s", course->io_node, peak_set_label(&course->sets[i], label));
        status = peak_set_coll(course, i, error);
    }
    peak_file_close(&course->file);
    peak_meta_end(&course->meta);
    return peak_end_coll(course, status, error);
}

/* ---- all ---- */

pl_status peak_run_coll(struct lab_run *run, struct pl_error *error)
{
    struct peak_config *config = run->job->own;
    struct peak_set sets[PEAK_SETS_MAX];
    struct peak_hosts hosts;
    const int set_count = peak_plan_make(config, sets);
    int courses = 0;
    pl_status status = peak_find_hosts_coll(run, &hosts, error);
    for (int i = 0; i < config->target_count && status == PL_OK; i++) {
        int local = config->targets[i].local, all_local;
        MPI_Allreduce(&local, &all_local, 1, MPI_INT, MPI_MIN, run->world);
        config->targets[i].local = all_local;
        courses += all_local && hosts.count > 1 ? hosts.count : 1;
    }
    lab_plan(run, (int64_t)courses * set_count, config->limit_s);
    for (int i = 0; i < config->target_count && status == PL_OK; i++) {
        /* one for each host where hosts have storage of their own */
        const int of_target = config->targets[i].local && hosts.count > 1 ? hosts.count : 1;
        for (int host = 0; host < of_target && status == PL_OK; host++) {
            struct peak_course *course = memory_new(1, sizeof *course);
            *course = (struct peak_course){.run = run,
                                           .config = config,
                                           .hosts = &hosts,
                                           .target = &config->targets[i],
                                           .sets = sets,
                                           .set_count = set_count,
                                           .limit_s = config->limit_s / courses};
            status = peak_course_init_coll(course, of_target > 1 ? host : -1, error);
            if (status == PL_OK)
                status = peak_course_run_coll(course, error);
            free(course);
        }
    }
    return status;
}
