/* Accesses are drawn as points; of a huge program only some: of evenly chosen processes, every so many. */
#include "page/page_parts.h"

#include "model/model.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS_MAX = 64, POINTS_MAX = 60000 };

enum { FILE_NUMBER, LEAF, PHASE, READS, RANK, TICK, OFFSET, SIZE, PLACE, COLUMNS };
static const char *const COLUMN_NAMES[COLUMNS] = {"file", "leaf",   "phase", "reads", "rank",
                                                  "tick", "offset", "size",  "place"};

struct points {
    double *column[COLUMNS];
    size_t count;
    int64_t stride, seen, seen_of_rank;
    bool left_out;
    const struct model_facts *facts;
    const int *phase_of_leaf;
};

/* ---- which leaf is of which phase ---- */

static void mark_leaves(const struct model_step *steps, int count, int phase, int *phase_of_leaf)
{
    for (int i = 0; i < count; i++) {
        const int here = steps[i].phase > 0 ? steps[i].phase : phase;
        if (steps[i].kind == MODEL_LOOP)
            mark_leaves(steps[i].body, steps[i].count, here, phase_of_leaf);
        else
            phase_of_leaf[steps[i].leaf] = here;
    }
}

/* Accesses of one process that takes part in all, as if every step were everybody's: enough to choose a stride. */
static double count_accesses(const struct model_step *steps, int count)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        if (steps[i].kind == MODEL_LOOP)
            sum += (double)steps[i].turns * count_accesses(steps[i].body, steps[i].count);
        else
            sum += steps[i].kind == MODEL_CALL && steps[i].access;
    return sum;
}

static double place_of(const struct points *points, const struct model_event *event, double offset)
{
    if (!event->step->holes)
        return offset;
    assert(event->step->file >= 0 && event->step->file < points->facts->file_count);
    const double processes = (double)points->facts->files[event->step->file].processes;
    return ((double)event->n * processes + (double)event->rank) * (double)event->size;
}

static bool take_point(void *context, const struct model_event *event)
{
    struct points *points = context;
    const struct model_step *step = event->step;
    assert(points->stride >= 1 && points->count <= POINTS_MAX);
    if (++points->seen_of_rank > MODEL_LOOK_MAX) {
        points->left_out = true;
        return false;
    }
    if (!step->access || step->file < 0 || event->offset < 0 || points->seen++ % points->stride != 0)
        return true;
    if (points->count == POINTS_MAX) {
        points->left_out = true;
        return false;
    }
    const double offset = (double)event->offset * (step->etype_bytes > 0 ? (double)step->etype_bytes : 1);
    const double row[COLUMNS] = {[FILE_NUMBER] = step->file,
                                 [LEAF] = step->leaf,
                                 [PHASE] = points->phase_of_leaf[step->leaf],
                                 [READS] = model_operation_of(step->operation).reads,
                                 [RANK] = (double)event->rank,
                                 [TICK] = (double)event->tick,
                                 [OFFSET] = offset,
                                 [SIZE] = (double)event->size,
                                 [PLACE] = place_of(points, event, offset)};
    for (int c = 0; c < COLUMNS; c++)
        points->column[c][points->count] = row[c];
    points->count++;
    return true;
}

static pl_status model_collect(const struct model *model, struct points *points, struct pl_error *error)
{
    const int64_t ranks = model->ranks < RANKS_MAX ? model->ranks : RANKS_MAX;
    const double all = count_accesses(model->steps, model->step_count) * (double)ranks;
    pl_status status = PL_OK;
    points->stride = all > POINTS_MAX ? (int64_t)(all / POINTS_MAX) + 1 : 1;
    points->left_out = points->stride > 1 || ranks < model->ranks;
    for (int64_t i = 0; i < ranks && status == PL_OK; i++) {
        points->seen = points->seen_of_rank = 0;
        status = model_expand(model, i * model->ranks / ranks, take_point, points, error);
    }
    return status;
}

static pl_status put_points(const struct model *model, const struct model_facts *facts, struct json *json,
                            struct page_columns *columns, struct pl_error *error)
{
    struct points points = {.facts = facts};
    double *memory = malloc((size_t)COLUMNS * POINTS_MAX * sizeof *memory);
    int *phase_of_leaf = calloc((size_t)model->leaf_count + 1, sizeof *phase_of_leaf);
    pl_status status = PL_OK;
    if (!memory || !phase_of_leaf) {
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the accesses of a model");
    } else {
        for (int c = 0; c < COLUMNS; c++)
            points.column[c] = memory + (size_t)c * POINTS_MAX;
        mark_leaves(model->steps, model->step_count, 0, phase_of_leaf);
        points.phase_of_leaf = phase_of_leaf;
        status = model_collect(model, &points, error);
    }
    json_put_bool(json, "points_left_out", points.left_out);
    json_object_begin(json, "points");
    for (int c = 0; c < COLUMNS && status == PL_OK; c++)
        page_column_put(columns, json, COLUMN_NAMES[c], points.column[c], points.count);
    json_object_end(json);
    free(memory);
    free(phase_of_leaf);
    return status;
}

