/* piolet beffio --dry-run: the schedule, and file sizes from an assumed rate. */
#include "cli/beffio_shell.h"

#include "base/units.h"
#include "bench/beffio/beffio_layout.h"
#include "bench/beffio/beffio_schedule.h"

#include <math.h>
#include <stdio.h>

struct plan {
    const struct beffio_config *config;
    double rate; /* bytes a second of the whole partition; 0: not assumed */
    struct beffio_measured measured;
};

/* Calls of each process that fit into the pattern's time, by the rate; at least one. */
static int64_t calls_of(const struct plan *plan, int pattern, int nprocs)
{
    const double bytes = beffio_pattern_s(pattern, plan->config->time_s) * plan->rate;
    const int64_t call = beffio_call_bytes(pattern, beffio_mpart(plan->config->node_memory_bytes)) * nprocs;
    const int64_t calls = (int64_t)llround(bytes / (double)call);
    return calls > 1 && BEFFIO_TABLE[pattern].units > 0 ? calls : 1;
}

static void assume_type(struct plan *plan, int type, int nprocs, struct beffio_layout *layout)
{
    beffio_layout_plan(layout, type, nprocs, beffio_mpart(plan->config->node_memory_bytes), &plan->measured);
    for (int p = beffio_type_first(type); p < beffio_type_end(type) && !beffio_is_planned(type); p++) {
        layout->calls[p] = calls_of(plan, p, nprocs);
        plan->measured.process_bytes[p] = layout->calls[p] * beffio_layout_call_bytes(layout, p);
    }
}

static void print_pattern(const struct plan *plan, const struct beffio_layout *layout, int pattern)
{
    char chunk[24] = "to the end";
    if (BEFFIO_TABLE[pattern].chunk != BEFFIO_FILL)
        snprintf(chunk, sizeof chunk, "%lld",
                 (long long)beffio_chunk_bytes(BEFFIO_TABLE[pattern].chunk, layout->mpart_bytes));
    printf("  %2d  %-6s %10s %10lld  %d %10.3f", pattern, beffio_chunk_name(BEFFIO_TABLE[pattern].chunk), chunk,
           (long long)beffio_layout_call_bytes(layout, pattern), BEFFIO_TABLE[pattern].units,
           beffio_pattern_s(pattern, plan->config->time_s));
    if (plan->rate > 0)
        printf(" %12lld", (long long)layout->calls[pattern]);
    printf("\n");
}

static void print_type(const struct plan *plan, const struct beffio_layout *layout, bool has_patterns)
{
    char size[UNITS_TEXT_MAX];
    const int type = layout->type;
    if (has_patterns) {
        printf("\ntype %d: %s\n", type, beffio_type_name(type));
        printf("  no  chunk           l          L  U  s a method%s\n", plan->rate > 0 ? "  calls a rank" : "");
        for (int p = beffio_type_first(type); p < beffio_type_end(type); p++)
            print_pattern(plan, layout, p);
    }
    if (plan->rate > 0)
        printf("  n = %d: %s in %s of type %d\n", layout->nprocs, units_bytes(beffio_layout_total(layout), size),
               type == 2 ? "the files" : "the file", type);
}

/* Sizes of all files of a partition, which lie there at the same time; the patterns are printed with the first one. */
static int64_t print_partition(struct plan *plan, int nprocs, bool first)
{
    int64_t sum = 0;
    for (int p = 0; p < BEFFIO_PATTERNS_ALL; p++)
        plan->measured.process_bytes[p] = -1;
    for (int type = 0; type < BEFFIO_TYPES_ALL; type++) {
        struct beffio_layout layout;
        if (!beffio_is_wanted(plan->config, BEFFIO_WRITE, type))
            continue;
        assume_type(plan, type, nprocs, &layout);
        if (first || plan->rate > 0)
            print_type(plan, &layout, first);
        sum += beffio_layout_total(&layout);
    }
    return sum;
}

int beffio_shell_plan(struct beffio_request *request, int ranks)
{
    if (beffio_shell_check(request, ranks) != CLI_OK)
        return CLI_USAGE;
    const struct beffio_config *config = &request->job.config;
    struct plan plan = {.config = config, .rate = request->assume_bytes_per_s};
    int64_t largest = 0, all = 0;
    for (int i = 0; i < config->partition_count; i++) {
        const int64_t bytes = print_partition(&plan, config->partitions[i], i == 0);
        largest = bytes > largest ? bytes : largest;
        all += bytes;
    }
    char text[UNITS_TEXT_MAX];
    printf("\nM_PART is %lld bytes.\n", (long long)beffio_mpart(config->node_memory_bytes));
    const double seconds = beffio_job_seconds(config) * config->partition_count * config->path_count;
    printf("%d partition%s of T = %g s in %d folder%s: %.1f s are scheduled", config->partition_count,
           config->partition_count == 1 ? "" : "s", config->time_s, config->path_count,
           config->path_count == 1 ? "" : "s", seconds);
    printf(",\nand the time of MPI_File_sync besides.\n");
    if (plan.rate > 0)
        printf("At %s a second the files take up to %s.\n", units_bytes((int64_t)plan.rate, (char[UNITS_TEXT_MAX]){0}),
               units_bytes(config->order_2_0 ? all : largest, text));
    printf("%sNothing was run.\n", config->time_s < BEFFIO_OFFICIAL_S || config->order_2_0
                                       ? "The value will be NOT OFFICIAL: see piolet-beffio(1).\n"
                                       : "");
    return CLI_OK;
}
