/* What follows from the steps of a model: bytes, phases, and how each file is used. Pure. */
#ifndef PIOLET_MODEL_FACTS_H
#define PIOLET_MODEL_FACTS_H

#include "model/model.h"

enum model_order { MODEL_SEQUENTIAL, MODEL_STRIDED, MODEL_RANDOM };

struct model_phase_facts {
    const struct model_step *step;
    int64_t count;           /* how often it comes: its family */
    int64_t number, step_by; /* of its first one among all phases (0: not told), and from one to the next */
    int64_t processes;
    int64_t read_bytes, written_bytes; /* by all processes in one phase */
    int64_t smallest, largest;         /* request size */
    enum model_order order;
    bool metadata; /* small accesses of a library beside the data, see docs/model.md */
    int file;      /* the first one that it accesses */
};

struct model_file_facts {
    const char *name; /* pattern of the first open; "" if there was none */
    int64_t processes;
    enum { MODEL_FILE_SHARED, MODEL_FILE_UNIQUE, MODEL_FILE_GROUPED } type;
    enum model_order order;
    bool pointers[3]; /* by enum of struct model_operation */
    bool collective, independent, blocking, nonblocking, split;
    int64_t read_bytes, written_bytes, views;
    int64_t largest;
};

struct model_facts {
    struct model_phase_facts *phases;
    int phase_count;
    int64_t total; /* phases of all families */
    struct model_file_facts *files;
    int file_count;
    int64_t read_bytes, written_bytes;
};

pl_status model_facts_find(const struct model *model, struct model_facts *ret_facts, struct pl_error *error);
void model_facts_clear(struct model_facts *facts);

/* The attributes of a file and of a phase, as the model file has them. */
void model_facts_file(const struct model_file_facts *file, struct text *text);
void model_facts_phase(const struct model_phase_facts *phase, struct text *text);
/* "40 × collective strided write of 10.1 MiB by each of 4 processes". */
void model_words_phase(const struct model_phase_facts *phase, struct text *text);
const char *model_order_word(enum model_order order);

#endif
