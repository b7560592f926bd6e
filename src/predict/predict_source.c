#include "predict/predict_source.h"

#include "base/units.h"
#include "bench/beffio/beffio.h"
#include "bench/bench.h"
#include "bench/iot/iot_bench.h"
#include "bench/peak/peak.h"
#include "lab/result/analysis_select.h"
#include "predict/predict.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- curves ---- */

void predict_curve_clear(struct predict_curve *curve)
{
    free(curve->points);
    *curve = (struct predict_curve){0};
}

static void curve_join_point(struct predict_point *point, double bytes_per_s, enum predict_join join)
{
    assert(point->samples > 0 && bytes_per_s > 0);
    point->samples++;
    if (join == PREDICT_HIGHEST)
        point->bytes_per_s = fmax(point->bytes_per_s, bytes_per_s);
    else
        point->bytes_per_s += (bytes_per_s - point->bytes_per_s) / point->samples;
}

bool predict_curve_add(struct predict_curve *curve, double bytes, double bytes_per_s, enum predict_join join)
{
    size_t at = 0;
    if (!(bytes > 0) || !(bytes_per_s > 0) || !isfinite(bytes_per_s))
        return true;
    while (at < curve->count && curve->points[at].bytes < bytes)
        at++;
    if (at < curve->count && curve->points[at].bytes == bytes) {
        curve_join_point(&curve->points[at], bytes_per_s, join);
        return true;
    }
    struct predict_point *points = realloc(curve->points, (curve->count + 1) * sizeof *points);
    if (!points)
        return false;
    memmove(points + at + 1, points + at, (curve->count - at) * sizeof *points);
    points[at] = (struct predict_point){bytes, bytes_per_s, 1};
    curve->points = points;
    curve->count++;
    assert((at == 0 || points[at - 1].bytes < bytes) && (at + 1 == curve->count || bytes < points[at + 1].bytes));
    return true;
}

double predict_curve_at(const struct predict_curve *curve, double bytes, enum predict_range *ret_range)
{
    const struct predict_point *points = curve->points;
    size_t after = 0;
    *ret_range = PREDICT_INSIDE;
    if (curve->count == 0)
        return NAN;
    while (after < curve->count && points[after].bytes < bytes)
        after++;
    if (after < curve->count && points[after].bytes == bytes)
        return points[after].bytes_per_s;
    if (after == 0 || after == curve->count) {
        *ret_range = after ? PREDICT_ABOVE : PREDICT_BELOW;
        return points[after ? after - 1 : 0].bytes_per_s;
    }
    const struct predict_point low = points[after - 1], high = points[after];
    assert(low.bytes < bytes && bytes < high.bytes);
    const double part = log(bytes / low.bytes) / log(high.bytes / low.bytes);
    return low.bytes_per_s * pow(high.bytes_per_s / low.bytes_per_s, part);
}

/* ---- device peaks ---- */

/* BW_PK: what the devices give for the request size and access mode of a phase, summed over I/O nodes (eq. 3, 4). */

/* ---- reading ---- */

static struct predict_node *predict_peak_node_of(struct predict_peaks *peaks, const char *name, const char *on)
{
    for (int i = 0; i < peaks->count; i++)
        if (strcmp(peaks->nodes[i].name, name) == 0 && strcmp(peaks->nodes[i].on, on) == 0)
            return &peaks->nodes[i];
    struct predict_node *nodes = realloc(peaks->nodes, (size_t)(peaks->count + 1) * sizeof *nodes);
    if (!nodes)
        return NULL;
    peaks->nodes = nodes;
    nodes += peaks->count;
    *nodes = (struct predict_node){.name = text_dup(name), .on = text_dup(on)};
    if (!nodes->name || !nodes->on) {
        free(nodes->name);
        free(nodes->on);
        return NULL;
    }
    peaks->count++;
    return nodes;
}

static int predict_peak_order_of(const char *access)
{
    for (int order = 0; access && order < PREDICT_ORDERS; order++)
        if (strcmp(access, model_order_word((enum model_order)order)) == 0)
            return order;
    return -1;
}

/* Rates are those that peak's results say. Sets of metadata operations and failed ones are passed over. */
static bool predict_peak_take_point(struct predict_node *node, const struct peak_point *point)
{
    const enum peak_operation operation = point->set.operation;
    const int order = predict_peak_order_of(PEAK_ACCESS_NAMES[point->set.access]);
    if (operation > PEAK_READ || order < 0 || point->failure)
        return true;
    return predict_curve_add(&node->curves[operation == PEAK_WRITE ? PREDICT_WRITE : PREDICT_READ][order],
                             (double)point->set.request_bytes, point->rate_bytes_per_s, PREDICT_HIGHEST);
}

