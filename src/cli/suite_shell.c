#include "cli/suite_shell.h"

#include "base/interrupt.h"
#include "base/units.h"
#include "bench/iot/iot_suite.h"
#include "measure/spec_value.h"
#include "mpi/job.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the plan ---- */

static void print_block_plan(const struct spec *spec, const struct spec_block *block, int ranks)
{
    printf("\n%s:%d: %s, file '%s'\n", spec->path, block->line, block->test->name, spec_text(block, "filename"));
    printf("  %4s  %-36s %10s %10s %10s\n", "set", "sizes really used", "timings", "memory", "left out");
    const int64_t sets = iot_sets_of(spec, block, ranks);
    for (int64_t i = 0; i < sets; i++) {
        struct iot_set set;
        char memory[UNITS_TEXT_MAX], tail[UNITS_TEXT_MAX];
        iot_set_of(block, ranks, i, &set);
        printf("  %4lld  %-36s %10lld %10s %10s\n", (long long)i + 1, set.label, (long long)set.samples,
               units_bytes(set.memory_bytes + set.memory_alone_bytes, memory), units_bytes(set.tail_bytes, tail));
    }
}

int suite_shell_check(const struct suite_request *request, int ranks)
{
    struct spec spec;
    struct pl_error error;
    if (strcmp(request->path, "-") == 0) /* can be read only once */
        return CLI_OK;
    pl_status status = iot_suite_load(ranks, request->path, request->class_name, request->overrides,
                                      request->override_count, &spec, &error);
    if (status == PL_OK) {
        status = suite_export_check(request, &spec, &error);
        if (status == PL_OK)
            status = iot_suite_check_places(&spec, ranks, request->overwrite, false, &error);
        interrupt_results(spec.timings_path, NULL);
        spec_clear(&spec);
    }
    if (status != PL_OK)
        cli_complain(request->verb, "%s", error.text);
    return status == PL_OK ? CLI_OK : CLI_USAGE;
}

int suite_shell_dry_run(const struct suite_request *request, int ranks)
{
    struct spec spec;
    struct pl_error error;
    if (iot_suite_load(ranks, request->path, request->class_name, request->overrides, request->override_count, &spec,
                       &error) != PL_OK) {
        cli_complain(request->verb, "%s", error.text);
        return CLI_USAGE;
    }
    printf("Plan for %d rank%s; timings and memory are those of the rank that has most.\n", ranks,
           ranks == 1 ? "" : "s");
    for (size_t b = 0; b < spec.block_count; b++)
        print_block_plan(&spec, &spec.blocks[b], ranks);
    const struct iot_totals totals = iot_suite_totals(&spec, ranks);
    char text[UNITS_TEXT_MAX];
    printf("\nIn all: %lld sets; %.0f bytes written", (long long)totals.sets, totals.write_bytes);
    printf(" and %.0f read; largest file %s;\n", totals.read_bytes, units_bytes(totals.largest_file_bytes, text));
    printf("memory of a rank up to %s;", units_bytes(totals.memory_bytes, text));
    const double head = 1500 + 60.0 * ranks, each_set = 1500 + 250.0 * ranks; /* bytes, roughly */
    printf(" results about %s,",
           units_bytes((int64_t)(totals.samples * 7 + (double)spec.block_count * head + (double)totals.sets * each_set),
                       text));
    printf(" appended to '%s'.\nNothing was run.\n", spec.timings_path);
    spec_clear(&spec);
    return CLI_OK;
}

/* ---- the keywords ---- */

/* Words of `text` from column `indent` on, in lines of 80. The cursor stands at `column` already. */
static void print_wrapped(const char *text, int column, int indent)
{
    enum { WIDTH = 79 };
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > WIDTH) {
            printf("\n%*s", indent, "");
            column = indent;
        }
        column += printf("%s%.*s", column > indent ? " " : "", length, text);
        text += length + (text[length] == ' ');
    }
    printf("\n");
}

static void print_keyword(const struct spec_keyword *keyword)
{
    enum { HELP_COLUMN = 17, ALLOWED_COLUMN = 19 };
    printf("  %-14s ", keyword->name);
    if (strlen(keyword->name) > 14)
        printf("\n%*s", HELP_COLUMN, "");
    print_wrapped(keyword->help, HELP_COLUMN, HELP_COLUMN);
    struct text allowed = {0};
    spec_value_allowed(keyword, &allowed);
    if (keyword->default_text)
        text_format(&allowed, "; default %s", keyword->default_text);
    text_add(&allowed, keyword->required ? "; required" : "");
    printf("%*s", ALLOWED_COLUMN, "");
    print_wrapped(text_get(&allowed), ALLOWED_COLUMN, ALLOWED_COLUMN);
    text_clear(&allowed);
}

int suite_shell_keywords(const struct suite_request *request, const char *testname)
{
    const struct iot_test *const *tests = iot_tests(request->class_name);
    for (size_t i = 0; tests[i]; i++) {
        if (!testname) {
            printf("%-9s %-12s %s\n", tests[i]->spec.class_name, tests[i]->spec.name, tests[i]->summary);
            continue;
        }
        if (strcmp(testname, tests[i]->spec.name) != 0)
            continue;
        printf("classname %s\ntestname  %s\n  %s\n\nKeywords:\n", tests[i]->spec.class_name, testname,
               tests[i]->summary);
        for (const struct spec_keyword *const *table = tests[i]->spec.keywords; *table; table++)
            for (const struct spec_keyword *keyword = *table; keyword->name; keyword++)
                print_keyword(keyword);
        printf("\nMPI hints, in every test:\n");
        print_keyword(&SPEC_COMMON[0]);
        for (const struct spec_keyword *keyword = SPEC_HINTS; keyword->name; keyword++)
            print_keyword(keyword);
        printf("  %-14s any other hint for MPI\n  %-14s any remark, copied into the results\n", "hint.NAME",
               "info.NAME");
        return CLI_OK;
    }
    if (!testname)
        return CLI_OK;
    return cli_usage_error(request->verb, "--keywords: '%s' is not a test; allowed: all, or a name that it lists",
                           testname);
}

