/* Inside of model_*.c: what writer and reader of a model file share. */
#ifndef PIOLET_MODEL_TEXT_H
#define PIOLET_MODEL_TEXT_H

#include "model/model.h"

#include <stddef.h>
#include <stdint.h>

#define MODEL_FIRST_LINE "piolet-model 1\n"

/* XXH64, seed 0, and the number of line ends. */
uint64_t model_text_hash(const char *text, size_t length, int *ret_lines);
void model_step_clear(struct model_step *step);

#endif
