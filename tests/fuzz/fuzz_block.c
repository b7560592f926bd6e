/* A block file: the tools of `piolet analyze`, the export, and the tables and payload of the report. Each input goes to
 * one of them, which its bytes choose: all of them would take a hundred times as long as reading it. */
/* proves: IOT-6 IOT-30 IOT-31 IOT-32 IOT-33
 * Fails when the reader of block files or a tool that is given what it read crashes, hangs or takes too much memory. */
#include "fuzz.h"

#include "bench/beff/beff_analyze.h"
#include "bench/beffio/beffio_report.h"
#include "bench/gpfs/gpfs_analysis.h"
#include "bench/peak/peak_analysis.h"
#include "bench/piobench/piobench_analysis.h"
#include "measure/analysis_tools.h"
#include "measure/export.h"
#include "report/report_payload.h"

static void analyze(struct blockfile *file, unsigned choice)
{
    static pl_status (*const TOOLS[])(const struct analysis_request *request, const struct analysis_input *input,
                                      struct pl_error *error) = {
        analysis_rawdata, analysis_distribution, analysis_allav, analysis_kernel, beff_analyze,
        beffio_analyze,   piobench_analysis,     gpfs_analysis,  peak_analysis};
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
    const unsigned tool = choice / 2 % (sizeof TOOLS / sizeof TOOLS[0] + 1);
    request.times = choice % 2;
    if (tool == sizeof TOOLS / sizeof TOOLS[0]) {
        export_json(file, 1, fuzz_nowhere(), &error);
        export_csv(file, 1, fuzz_nowhere(), &error);
    } else if (TOOLS[tool](&request, &input, &error) == PL_E_INPUT) {
        analysis_describe(&input, fuzz_nowhere());
    }
}

static void report_on(const char *path)
{
    struct report report;
    struct report_payload payload;
    struct pl_error error;
    if (report_open(&path, 1, &report, &error) != PL_OK)
        return;
    report_write_plain(&report, fuzz_nowhere(), &error);
    if (report_payload_make(&report, &payload, &error) == PL_OK)
        report_payload_clear(&payload);
    report_close(&report);
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
        report_on(path);
    return 0;
}
