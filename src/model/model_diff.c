/* Two models side by side: the lines that one has and the other has not, as diff(1) tells them. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

struct lines {
    struct text text;
    char **line;
    size_t count;
};

static bool split(const struct model *model, struct lines *lines)
{
    *lines = (struct lines){0};
    model_write(model, false, &lines->text);
    if (lines->text.failed || !lines->text.data)
        return false;
    size_t count = 0;
    for (const char *c = lines->text.data; *c; c++)
        count += *c == '\n';
    lines->line = calloc(count + 1, sizeof *lines->line);
    char *rest = NULL;
    for (char *line = lines->line ? strtok_r(lines->text.data, "\n", &rest) : NULL; line;
         line = strtok_r(NULL, "\n", &rest))
        if (strncmp(line, "end-", 4) != 0) /* sums differ whenever something does */
            lines->line[lines->count++] = line;
    return lines->line != NULL;
}

static bool same(const char *a, const char *b)
{
    return a && b && strcmp(a, b) == 0;
}

static void clear(struct lines *lines)
{
    text_clear(&lines->text);
    free(lines->line);
}

/* Longest common subsequence of what is left between equal beginnings and ends: length[i][j] of the tails from i and j.
 */
static int *common(char **a, size_t a_count, char **b, size_t b_count)
{
    int *length = calloc((a_count + 1) * (b_count + 1), sizeof *length);
    for (size_t i = a_count; length && i-- > 0;)
        for (size_t j = b_count; j-- > 0;) {
            const int skip_a = length[(i + 1) * (b_count + 1) + j], skip_b = length[i * (b_count + 1) + j + 1];
            length[i * (b_count + 1) + j] = same(a[i], b[j])  ? 1 + length[(i + 1) * (b_count + 1) + j + 1]
                                            : skip_a > skip_b ? skip_a
                                                              : skip_b;
        }
    return length;
}

static int write_differences(char **a, size_t a_count, char **b, size_t b_count, struct text *text)
{
    int *length = common(a, a_count, b, b_count);
    int differences = 0;
    size_t i = 0, j = 0;
    if (!length) {
        text->failed = true;
        return 1;
    }
    while (i < a_count || j < b_count) {
        if (i < a_count && j < b_count && same(a[i], b[j])) {
            i++;
            j++;
            continue;
        }
        const bool from_a = j == b_count ||
                            (i < a_count && length[(i + 1) * (b_count + 1) + j] >= length[i * (b_count + 1) + j + 1]);
        text_format(text, "%c %s\n", from_a ? '<' : '>', from_a ? a[i++] : b[j++]);
        differences++;
    }
    free(length);
    return differences;
}

int model_diff(const struct model *a, const struct model *b, struct text *text)
{
    struct lines x, y;
    int differences = 1;
    const bool split_a = split(a, &x), split_b = split(b, &y);
    if (split_a && split_b && x.line && y.line) {
        size_t begin = 0, end = 0;
        while (begin < x.count && begin < y.count && same(x.line[begin], y.line[begin]))
            begin++;
        while (end < x.count - begin && end < y.count - begin &&
               same(x.line[x.count - 1 - end], y.line[y.count - 1 - end]))
            end++;
        differences = write_differences(x.line + begin, x.count - begin - end, y.line + begin, y.count - begin - end,
                                        text);
    } else {
        text->failed = true;
    }
    clear(&x);
    clear(&y);
    return differences;
}
