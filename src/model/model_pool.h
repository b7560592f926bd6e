/* Words that are kept once: two equal texts of a pool are the same pointer. And texts with their numbers taken out, so
 * that what differs between ranks in numbers alone (a name with the rank in it, the beginning of a subarray) is the
 * same text. Pure. */
#ifndef PIOLET_MODEL_POOL_H
#define PIOLET_MODEL_POOL_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct model_pool { /* {0} is empty */
    char **slots;
    size_t count, capacity; /* of the table: a power of two */
    /* layouts in memory, in the order in which they came; NULL: of those that are not told */
    const char **layouts;
    int64_t layout_count, layout_bytes;
};

void model_pool_clear(struct model_pool *pool);
/* The pool's copy of `word`; NULL when memory is short. */
const char *model_pool_word(struct model_pool *pool, const char *word);

/* The number of a layout, from 1; 0 when memory is short. One that is not known whole ("..."), or that is too long, has
 * the number of all that are not told. */
int64_t model_pool_layout(struct model_pool *pool, const char *layout);

uint64_t model_hash_text(const char *text);

/* What stands in a form where a number was; and before a byte of text that is one of these two itself. */
enum { MODEL_SLOT = '\x01', MODEL_LITERAL = '\x02' };

struct model_form { /* {0} is empty */
    struct text text;
    int64_t *numbers;
    size_t count, capacity;
    bool failed; /* memory was short */
};

void model_form_clear(struct model_form *form);
/* Appends the name of a file: each run of digits gives two numbers, its value and how many digits it has. */
void model_form_add_name(struct model_form *form, const char *name);
/* Appends "KEY=VALUE" pairs: each number gives one. What is part of a word, of a hint, or begins with zeros stays text.
 */
void model_form_add_detail(struct model_form *form, const char *detail);
/* Goes one further in a form: true over a slot, false over the byte of text `*ret_literal`. */
bool model_form_step(const char **at, const char **ret_literal);

#endif
