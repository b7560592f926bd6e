/* Contestants that need launches of their own: the other MPI, or another MPI-IO inside of Open MPI. For each cell and
 * round, each of them is started for one trial of its algorithms; all append to one file, one after the other. What is
 * still to be done is read from that file alone, so that a killed run is resumed like any other. */
#include "base/blockfile.h"
#include "base/interrupt.h"
#include "base/units.h"
#include "bench/piobench/piobench_run.h"
#include "cli/cli_child.h"
#include "cli/cli_target.h"
#include "cli/piobench_shell.h"
#include "cli/suite_shell.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PROGRAM_MAX = PATH_MAX + 64 };

struct driver {
    struct piobench_request *request;
    struct piobench_matrix matrix;
    char programs[PIOBENCH_LIST_MAX][PROGRAM_MAX];
    bool failed; /* a trial did */
    double began;
    int launches;
};

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* …/mpich/bin/piolet and …/openmpi/bin/piolet are siblings. */
static bool find_program(const struct driver *driver, const char *mpi, char program[PROGRAM_MAX])
{
    char tree[PATH_MAX];
    const bool is_mpich = strcmp(mpi, "mpich") == 0;
    if (!cli_target_self(tree))
        return false;
    for (int i = 0; i < 3; i++) {
        char *slash = strrchr(tree, '/');
        if (slash)
            *slash = '\0';
    }
    if (strcmp(is_mpich ? "mpich" : "openmpi", PIOLET_MPI_NAME) == 0)
        cli_target_self(program);
    else
        snprintf(program, PROGRAM_MAX, "%s/%s/bin/piolet", tree, is_mpich ? "mpich" : "openmpi");
    if (access(program, X_OK) == 0)
        return true;
    cli_complain(driver->request->common.verb, "--mpis: there is no piolet for %s at '%s'", mpi, program);
    return false;
}

struct turn {
    const struct driver *driver;
    int mpi, cell, round;
};

static void become_turn(void *context)
{
    const struct turn *turn = context;
    const struct driver *driver = turn->driver;
    const int mpi = turn->mpi;
    struct piobench_request *request = driver->request;
    struct piobench_step step = {.is_one = true, .cell = turn->cell, .round = turn->round};
    char **words = calloc((size_t)request->common.argc + 2, sizeof *words);
    snprintf(step.mpi, sizeof step.mpi, "%s", request->config.mpis[mpi]);
    piobench_shell_step_export(&step);
    if (strcmp(step.mpi, "openmpi-romio") == 0)
        setenv("OMPI_MCA_io", "romio321", 1);
    if (words) {
        words[0] = (char *)driver->programs[mpi];
        memcpy(words + 1, request->common.argv, (size_t)request->common.argc * sizeof *words);
        execv(words[0], words);
    }
    fprintf(stderr, "cannot start '%s': %s\n", driver->programs[mpi], strerror(errno));
    _exit(CLI_NOT_EXECUTABLE);
}

static int launch(struct driver *driver, int mpi, int cell, int round)
{
    struct cli_child child = {.is_piolet = true};
    struct turn turn = {driver, mpi, cell, round};
    if (!cli_child_start(&child, true, become_turn, &turn)) {
        cli_complain(driver->request->common.verb, "cannot start a process: %s", strerror(errno));
        return CLI_FAILED;
    }
    cli_child_follow(&child);
    if (cli_child_signal())
        return interrupt_end(cli_child_signal());
    driver->launches++;
    if (child.status <= CLI_FAILED) {
        driver->failed |= child.status != 0;
        return CLI_OK;
    }
    cli_complain(driver->request->common.verb, "the launch of %s ended with exit status %d",
                 driver->request->config.mpis[mpi], child.status);
    return CLI_FAILED;
}

/* Somebody has all trials before this round, and wants another one. */
static bool wants_round(const struct driver *driver, const struct piobench_tally *tallies, int cell, int round)
{
    const struct piobench_config *config = &driver->request->config;
    const struct piobench_rule rule = {(int)config->trials, (int)config->max_trials, config->width};
    for (int i = 0; i < config->contestant_count; i++)
        if (piobench_run_takes_part(&config->contestants[i], &driver->matrix.cells[cell]) &&
            tallies[i].count == round - 1 && !piobench_schedule_finished(&tallies[i], &rule))
            return true;
    return false;
}

