/* The JSON follows the block format line by line (lab/show/export.h). Series are columns; where there are more samples
 * than a browser opens in a moment, long ones are given as least, largest and sum of so many neighbours ("bin"). Behind
 * the blocks of a file stands what its benchmarks say about them. */
#include "page/page_parts.h"

#include "base/memory.h"
#include "lab/show/export.h"
#include "lab/show/show.h"
#include "page/page_tools.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES_MAX = 4000000, SHORT_SERIES = 4096 };

struct payload_making {
    struct json json;
    struct page_columns columns;
    int64_t bin; /* neighbours to put together in long series; 1: every sample is kept */
    struct progress progress;
};

/* ---- columns ---- */

enum { WIDE = 8, NARROW = 4 };

static void payload_put_bytes(struct page_columns *columns, const void *bytes, size_t count)
{
    fwrite(bytes, 1, count, columns->stream);
    columns->length += (int64_t)count;
}

static bool payload_is_narrow(const double *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!(values[i] >= 0 && values[i] <= (double)UINT32_MAX && values[i] == floor(values[i])))
            return false;
    return true;
}

void page_column_put(struct page_columns *columns, struct json *json, const char *key, const double *values,
                     size_t count)
{
    static const char PADDING[WIDE];
    const bool narrow = payload_is_narrow(values, count);
    payload_put_bytes(columns, PADDING, (size_t)((WIDE - columns->length % WIDE) % WIDE));
    assert(columns->length % WIDE == 0); /* the page looks at them as arrays of doubles */
    json_numbers_begin(json, key);
    json_put_int(json, NULL, columns->length);
    json_put_int(json, NULL, (int64_t)count);
    json_put_int(json, NULL, narrow ? NARROW : WIDE);
    json_array_end(json);
    if (!narrow) {
        payload_put_bytes(columns, values, count * sizeof *values);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const uint32_t value = (uint32_t)values[i];
        payload_put_bytes(columns, &value, sizeof value);
    }
}

/* ---- series ---- */

struct payload_taking {
    double *least, *most, *sum; /* of bins; for single samples only `sum` */
    int64_t bin;
};

static void payload_take(void *context, int64_t first, const int64_t *values, size_t count)
{
    struct payload_taking *taking = context;
    for (size_t i = 0; i < count; i++) {
        const int64_t at = (first + (int64_t)i) / taking->bin;
        const bool is_first = (first + (int64_t)i) % taking->bin == 0;
        const double value = (double)values[i];
        if (taking->least && (is_first || value < taking->least[at]))
            taking->least[at] = value;
        if (taking->most && (is_first || value > taking->most[at]))
            taking->most[at] = value;
        taking->sum[at] += value;
    }
}

static pl_status payload_put_series(void *context, struct json *json, struct blockfile *file,
                                    const struct blockfile_series *series, struct pl_error *error)
{
    struct payload_making *making = context;
    assert(making->bin >= 1);
    const int64_t bin = series->count > SHORT_SERIES ? making->bin : 1;
    const size_t bins = (size_t)((series->count + bin - 1) / bin);
    double *memory = calloc(bins * (bin > 1 ? 3 : 1) + 1, sizeof *memory);
    if (!memory)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for a series of '%s'", file->path);
    struct payload_taking taking = {.sum = memory, .bin = bin};
    if (bin > 1) {
        taking.least = memory + bins;
        taking.most = memory + 2 * bins;
    }
    const pl_status status = blockfile_stream(file, series, payload_take, &taking, error);
    json_put_int(json, "count", series->count);
    json_put_int(json, "bin", bin);
    page_column_put(&making->columns, json, "sums", taking.sum, bins);
    if (bin > 1) {
        page_column_put(&making->columns, json, "least", taking.least, bins);
        page_column_put(&making->columns, json, "most", taking.most, bins);
    }
    free(memory);
    return status;
}

int64_t page_samples_of(const struct page_file *file)
{
    int64_t sum = 0;
    for (size_t b = 0; b < file->blocks.block_count; b++)
        for (size_t s = 0; s < file->blocks.blocks[b].set_count; s++)
            for (size_t i = 0; i < file->blocks.blocks[b].sets[s].series_count; i++)
                sum += file->blocks.blocks[b].sets[s].series[i].count;
    return sum;
}

