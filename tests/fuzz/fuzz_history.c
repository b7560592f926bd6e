#include "fuzz_history.h"

#include "fuzz.h"

#include "history/history_change.h"

void fuzz_history(struct history *history)
{
    static const char *const WORDS[] = {"last"};
    struct history_runs runs, last;
    struct history_values values;
    struct history_findings findings;
    struct pl_error error;
    if (history_runs(history, NULL, 0, &runs, &error) != PL_OK)
        return;
    if (history_values(history, &runs, &values, &error) == PL_OK) {
        if (history_regress(&runs, &values, NULL, 0.95, &findings, &error) == PL_OK)
            history_findings_clear(&findings);
        history_values_clear(&values);
    }
    for (size_t i = 0; i < runs.count && i < 4; i++)
        history_write_block(history, &runs.list[i], fuzz_nowhere(), &error);
    if (history_runs(history, WORDS, 1, &last, &error) == PL_OK) {
        history_remove(history, &last, &error);
        history_runs_clear(&last);
    }
    history_runs_clear(&runs);
}
