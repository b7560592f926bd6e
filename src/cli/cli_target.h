/* Programs that piolet starts with a library of ours preloaded: finding them, which MPI they use, and our libraries. */
#ifndef PIOLET_CLI_TARGET_H
#define PIOLET_CLI_TARGET_H

#include "cli/cli.h"

#include <limits.h>

enum { CLI_NOT_EXECUTABLE = 126, CLI_NOT_FOUND = 127 }; /* exit statuses, as shells have them */

/* Finds `program` as a shell does. Returns 0, or an exit status after a message. */
int cli_target_find(const struct cli_verb *verb, const char *program, char ret_path[PATH_MAX]);

/* Sees to it that the program at `path` can be helped by libraries of this build: returns 0 then. A program of the
 * other MPI is handed to the piolet of the other build tree, with the same command line; that does not return. What
 * cannot work gives a message and an exit status: a launcher, a static program, one that is under the wrong mpiexec. */
int cli_target_accept(const struct cli_verb *verb, const char *path, int argc, char **argv);

/* Both for the program that the operands of a command line begin with; where there is none, that is the message. */
int cli_target_take(const struct cli_verb *verb, const struct cli_line *line, char ret_path[PATH_MAX]);

/* lib/NAME of this build tree or installation; false: there is none (ret_path tells where it should be).
 */
bool cli_target_library(const char *name, char ret_path[PATH_MAX]);
/* share/piolet/NAME, likewise. */
bool cli_target_shared(const char *name, char ret_path[PATH_MAX]);

enum { CLI_PRELOAD_MAX = 8 * PATH_MAX };

/* The value of LD_PRELOAD: libraries of ours by name (up to NULL), then what the variable holds already. A sanitizer's
 * library that this process runs with comes first: it insists. false, and a message, where a library is missing. */
bool cli_target_preload(const struct cli_verb *verb, const char *const names[], char ret_list[CLI_PRELOAD_MAX]);

/* Becomes the program: argv[0] is its name as given. Returns an exit status when that fails. */
int cli_target_exec(const struct cli_verb *verb, const char *path, char **argv);

/* A symbol of libpiolet-mpiio.so, which is loaded for it, not preloaded; NULL after a message. */
void *cli_target_engine_symbol(const struct cli_verb *verb, const char *name);

#endif