void page_progress_begin(const struct report *report, struct progress *progress)
{
    double weight = 0;
    for (size_t f = 0; f < report->file_count; f++)
        weight += page_weight_of(&report->files[f]);
    progress_begin(progress, PROGRESS_AUTO, (int64_t)report->file_count, weight);
}

double page_weight_of(const struct page_file *file)
{
    enum { FILE_WEIGHT = 1000 }; /* in samples: what a file takes that holds none */
    return FILE_WEIGHT + (double)page_samples_of(file);
}

/* ---- files ---- */

/* The JSON of a tool under its name; one that fails is told by a trouble in its place. */
static pl_status payload_put_tool(struct json *json, const struct page_tool *tool, const struct page_file *file,
                                  struct pl_error *error)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    const pl_status status = page_tool_run(tool, file, NULL, stream, NULL, error);
    const bool whole = fclose(stream) == 0;
    if (status == PL_OK && whole) {
        json_put_raw(json, tool->name, text);
    } else if (status != PL_E_INPUT) {
        json_row_begin(json, tool->name);
        json_put_string(json, "trouble", status == PL_OK ? "not enough memory" : error->text);
        json_object_end(json);
    }
    free(text);
    return PL_OK;
}

struct blockfile page_blocks_of(const struct page_file *file, const struct bench *bench)
{
    struct blockfile part = file->blocks; /* borrows everything but the list of its blocks */
    part.blocks = memory_new(file->blocks.block_count + 1, sizeof *part.blocks);
    part.block_count = 0;
    for (size_t i = 0; file->is_blocks && i < file->blocks.block_count; i++)
        if (bench_of_block(&file->blocks.blocks[i]) == bench)
            part.blocks[part.block_count++] = file->blocks.blocks[i];
    return part;
}

pl_status page_result_of(struct blockfile *part, const struct bench *bench, struct result **ret_result,
                         struct pl_error *error)
{
    const struct analysis_request request = {.to = INT64_MAX - 1};
    const struct analysis_input input = {part, 1};
    struct result *result = result_new(bench->name, bench->summary);
    assert(part->block_count == 0 || bench_of_block(&part->blocks[0]) == bench);
    const pl_status status = part->block_count ? bench->results(&request, &input, result, error)
                                               : pl_fail(error, PL_E_INPUT, "no blocks of %s", bench->name);
    if (status == PL_OK) {
        result_finish(result);
        *ret_result = result;
    } else {
        result_free(result);
    }
    return status;
}

/* What one benchmark says about its blocks of the file: as its own view expects it, as a document for a view that knows
 * no benchmark, and its quantities. */
struct payload_said {
    const struct bench *bench;
    struct blockfile part;
    struct result *result; /* NULL: it failed */
    struct pl_error error;
};

static void payload_put_said(struct json *json, const struct payload_said *said, size_t count)
{
    json_array_begin(json, "documents");
    for (size_t i = 0; i < count; i++)
        if (said[i].result) {
            assert(said[i].part.block_count > 0); /* without blocks there is no result */
            json_object_begin(json, NULL);
            json_put_string(json, "block", said[i].part.blocks[0].class_name); /* its view, where it has one */
            show_put_document_members(said[i].result, json);
            json_object_end(json);
        }
    json_array_end(json);
    json_array_begin(json, "quantities");
    for (size_t i = 0; i < count; i++)
        if (said[i].result)
            show_put_quantities_into(said[i].result, json);
    json_array_end(json);
}

static size_t payload_ask_benches(const struct page_file *file, struct payload_said *said)
{
    size_t count = 0;
    for (const struct bench *const *bench = BENCHES; *bench; bench++) {
        struct payload_said *one = &said[count];
        *one = (struct payload_said){.bench = *bench, .part = page_blocks_of(file, *bench)};
        if (page_result_of(&one->part, *bench, &one->result, &one->error) == PL_E_INPUT)
            free(one->part.blocks);
        else
            count++;
    }
    return count;
}

