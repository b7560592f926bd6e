#include "lab/facts/conditions.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *fact_of(const struct blockfile_block *block, const char *key)
{
    const char *value = blockfile_fact_of(block, key);
    return value ? value : "unknown";
}

/* The name under which an input is a condition; NULL: it is none. */
static const char *name_among(const char *input, const char *const *keys)
{
    for (; *keys; keys++)
        for (const char *word = *keys; *word; word += strcspn(word, " "), word += strspn(word, " "))
            if (strcspn(word, " ") == strlen(input) && strncmp(word, input, strlen(input)) == 0)
                return *keys;
    return NULL;
}

static void conditions_add(struct text *text, const struct blockfile_block *block, const char *const *keys)
{
    text_format(text, "%s of %s", fact_of(block, "filesystem"), fact_of(block, "filesystem_source"));
    for (size_t i = 0; i < block->input_count; i++) {
        const struct blockfile_pair *input = &block->inputs[i];
        const char *name = name_among(input->key, keys);
        if (!name)
            continue;
        text_format(text, ", %.*s", (int)strcspn(name, " "), name);
        if (strcmp(input->value, "true") != 0)
            text_format(text, " %s", input->value);
    }
}

bool conditions_alike(const struct blockfile_block *a, const struct blockfile_block *b, const char *const *keys)
{
    struct text of_a = {0}, of_b = {0};
    conditions_add(&of_a, a, keys);
    conditions_add(&of_b, b, keys);
    const bool alike = strcmp(text_get(&of_a), text_get(&of_b)) == 0;
    text_clear(&of_a);
    text_clear(&of_b);
    return alike;
}

int conditions_number(struct conditions *conditions, const struct blockfile_block *block, const char *const *keys)
{
    struct text text = {0};
    conditions_add(&text, block, keys);
    text_format(&text, "; host %s", fact_of(block, "hostname"));
    int number = 0;
    while (number < conditions->count && strcmp(conditions->texts[number], text_get(&text)) != 0)
        number++;
    if (text.failed || number < conditions->count) {
        number = text.failed ? -1 : number;
        text_clear(&text);
        return number;
    }
    char **more = realloc(conditions->texts, (size_t)(number + 1) * sizeof *more);
    if (!more) {
        text_clear(&text);
        return -1;
    }
    conditions->texts = more;
    conditions->texts[conditions->count++] = text.data; /* now the list's */
    return number;
}

void conditions_clear(struct conditions *conditions)
{
    for (int i = 0; i < conditions->count; i++)
        free(conditions->texts[i]);
    free(conditions->texts);
    *conditions = (struct conditions){0};
}

const char *conditions_label(const struct conditions *conditions, int number, char label[CONDITIONS_LABEL_MAX])
{
    label[0] = '\0';
    if (conditions->count > 1)
        snprintf(label, CONDITIONS_LABEL_MAX, " [%d]", number + 1);
    return label;
}

void conditions_print(const struct conditions *conditions, FILE *text)
{
    for (int i = 0; i < conditions->count && conditions->count > 1; i++)
        fprintf(text, "[%d] %s\n", i + 1, conditions->texts[i]);
}
