/* piolet doctor: what this build, this machine and these directories offer, and what is wrong with them. */
#include "base/units.h"
#include "cli/cli.h"
#include "cli/cli_target.h"
#include "cli/doctor_mpiio.h"
#include "measure/environment.h"
#include "mpi/job.h"

#include <errno.h>
#include <getopt.h>
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

static void row(const char *key, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void row(const char *key, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%-18s ", key);
    vprintf(format, args);
    putchar('\n');
    va_end(args);
}

/* A finding: something that will go wrong. Returns 1, to be counted. */
static int finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int finding(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    printf("%-18s ", "  -> wrong");
    vprintf(format, args);
    putchar('\n');
    va_end(args);
    return 1;
}

static void show_preload(void *context, const char *name, bool suspect)
{
    int *count = context;
    ++*count;
    row("preloaded", "%s%s", name, suspect ? " (may disturb timings)" : "");
}

static int show_mpi(void)
{
    char text[ENVIRONMENT_TEXT_MAX];
    int version, subversion, ranks, findings = 0, preloads = 0;
    MPI_Get_version(&version, &subversion);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    environment_mpi_library(text, sizeof text);
    row("piolet", "%s, built for %s", PIOLET_VERSION, PIOLET_MPI_NAME);
    row("MPI", "%s (standard %d.%d)", text, version, subversion);
    row("MPI launcher", "%s", PIOLET_MPIEXEC);
    if (access(PIOLET_MPIEXEC, X_OK) != 0)
        findings += finding("%s: %s; 'piolet VERB -n N' will not work", PIOLET_MPIEXEC, strerror(errno));
    row("ranks", "%d", ranks);
    environment_mpiio(text);
    row("MPI-IO", "%s", text);
    struct environment_clock clock;
    struct pl_error error;
    environment_clock(&clock);
    row("clock", "MPI_Wtick %.3g ns, smallest step seen %.3g ns, one reading costs %.3g ns", clock.wtick_s * 1e9,
        clock.step_s * 1e9, clock.cost_s * 1e9);
    if (environment_clock_check(&clock, &error) != PL_OK)
        findings += finding("%s", error.text);
    environment_preloads(show_preload, &preloads);
    return findings;
}

static void show_host(void)
{
    char host[256] = "unknown", total[UNITS_TEXT_MAX], available[UNITS_TEXT_MAX];
    gethostname(host, sizeof host - 1);
    row("host", "%s", host);
    row("cores", "%d", environment_cores());
    row("memory", "%s, %s available", units_bytes(environment_memory_bytes(), total),
        units_bytes(environment_memory_available_bytes(), available));
}

static void show_topology(void)
{
#ifdef PIOLET_HAVE_HWLOC
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) == 0 && hwloc_topology_load(topology) == 0) {
        row("topology", "%d package(s), %d core(s), %d hardware thread(s), %d memory node(s)",
            hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE), hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE),
            hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU), hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_NUMANODE));
        hwloc_topology_destroy(topology);
    }
    const unsigned version = hwloc_get_api_version();
    row("optional: hwloc", "found, %u.%u.%u", version >> 16, version >> 8 & 0xff, version & 0xff);
#else
    row("optional: hwloc", "not found when piolet was built (shows the topology here)");
#endif
}

static void show_history(void)
{
#ifdef PIOLET_HAVE_SQLITE
    row("optional: SQLite", "found, %s", sqlite3_libversion());
#else
    row("optional: SQLite", "not found when piolet was built ('piolet history' needs it)");
#endif
}

static bool on_path(const char *program)
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

static void show_page(void)
{
    char path[PATH_MAX];
    row("optional: page", cli_target_shared("report.html", path)
                              ? "found, charts of 'piolet report'"
                              : "not built (needs Node.js and npm); 'piolet report' writes plain tables and plots");
}

static int show_directory(const char *directory)
{
    struct environment_filesystem fs;
    struct pl_error error;
    struct stat info;
    if (stat(directory, &info) != 0) {
        row("directory", "%s", directory);
        return finding("'%s': %s", directory, strerror(errno));
    }
    if (environment_filesystem(directory, &fs, &error) != PL_OK) {
        row("directory", "%s", directory);
        return finding("%s", error.text);
    }
    char total[UNITS_TEXT_MAX], there[UNITS_TEXT_MAX];
    row("directory", "%s", fs.directory);
    row("file system", "%s on %s, %s in all, %s free, block %lld bytes", fs.type, fs.source,
        units_bytes(fs.total_bytes, total), units_bytes(fs.free_bytes, there), (long long)fs.block_bytes);
    if (access(fs.directory, W_OK | X_OK) != 0)
        return finding("'%s' is not writable: %s", fs.directory, strerror(errno));
    return 0;
}

