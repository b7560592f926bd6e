/* What stands in the head of a block: what was asked for, where, and under which conditions. */
#include "bench/peak/peak_course.h"

#include "base/text.h"
#include "base/units.h"

#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

static void put_size(struct blockfile_writer *writer, const char *key, int64_t bytes)
{
    char text[UNITS_TEXT_MAX];
    snprintf(text, sizeof text, "%lld", (long long)bytes);
    blockfile_input(writer, key, text);
}

static void put_lists(struct blockfile_writer *writer, const struct peak_config *config)
{
    struct text requests = {0}, accesses = {0};
    for (int i = config->request_count - 1; i >= 0; i--)
        text_format(&requests, "%s%lld", requests.length ? "," : "", (long long)config->requests[i]);
    for (int i = 0; i < PEAK_ACCESSES; i++)
        if (config->access[i])
            text_format(&accesses, "%s%s", accesses.length ? "," : "", PEAK_ACCESS_NAMES[i]);
    blockfile_input(writer, "requests", text_get(&requests));
    blockfile_input(writer, "access", text_get(&accesses));
    text_clear(&requests);
    text_clear(&accesses);
}

static void put_inputs(struct blockfile_writer *writer, const struct peak_course *course)
{
    const struct peak_config *config = course->state->job->config;
    char limit[UNITS_TEXT_MAX];
    blockfile_input(writer, "on", course->target->directory);
    if (config->size_bytes)
        put_size(writer, "size", config->size_bytes);
    put_lists(writer, config);
    blockfile_input(writer, "direct", PEAK_DIRECT_NAMES[config->direct]);
    blockfile_input(writer, "drop_caches", config->drop_caches ? "yes" : "no");
    put_size(writer, "stride", config->stride);
    put_size(writer, "files", config->files);
    snprintf(limit, sizeof limit, "%g", config->limit_s);
    blockfile_input(writer, "limit_s", limit);
    if (config->quick)
        blockfile_input(writer, "quick", "yes");
}

/* ---- facts ---- */

static void put_conditions(struct blockfile_writer *writer, const struct peak_course *course)
{
    const struct peak_config *config = course->state->job->config;
    const struct peak_target *target = course->target;
    blockfile_fact(writer, "io_node", "%s", course->io_node);
    blockfile_fact(writer, "start_ns", "%lld", (long long)course->start_ns);
    blockfile_fact(writer, "seed", "%llu", (unsigned long long)config->seed);
    blockfile_fact(writer, "cache", "%s",
                   target->in_memory     ? "memory only"
                   : target->direct      ? "direct I/O"
                   : config->drop_caches ? "dropped before each reading"
                                         : "file of 2 x memory or more, forgotten before each reading");
    blockfile_fact(writer, "time_rule", "longest time of all processes in calls; fsync belongs to writing");
    for (int i = 0; i < target->warning_count; i++)
        blockfile_fact(writer, "warning", "%s", target->warnings[i]);
}

static void add_fact(void *context, const char *key, const char *value)
{
    struct text *lines = context;
    text_format(lines, "%s ", key);
    text_add_escaped(lines, value);
    text_add(lines, "\n");
}

static void put_lines(struct blockfile_writer *writer, char *lines)
{
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        char *value = strchr(line, ' ');
        *value++ = '\0';
        text_unescape(value);
        blockfile_fact(writer, line, "%s", value);
    }
}

/* The configuration of the host that is measured, which may not be that of rank 0. */
static void put_record_coll(const struct peak_course *course)
{
    const struct peak_state *state = course->state;
    struct text lines = {0};
    if (state->rank == course->leader)
        record_all(course->target->directory, &state->job->config->given, add_fact, &lines);
    int64_t length = (int64_t)lines.length;
    MPI_Bcast(&length, 1, MPI_INT64_T, course->leader, state->world);
    if (state->rank == 0 && course->leader == 0 && lines.length)
        put_lines(state->writer, lines.data);
    if (course->leader != 0 && state->rank == course->leader)
        MPI_Send(text_get(&lines), (int)length, MPI_CHAR, 0, 0, state->world);
    if (course->leader != 0 && state->rank == 0) {
        char *received = calloc((size_t)length + 1, 1);
        char nothing;
        MPI_Recv(received ? received : &nothing, received ? (int)length : 0, MPI_CHAR, course->leader, 0, state->world,
                 MPI_STATUS_IGNORE);
        if (received)
            put_lines(state->writer, received);
        free(received);
    }
    text_clear(&lines);
}

pl_status peak_head_coll(struct peak_course *course, struct pl_error *error)
{
    struct peak_state *state = course->state;
    struct coll_verdict verdict;
    if (state->rank == 0) {
        blockfile_begin(state->writer, PEAK_CLASS, PEAK_TEST);
        put_inputs(state->writer, course);
        put_conditions(state->writer, course);
    }
    put_record_coll(course);
    environment_facts_coll(state->world, course->target->directory, state->writer);
    const pl_status status = state->rank == 0 ? blockfile_end_head(state->writer, error) : PL_OK;
    return coll_agree_coll(state->world, status, error, &verdict);
}
