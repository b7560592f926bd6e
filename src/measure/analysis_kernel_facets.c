/* What tells cases apart: size, grid, distribution, access, blocks, further parameters and hints of a set. */
#include "measure/analysis_kernel.h"

#include "base/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const KERNEL_TRAIT_NAMES[KERNEL_TRAITS] = {[KERNEL_TEST] = "testname",
                                                       [KERNEL_NPROCS] = "nprocs",
                                                       [KERNEL_MPIIO] = "mpiio",
                                                       [KERNEL_FILESYSTEM] = "filesystem"};

const char *const KERNEL_FACET_NAMES[KERNEL_FACETS] = {
    [KERNEL_SIZE] = "size",         [KERNEL_GRID] = "grid",   [KERNEL_DISTRIBUTION] = "distribution",
    [KERNEL_ACCESS] = "collective", [KERNEL_BLOCK] = "block", [KERNEL_UPDATE] = "update_frac",
    [KERNEL_OTHER] = "parameters",  [KERNEL_HINTS] = "hints"};

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

pl_status kernel_names_init(struct kernel *kernel, const struct analysis_input *input, struct pl_error *error)
{
    size_t count = 0;
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++)
            count += input->files[f].blocks[b].input_count;
    kernel->names = malloc((count + 1) * sizeof *kernel->names);
    if (!kernel->names)
        return pl_fail(error, PL_E_NOMEM, "not enough memory for the times of kernels");
    for (size_t f = 0; f < input->file_count; f++)
        for (size_t b = 0; b < input->files[f].block_count; b++)
            for (size_t i = 0; i < input->files[f].blocks[b].input_count; i++)
                kernel->names[kernel->name_count++] = input->files[f].blocks[b].inputs[i].key;
    qsort(kernel->names, kernel->name_count, sizeof *kernel->names, compare_names);
    return PL_OK;
}

static bool is_one_of(const char *key, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(key, *names) == 0)
            return true;
    return false;
}

static bool is_named(const struct kernel *kernel, const char *key)
{
    return bsearch(&key, kernel->names, kernel->name_count, sizeof *kernel->names, compare_names) != NULL;
}

bool kernel_is_covered(const char *key)
{
    static const char *const covered[] = {"xsize",          "ysize",           "zsize",          "xproc",
                                          "yproc",          "zproc",           "distribution",   "collective",
                                          "filesize_bytes", "blocksize_bytes", "blockmin_bytes", "blockmax_bytes",
                                          "update_frac",    "blocks",          "tail_bytes",     NULL};
    return is_one_of(key, covered);
}

bool kernel_is_other(const struct kernel *kernel, const char *param)
{
    static const char *const never[] = {"filename", "seed", "repeat", "keep", NULL};
    if (kernel_is_covered(param) || is_one_of(param, never))
        return false;
    char name[128];
    const size_t length = strlen(param);
    const size_t unit = length > 6 && strcmp(param + length - 6, "_bytes") == 0 ? 6 : 0;
    snprintf(name, sizeof name, "%.*s", (int)(length - unit), param);
    return is_named(kernel, param) || is_named(kernel, name);
}

const char *kernel_keyed(const struct kernel_case *c, enum kernel_facet facet, const char *key)
{
    const struct blockfile_set *set = c->first.set;
    if (facet == KERNEL_OTHER)
        return blockfile_param_of(set, key);
    for (size_t i = 0; i < set->hint_count; i++)
        if (!set->hints[i].used && strcmp(set->hints[i].key, key) == 0)
            return set->hints[i].value;
    return NULL;
}

/* Values of the parameters, as far as there are any, with `between` them. */
static void add_joined(struct text *text, const struct blockfile_set *set, const char *const *keys, const char *between)
{
    for (; *keys; keys++) {
        const char *value = blockfile_param_of(set, *keys);
        if (!value)
            continue;
        if (text->length)
            text_add(text, between);
        text_add(text, value);
    }
}

/* The order of hints is that of the input: it does not matter. */
static void add_hints(struct text *text, const struct blockfile_set *set)
{
    const char *before = "";
    for (;;) {
        const struct blockfile_hint *next = NULL;
        for (size_t i = 0; i < set->hint_count; i++) {
            const struct blockfile_hint *hint = &set->hints[i];
            if (!hint->used && strcmp(hint->key, before) > 0 && (!next || strcmp(hint->key, next->key) < 0))
                next = hint;
        }
        if (!next)
            return;
        text_format(text, "%s=%s\n", next->key, next->value);
        before = next->key;
    }
}

double kernel_param_number(const struct blockfile_set *set, const char *key)
{
    const char *text = blockfile_param_of(set, key);
    double number;
    return text && units_parse_number(text, &number) ? number : NAN;
}

double kernel_size_bytes(const struct blockfile_set *set)
{
    const double file = kernel_param_number(set, "filesize_bytes");
    const double tail = kernel_param_number(set, "tail_bytes");
    return file > 0 ? file + (tail > 0 ? tail : 0) : NAN;
}

void kernel_facet_add(const struct kernel *kernel, const struct blockfile_set *set, enum kernel_facet facet,
                      struct text *text)
{
    static const char *const params[KERNEL_OTHER][4] = {
        [KERNEL_SIZE] = {"xsize", "ysize", "zsize"}, [KERNEL_GRID] = {"xproc", "yproc", "zproc"},
        [KERNEL_DISTRIBUTION] = {"distribution"},    [KERNEL_ACCESS] = {"collective"},
        [KERNEL_BLOCK] = {"blocksize_bytes"},        [KERNEL_UPDATE] = {"update_frac"},
    };
    static const char *const range[] = {"blockmin_bytes", "blockmax_bytes", NULL};
    if (facet == KERNEL_HINTS)
        add_hints(text, set);
    else if (facet == KERNEL_OTHER)
        for (size_t i = 0; i < set->param_count; i++) {
            if (kernel_is_other(kernel, set->params[i].key))
                text_format(text, "%s=%s\n", set->params[i].key, set->params[i].value);
        }
    else
        add_joined(text, set, params[facet], "x");
    if (facet == KERNEL_BLOCK)
        add_joined(text, set, range, "-");
    const double bytes = facet == KERNEL_SIZE && text->length == 0 ? kernel_size_bytes(set) : NAN;
    if (!isnan(bytes))
        text_format(text, "%.15g", bytes);
}