static void tell_progress(const struct driver *driver, int cell, int round)
{
    char text[PIOBENCH_CELL_TEXT_MAX], left[UNITS_TEXT_MAX] = "";
    const struct piobench_config *config = &driver->request->config;
    if (!suite_wants_progress(driver->request->common.progress))
        return;
    const double rounds = (double)(driver->matrix.count - cell) * (double)config->trials - (round - 1);
    const double to_do = fmax(rounds, 1) * config->mpi_count; /* at least: wide intervals ask for more rounds */
    if (driver->launches)
        units_duration((seconds() - driver->began) / driver->launches * to_do, left);
    fprintf(stderr, "[%d/%d] %s, round %d%s%s%s\n", cell + 1, driver->matrix.count,
            piobench_cell_text(&driver->matrix.cells[cell], text), round, *left ? "; about " : "", left,
            *left ? " left" : "");
}

static int run_round(struct driver *driver, int cell, int round, bool *ret_any)
{
    const struct piobench_config *config = &driver->request->config;
    const int first = (round - 1) % config->mpi_count; /* none always comes first */
    for (int i = 0; i < config->mpi_count; i++) {
        const int mpi = (first + i) % config->mpi_count;
        struct piobench_tally *all = piobench_shell_tallies(driver->request, &driver->matrix, config->mpis[mpi], true);
        if (!all)
            return CLI_FAILED;
        const bool wanted = wants_round(driver, &all[cell * config->contestant_count], cell, round);
        free(all);
        if (wanted && !*ret_any)
            tell_progress(driver, cell, round);
        *ret_any |= wanted;
        const int status = wanted ? launch(driver, mpi, cell, round) : CLI_OK;
        if (status != CLI_OK)
            return status;
    }
    return CLI_OK;
}

static int run_cell(struct driver *driver, int cell)
{
    const struct piobench_config *config = &driver->request->config;
    for (int round = 1; round <= config->max_trials; round++) {
        bool any = false;
        const int status = run_round(driver, cell, round, &any);
        if (status != CLI_OK)
            return status;
    }
    piobench_shell_print_cell(&driver->matrix.cells[cell]);
    for (int mpi = 0; mpi < config->mpi_count; mpi++) {
        struct piobench_tally *all = piobench_shell_tallies(driver->request, &driver->matrix, config->mpis[mpi], true);
        if (!all)
            return CLI_FAILED;
        piobench_shell_print_rows(config, &driver->matrix.cells[cell], config->mpis[mpi],
                                  &all[cell * config->contestant_count]);
        free(all);
    }
    return CLI_OK;
}

int piobench_driver_run(struct piobench_request *request)
{
    struct driver driver = {.request = request, .began = seconds()};
    const struct piobench_config *config = &request->config;
    struct pl_error error;
    const size_t blocks_before = suite_export_count(request->common.output);
    if (!request->common.resume && blocks_before)
        return cli_usage_error(request->common.verb,
                               "'%s' holds results already; allowed: another file, or --resume %s",
                               request->common.output, request->common.output);
    for (int mpi = 0; mpi < config->mpi_count; mpi++)
        if (!find_program(&driver, config->mpis[mpi], driver.programs[mpi]))
            return CLI_USAGE;
    if (piobench_matrix_make(config, &driver.matrix, &error) != PL_OK)
        return cli_usage_error(request->common.verb, "%s", error.text);
    int status = CLI_OK;
    for (int cell = 0; cell < driver.matrix.count && status == CLI_OK; cell++)
        status = run_cell(&driver, cell);
    piobench_matrix_clear(&driver.matrix);
    if (status == CLI_OK)
        printf("results: %s\n", request->common.output);
    if (status == CLI_OK && cli_contest_export(&request->common, blocks_before) != CLI_OK)
        status = CLI_FAILED;
    if (driver.failed)
        cli_complain(request->common.verb, "trials failed; the results say why");
    return status == CLI_OK && driver.failed ? CLI_FAILED : status;
}
