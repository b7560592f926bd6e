/* Which processes of which sets a plot draws when more are selected than it has room for.
 *
 * All, if they find room. Of one set its lowest ranks. Of several sets: no repeats (sets of a block with equal
 * parameters), and as many ranks of each as find room; if even one rank of each is too much, sets spread evenly. */
#ifndef PIOLET_MEASURE_ANALYSIS_CHOICE_H
#define PIOLET_MEASURE_ANALYSIS_CHOICE_H

#include "measure/analysis_select.h"

struct analysis_candidate {
    struct analysis_chosen chosen;
    size_t kind;   /* sets of one test, access and number of processes have the same; from 0 */
    size_t ranks;  /* with samples in the selection, at least 1 */
    int last_rank; /* drawn are the ranks up to this one; -1: none */
    bool repeat;
};

struct analysis_choice {
    struct analysis_candidate *sets; /* owned, in the order of the files */
    size_t count;
    size_t kinds;
    size_t cursor; /* where the last look-up ended */
};

/* Everything that is selected; nothing of it is drawn yet. */
pl_status analysis_choice_build(const struct analysis_request *request, const struct analysis_input *input,
                                struct analysis_choice *ret_choice, struct pl_error *error);
void analysis_choice_clear(struct analysis_choice *choice);

/* Chooses at most `limit` >= 1 processes of the sets of one kind, or of all (ANALYSIS_ALL_KINDS). Returns how many
 * are left out. */
#define ANALYSIS_ALL_KINDS SIZE_MAX
size_t analysis_choice_spread(const struct analysis_request *request, struct analysis_choice *choice, size_t kind,
                              size_t limit);

/* NULL when the set is not selected. */
const struct analysis_candidate *analysis_choice_of(struct analysis_choice *choice, const struct blockfile_set *set);

#endif
