/* How many bytes lie together in a file through a view: the piece that a disk sees of a scattered request. Pure. */
#ifndef PIOLET_PREDICT_PIECE_H
#define PIOLET_PREDICT_PIECE_H

#include "model/model.h"

/* Of the view that is in force in a phase; 0: not known. */
int64_t predict_piece_of(const struct model *model, const struct model_step *phase);

/* Of a type as traces write it, for example "vector(3,2,5,MPI_DOUBLE)": 16. For blocks of different lengths it is their
 * mean. 0: not known. */
int64_t predict_piece_bytes(const char *type);

#endif