static pl_status predict_peaks_take_block(struct predict_peaks *peaks, struct blockfile *file, size_t number,
                                          struct pl_error *error)
{
    const struct blockfile_block *block = &file->blocks[number];
    const char *name = blockfile_fact_of(block, "io_node"), *on = blockfile_input_of(block, "on");
    const struct analysis_request request = {.block = (int64_t)number + 1, .to = INT64_MAX};
    struct peak_points points = {0};
    const pl_status status = peak_points_load(&request, &(struct analysis_input){file, 1}, &points, error);
    if (status != PL_OK)
        return status == PL_E_INPUT ? PL_OK : status; /* killed before its first set */
    struct predict_node *node = predict_peak_node_of(peaks, name ? name : "", on ? on : "");
    bool ok = node != NULL;
    for (size_t i = 0; i < points.count && ok; i++)
        for (size_t k = 0; k < points.nodes[i].count && ok; k++)
            ok = predict_peak_take_point(node, &points.nodes[i].points[k]);
    peak_points_clear(&points);
    return ok ? PL_OK : pl_fail(error, PL_E_NOMEM, "not enough memory for the peaks in '%s'", file->path);
}

/* Takes the blocks of peak in a file; *peaks is made where it is NULL. */
static pl_status predict_peaks_read(struct predict_peaks **peaks, struct blockfile *file, int *ret_count,
                                    struct pl_error *error)
{
    for (size_t i = 0; i < file->block_count; i++) {
        if (strcmp(file->blocks[i].class_name, PEAK_CLASS) != 0)
            continue;
        if (!*peaks && !(*peaks = calloc(1, sizeof **peaks)))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the peaks in '%s'", file->path);
        const pl_status status = predict_peaks_take_block(*peaks, file, i, error);
        if (status != PL_OK)
            return status;
        ++*ret_count;
    }
    return PL_OK;
}

pl_status predict_read_peak(struct prediction *prediction, struct blockfile *file, int *ret_count,
                            struct pl_error *error)
{
    return predict_peaks_read(&prediction->peaks, file, ret_count, error);
}

void predict_peaks_free(struct predict_peaks *peaks)
{
    for (int i = 0; peaks && i < peaks->count; i++) {
        for (int direction = 0; direction < PREDICT_DIRECTIONS; direction++)
            for (int order = 0; order < PREDICT_ORDERS; order++)
                predict_curve_clear(&peaks->nodes[i].curves[direction][order]);
        free(peaks->nodes[i].name);
        free(peaks->nodes[i].on);
    }
    if (peaks)
        free(peaks->nodes);
    free(peaks);
}

/* ---- looking up ---- */

struct predict_peak_rate predict_peaks_at(const struct predict_peaks *peaks, const char *on,
                                          enum predict_direction direction, enum model_order order, double bytes)
{
    struct predict_peak_rate sum = {.bytes_per_s = NAN};
    for (int i = 0; peaks && i < peaks->count; i++) {
        const struct predict_node *node = &peaks->nodes[i];
        const struct predict_curve *curve = &node->curves[direction][order];
        enum predict_range range;
        if (on && strcmp(node->on, on) != 0)
            continue;
        const bool other = curve->count == 0;
        if (other)
            curve = &node->curves[direction][MODEL_SEQUENTIAL];
        const double rate = predict_curve_at(curve, bytes, &range);
        if (isnan(rate))
            continue;
        sum.bytes_per_s = rate + (isnan(sum.bytes_per_s) ? 0 : sum.bytes_per_s);
        sum.other_access |= other;
        if (range != PREDICT_INSIDE)
            sum.range = range;
    }
    return sum;
}

static bool predict_peak_is_measured(const struct predict_peaks *peaks, const char *on)
{
    for (int i = 0; peaks && i < peaks->count; i++)
        if (strcmp(peaks->nodes[i].on, on) == 0)
            return true;
    return false;
}

bool predict_peak_is_behind(const struct prediction *prediction, const char *on)
{
    if (!prediction->peaks || (on && predict_peak_is_measured(prediction->peaks, on)))
        return false;
    for (int i = 0; i < prediction->configuration_count; i++)
        if (prediction->configurations[i].on &&
            predict_peak_is_measured(prediction->peaks, prediction->configurations[i].on))
            return false;
    return true;
}

/* Peaks of the configuration's own directory. Where there is none, those that belong to no configuration: they are of
 * the disks of I/O nodes, behind a parallel file system. */
static struct predict_peak_rate predict_peak_rate_of(const struct prediction *prediction, const char *on,
                                                     enum predict_direction direction, enum model_order order,
                                                     double bytes)
{
    if (on && predict_peak_is_measured(prediction->peaks, on))
        return predict_peaks_at(prediction->peaks, on, direction, order, bytes);
    if (predict_peak_is_behind(prediction, on))
        return predict_peaks_at(prediction->peaks, NULL, direction, order, bytes);
    return (struct predict_peak_rate){.bytes_per_s = NAN};
}

