/* The pure half of the low-level tests: their keywords, and what they will do. */
#include "base/units.h"
#include "bench/iot/iot_lowlevel.h"

#include <assert.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MB_MIN 8e-6 /* one double */
#define MB_MAX 1e12

const struct spec_keyword LOWLEVEL_KEYWORDS[] = {
    {.name = "numruns",
     .type = SPEC_INT,
     .min = 1,
     .max = 1e6,
     .help = "pairs (filesize, blocksize) to run: the lists are taken pairwise"},
    {.name = "numfilesize",
     .type = SPEC_INT,
     .min = 1,
     .max = 1e6,
     .help = "file sizes to run, from the start of the list, each with every block size"},
    {.name = "filesize",
     .type = SPEC_MB,
     .list = true,
     .required = true,
     .min = MB_MIN,
     .max = MB_MAX,
     .help = "sizes of the file, in all ranks together"},
    {.name = "numblocksize",
     .type = SPEC_INT,
     .min = 1,
     .max = 1e6,
     .help = "block sizes to run, from the start of the list"},
    {.name = "blocksize",
     .type = SPEC_MB,
     .list = true,
     .required = true,
     .min = MB_MIN,
     .max = MB_MAX,
     .help = "sizes of what one call moves"},
    {.name = "fuzzy",
     .type = SPEC_NUMBER,
     .default_text = "0",
     .min = 0,
     .max = 0.99,
     .help = "scatter block sizes around the mean by this fraction, up and down"},
    {0},
};

const struct spec_keyword LOWLEVEL_COLLECTIVE[] = {
    {.name = "collective", .type = SPEC_BOOL, .required = true, .help = "collective calls, or independent ones"},
    {.name = "layout",
     .type = SPEC_CHOICE,
     .default_text = "strided",
     .choices = "strided segmented",
     .help = "the ranks' blocks in turn, or each rank's side by side"},
    {0},
};

const struct spec_keyword LOWLEVEL_INTERLEAVED[] = {
    {.name = "tasklength",
     .type = SPEC_INT,
     .list = true,
     .required = true,
     .min = 1,
     .max = 30000,
     .help = "order of the matrix, and optionally how many products make a task"},
    {.name = "cycles",
     .type = SPEC_INT,
     .default_text = "16",
     .min = 1,
     .max = 1e6,
     .help = "tasks without I/O, and blocking operations without task, for reference"},
    {0},
};

/* ---- parameter sets ---- */

static int64_t list_count(const struct spec_block *block, const char *name)
{
    const struct spec_value *value = spec_find(block, name);
    return value ? (int64_t)value->numbers[0] : 0;
}

static int64_t pairs(const struct spec_block *block)
{
    const int64_t runs = list_count(block, "numruns");
    const int64_t count = runs ? runs : list_count(block, "numfilesize") * list_count(block, "numblocksize");
    assert(count > 0); /* lowlevel_check() has seen to it */
    return count;
}

static void sizes_of(const struct spec_block *block, int64_t index, int64_t *ret_file, int64_t *ret_block)
{
    const int64_t pair = index % pairs(block); /* repetitions come one after the other, not size by size */
    const int64_t *files = spec_find(block, "filesize")->bytes, *blocks = spec_find(block, "blocksize")->bytes;
    if (spec_find(block, "numruns")) {
        *ret_file = files[pair];
        *ret_block = blocks[pair];
    } else {
        const int64_t count = list_count(block, "numblocksize");
        assert(count > 0);
        *ret_file = files[pair / count];
        *ret_block = blocks[pair % count];
    }
}

static bool is_shared(const struct spec_block *block)
{
    return spec_find(block, "collective") != NULL;
}

struct iot_layout lowlevel_layout(const struct spec_block *block, int nprocs, int64_t index)
{
    int64_t filesize, blocksize;
    sizes_of(block, index, &filesize, &blocksize);
    struct iot_layout layout = iot_layout_make(filesize, blocksize, is_shared(block) ? nprocs : 1);
    layout.segmented = is_shared(block) && strcmp(spec_text(block, "layout"), "segmented") == 0;
    layout.fuzzy = spec_number(block, "fuzzy");
    return layout;
}

/* ---- checks ---- */

