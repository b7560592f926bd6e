/* What became slower or faster: the new runs of every quantity against the earlier ones. Pure. */
#ifndef PIOLET_HISTORY_HISTORY_REGRESS_H
#define PIOLET_HISTORY_HISTORY_REGRESS_H

#include "history/history.h"
#include "history/history_change.h"

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