struct predict_usage predict_peak_of(const struct prediction *prediction, const struct predict_configuration *on,
                                     const struct predict_phase *phase)
{
    struct predict_usage usage = {.peak = NAN, .plain = NAN, .percent = NAN};
    struct predict_peak_rate rates[PREDICT_DIRECTIONS];
    for (int i = 0; i < PREDICT_DIRECTIONS; i++) {
        const struct predict_access *access = &phase->access[i];
        rates[i] = predict_peak_rate_of(prediction, on->on, (enum predict_direction)i, phase->order,
                                        (double)access->request);
        if (access->bytes == 0)
            continue;
        usage.other_access |= rates[i].other_access;
        if (rates[i].range != PREDICT_INSIDE)
            usage.range = rates[i].range;
        usage.peak = usage.plain = rates[i].bytes_per_s;
    }
    const struct predict_access *w = &phase->access[PREDICT_WRITE], *r = &phase->access[PREDICT_READ];
    if (w->bytes > 0 && r->bytes > 0) {
        usage.peak = predict_harmonic((double)w->bytes, rates[PREDICT_WRITE].bytes_per_s, (double)r->bytes,
                                      rates[PREDICT_READ].bytes_per_s);
        usage.plain = (rates[PREDICT_WRITE].bytes_per_s + rates[PREDICT_READ].bytes_per_s) / 2;
    }
    return usage;
}

/* ---- sources ---- */

/* Reads characterisations: b_eff_io by type, the Parallel I/O Test Suite by test, and device peaks. */

enum { NAME_MAX_CHARS = 200 };

static bool source_param_int(const struct blockfile_set *set, const char *key, int64_t *ret_value)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 1, INT64_MAX, ret_value);
}

static bool source_param_is(const struct blockfile_set *set, const char *key, const char *value)
{
    const char *text = blockfile_param_of(set, key);
    return text && strcmp(text, value) == 0;
}

/* Adds a point to the curve of this name, which is made from `like` if it is not there. */
static bool source_add_point(struct predict_sources *sources, const char *name, const struct predict_source *like,
                             double bytes, double rate)
{
    int i = 0;
    while (i < sources->count && strcmp(sources->list[i].name, name) != 0)
        i++;
    if (i == sources->count) {
        struct predict_source *list = realloc(sources->list, (size_t)(i + 1) * sizeof *list);
        if (!list)
            return false;
        sources->list = list;
        list[i] = *like;
        if (!(list[i].name = text_dup(name)))
            return false;
        sources->count++;
    }
    return predict_curve_add(&sources->list[i].curve, bytes, rate, PREDICT_MEAN);
}

/* ---- b_eff_io ---- */

static bool source_take_beffio(struct predict_sources *sources, const struct blockfile_set *set)
{
    static const char *const TYPES[] = {"scattered collective", "shared pointer", "separate files", "segmented",
                                        "segmented collective", "random"};
    const char *type_text = blockfile_param_of(set, "type"), *method = blockfile_param_of(set, "method");
    int64_t type, chunk, bytes, time_ns, partition;
    char name[NAME_MAX_CHARS];
    if (!type_text || !method || set->error_count > 0 || !units_parse_int(type_text, 0, 5, &type) ||
        !source_param_int(set, "chunk_bytes", &chunk) || !source_param_int(set, "bytes", &bytes) ||
        !source_param_int(set, "time_ns", &time_ns) || !source_param_int(set, "partition", &partition))
        return true; /* a set that says nothing on a rate */
    struct predict_source source = {.direction = strcmp(method, "read") == 0 ? PREDICT_READ : PREDICT_WRITE,
                                    .pattern = {.collective = type == 0 || type == 1 || type == 4,
                                                .strided = type == 0,
                                                .shared_pointer = type == 1,
                                                .unique = type == 2,
                                                .random = type == 5,
                                                .rewrites = strcmp(method, "rewrite") == 0,
                                                .processes = partition},
                                    .by_piece = type == 0};
    snprintf(name, sizeof name, "b_eff_io type %" PRId64 " (%s), %s, %" PRId64 " process%s", type, TYPES[type], method,
             partition, partition == 1 ? "" : "es");
    return source_add_point(sources, name, &source, (double)chunk,
                            1e6 * beffio_pattern_rate((double)bytes, (double)time_ns));
}

/* ---- Parallel I/O Test Suite: the write and read rates of its results; two definitions never join one curve ---- */

