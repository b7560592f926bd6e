/* Did something change? Earlier values against new ones, with confidence. Pure. docs/history.md has it in words.
 *
 * Values are logarithms of measured ones, so that a change is a factor and noise is a percentage. Both groups are taken
 * to scatter alike: the spread is the pooled one, and a single new value is judged by the spread of the earlier ones.
 */
#ifndef PIOLET_HISTORY_HISTORY_CHANGE_H
#define PIOLET_HISTORY_HISTORY_CHANGE_H

#include "history/history.h"
#include <stdbool.h>
#include <stddef.h>

enum { HISTORY_EARLIER_MIN = 3 }; /* earlier values that a judgement needs */
#define HISTORY_EFFECT_MIN 0.05   /* a smaller change is never called one */

struct history_change {
    size_t earlier, later;
    double earlier_median, later_median; /* not logarithms */
    double factor;                       /* later / earlier */
    double low, high;                    /* of the factor, with the level asked for; NaN: too few values */
    double p;                            /* of so large a change by chance, two-sided; NaN: too few values */
    bool outside;                        /* later_median lies beyond all earlier values but one in ten */
};

/* `earlier` and `later` are measured values > 0; they are sorted in place. `later_count` >= 1, `earlier_count` >= 1. */
struct history_change history_change_of(double *earlier, size_t earlier_count, double *later, size_t later_count,
                                        double level);

/* Which of the changes may be told as real with `level`: so many of the smallest p that at most 1 - level of them are
 * expected to be chance (Benjamini and Hochberg). Returns the largest p that counts; below 0: none does. Sorts `p`. */
double history_change_threshold(double *p, size_t count, double level);

/* Is it a change for the worse (or better), large enough and beyond chance? */
bool history_change_is_real(const struct history_change *change, double threshold);

/* ---- what became slower or faster: the new runs of every quantity against the earlier ones. Pure. ---- */

enum { HISTORY_EARLIER_MAX = 30 }; /* only so many of the earlier runs count, the latest: machines change slowly too */

struct history_finding {
    size_t first, end; /* its values */
    struct history_change change;
    bool real;  /* large enough, and beyond chance */
    bool worse; /* else better */
};

struct history_findings {
    struct history_finding *list; /* owned; a row for each quantity that could be judged */
    size_t count;
    size_t few;  /* quantities with too few earlier runs */
    size_t most; /* earlier runs of that which has most of these */
};

/* `since`: runs measured then or later are the new ones; NULL: the newest run of each quantity. */
pl_status history_regress(const struct history_runs *runs, const struct history_values *values, const char *since,
                          double level, struct history_findings *ret_findings, struct pl_error *error);
void history_findings_clear(struct history_findings *findings);

#endif
