#include "lab/show/analysis_tools.h"

#include "base/text.h"
#include "base/units.h"
#include "lab/result/analysis_select.h"
#include "lab/show/analysis_format.h"
#include "lab/show/show.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- what tools share ---- */

const char *analysis_set_title(const struct analysis_chosen *chosen, char title[256])
{
    char name[ANALYSIS_NAME_MAX];
    snprintf(title, 256, "%s, block %" PRId64 ", set %" PRId64 ": %.30s %.30s",
             analysis_path_text(chosen->file->path, name), chosen->block_number, chosen->set->number,
             chosen->block->class_name, chosen->block->testname);
    return title;
}

static const char *tools_known(const char *value)
{
    return value && *value ? value : "?";
}

static void tools_put_lines(struct result *result, const struct analysis_chosen *chosen)
{
    static const char *const shown[] = {"collective", "layout", NULL};
    const struct blockfile_set *set = chosen->set;
    char processes[ANALYSIS_NAME_MAX], sizes[ANALYSIS_NAME_MAX];
    struct text line = {0};
    analysis_sizes_text(set, sizes);
    text_format(
        &line, "%s%s%s",
        analysis_processes_text(blockfile_fact_of(chosen->block, "nprocs"), analysis_one_process(set), processes),
        *sizes ? ", " : "", sizes);
    for (size_t i = 0; shown[i]; i++)
        if (blockfile_param_of(set, shown[i]))
            text_format(&line, ", %s %.12s", shown[i], blockfile_param_of(set, shown[i]));
    result_line(result, "%s", text_get(&line));
    text_clear(&line);
    result_line(result, "MPI-IO %.32s, file system %.20s", tools_known(blockfile_fact_of(chosen->block, "mpiio")),
                tools_known(blockfile_fact_of(chosen->block, "filesystem")));
    for (size_t i = 0; i < set->warning_count; i++)
        result_line(result, "warning: %s", set->warnings[i]);
}

void analysis_put_set(struct result *result, const struct analysis_chosen *chosen)
{
    enum { SHOWN = 3 };
    static const struct result_column failures[] = {{.key = "status", .form = RESULT_TEXT},
                                                    {.key = "rank", .form = RESULT_INT},
                                                    {.key = "text", .form = RESULT_TEXT},
                                                    {0}};
    const struct blockfile_set *set = chosen->set;
    result_fact_text(result, "file", NULL, chosen->file->path);
    result_fact_int(result, "block", NULL, chosen->block_number);
    result_fact_text(result, "id", NULL, chosen->block->id);
    result_fact_text(result, "class", NULL, chosen->block->class_name);
    result_fact_text(result, "testname", NULL, chosen->block->testname);
    result_fact_int(result, "set", NULL, set->number);
    result_begin_object(result, "params", NULL);
    for (size_t i = 0; i < set->param_count; i++)
        if (blockfile_param_of(set, set->params[i].key) == set->params[i].value) /* the first of its name */
            result_fact_text(result, set->params[i].key, NULL, set->params[i].value);
    result_end_group(result);
    tools_put_lines(result, chosen);
    for (size_t i = 0; i < set->error_count && i < SHOWN; i++)
        result_line(result, "failed: %s (%s, rank %d)", set->errors[i].text, set->errors[i].status,
                    set->errors[i].rank);
    if (set->error_count > SHOWN)
        result_line(result, "and %zu more errors", set->error_count - SHOWN);
    result_begin_table(result, "failed", NULL, failures);
    result_only_in(result, RESULT_IN_JSON);
    for (size_t i = 0; i < set->error_count; i++) {
        result_row(result);
        result_put_text(result, set->errors[i].status);
        result_put_int(result, set->errors[i].rank);
        result_put_text(result, set->errors[i].text);
    }
}

static const char *tools_ns(double ns, char text[UNITS_TEXT_MAX])
{
    return isnan(ns) ? "?" : units_ns(ns, text);
}

