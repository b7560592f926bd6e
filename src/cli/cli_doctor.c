/* piolet doctor: what this build, this machine and these directories offer, and what is wrong with them. */
#include "base/units.h"
#include "bench/rules/rules.h"
#include "cli/cli.h"
#include "cli/cli_engine.h"
#include "cli/cli_launch.h"
#include "cli/cli_target.h"
#include "lab/facts/environment.h"
#include "mpi/job.h"

#include <errno.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef PIOLET_HAVE_HWLOC
#include <hwloc.h>
#endif
#ifdef PIOLET_HAVE_SQLITE
#include <sqlite3.h>
#endif

extern const struct cli_verb cli_verb_doctor;

static void doctor_row(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void doctor_row(const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%-18s ", key);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

/* A finding: something that will go wrong. Returns 1, to be counted. */
static int doctor_finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int doctor_finding(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%-18s ", "  -> wrong");
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    return 1;
}

static void doctor_show_preload(void *context, const char *name, bool suspect)
{
    int *count = context;
    ++*count;
    doctor_row("preloaded", "%s%s", name, suspect ? " (may disturb timings)" : "");
}

static int doctor_show_mpi(void)
{
    char text[ENVIRONMENT_TEXT_MAX];
    int version, subversion, ranks, findings = 0, preloads = 0;
    MPI_Get_version(&version, &subversion);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    environment_mpi_library(text, sizeof text);
    doctor_row("piolet", "%s, built for %s", PIOLET_VERSION, PIOLET_MPI_NAME);
    doctor_row("MPI", "%s (standard %d.%d)", text, version, subversion);
    doctor_row("MPI launcher", "%s", PIOLET_MPIEXEC);
    if (access(PIOLET_MPIEXEC, X_OK) != 0)
        findings += doctor_finding("%s: %s; 'piolet VERB -n N' will not work", PIOLET_MPIEXEC, strerror(errno));
    doctor_row("ranks", "%d", ranks);
    environment_mpiio(text);
    doctor_row("MPI-IO", "%s", text);
    struct environment_clock clock;
    struct pl_error error;
    environment_clock(&clock);
    doctor_row("clock", "MPI_Wtick %.3g ns, smallest step seen %.3g ns, one reading costs %.3g ns", clock.wtick_s * 1e9,
               clock.step_s * 1e9, clock.cost_s * 1e9);
    if (environment_clock_check(&clock, &error) != PL_OK)
        findings += doctor_finding("%s", error.text);
    environment_preloads(doctor_show_preload, &preloads);
    return findings;
}

static void doctor_show_host(void)
{
    char host[256] = "unknown", total[UNITS_TEXT_MAX], available[UNITS_TEXT_MAX];
    gethostname(host, sizeof host - 1);
    doctor_row("host", "%s", host);
    doctor_row("cores", "%d", environment_cores());
    doctor_row("memory", "%s, %s available", units_bytes(environment_memory_bytes(), total),
               units_bytes(environment_memory_available_bytes(), available));
}

static void doctor_show_topology(void)
{
#ifdef PIOLET_HAVE_HWLOC
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0) {
        doctor_row("topology", "%d package(s), %d core(s), %d hardware thread(s), %d memory node(s)",
                   hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
                   hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU),
                   hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
        hwloc_topology_destroy(topology);
    }
    const unsigned version = hwloc_get_api_version();
    doctor_row("optional: hwloc", "found, %u.%u.%u", version >> 16, version >> 8 & 0xff, version & 0xff);
#else
    doctor_row("optional: hwloc", "not found when piolet was built (shows the topology here)");
#endif
}

static void doctor_show_history(void)
{
#ifdef PIOLET_HAVE_SQLITE
    doctor_row("optional: SQLite", "found, %s", sqlite3_libversion());
#else
    doctor_row("optional: SQLite", "not found when piolet was built ('piolet history' needs it)");
#endif
}

static bool doctor_on_path(const char *program)
{
    const char *path = getenv("PATH");
    char *copy = strdup(path ? path : ""), *rest = NULL;
    bool found = false;
    for (char *folder = copy ? strtok_r(copy, ":", &rest) : NULL; folder && !found;
         folder = strtok_r(NULL, ":", &rest)) {
        char file[4096];
        snprintf(file, sizeof file, "%s/%s", folder, program);
        found = access(file, X_OK) == 0;
    }
    free(copy);
    return found;
}

static void doctor_show_page(void)
{
    char path[PATH_MAX];
    doctor_row("optional: page",
               cli_target_shared("report.html", path)
                   ? "found, charts of 'piolet report'"
                   : "not built (needs Node.js and npm); 'piolet report' writes plain tables and plots");
}

static int doctor_show_directory(const char *directory)
{
    struct environment_filesystem fs;
    struct pl_error error;
    struct stat info;
    if (stat(directory, &info) != 0) {
        doctor_row("directory", "%s", directory);
        return doctor_finding("'%s': %s", directory, strerror(errno));
    }
    if (environment_filesystem(directory, &fs, &error) != PL_OK) {
        doctor_row("directory", "%s", directory);
        return doctor_finding("%s", error.text);
    }
    char total[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    doctor_row("directory", "%s", fs.directory);
    doctor_row("file system", "%s on %s, %s in all, %s free, block %lld bytes", fs.type, fs.source,
               units_bytes(fs.total_bytes, total), units_bytes(fs.free_bytes, there), (long long)fs.block_bytes);
    if (access(fs.directory, W_OK | X_OK) != 0)
        return doctor_finding("'%s' is not writable: %s", fs.directory, strerror(errno));
    return 0;
}

static int doctor_look_coll(const struct options *options, int argc, char **argv)
{
    struct pl_error error;
    const pl_status status = job_init_coll(&argc, &argv, &error);
    int rank, findings = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (status != PL_OK && !job_speaks())
        findings = 0;
    else if (status != PL_OK)
        cli_complain(&cli_verb_doctor, "%s", error.text);
    else if (rank == 0) {
        findings += doctor_show_mpi();
        doctor_show_host();
        doctor_show_topology();
        doctor_show_history();
        doctor_row("optional: PNG",
                   doctor_on_path("rsvg-convert") ? "found, rsvg-convert" : "rsvg-convert not found; plots are SVG");
        doctor_show_page();
        if (options->operand_count == 0)
            findings += doctor_show_directory(".");
        for (size_t i = 0; i < options->operand_count; i++)
            findings += doctor_show_directory(options->operands[i]);
        if (findings)
            printf("%d thing%s wrong, see above\n", findings, findings == 1 ? "" : "s");
    }
    job_finalize_coll();
    return status != PL_OK ? CLI_USAGE : findings ? CLI_FAILED : CLI_OK;
}

/* ---- the command line ---- */

#define AT(member) OPTION_AT(struct rules_request, member)
static const struct option_row ROWS[] = {
    {.name = "mpiio",
     .type = OPTION_FLAG,
     AT(mpiio),
     .more = "All other options go with this one.",
     .help = "try rules of the standard's chapter on I/O"},
    {.name = "ranks",
     .letter = 'n',
     .type = OPTION_INT,
     .min = 1,
     .max = RULE_RANKS_MAX,
     AT(ranks),
     .more = "Some rules need two ranks, and are passed over on one.",
     .help = "on N ranks, 1 to 64; 4 by default"},
    {.name = "on",
     .aliases = "dir",
     .type = OPTION_TEXT,
     .argument = "DIR",
     AT(directory),
     .more = "In a new directory. With ranks on several nodes, it must be one that all nodes see.",
     .help = "put files there, for a while; by default in the current directory"},
    {.name = "engine",
     .type = OPTION_FLAG,
     AT(engine),
     .more = "As 'piolet preload' would put it before a program.",
     .help = "try our MPI-IO, not the one in force"},
    {.name = "rule", .type = OPTION_TEXT, .argument = "NAME", AT(rule), .help = "try this rule only"},
    {.name = "list", .type = OPTION_FLAG, AT(list), .help = "list the rules, and try none"},
    {.name = "limit",
     .type = OPTION_TIME,
     .initial = "20",
     .min = 1,
     .max = RULES_LIMIT_MAX_S,
     AT(limit_s),
     .help = "a rule hangs after so many seconds"},
    {.name = "json",
     .type = OPTION_FLAG,
     AT(json),
     .more = "An object with the MPI, the numbers of rules by outcome, and the rules; with --list an array of rules.",
     .help = "as JSON"},
    {0}};
#undef AT

/* ---- the rules of MPI-IO ---- */

static void doctor_complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

static void doctor_complain(const char *format, ...)
{
    char text[PL_ERROR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    cli_complain(&cli_verb_doctor, "%s", text);
}

static int doctor_launch(int ranks, int count, char **words)
{
    return cli_launch(&cli_verb_doctor, ranks, count, words);
}

/* In this job, or, outside of MPI, in jobs that are watched. */
static int doctor_try_rules(struct rules_request *request, int argc, char **argv)
{
    static struct rules_report report;
    static const char *const libraries[] = {"libpiolet-mpiio.so", NULL};
    static char list[CLI_PRELOAD_MAX];
    request->complain = doctor_complain;
    request->launch = doctor_launch;
    if (request->rule && rule_find(request->rule) < 0)
        return cli_usage_error(&cli_verb_doctor, "--rule: '%s' is no rule; --list shows them all", request->rule);
    if (request->list) {
        rules_list(request->json);
        return CLI_OK;
    }
    if (job_is_launched() && request->ranks) {
        if (job_speaks())
            cli_usage_error(&cli_verb_doctor, "-n starts an MPI job, but this is one already; leave -n to mpiexec");
        return CLI_USAGE;
    }
    if (job_is_launched())
        return request->engine && !environment_has_engine() ? cli_engine_start_again(&cli_verb_doctor, NULL, argc, argv)
                                                            : rules_job_coll(request, argc, argv, &report);
    if (!request->ranks)
        request->ranks = RULES_RANKS;
    if (request->engine && !cli_target_preload(&cli_verb_doctor, libraries, list))
        return CLI_FAILED;
    const int status = rules_watch(request, &report);
    if (status != CLI_OK)
        return status;
    rules_print(&report, request->json);
    return rules_is_well(&report) ? CLI_OK : CLI_FAILED;
}

/* Operands with --mpiio are those of a job that rules_watch.c started: the progress file, and the first rule. */
static int doctor_run_mpiio(struct rules_request *request, const struct options *options, int argc, char **argv)
{
    if (options->operand_count == 2 && job_is_launched()) {
        request->progress = options->operands[0];
        request->first = rule_find(options->operands[1]);
    } else if (options->operand_count) {
        return cli_usage_error(&cli_verb_doctor, "with --mpiio the directory is given by --on, not as '%s'",
                               options->operands[0]);
    }
    return doctor_try_rules(request, argc, argv);
}

static int doctor_act(void *values, const struct cli_line *line)
{
    struct rules_request *request = values;
    if (request->mpiio)
        return doctor_run_mpiio(request, line->options, line->argc, line->argv);
    for (const struct option_row *row = ROWS + 1; row->name; row++)
        if (options_given(line->options, row->name))
            return cli_usage_error(&cli_verb_doctor, "--%s goes with --mpiio", row->name);
    return doctor_look_coll(line->options, line->argc, line->argv);
}

const struct cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "tell what is there: MPI, MPI-IO, clock, host, file systems",
    .synopsis = "[DIRECTORY]...\npiolet doctor --mpiio [OPTION]...",
    .details = "DIRECTORY is where test files will be written; the current one by default.\n"
               "Exit status 1 when something is wrong that would spoil a measurement.\n"
               "With --mpiio: tries rules of the MPI standard on the MPI-IO in force, and lists\n"
               "those that it breaks; exit status 1 when there are any.",
    .rows = ROWS,
    .values_size = sizeof(struct rules_request),
    .act = doctor_act,
};
