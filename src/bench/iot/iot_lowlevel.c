/* What the low-level tests share: keywords and plan, where blocks lie, and the course of a run around its timed loops.
 */
#include "base/units.h"

#include "base/rng.h"
#include "bench/iot/iot.h"
#include "bench/iot/iot_lowlevel.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- keywords, and what a set will do; pure ---- */

#define MB_MIN 8e-6 /* one double */
#define MB_MAX 1e12

const struct option_row LOWLEVEL_KEYWORDS[] = {
    {.name = "numruns",
     .type = OPTION_INT,
     .min = 1,
     .max = 1e6,
     .help = "pairs (filesize, blocksize) to run: the lists are taken pairwise"},
    {.name = "numfilesize",
     .type = OPTION_INT,
     .min = 1,
     .max = 1e6,
     .help = "file sizes to run, from the start of the list, each with every block size"},
    {.name = "filesize",
     .type = OPTION_MBS,
     .flags = OPTION_REQUIRED,
     .min = MB_MIN,
     .max = MB_MAX,
     .help = "sizes of the file, in all ranks together"},
    {.name = "numblocksize",
     .type = OPTION_INT,
     .min = 1,
     .max = 1e6,
     .help = "block sizes to run, from the start of the list"},
    {.name = "blocksize",
     .type = OPTION_MBS,
     .flags = OPTION_REQUIRED,
     .min = MB_MIN,
     .max = MB_MAX,
     .help = "sizes of what one call moves"},
    {.name = "fuzzy",
     .type = OPTION_NUMBER,
     .initial = "0",
     .min = 0,
     .max = 0.99,
     .help = "scatter block sizes around the mean by this fraction, up and down"},
    {0},
};

#define LAYOUT_ROW                                                                                                     \
    {                                                                                                                  \
        .name = "layout", .type = OPTION_CHOICE, .initial = "strided", .choices = "strided segmented",                 \
        .help = "the ranks' blocks in turn, or each rank's side by side"                                               \
    }

const struct option_row LOWLEVEL_COLLECTIVE[] = {
    {.name = "collective",
     .type = OPTION_FLAG,
     .flags = OPTION_REQUIRED,
     .help = "collective calls, or independent ones"},
    LAYOUT_ROW,
    {0},
};

/* The document lists the keyword among those of `multiple` alone. */
const struct option_row LOWLEVEL_COLLECTIVE_OR_NOT[] = {
    {.name = "collective", .type = OPTION_FLAG, .initial = "false", .help = "collective calls, or independent ones"},
    LAYOUT_ROW,
    {0},
};

const struct option_row LOWLEVEL_INTERLEAVED[] = {
    {.name = "tasklength",
     .type = OPTION_INTS,
     .flags = OPTION_REQUIRED,
     .min = 1,
     .max = 30000,
     .help = "order of the matrix, and optionally how many products make a task"},
    {.name = "cycles",
     .type = OPTION_INT,
     .initial = "16",
     .min = 1,
     .max = 1e6,
     .help = "tasks without I/O, and blocking operations without task, for reference"},
    {0},
};

/* ---- parameter sets ---- */

static int64_t lowlevel_list_count(const struct iot_block *block, const char *name)
{
    const struct option_value *value = iot_spec_find(block, name);
    return value ? (int64_t)value->numbers[0] : 0;
}

static int64_t lowlevel_pairs(const struct iot_block *block)
{
    const int64_t runs = lowlevel_list_count(block, "numruns");
    const int64_t count = runs ? runs
                               : lowlevel_list_count(block, "numfilesize") * lowlevel_list_count(block, "numblocksize");
    assert(count > 0); /* lowlevel_check() has seen to it */
    return count;
}

static void lowlevel_sizes_of(const struct iot_block *block, int64_t index, int64_t *ret_file, int64_t *ret_block)
{
    const int64_t pair = index % lowlevel_pairs(block); /* repetitions come one after the other, not size by size */
    const int64_t *files = iot_spec_find(block, "filesize")->integers,
                  *blocks = iot_spec_find(block, "blocksize")->integers;
    if (iot_spec_find(block, "numruns")) {
        *ret_file = files[pair];
        *ret_block = blocks[pair];
    } else {
        const int64_t count = lowlevel_list_count(block, "numblocksize");
        assert(count > 0);
        *ret_file = files[pair / count];
        *ret_block = blocks[pair % count];
    }
}

static bool lowlevel_is_shared(const struct iot_block *block)
{
    return iot_spec_find(block, "collective") != NULL;
}

