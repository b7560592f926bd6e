/* What goes to a terminal: everything that is printed passes here, whoever prints it. Texts come from files, from the
 * environment, from command lines; an escape sequence in them must not reach the terminal. */
#ifndef PIOLET_CLI_CLI_SCREEN_H
#define PIOLET_CLI_CLI_SCREEN_H

/* The first thing in main(): from then on stdout and stderr show what a terminal would act upon (text_add_screen()).
 * Outputs for programs are not changed by it: JSON, HTML, SVG, blocks and models hold nothing of that kind. */
void cli_screen_open(void);

/* Our own: clears the line of the cursor on stderr's terminal. */
void cli_screen_clear_line(void);

#endif
