/* The lines of a model that tell how accesses lie in memory: memory NUMBER type="…", or left_out=yes. */
#include "model/model_line.h"

#include "base/units.h"

#include <stdlib.h>
#include <string.h>

pl_status model_layout_read(struct model_lines *lines, const struct model_line *words, struct model *model)
{
    static const char *const KEYS[] = {"type", "left_out", NULL};
    const char *type = model_line_value(words, "type"), *left_out = model_line_value(words, "left_out");
    const int next = model->layout_count + 1;
    int64_t number;
    const pl_status status = model_line_check(lines, words, 2, KEYS);
    if (status != PL_OK)
        return status;
    if (words->count < 2 || !units_parse_int(words->word[1], next, next, &number))
        return model_line_fail(lines, "this is memory %d", next);
    if (!type == !left_out || (left_out && strcmp(left_out, "yes") != 0))
        return model_line_fail(lines, "memory needs type= or left_out=yes");
    char *layout = type ? text_dup(type) : NULL;
    char **layouts = !type || layout ? realloc(model->layouts, (size_t)next * sizeof *layouts) : NULL;
    if (!layouts) {
        free(layout);
        return pl_fail(lines->error, PL_E_NOMEM, "not enough memory for a model");
    }
    model->layouts = layouts;
    layouts[model->layout_count++] = layout;
    return PL_OK;
}