struct iot_layout lowlevel_layout(const struct iot_block *block, int nprocs, int64_t index)
{
    int64_t filesize, blocksize;
    lowlevel_sizes_of(block, index, &filesize, &blocksize);
    struct iot_layout layout = iot_layout_make(filesize, blocksize, lowlevel_is_shared(block) ? nprocs : 1);
    layout.segmented = lowlevel_is_shared(block) && strcmp(iot_spec_text(block, "layout"), "segmented") == 0;
    layout.fuzzy = iot_spec_number(block, "fuzzy");
    return layout;
}

/* ---- checks ---- */

static pl_status lowlevel_check_counts(const struct iot_spec *spec, const struct iot_block *block,
                                       struct pl_error *error)
{
    const bool runs = iot_spec_find(block, "numruns"), files = iot_spec_find(block, "numfilesize");
    const bool blocks = iot_spec_find(block, "numblocksize");
    if (runs && (files || blocks))
        return iot_spec_fail(spec, block, "numruns", error,
                             "stands beside %s; allowed: numruns alone (lists taken pairwise), or numfilesize and "
                             "numblocksize (all pairs)",
                             files ? "numfilesize" : "numblocksize");
    if (!runs && (!files || !blocks))
        return iot_spec_fail(
            spec, block, files ? "numblocksize" : "numfilesize", error,
            "missing in this block of test '%s'; allowed: a whole number, at least 1 (or numruns instead)",
            block->test->name);
    const char *file_count = runs ? "numruns" : "numfilesize", *block_count = runs ? "numruns" : "numblocksize";
    pl_status status = iot_check_list(spec, block, file_count, "filesize", error);
    if (status == PL_OK)
        status = iot_check_list(spec, block, block_count, "blocksize", error);
    return status;
}

static pl_status lowlevel_check_block_length(const struct iot_spec *spec, const struct iot_block *block, int nprocs,
                                             struct pl_error *error)
{
    for (int64_t i = 0; i < lowlevel_pairs(block); i++) {
        const struct iot_layout layout = lowlevel_layout(block, nprocs, i);
        const int64_t longest = iot_layout_longest(&layout);
        if (longest / 8 > INT_MAX)
            return iot_spec_fail(spec, block, "blocksize", error,
                                 "%lld bytes%s are more than one MPI call can move; allowed: up to 17179 MB",
                                 (long long)longest, layout.fuzzy > 0 ? ", with what fuzzy adds," : "");
    }
    return PL_OK;
}

static pl_status lowlevel_check_tasklength(const struct iot_spec *spec, const struct iot_block *block,
                                           struct pl_error *error)
{
    const struct option_value *task = iot_spec_find(block, "tasklength");
    if (!task || task->count <= 2)
        return PL_OK;
    return iot_spec_fail(spec, block, "tasklength", error,
                         "holds %zu values; allowed: the order of the matrix and, optionally, the products in a task",
                         task->count);
}

pl_status lowlevel_check(const struct iot_spec *spec, const struct iot_block *block, int nprocs, int64_t *ret_sets,
                         struct pl_error *error)
{
    pl_status status = lowlevel_check_counts(spec, block, error);
    if (status == PL_OK)
        status = lowlevel_check_tasklength(spec, block, error);
    if (status == PL_OK)
        status = lowlevel_check_block_length(spec, block, nprocs, error);
    if (status != PL_OK)
        return status;
    *ret_sets = lowlevel_pairs(block) * (int64_t)iot_spec_number(block, "repeat");
    if (iot_checks_old_data(block) && lowlevel_pairs(block) > 1)
        return iot_spec_fail(
            spec, block, "phases", error,
            "'read' cannot check %lld sets, the file holds the data of one; allowed: one set, or check none",
            (long long)lowlevel_pairs(block));
    return iot_check_phases(spec, block, error);
}

/* ---- description ---- */

/* Timings on the rank that has most: plain tests keep w and r, interleaved ones six of each block and references. */
static int64_t lowlevel_count_samples(const struct iot_block *block, const struct iot_layout *layout)
{
    const int64_t most = iot_layout_rounds(layout);
    if (!iot_spec_find(block, "tasklength"))
        return 2 * most;
    const int64_t cycles = (int64_t)iot_spec_number(block, "cycles");
    return 6 * most + cycles + 2 * (cycles < most ? cycles : most);
}