static pl_status source_take_lowlevel(struct predict_sources *sources, struct blockfile *file,
                                      const struct blockfile_block *block, const struct blockfile_set *set,
                                      struct pl_error *error)
{
    const bool multiple = strcmp(block->testname, "multiple") == 0;
    const bool collective = source_param_is(set, "collective", "true") || source_param_is(set, "collective", "yes");
    const bool segmented = source_param_is(set, "layout", "segmented");
    const char *nprocs = blockfile_fact_of(block, "nprocs");
    int64_t processes = 1, block_bytes, file_bytes;
    if ((!multiple && strcmp(block->testname, "single") != 0) || set->error_count > 0 ||
        !source_param_int(set, "blocksize_bytes", &block_bytes) ||
        !source_param_int(set, "filesize_bytes", &file_bytes) ||
        (multiple && (!nprocs || !units_parse_int(nprocs, 1, INT32_MAX, &processes))))
        return PL_OK;
    for (int direction = 0; direction < PREDICT_DIRECTIONS; direction++) {
        const bool reads = direction == PREDICT_READ;
        char name[NAME_MAX_CHARS], size[UNITS_TEXT_MAX];
        const struct analysis_chosen chosen = {.file = file, .block = block, .set = set};
        struct result_rate rate;
        if (iot_rate_of_set(&chosen, reads ? IOT_READ : IOT_WRITE, &rate, error) != PL_OK)
            return error->status;
        const struct predict_source source = {.direction = (enum predict_direction)direction,
                                              .pattern = {.collective = collective,
                                                          .strided = multiple && !segmented,
                                                          .processes = processes,
                                                          .file_bytes = (double)file_bytes}};
        snprintf(name, sizeof name, "test %s%s%s, %s%s, %" PRId64 " process%s, file of %s", block->testname,
                 multiple ? (segmented ? " segmented" : " in turns") : "", collective ? " collective" : "",
                 reads ? "read" : "write", rate.by_calls ? " by calls" : "", processes, processes == 1 ? "" : "es",
                 units_bytes(file_bytes, size));
        if (rate.rate.value > 0 &&
            !source_add_point(sources, name, &source, (double)block_bytes, 1e6 * rate.rate.value))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", file->path);
    }
    return PL_OK;
}

/* ---- files ---- */

/* Files of two systems in one estimate are most likely a mistake. */
static bool source_check_place(struct prediction *prediction, const struct blockfile *file,
                               const struct blockfile_block *block)
{
    struct predict_sources *sources = prediction->sources;
    const char *host = blockfile_fact_of(block, "hostname"), *filesystem = blockfile_fact_of(block, "filesystem");
    struct text place = {0};
    text_format(&place, "%s on %s", filesystem ? filesystem : "unknown file system", host ? host : "unknown host");
    if (sources->place && place.data && strcmp(sources->place, place.data) != 0)
        predict_note(prediction, "%s: this is of %s, and other characterisations are of %s: they are mixed", file->path,
                     place.data, sources->place);
    if (sources->place)
        text_clear(&place);
    else
        sources->place = place.data;
    return sources->place != NULL;
}

/* Low-level tests are the first class of the suite. */
static bool source_is_lowlevel(const struct blockfile_block *block)
{
    return strcmp(block->class_name, bench_find("run")->classes[0]) == 0;
}

static pl_status source_take_block(struct prediction *prediction, struct blockfile *file,
                                   const struct blockfile_block *block, struct pl_error *error)
{
    pl_status status = source_check_place(prediction, file, block)
                           ? PL_OK
                           : pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", file->path);
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++) {
        if (source_is_lowlevel(block))
            status = source_take_lowlevel(prediction->sources, file, block, &block->sets[i], error);
        else if (!source_take_beffio(prediction->sources, &block->sets[i]))
            status = pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", file->path);
    }
    return status;
}

pl_status predict_read_sources(struct prediction *prediction, struct blockfile *file, int *ret_count,
                               struct pl_error *error)
{
    if (!prediction->sources && !(prediction->sources = calloc(1, sizeof *prediction->sources)))
        return pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", file->path);
    for (size_t i = 0; i < file->block_count; i++) {
        const struct blockfile_block *block = &file->blocks[i];
        if (strcmp(block->class_name, BEFFIO_CLASS) != 0 && !source_is_lowlevel(block))
            continue;
        const pl_status status = source_take_block(prediction, file, block, error);
        if (status != PL_OK)
            return status;
        ++*ret_count;
    }
    return predict_peaks_read(&prediction->sources->peaks, file, ret_count, error);
}

void predict_sources_free(struct predict_sources *sources)
{
    for (int i = 0; sources && i < sources->count; i++) {
        free(sources->list[i].name);
        predict_curve_clear(&sources->list[i].curve);
    }
    if (sources) {
        free(sources->list);
        free(sources->place);
        predict_peaks_free(sources->peaks);
    }
    free(sources);
}
