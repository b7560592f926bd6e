/* The hints of a block, once all of it is read: with `numhints N` a hint may list N values, one for each variant of the
 * run; without it every hint has one value. */
#include "base/text.h"
#include "measure/spec_value.h"

#include <stdlib.h>
#include <string.h>

const char *spec_hint_value(const struct spec_hint *hint, size_t variant)
{
    return hint->values[hint->count > 1 ? variant : 0];
}

void spec_hint_clear(struct spec_hint *hint)
{
    for (size_t i = 0; i < hint->count; i++)
        free(hint->values[i]);
    free(hint->values);
    free(hint->key);
    *hint = (struct spec_hint){0};
}

static pl_status add_value(struct spec_hint *hint, const char *text)
{
    char **grown = realloc(hint->values, (hint->count + 1) * sizeof *grown);
    if (!grown)
        return PL_E_NOMEM;
    hint->values = grown;
    char *copy = text_dup(text);
    if (!copy)
        return PL_E_NOMEM;
    hint->values[hint->count++] = copy;
    return PL_OK;
}

/* MPI wants lists with commas, whatever separated them in the file. */
static void join_list(const struct spec_keyword *keyword, const char *text, struct text *out)
{
    bool between = false;
    for (const char *c = text; *c; c++) {
        if (keyword && keyword->list && strchr(" \t,", *c)) {
            between = true;
            continue;
        }
        if (between && out->length)
            text_add(out, ",");
        between = false;
        text_append(out, c, 1);
    }
}

/* One value: looked at if the name is a reserved one, taken as it is if not. */
static pl_status take_one(struct spec_hint *hint, const struct spec_keyword *keyword, const char *text,
                          struct text *found)
{
    if (keyword) {
        struct spec_value value;
        const pl_status status = spec_value_parse(keyword, text, &value, found);
        spec_value_clear(&value);
        if (status != PL_OK)
            return status;
    }
    struct text joined = {0};
    join_list(keyword, text, &joined);
    const pl_status status = joined.failed ? PL_E_NOMEM : add_value(hint, text_get(&joined));
    text_clear(&joined);
    return status;
}

/* How many of the last characters of `text` are in `set`. */
static size_t trailing(const char *text, const char *set)
{
    size_t count = 0;
    for (size_t length = strlen(text); length > count && strchr(set, text[length - count - 1]);)
        count++;
    return count;
}

static pl_status take_variants(struct spec_hint *hint, const struct spec_keyword *keyword, const char *text,
                               size_t variants, struct text *found)
{
    char *copy = text_dup(text), *rest = NULL;
    pl_status status = copy ? PL_OK : PL_E_NOMEM;
    for (char *word = copy ? strtok_r(copy, " \t", &rest) : NULL; word && status == PL_OK && hint->count < variants;
         word = strtok_r(NULL, " \t", &rest)) {
        if (keyword) /* "1, 2": the comma belongs to no value */
            word[strlen(word) - trailing(word, ",")] = '\0';
        status = take_one(hint, keyword, word, found);
    }
    free(copy);
    if (status == PL_OK && hint->count != 1 && hint->count < variants) {
        text_format(found, "the list holds %zu values, but numhints is %zu; allowed: one value, or %zu", hint->count,
                    variants, variants);
        status = PL_E_FORMAT; /* the words are complete */
    }
    return status;
}

pl_status spec_hint_parse(const struct spec_keyword *keyword, const struct spec_line *line, size_t variants,
                          struct spec_hint *ret_hint, struct text *found)
{
    static const char prefix[] = "hint.";
    const char *name = strncmp(line->key, prefix, sizeof prefix - 1) == 0 ? line->key + sizeof prefix - 1 : line->key;
    *ret_hint = (struct spec_hint){.key = text_dup(name), .line = line->line};
    if (!ret_hint->key)
        return PL_E_NOMEM;
    if (variants > 1)
        return take_variants(ret_hint, keyword, line->value, variants, found);
    return take_one(ret_hint, keyword, line->value, found);
}