void lowlevel_describe(const struct iot_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct iot_layout layout = lowlevel_layout(block, nprocs, index);
    const int64_t bytes = layout.blocks * layout.blocksize, longest = iot_layout_longest(&layout);
    char file_text[UNITS_TEXT_MAX], block_text[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = bytes,
        .tail_bytes = layout.tail_bytes,
        .mean_bytes = (double)layout.blocksize,
        .samples = lowlevel_count_samples(block, &layout),
    };
    iot_set_phases(block, ret_set);
    const int64_t lengths = layout.fuzzy > 0 ? iot_layout_rounds(&layout) : 0;
    ret_set->memory_bytes = ret_set->samples * 16 + lengths * 8 + iot_data_memory(longest) + longest;
    if (iot_spec_find(block, "tasklength"))
        ret_set->memory_bytes += iot_task_memory((int)iot_spec_number(block, "tasklength"));
    if (!lowlevel_is_shared(block)) {
        ret_set->memory_alone_bytes = ret_set->memory_bytes;
        ret_set->memory_bytes = 0;
    }
    snprintf(ret_set->label, sizeof ret_set->label, "file %s, block %s", units_bytes(bytes, file_text),
             units_bytes(layout.blocksize, block_text));
}

/* ---- where the blocks of a rank lie ---- */

struct iot_layout iot_layout_make(int64_t filesize, int64_t blocksize, int nprocs)
{
    if (blocksize > filesize)
        blocksize = filesize;
    const int64_t blocks = filesize / blocksize;
    return (struct iot_layout){
        .blocks = blocks, .blocksize = blocksize, .tail_bytes = filesize - blocks * blocksize, .nprocs = nprocs};
}

int64_t iot_layout_count(const struct iot_layout *layout, int rank)
{
    return layout->blocks / layout->nprocs + (rank < layout->blocks % layout->nprocs);
}

int64_t iot_layout_rounds(const struct iot_layout *layout)
{
    return iot_layout_count(layout, 0);
}

static int64_t layout_edge(const struct iot_layout *layout, int64_t k)
{
    int64_t offset = k * layout->blocksize;
    if (layout->fuzzy > 0 && k > 0 && k < layout->blocks) {
        const double unit = rng_unit(rng_at(layout->seed, (uint64_t)k)) - 0.5;
        const int64_t numbers = layout->blocksize / 8;
        offset += (int64_t)(unit * layout->fuzzy * (double)numbers) * 8;
    }
    return offset;
}

static int64_t layout_file_block(const struct iot_layout *layout, int rank, int64_t j)
{
    if (!layout->segmented)
        return j * layout->nprocs + rank;
    const int64_t longer = layout->blocks % layout->nprocs; /* the first ranks have one block more */
    return rank * (layout->blocks / layout->nprocs) + (rank < longer ? rank : longer) + j;
}

struct iot_extent iot_layout_block(const struct iot_layout *layout, int rank, int64_t j)
{
    const int64_t k = layout_file_block(layout, rank, j);
    const int64_t offset = layout_edge(layout, k);
    return (struct iot_extent){.offset = offset, .length = layout_edge(layout, k + 1) - offset};
}

int64_t iot_layout_longest(const struct iot_layout *layout)
{
    if (layout->fuzzy == 0 || layout->blocks == 1)
        return layout->blocksize;
    const int64_t numbers = layout->blocksize / 8;
    return layout->blocksize + (int64_t)(layout->fuzzy * (double)numbers) * 8;
}

/* ---- inside the loops ---- */

struct lowlevel_block lowlevel_block(const struct lowlevel *low, int64_t j, uint64_t salt)
{
    if (j >= low->count)
        return (struct lowlevel_block){0};
    const struct iot_extent extent = iot_layout_block(&low->layout, low->shared ? low->run->rank : 0, j);
    return (struct lowlevel_block){.offset_bytes = extent.offset,
                                   .offset = extent.offset / 8,
                                   .count = (int)(extent.length / 8),
                                   .data = iot_data_block(&low->data, extent.offset, salt)};
}

pl_status lowlevel_moved(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j, const char *doing,
                         int mpi_code, MPI_Status *moved, struct pl_error *error)
{
    int count = 0;
    if (mpi_code == MPI_SUCCESS && block->count > 0)
        MPI_Get_count(moved, MPI_DOUBLE, &count);
    if (mpi_code == MPI_SUCCESS && count == block->count)
        return PL_OK;
    if (mpi_code != MPI_SUCCESS)
        coll_fail_mpi(error, mpi_code, "%s block %lld at byte %lld of '%s'", doing, (long long)j,
                      (long long)block->offset_bytes, low->run->filename);
    else
        pl_fail(error, PL_E_SYSTEM, "%s block %lld at byte %lld of '%s': only %d of %d numbers moved", doing,
                (long long)j, (long long)block->offset_bytes, low->run->filename, count == MPI_UNDEFINED ? 0 : count,
                block->count);
    return iot_file_note_full_disk(low->run, doing, error);
}