static pl_status check_counts(const struct spec *spec, const struct spec_block *block, struct pl_error *error)
{
    const bool runs = spec_find(block, "numruns"), files = spec_find(block, "numfilesize");
    const bool blocks = spec_find(block, "numblocksize");
    if (runs && (files || blocks))
        return spec_fail(spec, block, "numruns", error,
                         "stands beside %s; allowed: numruns alone (lists taken pairwise), or numfilesize and "
                         "numblocksize (all pairs)",
                         files ? "numfilesize" : "numblocksize");
    if (!runs && (!files || !blocks))
        return spec_fail(spec, block, files ? "numblocksize" : "numfilesize", error,
                         "missing in this block of test '%s'; allowed: a whole number, at least 1 (or numruns instead)",
                         block->test->name);
    const char *file_count = runs ? "numruns" : "numfilesize", *block_count = runs ? "numruns" : "numblocksize";
    pl_status status = iot_check_list(spec, block, file_count, "filesize", error);
    if (status == PL_OK)
        status = iot_check_list(spec, block, block_count, "blocksize", error);
    return status;
}

static pl_status check_block_length(const struct spec *spec, const struct spec_block *block, int nprocs,
                                    struct pl_error *error)
{
    for (int64_t i = 0; i < pairs(block); i++) {
        const struct iot_layout layout = lowlevel_layout(block, nprocs, i);
        const int64_t longest = iot_layout_longest(&layout);
        if (longest / 8 > INT_MAX)
            return spec_fail(spec, block, "blocksize", error,
                             "%lld bytes%s are more than one MPI call can move; allowed: up to 17179 MB",
                             (long long)longest, layout.fuzzy > 0 ? ", with what fuzzy adds," : "");
    }
    return PL_OK;
}

static pl_status check_tasklength(const struct spec *spec, const struct spec_block *block, struct pl_error *error)
{
    const struct spec_value *task = spec_find(block, "tasklength");
    if (!task || task->count <= 2)
        return PL_OK;
    return spec_fail(spec, block, "tasklength", error,
                     "holds %zu values; allowed: the order of the matrix and, optionally, the products in a task",
                     task->count);
}

pl_status lowlevel_check(const struct spec *spec, const struct spec_block *block, int nprocs, int64_t *ret_sets,
                         struct pl_error *error)
{
    pl_status status = check_counts(spec, block, error);
    if (status == PL_OK)
        status = check_tasklength(spec, block, error);
    if (status == PL_OK)
        status = check_block_length(spec, block, nprocs, error);
    if (status != PL_OK)
        return status;
    *ret_sets = pairs(block) * (int64_t)spec_number(block, "repeat");
    if (iot_checks_old_data(block) && pairs(block) > 1)
        return spec_fail(
            spec, block, "phases", error,
            "'read' cannot check %lld sets, the file holds the data of one; allowed: one set, or check none",
            (long long)pairs(block));
    return iot_check_phases(spec, block, error);
}

/* ---- description ---- */

/* Timings on the rank that has most: plain tests keep w and r, interleaved ones six of each block and references. */
static int64_t count_samples(const struct spec_block *block, const struct iot_layout *layout)
{
    const int64_t most = iot_layout_rounds(layout);
    if (!spec_find(block, "tasklength"))
        return 2 * most;
    const int64_t cycles = (int64_t)spec_number(block, "cycles");
    return 6 * most + cycles + 2 * (cycles < most ? cycles : most);
}

void lowlevel_describe(const struct spec_block *block, int nprocs, int64_t index, struct iot_set *ret_set)
{
    const struct iot_layout layout = lowlevel_layout(block, nprocs, index);
    const int64_t bytes = layout.blocks * layout.blocksize, longest = iot_layout_longest(&layout);
    char file_text[UNITS_TEXT_MAX], block_text[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = bytes,
        .tail_bytes = layout.tail_bytes,
        .mean_bytes = (double)layout.blocksize,
        .samples = count_samples(block, &layout),
    };
    iot_set_phases(block, ret_set);
    const int64_t lengths = layout.fuzzy > 0 ? iot_layout_rounds(&layout) : 0;
    ret_set->memory_bytes = (ret_set->samples + lengths) * 8 + iot_data_memory(longest) + longest;
    if (spec_find(block, "tasklength"))
        ret_set->memory_bytes += iot_task_memory((int)spec_number(block, "tasklength"));
    if (!is_shared(block)) {
        ret_set->memory_alone_bytes = ret_set->memory_bytes;
        ret_set->memory_bytes = 0;
    }
    snprintf(ret_set->label, sizeof ret_set->label, "file %s, block %s", units_bytes(bytes, file_text),
             units_bytes(layout.blocksize, block_text));
}
