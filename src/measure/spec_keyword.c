#include "measure/spec_value.h"

#include <ctype.h>
#include <string.h>

bool spec_keyword_is(const struct spec_keyword *keyword, const char *name)
{
    return strcmp(keyword->name, name) == 0 || (keyword->alias && strcmp(keyword->alias, name) == 0);
}

const struct spec_keyword *spec_keyword_find(const struct spec_test *test, const char *name)
{
    for (const struct spec_keyword *const *table = test->keywords; *table; table++)
        for (const struct spec_keyword *keyword = *table; keyword->name; keyword++)
            if (spec_keyword_is(keyword, name))
                return keyword;
    static const struct spec_keyword *const everywhere[] = {SPEC_COMMON, SPEC_HINTS};
    for (size_t i = 0; i < sizeof everywhere / sizeof everywhere[0]; i++)
        for (const struct spec_keyword *keyword = everywhere[i]; keyword->name; keyword++)
            if (spec_keyword_is(keyword, name))
                return keyword;
    return NULL;
}

/* Letters to change, add, drop or swap to get from a to b, up to a small limit. */
static int edit_distance(const char *a, const char *b)
{
    enum { LONGEST = 31 };
    const size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return LONGEST;
    int rows[LONGEST + 1][LONGEST + 1];
    for (size_t i = 0; i <= n; i++)
        for (size_t j = 0; j <= m; j++) {
            if (i == 0 || j == 0) {
                rows[i][j] = (int)(i + j);
                continue;
            }
            const bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);
            int best = rows[i - 1][j - 1] + !same;
            if (rows[i - 1][j] + 1 < best)
                best = rows[i - 1][j] + 1;
            if (rows[i][j - 1] + 1 < best)
                best = rows[i][j - 1] + 1;
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && rows[i - 2][j - 2] + 1 < best)
                best = rows[i - 2][j - 2] + 1;
            rows[i][j] = best;
        }
    return rows[n][m];
}

static void consider(const char *name, const char *found, const char **best, int *best_distance)
{
    const int distance = edit_distance(found, name);
    if (distance < *best_distance) {
        *best_distance = distance;
        *best = name;
    }
}

const char *spec_keyword_nearest(const struct spec_test *test, const char *found)
{
    const char *best = NULL;
    const size_t length = strlen(found);
    int distance = length > 9 ? 4 : (int)length / 3 + 1; /* farther away is no misspelling */
    static const char *const common[] = {"classname", "testname", "timingsfilename"};
    for (size_t i = 0; i < sizeof common / sizeof common[0]; i++)
        consider(common[i], found, &best, &distance);
    for (const struct spec_keyword *const *table = test->keywords; *table; table++)
        for (const struct spec_keyword *keyword = *table; keyword->name; keyword++)
            consider(keyword->name, found, &best, &distance);
    for (const struct spec_keyword *keyword = SPEC_HINTS; keyword->name; keyword++)
        consider(keyword->name, found, &best, &distance);
    return best;
}