static pl_status payload_put_derived(struct json *json, const struct page_file *file, struct pl_error *error)
{
    size_t benches = 0;
    while (BENCHES[benches])
        benches++;
    struct payload_said *said = memory_new(benches + 1, sizeof *said);
    const size_t count = payload_ask_benches(file, said);
    pl_status status = PL_OK;
    json_object_begin(json, "derived");
    for (const struct page_tool *tool = PAGE_TOOLS; tool->name && status == PL_OK; tool++)
        if (!tool->plain_only && page_tool_applies(tool, file))
            status = payload_put_tool(json, tool, file, error);
    for (size_t i = 0; i < count; i++)
        if (said[i].result) {
            show_put_json(said[i].result, json, said[i].bench->name);
        } else {
            json_row_begin(json, said[i].bench->name);
            json_put_string(json, "trouble", said[i].error.text);
            json_object_end(json);
        }
    json_object_end(json);
    payload_put_said(json, said, count);
    for (size_t i = 0; i < count; i++) {
        result_free(said[i].result);
        free(said[i].part.blocks);
    }
    free(said);
    return status;
}

static pl_status payload_put_file(struct payload_making *making, struct page_file *file, struct pl_error *error)
{
    const struct export_form form = {.compact = true, .context = making, .put_values = payload_put_series};
    struct json *json = &making->json;
    pl_status status = PL_OK;
    progress_step(&making->progress, file->path, page_weight_of(file));
    json_object_begin(json, NULL);
    json_put_string(json, "path", file->path);
    json_put_string(json, "kind", file->is_blocks ? "blocks" : file->is_model ? "model" : "none");
    json_put_string(json, "trouble", file->trouble);
    json_array_begin(json, "warnings");
    for (size_t i = 0; i < file->blocks.warning_count; i++)
        json_put_string(json, NULL, file->blocks.warnings[i]);
    json_array_end(json);
    json_array_begin(json, "blocks");
    for (size_t i = 0; i < file->blocks.block_count && status == PL_OK; i++) {
        status = export_put_block(&form, json, &file->blocks, &file->blocks.blocks[i], error);
        progress_part(&making->progress, file->path, 0.5 * (double)(i + 1) / (double)file->blocks.block_count);
    }
    json_array_end(json);
    if (status == PL_OK)
        status = payload_put_derived(json, file, error);
    json_object_end(json);
    return status;
}

static pl_status payload_put_all(struct payload_making *making, struct report *report, struct pl_error *error)
{
    struct json *json = &making->json;
    int64_t samples = 0;
    pl_status status = PL_OK;
    for (size_t i = 0; i < report->file_count; i++)
        samples += page_samples_of(&report->files[i]);
    page_progress_begin(report, &making->progress);
    making->bin = samples > SAMPLES_MAX ? 3 * (samples / SAMPLES_MAX + 1) : 1;
    json_object_begin(json, NULL);
    json_put_string(json, "format", "piolet-report");
    json_put_int(json, "version", 1);
    json_put_string(json, "product_version", PIOLET_VERSION);
    json_put_string(json, "title", report->title);
    json_put_string(json, "made", report->made);
    json_put_int(json, "samples", samples);
    json_array_begin(json, "files");
    for (size_t i = 0; i < report->file_count && status == PL_OK; i++)
        status = payload_put_file(making, &report->files[i], error);
    json_array_end(json);
    json_array_begin(json, "models");
    for (size_t i = 0; i < report->file_count && status == PL_OK; i++)
        if (report->files[i].is_model)
            status = page_model_put(&report->files[i], (int)i, json, &making->columns, error);
    json_array_end(json);
    json_object_end(json);
    return status;
}

pl_status page_payload_make(struct report *report, struct page_payload *ret_payload, struct pl_error *error)
{
    struct payload_making making = {0};
    *ret_payload = (struct page_payload){0};
    making.json.stream = open_memstream(&ret_payload->json, &ret_payload->json_length);
    making.columns.stream = open_memstream(&ret_payload->columns, &ret_payload->columns_length);
    pl_status status = PL_OK;
    if (making.json.stream && making.columns.stream)
        status = payload_put_all(&making, report, error);
    else
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    bool whole = making.json.stream && fclose(making.json.stream) == 0;
    whole = making.columns.stream && fclose(making.columns.stream) == 0 && whole;
    if (status == PL_OK && !whole)
        status = pl_fail(error, PL_E_NOMEM, "not enough memory for the report");
    if (status != PL_OK)
        page_payload_clear(ret_payload);
    return status;
}

void page_payload_clear(struct page_payload *payload)
{
    free(payload->json);
    free(payload->columns);
    *payload = (struct page_payload){0};
}
