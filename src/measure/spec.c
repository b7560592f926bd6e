#include "measure/spec.h"

#include "measure/spec_value.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void clear_lines(struct spec_line *lines, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        free(lines[i].key);
        free(lines[i].value);
    }
    free(lines);
}

void spec_clear(struct spec *spec)
{
    for (size_t b = 0; b < spec->block_count; b++) {
        struct spec_block *block = &spec->blocks[b];
        clear_lines(block->lines, block->line_count);
        for (size_t i = 0; i < block->hint_count; i++)
            spec_hint_clear(&block->hints[i]);
        free(block->hints);
        for (size_t i = 0; i < block->value_count; i++)
            spec_value_clear(&block->values[i]);
        free(block->values);
    }
    free(spec->blocks);
    free(spec->path);
    free(spec->timings_path);
    *spec = (struct spec){0};
}

const struct spec_value *spec_find(const struct spec_block *block, const char *name)
{
    for (size_t i = 0; i < block->value_count; i++)
        if (spec_keyword_is(block->values[i].keyword, name))
            return &block->values[i];
    return NULL;
}

static const struct spec_value *must_find(const struct spec_block *block, const char *name)
{
    const struct spec_value *value = spec_find(block, name);
    assert(value); /* the test's table gives it neither `required` nor a default */
    return value;
}

bool spec_is_true(const struct spec_block *block, const char *name)
{
    return strcmp(must_find(block, name)->text, "true") == 0;
}

double spec_number(const struct spec_block *block, const char *name)
{
    return must_find(block, name)->numbers[0];
}

const char *spec_text(const struct spec_block *block, const char *name)
{
    return must_find(block, name)->text;
}

pl_status spec_fail(const struct spec *spec, const struct spec_block *block, const char *name, struct pl_error *error,
                    const char *format, ...)
{
    char words[PL_ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(words, sizeof words, format, args);
    va_end(args);
    const struct spec_value *value = spec_find(block, name);
    const int line = value && value->line ? value->line : block->line;
    return pl_fail(error, PL_E_INPUT, "%s:%d: %s: %s", spec->path, line, name, words);
}
