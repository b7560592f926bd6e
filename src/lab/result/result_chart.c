/* The chart of a document whose benchmark draws none: a panel for each name of a quantity, with a point and its
 * interval for each of the settings. */
#include "lab/result/result.h"

#include "base/memory.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CHART_PANELS = 12, CHART_LEGEND = 12, CHART_COLUMNS = 2 };

static bool chart_has_points(const struct result *result)
{
    for (size_t p = 0; p < result->panel_count; p++)
        for (size_t s = 0; s < result->panels[p].series_count; s++)
            if (result->panels[p].series[s].count > 0)
                return true;
    return false;
}

/* The place of a text among those that are there; it is added where it is new. */
static size_t chart_place(const char **texts, size_t *count, const char *text)
{
    size_t i = 0;
    while (i < *count && strcmp(texts[i], text) != 0)
        i++;
    if (i == *count)
        texts[(*count)++] = text;
    return i;
}

static void chart_panel(struct result *result, const char *what, const char **settings, size_t *setting_count,
                        bool named)
{
    const struct quantity *list = result->quantities;
    bool begun = false;
    for (size_t i = 0; i < result->quantity_count; i++) {
        if (strcmp(list[i].what, what) != 0)
            continue;
        const struct result_axis x = {.label = "settings, in the order of the results"},
                                 y = {.label = list[i].unit, .from_zero = true};
        if (!begun)
            result_begin_panel(result, &x, &y, CHART_COLUMNS, "%s", what);
        begun = true;
        assert(list[i].repetitions > 0); /* they are joined */
        const size_t place = chart_place(settings, setting_count, list[i].settings);
        result_begin_series(result, RESULT_POINTS, "%s", named ? list[i].settings : "");
        result_point(result, (double)place + 1, list[i].value, list[i].low, list[i].high);
    }
}

void result_chart_quantities(struct result *result)
{
    if (result->quantity_count == 0 || chart_has_points(result))
        return;
    result_clear_panels(result);
    const char **settings = memory_new(result->quantity_count, sizeof *settings);
    const char **names = memory_new(result->quantity_count, sizeof *names);
    size_t setting_count = 0, name_count = 0;
    for (size_t i = 0; i < result->quantity_count; i++) {
        chart_place(settings, &setting_count, result->quantities[i].settings);
        chart_place(names, &name_count, result->quantities[i].what);
    }
    for (size_t i = 0; i < name_count && i < CHART_PANELS; i++)
        chart_panel(result, names[i], settings, &setting_count, setting_count <= CHART_LEGEND);
    if (name_count > CHART_PANELS)
        result_note(result, RESULT_NOTE, "%d of %zu quantities are drawn", CHART_PANELS, name_count);
    free(settings);
    free(names);
}