/* ---- phases ---- */

static void put_value(struct json *json, const char *key, const struct model_value *value)
{
    enum { SHOWN_MAX = 2000 }; /* a list of numbers without a rule is no help to a reader */
    if (value->text && strlen(value->text) <= SHOWN_MAX)
        json_put_string(json, key, value->text);
    else if (value->text)
        json_put_string(json, key, "a list");
}

static void put_observed(struct json *json, const struct model_step *step)
{
    if (step->observed.calls == 0)
        return;
    json_row_begin(json, "observed");
    json_put_int(json, "calls", step->observed.calls);
    json_put_double(json, "sum_ns", step->observed.sum_ns);
    json_put_double(json, "slowest_ns", step->slowest_ns);
    json_put_int(json, "min_ns", step->observed.min_ns);
    json_put_int(json, "max_ns", step->observed.max_ns);
    json_put_int(json, "first_ns", step->observed.first_ns);
    json_object_end(json);
}

enum { DEPTH_MAX = 12 }; /* of loops shown; json's own depth ends later */

static void put_step(struct json *json, const struct model_step *step, int depth)
{
    json_object_begin(json, NULL);
    if (step->kind == MODEL_LOOP) {
        json_put_int(json, "turns", step->turns);
        json_put_bool(json, "varies", step->varies);
        json_array_begin(json, "body");
        for (int i = 0; i < step->count && depth < DEPTH_MAX; i++)
            put_step(json, &step->body[i], depth + 1);
        json_array_end(json);
    } else {
        json_put_string(json, "operation", step->kind == MODEL_COMM ? "comm" : step->operation);
        json_put_int(json, "leaf", step->leaf);
        json_put_int(json, "file", step->file);
        json_put_bool(json, "access", step->access);
        put_value(json, "size", &step->size);
        put_value(json, "offset", &step->offset);
        json_put_int(json, "etype_bytes", step->etype_bytes);
        json_put_bool(json, "holes", step->holes);
        put_observed(json, step);
    }
    json_object_end(json);
}

static void put_phase(struct json *json, const struct model_phase_facts *phase)
{
    json_object_begin(json, NULL);
    json_put_int(json, "phase", phase->step->phase);
    json_put_int(json, "count", phase->count);
    json_put_int(json, "first", phase->number);
    json_put_int(json, "step_by", phase->step_by);
    json_put_int(json, "processes", phase->processes);
    json_put_int(json, "read_bytes", phase->read_bytes);
    json_put_int(json, "written_bytes", phase->written_bytes);
    json_put_int(json, "smallest_bytes", phase->smallest);
    json_put_int(json, "largest_bytes", phase->largest);
    json_put_string(json, "order", model_order_word(phase->order));
    json_put_bool(json, "metadata", phase->metadata);
    json_put_int(json, "file", phase->file);
    json_array_begin(json, "steps");
    put_step(json, phase->step, 0);
    json_array_end(json);
    json_object_end(json);
}

static void put_file(struct json *json, const struct model_file_facts *file)
{
    struct text text = {0};
    model_facts_file(file, &text);
    json_row_begin(json, NULL);
    json_put_string(json, "name", file->name);
    json_put_string(json, "attributes", text_get(&text));
    json_put_int(json, "processes", file->processes);
    json_put_int(json, "read_bytes", file->read_bytes);
    json_put_int(json, "written_bytes", file->written_bytes);
    json_object_end(json);
    text_clear(&text);
}

static void put_head(struct json *json, const struct page_file *file, int file_number)
{
    const struct model *model = &file->model;
    struct text words = {0};
    model_words(model, &words);
    json_put_int(json, "file", file_number);
    json_put_string(json, "hash", file->model_hash);
    json_put_string(json, "program", model->program);
    json_put_int(json, "ranks", model->ranks);
    json_put_string(json, "words", text_get(&words));
    json_put_string(json, "mpi", model->mpi);
    json_put_string(json, "mpiio", model->mpiio);
    json_put_int(json, "failed_calls", model->failed_calls);
    json_put_int(json, "incomplete_ranks", model->incomplete_ranks);
    text_clear(&words);
}

pl_status page_model_put(const struct page_file *file, int file_number, struct json *json, struct page_columns *columns,
                         struct pl_error *error)
{
    struct model_facts facts;
    assert(file->is_model);
    pl_status status = model_facts_find(&file->model, &facts, error);
    if (status != PL_OK)
        return status;
    json_object_begin(json, NULL);
    put_head(json, file, file_number);
    json_array_begin(json, "files");
    for (int i = 0; i < facts.file_count; i++)
        put_file(json, &facts.files[i]);
    json_array_end(json);
    json_array_begin(json, "phases");
    for (int i = 0; i < facts.phase_count; i++)
        put_phase(json, &facts.phases[i]);
    json_array_end(json);
    status = put_points(&file->model, &facts, json, columns, error);
    json_object_end(json);
    model_facts_clear(&facts);
    return status;
}
