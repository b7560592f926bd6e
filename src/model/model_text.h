/* Inside of model_*.c: what writer and reader of a model file share. */
#ifndef PIOLET_MODEL_TEXT_H
#define PIOLET_MODEL_TEXT_H

#include "model/model.h"

#define MODEL_FIRST_LINE "piolet-model 1\n"

void model_step_clear(struct model_step *step);

#endif
