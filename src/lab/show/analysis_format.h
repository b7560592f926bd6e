/* Numbers and names as the analysis tools print them: narrow columns, CSV fields, the facts of a set. */
#ifndef PIOLET_LAB_ANALYSIS_FORMAT_H
#define PIOLET_LAB_ANALYSIS_FORMAT_H

#include "base/json.h"
#include "lab/result/analysis_rows.h"

enum { ANALYSIS_CELL_MAX = 24 };

/* A non-negative number in at most digits + 2 characters ("12.3", "1234", "1.2e7"); "-" for NaN. */
const char *analysis_cell(double value, int digits, char cell[ANALYSIS_CELL_MAX]);

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

/* "  MPI-IO …, file system …" on a line of its own; NULL and empty are not known. */
void analysis_print_place(const char *mpiio, const char *filesystem, FILE *text);

extern const char ANALYSIS_ERROR_TEXT[];      /* what "error" means */
extern const char ANALYSIS_RATE_TEXT[];       /* what a set's rate means */
extern const char ANALYSIS_ASYMPTOTIC_TEXT[]; /* what "asymptotic rate" means */

#endif
