/* Appends blocks to the file argv[1], from lines on standard input that say what stands in them; counts and hashes are
 * made here. For tests that need results of runs that nobody made:
 *
 *     block CLASS TESTNAME | input KEY VALUE | fact KEY VALUE | head | set | param KEY VALUE | time RANK KEY NS
 *     series RANK KEY UNIT NUMBER... | error STATUS RANK TEXT | endset | end
 *
 * Values run to the end of the line, with \n, \t, \\ and \xHH. */
#include "base/blockfile.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static void put_series(struct blockfile_writer *writer, char *rest)
{
    int64_t values[64];
    size_t count = 0;
    char *rank = strsep(&rest, " "), *key = strsep(&rest, " "), *unit = strsep(&rest, " ");
    for (char *number; count < 64 && (number = strsep(&rest, " "));)
        values[count++] = atoll(number);
    blockfile_series(writer, atoi(rank), key, unit, (int64_t)count);
    blockfile_values(writer, values, count);
}

static void put_line(struct blockfile_writer *writer, const char *what, char *rest)
{
    struct pl_error error;
    pl_status status = PL_OK;
    if (strcmp(what, "head") == 0)
        status = blockfile_end_head(writer, &error);
    else if (strcmp(what, "set") == 0)
        blockfile_set(writer);
    else if (strcmp(what, "endset") == 0)
        status = blockfile_end_set(writer, &error);
    else if (strcmp(what, "end") == 0)
        status = blockfile_end(writer, &error);
    else if (strcmp(what, "series") == 0)
        put_series(writer, rest);
    else {
        char *key = strsep(&rest, " "), *value = rest ? rest : key + strlen(key);
        if (strcmp(what, "block") == 0)
            blockfile_begin(writer, key, value);
        else if (strcmp(what, "input") == 0 && text_unescape(value))
            blockfile_input(writer, key, value);
        else if (strcmp(what, "fact") == 0 && text_unescape(value))
            blockfile_fact(writer, key, "%s", value);
        else if (strcmp(what, "param") == 0 && text_unescape(value))
            blockfile_param(writer, key, "%s", value);
        else if (strcmp(what, "time") == 0) {
            char *name = strsep(&rest, " ");
            blockfile_time(writer, atoi(key), name, atoll(rest));
        } else if (strcmp(what, "error") == 0) {
            char *rank = strsep(&rest, " ");
            blockfile_error(writer, key, atoi(rank), rest);
        }
    }
    if (status != PL_OK) {
        fprintf(stderr, "%s\n", error.text);
        exit(1);
    }
}

int main(int argc, char **argv)
{
    struct blockfile_writer *writer;
    struct pl_error error;
    char line[4096];
    if (argc != 2 || blockfile_writer_open(argv[1], &writer, &error) != PL_OK)
        return 1;
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        char *rest = line;
        const char *what = strsep(&rest, " ");
        if (*what)
            put_line(writer, what, rest);
    }
    return blockfile_writer_close(writer, &error) != PL_OK;
}
