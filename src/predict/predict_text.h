/* A prediction as tables of at most 80 columns, as JSON, CSV and as a block. */
#ifndef PIOLET_PREDICT_TEXT_H
#define PIOLET_PREDICT_TEXT_H

#include "predict/predict.h"

#include <stdio.h>

/* The tables of each configuration: time, usage where there are peaks, errors where there are measured runs. */
void predict_print(const struct prediction *prediction, FILE *stream);
/* The configurations by their places, with ties and reasons. */
void predict_print_ranks(const struct prediction *prediction, FILE *stream);

void predict_export_json(const struct prediction *prediction, FILE *stream);
/* A row for each phase of each configuration, and one for its total. */
void predict_export_csv(const struct prediction *prediction, FILE *stream);
/* Appends a block of class Prediction (docs/predict.md), made from the files `sources` (up to NULL). */
pl_status predict_export_block(const struct prediction *prediction, const char *path, const char *timestamp,
                               const char *const *sources, struct pl_error *error);

/* Prints words in lines of at most 80 columns, the first behind `lead`, the others behind as many blanks. Control
 * characters are escaped: names come from files. */
void predict_print_wrapped(FILE *stream, const char *lead, const char *words);

#endif
