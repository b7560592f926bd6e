#include "mpi/job_variables.h"

#include "base/variables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MARK "PIOLET_VARIABLES_CHECKED"

void job_variables_tell(void)
{
    struct text lines = {0};
    if (getenv(MARK))
        return;
    variables_check(environ, &lines);
    if (lines.data)
        setenv(MARK, "1", 1);
    char *rest = NULL;
    for (char *line = lines.data ? strtok_r(lines.data, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest))
        fprintf(stderr, "piolet: warning: %s\n", line);
    text_clear(&lines);
}
