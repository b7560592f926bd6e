/* piolet analyze beff: tables, summaries and the plot, from block files alone. A run prints its own results through
 * it too. */
#ifndef PIOLET_BENCH_BEFF_ANALYZE_H
#define PIOLET_BENCH_BEFF_ANALYZE_H

#include "bench/beff/beff_results.h"
#include "measure/analysis_select.h"

/* An analysis tool as those of measure/analysis_tools.h; of the request's selections it knows block and test. With
 * `times` the text is the protocol of every single measurement. */
pl_status beff_analyze(const struct analysis_request *request, const struct analysis_input *input,
                       struct pl_error *error);

/* ---- its parts ---- */

void beff_print_summary(const struct beff_results *runs, size_t count, FILE *text);
void beff_print_tables(const struct beff_results *results, FILE *text);
void beff_print_protocol(const struct beff_results *results, FILE *text);
void beff_write_json(const struct beff_results *runs, size_t count, FILE *stream);
void beff_write_csv(const struct beff_results *runs, size_t count, FILE *stream);
pl_status beff_plot(const struct beff_results *runs, size_t count, const char *path, struct pl_error *error);

/* "4 kB", "23.5 MB": powers of 1024. */
enum { BEFF_LENGTH_TEXT_MAX = 24 };
const char *beff_length_text(int64_t length, char text[BEFF_LENGTH_TEXT_MAX]);

/* What is not as the document defines b_eff, one line each; empty: this is the standard run. */
struct text;
void beff_deviations(const struct beff_results *results, struct text *lines);

extern const char BEFF_UNIT_TEXT[];

#endif
