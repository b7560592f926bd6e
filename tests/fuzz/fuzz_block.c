/* A block file: the tools of `piolet analyze`, the export, and the tables and payload of the report. Each input goes to
 * one of them, which its bytes choose: all of them would take a hundred times as long as reading it. */
/* proves: IOT-6 IOT-30 IOT-31 IOT-32 IOT-33
 * Fails when the reader of block files or a tool that is given what it read crashes, hangs or takes too much memory. */
#include "fuzz.h"

#include "bench/bench.h"
#include "lab/show/analysis_tools.h"
#include "lab/show/export.h"
#include "page/page_parts.h"

static void analyze(struct blockfile *file, unsigned choice)
{
    static pl_status (*const TOOLS[])(const struct analysis_request *request, const struct analysis_input *input,
                                      struct pl_error *error) = {analysis_rawdata, analysis_distribution,
                                                                 analysis_allav, analysis_kernel};
    enum { TOOL_COUNT = sizeof TOOLS / sizeof TOOLS[0] };
    unsigned bench_count = 0;
    while (BENCHES[bench_count])
        bench_count++;
    const struct analysis_input input = {.files = file, .file_count = 1};
    char plot[320];
    struct pl_error error;
    snprintf(plot, sizeof plot, "%s/plot.svg", fuzz_folder());
    struct analysis_request request = {.to = INT64_MAX - 1,
                                       .skip_auto = true,
                                       .plot = plot,
                                       .text = fuzz_nowhere(),
                                       .json = fuzz_nowhere(),
                                       .csv = fuzz_nowhere()};
    const unsigned tool = choice / 2 % (TOOL_COUNT + bench_count + 1);
    request.times = choice % 2;
    if (tool == TOOL_COUNT + bench_count) {
        export_json(file, 1, fuzz_nowhere(), &error);
        export_csv(file, 1, fuzz_nowhere(), &error);
        return;
    }
    const pl_status status = tool < TOOL_COUNT ? TOOLS[tool](&request, &input, &error)
                                               : bench_show(BENCHES[tool - TOOL_COUNT], &request, &input, &error);
    if (status == PL_E_INPUT)
        analysis_describe(&input, fuzz_nowhere());
}

static void page_on(const char *path)
{
    struct report report;
    struct page_payload payload;
    struct pl_error error;
    if (page_open(&path, 1, &report, &error) != PL_OK)
        return;
    page_write_plain(&report, fuzz_nowhere(), &error);
    if (page_payload_make(&report, &payload, &error) == PL_OK)
        page_payload_clear(&payload);
    page_close(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    const char *path = fuzz_file("fuzz.out", bytes, size);
    struct blockfile file;
    struct pl_error error;
    if (blockfile_open(path, &file, &error) != PL_OK)
        return 0;
    unsigned choice = 0;
    for (size_t i = 0; i < size; i++)
        choice = choice * 31 + bytes[i];
    analyze(&file, choice / 8);
    blockfile_close(&file);
    if (choice % 8 == 0)
        page_on(path);
    return 0;
}
