/* Reads characterisations: b_eff_io by type, the Parallel I/O Test Suite by test, and device peaks. */
#include "predict/predict_source.h"

#include "base/units.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_CHARS = 200 };

static bool param_int(const struct blockfile_set *set, const char *key, int64_t *ret_value)
{
    const char *text = blockfile_param_of(set, key);
    return text && units_parse_int(text, 1, INT64_MAX, ret_value);
}

static bool param_is(const struct blockfile_set *set, const char *key, const char *value)
{
    const char *text = blockfile_param_of(set, key);
    return text && strcmp(text, value) == 0;
}

/* Adds a point to the curve of this name, which is made from `like` if it is not there. */
static bool add_point(struct predict_sources *sources, const char *name, const struct predict_source *like,
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

static bool take_beffio(struct predict_sources *sources, const struct blockfile_set *set)
{
    static const char *const TYPES[] = {"scattered collective", "shared pointer", "separate files", "segmented",
                                        "segmented collective", "random"};
    const char *type_text = blockfile_param_of(set, "type"), *method = blockfile_param_of(set, "method");
    int64_t type, chunk, bytes, time_ns, partition;
    char name[NAME_MAX_CHARS];
    if (!type_text || !method || set->error_count > 0 || !units_parse_int(type_text, 0, 5, &type) ||
        !param_int(set, "chunk_bytes", &chunk) || !param_int(set, "bytes", &bytes) ||
        !param_int(set, "time_ns", &time_ns) || !param_int(set, "partition", &partition))
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
    return add_point(sources, name, &source, (double)chunk, predict_bandwidth((double)bytes, (double)time_ns));
}

/* ---- Parallel I/O Test Suite ---- */

struct sums {
    int64_t ns;
};

static void add_values(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct sums *sums = context;
    (void)first;
    for (size_t i = 0; i < count; i++)
        sums->ns += values[i];
}

/* Bytes of all ranks over the time of the slowest one, as 'piolet analyze allav' has it. */
static pl_status rate_of(struct blockfile *file, const struct blockfile_set *set, const char *key, int64_t block_bytes,
                         double *ret_rate, struct pl_error *error)
{
    int64_t slowest = 0, operations = 0;
    for (size_t i = 0; i < set->series_count; i++) {
        struct sums sums = {0};
        if (strcmp(set->series[i].key, key) != 0 || set->series[i].count == 0)
            continue;
        const pl_status status = blockfile_stream(file, &set->series[i], add_values, &sums, error);
        if (status != PL_OK)
            return status;
        operations += set->series[i].count;
        if (sums.ns > slowest)
            slowest = sums.ns;
    }
    *ret_rate = predict_bandwidth((double)operations * (double)block_bytes, (double)slowest);
    return PL_OK;
}

static pl_status take_lowlevel(struct predict_sources *sources, struct blockfile *file,
                               const struct blockfile_block *block, const struct blockfile_set *set,
                               struct pl_error *error)
{
    const bool multiple = strcmp(block->testname, "multiple") == 0;
    const bool collective = param_is(set, "collective", "true") || param_is(set, "collective", "yes");
    const bool segmented = param_is(set, "layout", "segmented");
    const char *nprocs = blockfile_fact_of(block, "nprocs");
    int64_t processes = 1, block_bytes, file_bytes;
    if ((!multiple && strcmp(block->testname, "single") != 0) || set->error_count > 0 ||
        !param_int(set, "blocksize_bytes", &block_bytes) || !param_int(set, "filesize_bytes", &file_bytes) ||
        (multiple && (!nprocs || !units_parse_int(nprocs, 1, INT32_MAX, &processes))))
        return PL_OK;
    for (int direction = 0; direction < PREDICT_DIRECTIONS; direction++) {
        const bool reads = direction == PREDICT_READ;
        char name[NAME_MAX_CHARS], size[UNITS_TEXT_MAX];
        double rate;
        const pl_status status = rate_of(file, set, reads ? "r" : "w", block_bytes, &rate, error);
        if (status != PL_OK)
            return status;
        const struct predict_source source = {.direction = (enum predict_direction)direction,
                                              .pattern = {.collective = collective,
                                                          .strided = multiple && !segmented,
                                                          .processes = processes,
                                                          .file_bytes = (double)file_bytes}};
        snprintf(name, sizeof name, "test %s%s%s, %s, %" PRId64 " process%s, file of %s", block->testname,
                 multiple ? (segmented ? " segmented" : " in turns") : "", collective ? " collective" : "",
                 reads ? "read" : "write", processes, processes == 1 ? "" : "es", units_bytes(file_bytes, size));
        if (rate > 0 && !add_point(sources, name, &source, (double)block_bytes, rate))
            return pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", file->path);
    }
    return PL_OK;
}

/* ---- files ---- */

/* Files of two systems in one estimate are most likely a mistake. */
static bool check_place(struct prediction *prediction, const struct blockfile *file,
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

static pl_status take_block(struct prediction *prediction, struct blockfile *file, const struct blockfile_block *block,
                            struct pl_error *error)
{
    pl_status status = check_place(prediction, file, block)
                           ? PL_OK
                           : pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", file->path);
    for (size_t i = 0; i < block->set_count && status == PL_OK; i++) {
        if (strcmp(block->class_name, "Lowlevel") == 0)
            status = take_lowlevel(prediction->sources, file, block, &block->sets[i], error);
        else if (!take_beffio(prediction->sources, &block->sets[i]))
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
        if (strcmp(block->class_name, "beffio") != 0 && strcmp(block->class_name, "Lowlevel") != 0)
            continue;
        const pl_status status = take_block(prediction, file, block, error);
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
