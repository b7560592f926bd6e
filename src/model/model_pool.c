#include "model/model_pool.h"

#include "base/rng.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

uint64_t model_hash_text(const char *text)
{
    uint64_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        hash = (hash ^ *c) * 0x100000001b3u;
    return rng_mix(hash);
}

void model_pool_clear(struct model_pool *pool)
{
    for (size_t i = 0; i < pool->capacity; i++)
        free(pool->slots[i]);
    free(pool->slots);
    free(pool->layouts);
    *pool = (struct model_pool){0};
}

/* Where `word` stands, or the free place where it would. */
static size_t place(char **slots, size_t capacity, const char *word)
{
    size_t at = model_hash_text(word) & (capacity - 1);
    while (slots[at] && strcmp(slots[at], word) != 0)
        at = (at + 1) & (capacity - 1);
    return at;
}

static bool grow(struct model_pool *pool)
{
    const size_t capacity = pool->capacity ? 2 * pool->capacity : 64;
    char **slots = calloc(capacity, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < pool->capacity; i++)
        if (pool->slots[i])
            slots[place(slots, capacity, pool->slots[i])] = pool->slots[i];
    free(pool->slots);
    pool->slots = slots;
    pool->capacity = capacity;
    return true;
}

const char *model_pool_word(struct model_pool *pool, const char *word)
{
    if (2 * pool->count >= pool->capacity && !grow(pool))
        return NULL;
    const size_t at = place(pool->slots, pool->capacity, word);
    if (!pool->slots[at]) {
        pool->slots[at] = strdup(word);
        pool->count += pool->slots[at] != NULL;
    }
    return pool->slots[at];
}

/* ---- layouts ---- */

enum { LAYOUT_MAX = 16 << 10, LAYOUTS_MAX = 1 << 20 }; /* bytes of one, and of all */

static int64_t find_layout(const struct model_pool *pool, const char *word)
{
    for (int64_t i = 0; i < pool->layout_count; i++)
        if (pool->layouts[i] == word)
            return i + 1;
    return 0;
}

int64_t model_pool_layout(struct model_pool *pool, const char *layout)
{
    const size_t length = strlen(layout);
    const char *word = length > LAYOUT_MAX || strstr(layout, "...") ? NULL : model_pool_word(pool, layout);
    int64_t number = find_layout(pool, word);
    if (!number && word && pool->layout_bytes + (int64_t)length > LAYOUTS_MAX)
        number = find_layout(pool, word = NULL);
    if (number)
        return number;
    const char **layouts = realloc(pool->layouts, (size_t)(pool->layout_count + 1) * sizeof *layouts);
    if (!layouts)
        return 0;
    pool->layouts = layouts;
    pool->layout_bytes += word ? (int64_t)length : 0;
    layouts[pool->layout_count++] = word;
    return pool->layout_count;
}

/* ---- forms ---- */

enum { DIGITS_MAX = 18 }; /* as many as surely fit 64 bits; longer ones stay text */

void model_form_clear(struct model_form *form)
{
    text_clear(&form->text);
    free(form->numbers);
    *form = (struct model_form){0};
}

static void add_number(struct model_form *form, int64_t number)
{
    if (form->count == form->capacity) {
        const size_t capacity = form->capacity ? 2 * form->capacity : 16;
        int64_t *numbers = realloc(form->numbers, capacity * sizeof *numbers);
        if (!numbers) {
            form->failed = true;
            return;
        }
        form->numbers = numbers;
        form->capacity = capacity;
    }
    form->numbers[form->count++] = number;
}

static void add_slot(struct model_form *form)
{
    const char slot = MODEL_SLOT;
    text_append(&form->text, &slot, 1);
}

static void add_text(struct model_form *form, const char *bytes, size_t length)
{
    static const char literal = MODEL_LITERAL;
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == MODEL_SLOT || bytes[i] == MODEL_LITERAL)
            text_append(&form->text, &literal, 1);
        text_append(&form->text, bytes + i, 1);
    }
}

bool model_form_step(const char **at, const char **ret_literal)
{
    const bool is_slot = **at == MODEL_SLOT;
    *at += **at == MODEL_LITERAL && (*at)[1];
    *ret_literal = (*at)++;
    return is_slot;
}

void model_form_add_name(struct model_form *form, const char *name)
{
    while (*name) {
        const size_t digits = strspn(name, "0123456789");
        if (digits > 0 && digits <= DIGITS_MAX) {
            add_number(form, strtoll(name, NULL, 10));
            add_number(form, (int64_t)digits);
            add_slot(form);
        } else {
            add_text(form, name, digits ? digits : 1);
        }
        name += digits ? digits : 1;
    }
    form->failed |= form->text.failed;
}

/* The length of a hint at `c`, which is kept as it is; 0: there is none. */
static size_t hint_length(const char *detail, const char *c)
{
    if ((c != detail && c[-1] != ' ') || strncmp(c, "hint.", 5) != 0)
        return 0;
    size_t length = strcspn(c, "\" ");
    if (c[length] == '"')
        length += 2 + strcspn(c + length + 1, "\"");
    return length < strlen(c) ? length : strlen(c);
}

/* The length of a number at `c`; 0 for one that is part of a word, or that would not be written the same again. */
static size_t number_length(const char *detail, const char *c)
{
    if (c != detail && (isalnum((unsigned char)c[-1]) || strchr("_.", c[-1])))
        return 0;
    const char *first = c + (*c == '-');
    const size_t digits = strspn(first, "0123456789");
    if (digits == 0 || digits > DIGITS_MAX || (*first == '0' && (digits > 1 || first > c)))
        return 0;
    return (size_t)(first - c) + digits;
}

void model_form_add_detail(struct model_form *form, const char *detail)
{
    for (const char *c = detail; *c;) {
        const size_t hint = hint_length(detail, c), number = number_length(detail, c);
        if (hint || !number) {
            add_text(form, c, hint ? hint : 1);
            c += hint ? hint : 1;
            continue;
        }
        add_number(form, strtoll(c, NULL, 10));
        add_slot(form);
        c += number;
    }
    form->failed |= form->text.failed;
}
