/* Numbers and names as the analysis tools print them: narrow columns, CSV fields, the facts of a set. */
#ifndef PIOLET_MEASURE_ANALYSIS_FORMAT_H
#define PIOLET_MEASURE_ANALYSIS_FORMAT_H

#include "base/json.h"
#include "measure/analysis_rows.h"

enum { ANALYSIS_CELL_MAX = 24 };

/* A non-negative number in at most digits + 2 characters ("12.3", "1234", "1.2e7"); "-" for NaN. */
const char *analysis_cell(double value, int digits, char cell[ANALYSIS_CELL_MAX]);

/* A number of operations in at most 8 characters. */
const char *analysis_count_cell(int64_t count, char cell[ANALYSIS_CELL_MAX]);

/* Value and error with as many decimals as the error deserves: "812.3 ± 4.5". */
const char *analysis_estimate_text(struct analysis_estimate estimate, char *text, size_t size);

/* units_bytes() for a size that was computed and may be beyond 64 bits. `buffer` holds UNITS_TEXT_MAX. */
const char *analysis_bytes_text(double bytes, char *buffer);

struct analysis_time_unit {
    double ns;
    const char *name;
};
struct analysis_time_unit analysis_time_unit(double typical_ns);

/* A cell of text, quoted where CSV needs it (RFC 4180). One that a spreadsheet would take for a formula gets a ' before
 * it. Every text that comes from a file or a command line goes to CSV by this function. */
void analysis_csv_field(FILE *csv, const char *value);
/* ",1234.5" with all digits; "," alone for NaN. */
void analysis_csv_number(FILE *csv, double value);

/* Lines above a table: which file, block, set, and its parameters and facts. */
void analysis_print_set(const struct analysis_chosen *chosen, FILE *text);
/* "  MPI-IO …, file system …" on a line of its own; NULL and empty are not known. */
void analysis_print_place(const char *mpiio, const char *filesystem, FILE *text);
/* "failed: …", one line for each error, at most a few. */
void analysis_print_failures(const struct analysis_chosen *chosen, FILE *text);
void analysis_json_set(struct json *json, const struct analysis_chosen *chosen);
void analysis_print_overlap(const struct analysis_rows *rows, FILE *text);
void analysis_json_overlap(struct json *json, const struct analysis_rows *rows);

extern const char ANALYSIS_ERROR_TEXT[];      /* what "error" means */
extern const char ANALYSIS_RATE_TEXT[];       /* what a set's rate means */
extern const char ANALYSIS_ASYMPTOTIC_TEXT[]; /* what "asymptotic rate" means */

#endif