pl_status lowlevel_verify(const struct lowlevel *low, const struct lowlevel_block *block, int64_t j,
                          struct pl_error *error)
{
    const int64_t wrong = iot_data_check(low->check, block->data, low->buffer, block->count,
                                         rng_at(low->run->seed, (uint64_t)j));
    if (wrong < 0)
        return PL_OK;
    return pl_fail(error, PL_E_DATA,
                   "checking block %lld at byte %lld of '%s': number %lld (byte %lld of the file) is %.17g, "
                   "but %.17g was written",
                   (long long)j, (long long)block->offset_bytes, low->run->filename, (long long)wrong,
                   (long long)(block->offset_bytes + wrong * 8), low->buffer[wrong], block->data[wrong]);
}

/* ---- steps on an MPI file ---- */

pl_status lowlevel_mpi_open_coll(struct lowlevel *low, struct pl_error *error)
{
    const pl_status status = iot_file_open_coll(low->run, low->comm, &low->file, error);
    if (status != PL_OK)
        return status;
    const int code = MPI_File_set_view(low->file, 0, MPI_DOUBLE, MPI_DOUBLE, "native", low->run->info);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting the view of '%s'", low->run->filename);
}

pl_status lowlevel_mpi_preallocate_coll(struct lowlevel *low, struct pl_error *error)
{
    return iot_file_preallocate_coll(low->run, low->file, error);
}

pl_status lowlevel_mpi_sync_coll(struct lowlevel *low, struct pl_error *error)
{
    return iot_file_sync_coll(low->run, low->file, error);
}

pl_status lowlevel_mpi_close_coll(struct lowlevel *low, struct pl_error *error)
{
    return iot_file_close_coll(low->run, &low->file, error);
}

/* ---- the course ---- */

static pl_status lowlevel_add_series(struct lowlevel *low, bool refused, struct pl_error *error)
{
    struct samples *samples = &low->run->samples;
    const bool interleaved = low->steps->compute != NULL;
    const int64_t n = refused ? 0 : low->count, few = low->cycles < n ? low->cycles : n;
    const struct {
        const char *key;
        const char *unit;
        int64_t capacity;
        struct sample_series **place;
        bool wanted;
    } rows[] = {
        {"t", "ns", !refused && (n || low->collective) ? low->cycles : 0, &low->t, interleaved},
        {"w", "ns", interleaved ? few : n, &low->w, true},
        {"r", "ns", interleaved ? few : n, &low->r, true},
        {"wI", "ns", n, &low->wI, interleaved},
        {"wtI", "ns", n, &low->wtI, interleaved},
        {"wwI", "ns", n, &low->wwI, interleaved},
        {"rI", "ns", n, &low->rI, interleaved},
        {"rtI", "ns", n, &low->rtI, interleaved},
        {"rwI", "ns", n, &low->rwI, interleaved},
        {"b", "B", n, &low->b, low->layout.fuzzy > 0},
    };
    pl_status status = PL_OK; /* goes on after a failure: the results need the same list everywhere */
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].wanted &&
            samples_add(samples, rows[i].key, rows[i].unit, rows[i].capacity, rows[i].place, error) != PL_OK)
            status = error->status;
    return status;
}

static void lowlevel_fill_lengths(struct lowlevel *low)
{
    if (!low->b)
        return;
    for (int64_t j = 0; j < low->b->capacity; j++)
        low->b->values[j] = (double)iot_layout_block(&low->layout, low->shared ? low->run->rank : 0, j).length;
    low->b->count = low->b->capacity;
}

/* On idle ranks too: the results need the same list of series everywhere. */
static pl_status lowlevel_take_memory(void *test, struct pl_error *error)
{
    struct lowlevel *low = test;
    const int64_t longest = iot_layout_longest(&low->layout);
    const pl_status memory = iot_check_memory(low->run, error);
    struct pl_error series_error = {PL_OK, ""};
    pl_status status = lowlevel_add_series(low, memory != PL_OK, &series_error);
    if (memory == PL_OK && status != PL_OK)
        *error = series_error;
    if (memory != PL_OK)
        status = memory;
    if (status != PL_OK || (low->run->rank != 0 && !low->shared))
        return status;
    lowlevel_fill_lengths(low);
    status = iot_data_init(&low->data, longest, low->run->seed, error);
    if (status != PL_OK)
        return status;
    low->buffer = aligned_alloc(4096, (size_t)((longest + 4095) / 4096 * 4096));
    if (!low->buffer)
        return pl_fail_errno(error, ENOMEM, "taking %lld bytes for reading", (long long)longest);
    memset(low->buffer, 0, (size_t)longest);
    if (low->steps->compute) {
        const struct option_value *task = iot_spec_find(low->run->block, "tasklength");
        status = iot_task_init(&low->task, (int)task->numbers[0], task->count > 1 ? (int)task->numbers[1] : 1, error);
    }
    return status;
}

