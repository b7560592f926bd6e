/* trace_verify FILE: counts and hashes of a trace's pieces, as src/trace/trace_format.h tells them. Prints
 * "whole CALLS", or "killed CALLS" where the last line is missing; exits with 1 on what is wrong. */
#define XXH_INLINE_ALL
#include <xxhash.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong(int number, const char *what)
{
    fprintf(stderr, "line %d: %s\n", number, what);
    return 1;
}

int main(int argc, char **argv)
{
    FILE *file = argc == 2 ? fopen(argv[1], "r") : NULL;
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    int number = 0, lines = 0, ended = 0;
    int64_t calls = 0, claimed, count;
    uint64_t hash;
    XXH64_state_t state;
    XXH64_reset(&state, 0);
    if (!file)
        return wrong(0, "cannot be opened");
    while ((length = getline(&line, &room, file)) > 0) {
        number++;
        if (line[length - 1] != '\n')
            break; /* killed while writing */
        if (ended)
            return wrong(number, "stands behind the end");
        if (number == 1) {
            if (strcmp(line, "piolet-trace 3\n") != 0)
                return wrong(number, "is not the first line of a trace");
            continue;
        }
        if (sscanf(line, "end-trace %" SCNd64, &claimed) == 1) {
            if (claimed != calls || lines)
                return wrong(number, "tells another number of calls");
            ended = 1;
            continue;
        }
        if (sscanf(line, "end-%*[a-z] %" SCNd64 " %" SCNx64, &count, &hash) == 2) {
            if (count != lines || hash != XXH64_digest(&state))
                return wrong(number, "count or hash do not fit");
            XXH64_reset(&state, 0);
            lines = 0;
            continue;
        }
        if (sscanf(line, "call %" SCNd64, &claimed) == 1 && claimed != calls++)
            return wrong(number, "the sequence is broken");
        XXH64_update(&state, line, (size_t)length);
        lines++;
    }
    printf("%s %" PRId64 "\n", ended ? "whole" : "killed", calls);
    free(line);
    fclose(file);
    return 0;
}