static int look_coll(int argc, char **argv)
{
    const int first = optind;
    struct pl_error error;
    const pl_status status = job_init_coll(&argc, &argv, &error);
    int rank, findings = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (status != PL_OK && !job_speaks())
        findings = 0;
    else if (status != PL_OK)
        cli_complain(&cli_verb_doctor, "%s", error.text);
    else if (rank == 0) {
        findings += show_mpi();
        show_host();
        show_topology();
        show_history();
        row("optional: PNG", on_path("rsvg-convert") ? "found, rsvg-convert" : "rsvg-convert not found; plots are SVG");
        show_page();
        if (first >= argc)
            findings += show_directory(".");
        for (int i = first; i < argc; i++)
            findings += show_directory(argv[i]);
        if (findings)
            printf("%d thing%s wrong, see above\n", findings, findings == 1 ? "" : "s");
    }
    job_finalize_coll();
    return status != PL_OK ? CLI_USAGE : findings ? CLI_FAILED : CLI_OK;
}

/* ---- the command line ---- */

enum { MPIIO = 1, RANKS, DIRECTORY, ENGINE, RULE, LIST, LIMIT, JSON };

static bool take_number(const char *name, const char *text, int max, int *ret_value)
{
    int64_t value;
    if (!units_parse_int(text, 1, max, &value)) {
        cli_usage_error(&cli_verb_doctor, "%s: '%s' is not a number from 1 to %d", name, text, max);
        return false;
    }
    *ret_value = (int)value;
    return true;
}

static bool parse(struct doctor_request *request, int argc, char **argv)
{
    const char *argument, *needs_mpiio = NULL;
    int option;
    while ((option = cli_next(&cli_verb_doctor, argc, argv, &argument)) > CLI_END) {
        if (option == RANKS && !take_number("-n", argument, RULE_RANKS_MAX, &request->ranks))
            return false;
        if (option == LIMIT && !take_number("--limit", argument, DOCTOR_LIMIT_MAX_S, &request->limit_s))
            return false;
        request->mpiio |= option == MPIIO;
        request->engine |= option == ENGINE;
        request->list |= option == LIST;
        request->json |= option == JSON;
        if (option == DIRECTORY)
            request->directory = argument;
        if (option == RULE)
            request->rule = argument;
        if (option != MPIIO && !needs_mpiio)
            needs_mpiio = cli_verb_doctor.options[option - 1].name;
    }
    if (option == CLI_BAD)
        return false;
    if (needs_mpiio && !request->mpiio)
        cli_usage_error(&cli_verb_doctor, "--%s goes with --mpiio", needs_mpiio);
    return !needs_mpiio || request->mpiio;
}

/* Operands with --mpiio are those of a job that doctor_watch.c started: the progress file, and the first rule. */
static int run_mpiio(struct doctor_request *request, int argc, char **argv)
{
    if (argc - optind == 2 && job_is_launched()) {
        request->progress = argv[optind];
        request->first = rule_find(argv[optind + 1]);
    } else if (optind < argc) {
        return cli_usage_error(&cli_verb_doctor, "with --mpiio the directory is given by --dir, not as '%s'",
                               argv[optind]);
    }
    return doctor_mpiio(&cli_verb_doctor, request, argc, argv);
}

static int doctor_run(int argc, char **argv)
{
    struct doctor_request request = {0};
    if (!parse(&request, argc, argv))
        return CLI_USAGE;
    return request.mpiio ? run_mpiio(&request, argc, argv) : look_coll(argc, argv);
}

const struct cli_verb cli_verb_doctor = {
    .name = "doctor",
    .summary = "tell what is there: MPI, MPI-IO, clock, host, file systems",
    .synopsis = "[DIRECTORY]...\n       piolet doctor --mpiio [OPTION]...",
    .details = "DIRECTORY is where test files will be written; the current one by default.\n"
               "Exit status 1 when something is wrong that would spoil a measurement.\n"
               "With --mpiio: tries rules of the MPI standard on the MPI-IO in force, and lists\n"
               "those that it breaks; exit status 1 when there are any.",
    .options = (const struct cli_option[]){{MPIIO, "mpiio", 0, NULL, "try rules of the standard's chapter on I/O"},
                                           {RANKS, "ranks", 'n', "N", "on N ranks, 1 to 64; 4 by default"},
                                           {DIRECTORY, "dir", 0, "DIR",
                                            "put files there, for a while; the\n"
                                            "current directory by default"},
                                           {ENGINE, "engine", 0, NULL, "try our MPI-IO, not the one in force"},
                                           {RULE, "rule", 0, "NAME", "try this rule only"},
                                           {LIST, "list", 0, NULL, "list the rules, and try none"},
                                           {LIMIT, "limit", 0, "S", "a rule hangs after S seconds; 20 by default"},
                                           {JSON, "json", 0, NULL, "as JSON"},
                                           {0}},
    .run = doctor_run,
};
