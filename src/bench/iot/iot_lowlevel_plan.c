/* The pure half of the low-level tests: their keywords, and what they will do. */
#include "base/units.h"
#include "bench/iot/iot_lowlevel.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define MB_MIN 8e-6 /* one double */
#define MB_MAX 1e12

const struct spec_keyword LOWLEVEL_KEYWORDS[] = {
    {.name = "filename", .type = SPEC_STRING, .required = true, .help = "the test file"},
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
    {.name = "repeat", .type = SPEC_INT, .default_text = "1", .min = 1, .max = 1e6, .help = "run all sets so often"},
    {.name = "fuzzy",
     .type = SPEC_NUMBER,
     .default_text = "0",
     .min = 0,
     .max = 0.99,
     .help = "scatter block sizes around the mean by this fraction, up and down"},
    {.name = "check",
     .type = SPEC_CHOICE,
     .default_text = "sample",
     .choices = "none sample full",
     .help = "how much of what is read is compared with what was written"},
    {.name = "phases",
     .type = SPEC_CHOICE,
     .default_text = "both",
     .choices = "both write read",
     .help = "write and read, or one of them; read takes a file written before with the same seed"},
    {.name = "preallocate",
     .type = SPEC_BOOL,
     .default_text = "true",
     .help = "MPI_File_preallocate before the first write"},
    {.name = "keep", .type = SPEC_BOOL, .default_text = "true", .help = "leave the test file behind"},
    {.name = "seed",
     .type = SPEC_INT,
     .min = 0,
     .max = 9007199254740992.0,
     .help = "of the data and of fuzzy; drawn and reported if not given"},
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
    return runs ? runs : list_count(block, "numfilesize") * list_count(block, "numblocksize");
}

static void sizes_of(const struct spec_block *block, int64_t index, int64_t *ret_file, int64_t *ret_block)
{
    const int64_t pair = index % pairs(block); /* repetitions come one after the other, not size by size */
    const int64_t blocks = list_count(block, "numblocksize");
    const bool pairwise = spec_find(block, "numruns") != NULL;
    *ret_file = spec_find(block, "filesize")->bytes[pairwise ? pair : pair / blocks];
    *ret_block = spec_find(block, "blocksize")->bytes[pairwise ? pair : pair % blocks];
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

static pl_status check_list(const struct spec *spec, const struct spec_block *block, const char *count_name,
                            const char *list_name, struct pl_error *error)
{
    const int64_t count = list_count(block, count_name);
    const size_t given = spec_find(block, list_name)->count;
    if (count <= (int64_t)given)
        return PL_OK;
    return spec_fail(spec, block, list_name, error, "the list holds %zu values, but %s is %lld; allowed: at least %lld",
                     given, count_name, (long long)count, (long long)count);
}

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
    pl_status status = check_list(spec, block, file_count, "filesize", error);
    if (status == PL_OK)
        status = check_list(spec, block, block_count, "blocksize", error);
    return status;
}

static pl_status check_block_length(const struct spec *spec, const struct spec_block *block, int nprocs,
                                    struct pl_error *error)
{
    for (int64_t i = 0; i < pairs(block); i++) {
        const struct iot_layout layout = lowlevel_layout(block, nprocs, i);
        if (iot_layout_longest(&layout) / 8 > INT_MAX)
            return spec_fail(spec, block, "blocksize", error,
                             "%lld bytes are more than one MPI call can move; allowed: up to 17179 MB",
                             (long long)layout.blocksize);
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
    if (strcmp(spec_text(block, "phases"), "read") == 0 && strcmp(spec_text(block, "check"), "none") != 0 &&
        !spec_find(block, "seed"))
        return spec_fail(spec, block, "phases", error,
                         "'read' cannot check the data without the seed of the writing run; allowed: with seed N, or "
                         "with check none");
    *ret_sets = pairs(block) * (int64_t)spec_number(block, "repeat");
    return PL_OK;
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
    const char *phases = spec_text(block, "phases");
    const int64_t bytes = layout.blocks * layout.blocksize, longest = iot_layout_longest(&layout);
    char file_text[UNITS_TEXT_MAX], block_text[UNITS_TEXT_MAX];
    *ret_set = (struct iot_set){
        .file_bytes = bytes,
        .tail_bytes = layout.tail_bytes,
        .write_bytes = strcmp(phases, "read") == 0 ? 0 : bytes,
        .read_bytes = strcmp(phases, "write") == 0 ? 0 : bytes,
        .mean_bytes = (double)layout.blocksize,
        .samples = count_samples(block, &layout),
    };
    const int64_t lengths = layout.fuzzy > 0 ? iot_layout_rounds(&layout) : 0;
    ret_set->memory_bytes = (ret_set->samples + lengths) * 8 + iot_data_memory(longest) + longest;
    if (spec_find(block, "tasklength"))
        ret_set->memory_bytes += iot_task_memory((int)spec_number(block, "tasklength"));
    snprintf(ret_set->label, sizeof ret_set->label, "file %s, block %s", units_bytes(bytes, file_text),
             units_bytes(layout.blocksize, block_text));
}