void analysis_put_overlap(struct result *result, const struct analysis_rows *rows)
{
    static const struct result_column columns[] = {{.key = "direction", .form = RESULT_TEXT},
                                                   {.key = "overlap", .form = RESULT_NUMBER},
                                                   {.key = "blocking_ns", .form = RESULT_NS},
                                                   {.key = "task_ns", .form = RESULT_NS},
                                                   {.key = "cycle_ns", .form = RESULT_NS},
                                                   {.key = "exposed_ns", .form = RESULT_NS},
                                                   {0}};
    static const char *const names[] = {"write", "read"};
    struct analysis_overlap overlap[2];
    double task[2], blocking[2];
    bool there[2];
    for (int i = 0; i < 2; i++) {
        char cycle[UNITS_TEXT_MAX], alone[UNITS_TEXT_MAX], io[UNITS_TEXT_MAX];
        there[i] = analysis_rows_overlap(rows, "wr"[i], &overlap[i], &task[i], &blocking[i]);
        if (!there[i])
            continue;
        if (isnan(overlap[i].part))
            result_line(result, "%s: overlap not known (no blocking reference)", names[i]);
        else
            result_line(result, "%s: overlap %.1f %%; blocking %s", names[i], 100 * overlap[i].part,
                        units_ns(blocking[i], io));
        result_line(result, "  task %s, cycle %s, exposed I/O time of a cycle %s", tools_ns(task[i], alone),
                    units_ns(overlap[i].cycle_ns, cycle), tools_ns(overlap[i].exposed_ns, io));
    }
    result_begin_table(result, "overlap", NULL, columns);
    result_only_in(result, RESULT_IN_JSON);
    for (int i = 0; i < 2; i++) {
        if (!there[i])
            continue;
        result_row(result);
        result_put_text(result, names[i]);
        result_put_number(result, overlap[i].part);
        result_put_number(result, blocking[i]);
        result_put_number(result, task[i]);
        result_put_number(result, overlap[i].cycle_ns);
        result_put_number(result, overlap[i].exposed_ns);
    }
}

void analysis_put_definitions(struct result *result)
{
    result_line(result, "error: %s", ANALYSIS_ERROR_TEXT);
    result_line(result, "rate: %s", ANALYSIS_RATE_TEXT);
    result_line(result, "asymptotic rate: %s", ANALYSIS_ASYMPTOTIC_TEXT);
    result_begin_object(result, "definitions", NULL);
    result_fact_text(result, "error", NULL, ANALYSIS_ERROR_TEXT);
    result_fact_text(result, "rate", NULL, ANALYSIS_RATE_TEXT);
    result_fact_text(result, "asymptotic", NULL, ANALYSIS_ASYMPTOTIC_TEXT);
    result_end_group(result);
}

pl_status analysis_tool_show(const struct analysis_tool *tool, const struct analysis_request *request,
                             const struct analysis_input *input, struct pl_error *error)
{
    struct result *result = result_new(tool->name, NULL);
    pl_status status = tool->build(request, input, result, error);
    if (status == PL_OK) {
        result_finish(result);
        if (request->text)
            show_text(result, request->text);
        if (request->json)
            show_json(result, request->json);
        if (request->csv)
            show_csv(result, request->csv);
        if (request->plot)
            status = show_plot(result, request->plot, error);
    }
    result_free(result);
    return status;
}

pl_status analysis_nothing(size_t failed_sets, struct pl_error *error)
{
    return pl_fail(error, PL_E_INPUT, failed_sets ? "every selected set failed" : "nothing matches the selection");
}

size_t analysis_count_wanted(const struct analysis_request *request, const struct analysis_rows *rows)
{
    size_t wanted = 0;
    for (size_t i = 0; i < rows->count; i++)
        wanted += analysis_row_wanted(request, &rows->rows[i]);
    return wanted;
}

/* The region of the first row of an operation that was asked for. */
void analysis_put_region(struct result *result, const struct analysis_request *request, const struct analysis_row *row,
                         const char *behind)
{
    const struct analysis_region *region = &row->times.region;
    char skipped[96] = "";
    if (region->skip || request->skip_auto)
        snprintf(skipped, sizeof skipped, ", start-up of %" PRId64 " operations left out%s", region->skip,
                 request->skip_auto ? " (auto)" : "");
    result_line(result, "%s: counter %" PRId64 " to %" PRId64 "%s%s", row->series->key, region->from + region->skip,
                region->to, skipped, behind);
}

/* ---- the table of tools ---- */

const struct analysis_tool ANALYSIS_TOOLS[] = {
    {"rawdata", "times against the loop counter, averages of a region", ANALYSIS_BY_SERIES, analysis_rawdata_build},
    {"distribution", "distribution of the times of a region, for each process", ANALYSIS_BY_SERIES,
     analysis_distribution_build},
    {"allav", "rate against file size and block size, with errors", ANALYSIS_BY_SERIES, analysis_allav_build},
    {0}};

pl_status analysis_rawdata(const struct analysis_request *request, const struct analysis_input *input,
                           struct pl_error *error)
{
    return analysis_tool_show(&ANALYSIS_TOOLS[0], request, input, error);
}

pl_status analysis_distribution(const struct analysis_request *request, const struct analysis_input *input,
                                struct pl_error *error)
{
    return analysis_tool_show(&ANALYSIS_TOOLS[1], request, input, error);
}

pl_status analysis_allav(const struct analysis_request *request, const struct analysis_input *input,
                         struct pl_error *error)
{
    return analysis_tool_show(&ANALYSIS_TOOLS[2], request, input, error);
}
