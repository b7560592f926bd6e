/* BW_PK: what the devices give for the request size and access mode of a phase, summed over I/O nodes (eq. 3, 4). */
#include "predict/predict_peak.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- reading ---- */

static struct predict_node *node_of(struct predict_peaks *peaks, const char *name, const char *on)
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

static int order_of(const char *access)
{
    for (int order = 0; access && order < PREDICT_ORDERS; order++)
        if (strcmp(access, model_order_word((enum model_order)order)) == 0)
            return order;
    return -1;
}

/* The longest time of a rank. */
static double slowest(const struct blockfile_set *set, const char *key)
{
    int64_t most = 0;
    for (size_t i = 0; i < set->time_count; i++)
        if (strcmp(set->times[i].key, key) == 0 && set->times[i].nanoseconds > most)
            most = set->times[i].nanoseconds;
    return (double)most;
}

/* Sets of metadata operations and failed ones are passed over. */
static bool take_set(struct predict_node *node, const struct blockfile_set *set)
{
    const char *operation = blockfile_param_of(set, "operation");
    const char *request = blockfile_param_of(set, "request_bytes"), *bytes = blockfile_param_of(set, "bytes");
    const int order = order_of(blockfile_param_of(set, "access"));
    int64_t request_bytes, moved_bytes;
    const bool writes = operation && strcmp(operation, "write") == 0;
    if (!operation || (!writes && strcmp(operation, "read") != 0) || order < 0 || set->error_count > 0 || !request ||
        !bytes || !units_parse_int(request, 1, INT64_MAX, &request_bytes) ||
        !units_parse_int(bytes, 1, INT64_MAX, &moved_bytes))
        return true;
    const double rate = predict_bandwidth((double)moved_bytes, slowest(set, writes ? "write_time" : "read_time"));
    return predict_curve_add(&node->curves[writes ? PREDICT_WRITE : PREDICT_READ][order], (double)request_bytes, rate,
                             PREDICT_HIGHEST);
}

pl_status predict_peaks_read(struct predict_peaks **peaks, const struct blockfile *file, int *ret_count,
                             struct pl_error *error)
{
    for (size_t i = 0; i < file->block_count; i++) {
        const struct blockfile_block *block = &file->blocks[i];
        const char *name = blockfile_fact_of(block, "io_node"), *on = blockfile_input_of(block, "on");
        if (strcmp(block->class_name, "Peak") != 0)
            continue;
        if (!*peaks)
            *peaks = calloc(1, sizeof **peaks);
        struct predict_node *node = *peaks ? node_of(*peaks, name ? name : "", on ? on : "") : NULL;
        bool ok = node != NULL;
        for (size_t s = 0; s < block->set_count && ok; s++)
            ok = take_set(node, &block->sets[s]);
        if (!ok)
            return pl_fail(error, PL_E_NOMEM, "not enough memory for the peaks in '%s'", file->path);
        ++*ret_count;
    }
    return PL_OK;
}

pl_status predict_read_peak(struct prediction *prediction, const struct blockfile *file, int *ret_count,
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

static bool is_measured(const struct predict_peaks *peaks, const char *on)
{
    for (int i = 0; peaks && i < peaks->count; i++)
        if (strcmp(peaks->nodes[i].on, on) == 0)
            return true;
    return false;
}

bool predict_peak_is_behind(const struct prediction *prediction, const char *on)
{
    if (!prediction->peaks || (on && is_measured(prediction->peaks, on)))
        return false;
    for (int i = 0; i < prediction->configuration_count; i++)
        if (prediction->configurations[i].on && is_measured(prediction->peaks, prediction->configurations[i].on))
            return false;
    return true;
}

/* Peaks of the configuration's own directory. Where there is none, those that belong to no configuration: they are of
 * the disks of I/O nodes, behind a parallel file system. */
static struct predict_peak_rate rate_of(const struct prediction *prediction, const char *on,
                                        enum predict_direction direction, enum model_order order, double bytes)
{
    if (on && is_measured(prediction->peaks, on))
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
        rates[i] = rate_of(prediction, on->on, (enum predict_direction)i, phase->order, (double)access->request);
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