static pl_status lowlevel_clear_file(void *test, struct pl_error *error)
{
    return iot_clear_file(((struct lowlevel *)test)->run, error);
}

/* The test's own steps, by their place in its struct lowlevel_steps. */
#define OWN_STEP(name)                                                                                                 \
    static pl_status do_##name(void *test, struct pl_error *error)                                                     \
    {                                                                                                                  \
        struct lowlevel *low = test;                                                                                   \
        return low->steps->name(low, error);                                                                           \
    }
OWN_STEP(open)
OWN_STEP(preallocate)
OWN_STEP(compute)
OWN_STEP(write)
OWN_STEP(sync)
OWN_STEP(read)
OWN_STEP(close)

static pl_status lowlevel_course_coll(struct lowlevel *low, struct pl_error *error, struct coll_verdict *verdict)
{
    const int who = low->shared ? 0 : IOT_ALONE;
    const bool preallocates = iot_spec_is_true(low->run->block, "preallocate");
    const struct iot_course course[] = {
        {lowlevel_take_memory, NULL, who | IOT_EVERYWHERE},
        {lowlevel_clear_file, NULL, IOT_ALONE},
        {do_open, "pre_time", who | IOT_OPENS},
        {preallocates ? do_preallocate : NULL, "palloc_time", who | IOT_WRITES},
        {low->steps->compute ? do_compute : NULL, NULL, who},
        {do_write, "write_time", who | IOT_WRITES},
        {do_sync, "sync_time", who | IOT_WRITES},
        {do_read, "read_time", who | IOT_READS},
        {do_close, "post_time", who | IOT_CLOSES},
    };
    return iot_course_coll(low->run, course, sizeof course / sizeof course[0], low, error, verdict);
}

static void lowlevel_note_params(struct iot_run *run, const struct lowlevel *low)
{
    const struct iot_block *block = run->block;
    iot_param(run, "filesize_bytes", "%lld", (long long)run->set.file_bytes);
    iot_param(run, "blocksize_bytes", "%lld", (long long)low->layout.blocksize);
    iot_param(run, "blocks", "%lld", (long long)low->layout.blocks);
    iot_param(run, "tail_bytes", "%lld", (long long)low->layout.tail_bytes);
    if (low->shared) {
        iot_param(run, "collective", "%s", iot_spec_text(block, "collective"));
        iot_param(run, "layout", "%s", iot_spec_text(block, "layout"));
    }
    iot_param(run, "fuzzy", "%g", low->layout.fuzzy);
    static const char *const copied[] = {"check", "phases", "preallocate", "tasklength", "cycles", "kind"};
    for (size_t i = 0; i < sizeof copied / sizeof copied[0]; i++)
        if (iot_spec_find(block, copied[i]))
            iot_param(run, copied[i], "%s", iot_spec_text(block, copied[i]));
}

pl_status lowlevel_run_coll(struct iot_run *run, struct pl_error *error, struct coll_verdict *ret_verdict)
{
    const struct lowlevel_steps *steps = run->test->steps;
    const struct option_value *collective = iot_spec_find(run->block, "collective");
    struct lowlevel low = {.run = run,
                           .steps = steps,
                           .layout = lowlevel_layout(run->block, run->nprocs, run->index),
                           .shared = collective != NULL,
                           .file = MPI_FILE_NULL,
                           .fd = -1,
                           .check = iot_check_named(iot_spec_text(run->block, "check"))};
    low.layout.seed = rng_at(run->seed, 1);
    low.comm = low.shared ? run->comm : MPI_COMM_SELF;
    low.collective = low.shared && strcmp(collective->text, "true") == 0;
    if (low.shared || run->rank == 0)
        low.count = iot_layout_count(&low.layout, run->rank);
    low.calls = low.collective ? iot_layout_rounds(&low.layout) : low.count;
    if (steps->compute) {
        const struct option_value *kind = iot_spec_find(run->block, "kind");
        low.cycles = (int64_t)iot_spec_number(run->block, "cycles");
        low.split = kind && strcmp(kind->text, "split") == 0;
    }
    lowlevel_note_params(run, &low);
    const pl_status status = lowlevel_course_coll(&low, error, ret_verdict);
    iot_data_clear(&low.data);
    iot_task_clear(&low.task);
    free(low.buffer);
    return status;
}
