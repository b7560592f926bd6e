/* Text that keeps inside 80 columns. */
#ifndef PIOLET_CLI_WRAP_H
#define PIOLET_CLI_WRAP_H

/* Prints `text` on standard output, which stands in column `column`; further lines begin in column `indent`. Ends the
 * line. A word that is longer than a line stays whole. */
void cli_wrap(const char *text, int column, int indent);

/* Prints `text` filled up with blanks to `width`, and two blanks at least; returns the column it leads to from
 * `column`. */
int cli_wrap_cell(const char *text, int column, int width);

#endif
