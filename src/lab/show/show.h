/* The forms of a result: all that a benchmark is shown in comes from here. The result is finished (result_finish()). A
 * stream is the caller's, who looks at its errors (base/output.h).
 *
 * Texts of a result may come from files and command lines: whatever a terminal would act upon is made visible here, CSV
 * is quoted here, and JSON and SVG are always valid. */
#ifndef PIOLET_LAB_SHOW_H
#define PIOLET_LAB_SHOW_H

#include "base/json.h"
#include "base/status.h"
#include "base/text.h"
#include "lab/result/result.h"

#include <stdio.h>

/* Title, lines, facts, tables no wider than 79 columns where that is possible, notes. */
void show_text(const struct result *result, FILE *stream);
/* One object: "benchmark", the document's own members, "notes", "quantities". */
void show_json(const struct result *result, FILE *stream);
/* The same into an open object or array. */
void show_put_json(const struct result *result, struct json *json, const char *key);
/* The form that needs no knowledge of the benchmark: {name, title, lines, facts, tables, charts, notes};
 * docs/report.md. For the page. */
void show_put_document(const struct result *result, struct json *json, const char *key);
/* The same as members of an open object. */
void show_put_document_members(const struct result *result, struct json *json);
void show_put_quantities(const struct result *result, struct json *json, const char *key);
/* The same as elements of an open array. */
void show_put_quantities_into(const struct result *result, struct json *json);
/* The rows of the main table (result_csv_table()) with the facts of their groups before them; quantities where there is
 * no table. */
void show_csv(const struct result *result, FILE *stream);
/* All panels in one figure. */
void show_svg(const struct result *result, FILE *stream);
/* FILE.svg, or FILE.png by rsvg-convert where that is there. PL_E_UNSUPPORTED: there is nothing to draw. */
pl_status show_plot(const struct result *result, const char *path, struct pl_error *error);

/* ---- single values ---- */

enum { SHOW_CELL_MAX = 24 };

/* A non-negative number in at most digits + 2 characters ("12.3", "1234", "1.2e7"); "-" for NaN. */
const char *show_cell(double value, int digits, char cell[SHOW_CELL_MAX]);

/* A cell of text, quoted where CSV needs it (RFC 4180). One that a spreadsheet would take for a formula gets a ' before
 * it. Every text that comes from a file or a command line goes to CSV by this function. */
void show_csv_field(FILE *csv, const char *value);

/* The unit that numbers of the column are shown in; "": none, or it stands with each value. */
const char *show_unit(enum result_form form, const char *unit);

/* A cell as text without its unit: "12.3", "64 KiB", "-". Its error without "±" in `error`; empty: none. */
void show_value(const struct result_column *column, const struct result_cell *cell, struct text *value,
                struct text *error);
/* A fact's value with error and unit: "812.3 ± 4.5 MB/s". */
void show_fact(const struct result_item *fact, struct text *text);

#endif
