/* Pictures of a model: process, tick and offset of every access in three projections, for the file with most bytes. */
#ifndef PIOLET_MODEL_PLOT_H
#define PIOLET_MODEL_PLOT_H

#include "model/model.h"

/* SVG; a name that ends in .png goes through rsvg-convert. */
pl_status model_plot(const struct model *model, const char *path, struct pl_error *error);

#endif
