/* What the verbs predict and choose have in common: reading the model and results, writing what follows from them. */
#ifndef PIOLET_CLI_PREDICT_SHELL_H
#define PIOLET_CLI_PREDICT_SHELL_H

#include "cli/cli.h"
#include "predict/predict.h"

#include <stdio.h>

/* Arguments of an option that may be repeated; borrowed words, ended by NULL. {0} is empty. */
struct predict_words {
    const char **list; /* owned */
    int count;
};

bool predict_words_add(struct predict_words *words, const char *word); /* false: no memory */
void predict_words_clear(struct predict_words *words);

struct predict_outputs {
    const char *output, *json, *csv; /* NULL: none; "-" is standard output, not for the first */
};

/* All of these complain themselves and return an exit status. */

/* Are the outputs writable, and none of them named twice? */
int predict_shell_check(const struct cli_verb *verb, const struct predict_outputs *outputs);
/* Begins a prediction with a model file. */
int predict_shell_model(const struct cli_verb *verb, const char *path, struct prediction *ret_prediction);

/* Reads block files: what `take` takes of them. With `must_find` a file without any such block is an error. */
typedef pl_status predict_take_file(struct prediction *prediction, struct blockfile *file, int *ret_count,
                                    struct pl_error *error);
int predict_shell_read(const struct cli_verb *verb, struct prediction *prediction, const struct predict_words *paths,
                       predict_take_file *take, bool must_find);
/* Takes replays and peaks. */
predict_take_file predict_shell_results;

/* Tables by `print`, unless standard output is taken, then the exports. `sources`: the names of the files read. */
int predict_shell_write(const struct cli_verb *verb, const struct prediction *prediction,
                        const struct predict_outputs *outputs, const struct predict_words *sources,
                        void (*print)(const struct prediction *prediction, FILE *stream));

#endif