/* ---- the run ---- */

struct watcher {
    const struct suite_request *request;
    bool progress;
    bool header_printed;
};

static void print_progress(void *context, const struct iot_event *event)
{
    const struct watcher *watcher = context;
    if (!watcher->progress)
        return;
    char left[UNITS_TEXT_MAX] = "";
    if (event->bytes_done > 0)
        units_duration(event->elapsed_s * (event->bytes_total / event->bytes_done - 1), left);
    fprintf(stderr, "[%lld/%lld] %s: %s%s%s%s\n", (long long)event->number, (long long)event->sets,
            event->block->test->name, event->set->label, *left ? "; about " : "", left, *left ? " left" : "");
}

static const char *access_of(const struct spec_block *block)
{
    const struct spec_value *collective = spec_find(block, "collective");
    if (!collective)
        return iot_test_of(block)->access;
    return strcmp(collective->text, "true") == 0 ? "collective" : "independent";
}

static void print_rates(const struct iot_event *event)
{
    const double rates[] = {event->write_mb_per_s, event->read_mb_per_s};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++)
        if (rates[i] > 0)
            printf(" %10.1f", rates[i]);
        else
            printf(" %10s", "-");
}

static void print_row(void *context, const struct iot_event *event)
{
    struct watcher *watcher = context;
    if (!watcher->header_printed)
        printf("%-12s %-11s %-31s %10s %10s\n", "test", "access", "sizes", "write MB/s", "read MB/s");
    watcher->header_printed = true;
    printf("%-12s %-11s %-31s", event->block->test->name, access_of(event->block), event->set->label);
    if (event->verdict->status != PL_OK)
        printf(" failed");
    else
        print_rates(event);
    printf("\n");
    fflush(stdout);
    if (event->verdict->status != PL_OK)
        cli_complain(watcher->request->verb, "%s:%d: %s, %s: rank %d: %s", watcher->request->path, event->block->line,
                     event->block->test->name, event->set->label, event->verdict->rank, event->verdict->text);
}

pl_status suite_check_progress(const char *asked, struct pl_error *error)
{
    if (strcmp(asked, "auto") == 0 || strcmp(asked, "always") == 0 || strcmp(asked, "never") == 0)
        return PL_OK;
    return pl_fail(error, PL_E_USAGE, "--progress: '%s'; allowed: auto, always, never", asked);
}

bool suite_wants_progress(const char *asked)
{
    const char *from_launcher = getenv("PIOLET_PROGRESS");
    if (strcmp(asked, "auto") != 0)
        return strcmp(asked, "always") == 0;
    return from_launcher ? strcmp(from_launcher, "always") == 0 : isatty(STDERR_FILENO);
}

static int run_loaded_coll(const struct suite_request *request, const struct spec *spec, int rank)
{
    struct watcher watcher = {.request = request, .progress = suite_wants_progress(request->progress)};
    const struct iot_observer observer = {.context = &watcher, .begin = print_progress, .end = print_row};
    const char *output = spec->timings_path;
    int64_t failed = 0;
    struct pl_error error;
    interrupt_results(output, NULL);
    const bool exports = rank == 0 && (request->json || request->csv);
    const size_t blocks_before = exports ? suite_export_count(output) : 0;
    pl_status status = iot_suite_run_coll(MPI_COMM_WORLD, spec, &observer, &failed, &error);
    if (status == PL_OK && exports)
        status = suite_export(request, output, blocks_before, &error);
    if (rank == 0 && status != PL_OK)
        cli_complain(request->verb, "%s", error.text);
    if (rank == 0 && status == PL_OK) {
        printf("results: %s\n", output);
        if (failed > 0)
            cli_complain(request->verb, "%lld parameter set%s failed; the results say why", (long long)failed,
                         failed == 1 ? "" : "s");
    }
    return status == PL_OK && failed == 0 ? CLI_OK : CLI_FAILED;
}

int suite_shell_run_coll(const struct suite_request *request, int argc, char **argv)
{
    struct pl_error error;
    if (job_init_coll(&argc, &argv, &error) != PL_OK) {
        if (job_speaks())
            cli_complain(request->verb, "%s", error.text);
        job_finalize_coll();
        return CLI_USAGE;
    }
    int rank, ranks;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    struct spec spec;
    int exit_status = CLI_USAGE;
    if (iot_suite_load_coll(MPI_COMM_WORLD, request->path, request->class_name, request->overrides,
                            request->override_count, &spec, &error) == PL_OK) {
        struct coll_verdict verdict;
        pl_status status = rank == 0 ? suite_export_check(request, &spec, &error) : PL_OK;
        if (status == PL_OK && rank == 0)
            status = iot_suite_check_places(&spec, ranks, request->overwrite, true, &error);
        if (coll_agree_coll(MPI_COMM_WORLD, status, &error, &verdict) == PL_OK)
            exit_status = run_loaded_coll(request, &spec, rank);
        else if (rank == 0)
            cli_complain(request->verb, "%s", error.text);
        spec_clear(&spec);
    } else if (rank == 0) {
        cli_complain(request->verb, "%s", error.text);
    }
    job_finalize_coll();
    return exit_status;
}
