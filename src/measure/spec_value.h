/* Inside the keyword parser: one keyword's text turned into values, and the words for what it allows. */
#ifndef PIOLET_MEASURE_SPEC_VALUE_H
#define PIOLET_MEASURE_SPEC_VALUE_H

#include "base/text.h"
#include "measure/spec.h"

/* Hints with names reserved by the MPI standard, accepted in every block (IOT-4). */
extern const struct spec_keyword SPEC_HINTS[];

/* Keywords of every test besides its own. */
extern const struct spec_keyword SPEC_COMMON[];

/* The hint that a line gives. `keyword` is its row, NULL for hint.NAME. On failure `found` says what is wrong. */
pl_status spec_hint_parse(const struct spec_keyword *keyword, const struct spec_line *line, size_t variants,
                          struct spec_hint *ret_hint, struct text *found);
void spec_hint_clear(struct spec_hint *hint);

/* Does `name` spell the keyword, by name or alias? */
bool spec_keyword_is(const struct spec_keyword *keyword, const char *name);

/* Among the test's own keywords and the hints; NULL if there is none. */
const struct spec_keyword *spec_keyword_find(const struct spec_test *test, const char *name);

/* The keyword that was probably meant, or NULL. */
const char *spec_keyword_nearest(const struct spec_test *test, const char *found);

/* Fills `ret_value` from `text`. On failure `found` says what is wrong ("'x' is not a number"), and the caller adds
 * place and allowed values. */
pl_status spec_value_parse(const struct spec_keyword *keyword, const char *text, struct spec_value *ret_value,
                           struct text *found);
void spec_value_clear(struct spec_value *value);

/* "whole numbers from 1 to 100, separated by blanks or commas" */
void spec_value_allowed(const struct spec_keyword *keyword, struct text *out);

#endif
