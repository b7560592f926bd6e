/* What the verbs predict and choose have in common: reading the model and results, writing what follows from them. */
#ifndef PIOLET_CLI_PREDICT_SHELL_H
#define PIOLET_CLI_PREDICT_SHELL_H

#include "cli/cli.h"
#include "predict/predict.h"

#include <stdio.h>

/* Appends to a list that ends with NULL and that the caller frees (free(list.values)). */
void predict_words_add(struct option_texts *words, const char *word);

struct predict_outputs {
    const char *output, *json, *csv; /* NULL: none; "-" is standard output, not for the first */
};

/* The rows that fill them, in the struct `values`; what the pages say besides of the exports differs. */
#define PREDICT_OUTPUT_ROWS(values, member, more_of_json, more_of_csv)                                                 \
    {.name = "output",                                                                                                 \
     .letter = 'o',                                                                                                    \
     .type = OPTION_TEXT,                                                                                              \
     .argument = "FILE",                                                                                               \
     OPTION_AT(values, member.output),                                                                                 \
     .more = "The block is of class Prediction.",                                                                      \
     .help = "append the prediction to FILE, as a block"},                                                             \
        PREDICT_EXPORT_ROW("json", "JSON", OPTION_AT(values, member.json), more_of_json),                              \
        PREDICT_EXPORT_ROW("csv", "CSV", OPTION_AT(values, member.csv), more_of_csv)
#define PREDICT_EXPORT_ROW(word, format, at, text)                                                                     \
    {                                                                                                                  \
        .name = word, .type = OPTION_TEXT, .argument = "FILE|-", at, .more = text,                                     \
        .help = "the prediction as " format " (- is standard output)"                                                  \
    }

/* All of these complain themselves and return an exit status. */

/* Are the outputs writable, and none of them named twice? */
int predict_shell_check(const struct cli_verb *verb, const struct predict_outputs *outputs);
/* Begins a prediction with a model file. */
int predict_shell_model(const struct cli_verb *verb, const char *path, struct prediction *ret_prediction);

/* Reads block files: what `take` takes of them. With `must_find` a file without any such block is an error. */
typedef pl_status predict_take_file(struct prediction *prediction, struct blockfile *file, int *ret_count,
                                    struct pl_error *error);
int predict_shell_read(const struct cli_verb *verb, struct prediction *prediction, const struct option_texts *paths,
                       predict_take_file *take, bool must_find);
/* Takes replays and peaks. */
predict_take_file predict_shell_results;

/* Tables by `print`, unless standard output is taken, then the exports. `sources`: the names of the files read. */
int predict_shell_write(const struct cli_verb *verb, const struct prediction *prediction,
                        const struct predict_outputs *outputs, const struct option_texts *sources,
                        void (*print)(const struct prediction *prediction, FILE *stream));

#endif
