/* Variables of the environment: one table of their names and of what they may hold (variables.def), so that a wrong
 * value or a misspelt name is told rather than passed by. */
#ifndef PIOLET_BASE_VARIABLES_H
#define PIOLET_BASE_VARIABLES_H

#include "base/text.h"

/* One line for each variable of ours in `environment` ("NAME=VALUE" strings, ends with NULL) that is not known or holds
 * what is not allowed; values are shown as text_add_visible() does. Names that begin with PIOLET_TEST_ are the tests'.
 */
void variables_check(char *const *environment, struct text *lines);

/* The one of `names` (ends with NULL) that `word` is most likely meant to be; NULL: none is near. */
const char *variables_nearest(const char *word, const char *const *names);

#endif
