#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void bench_die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

void bench_must(int code, const char *what)
{
    char text[MPI_MAX_ERROR_STRING + 64], words[MPI_MAX_ERROR_STRING] = "?";
    int length;
    if (code == MPI_SUCCESS)
        return;
    MPI_Error_string(code, words, &length);
    snprintf(text, sizeof text, "%s: %s", what, words);
    bench_die(text);
}

void bench_add(struct bench *bench, const char *word, const char *dir, const char *program)
{
    if (bench->contestant_count == BENCH_CONTESTANTS_MAX)
        bench_die("too many contestants");
    struct bench_contestant *contestant = &bench->contestants[bench->contestant_count++];
    const char *equals = strchr(word, '=');
    const int length = equals ? (int)(equals - word) : (int)strlen(word);
    snprintf(contestant->name, sizeof contestant->name, "%.*s", length, word);
    snprintf(contestant->value, sizeof contestant->value, "%s", equals ? equals + 1 : "");
    snprintf(contestant->path, sizeof contestant->path, "%s/%s.%.*s", dir, program, length, word);
    for (char *c = contestant->path + strlen(dir) + 1; *c; c++)
        if (*c == '/')
            *c = '-';
}

/* A file that the engine serves says so. */
static bool is_piolet(MPI_File file)
{
    char value[16] = "";
    int found = 0;
    MPI_Info info;
    bench_must(MPI_File_get_info(file, &info), "MPI_File_get_info");
    MPI_Info_get(info, "piolet_impl", sizeof value - 1, value, &found);
    MPI_Info_free(&info);
    return found && strcmp(value, "piolet") == 0;
}

MPI_File bench_open_coll(const struct bench_contestant *contestant)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_File file;
    if (contestant->value[0]) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "piolet_impl", contestant->value);
    }
    bench_must(MPI_File_open(MPI_COMM_WORLD, contestant->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
               "MPI_File_open");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    if (is_piolet(file) != (strcmp(contestant->value, "piolet") == 0))
        bench_die("another MPI-IO serves the file than was asked for: is the engine preloaded?");
    return file;
}

double bench_max_coll(double seconds)
{
    double most;
    MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return most;
}

double bench_start_coll(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return MPI_Wtime();
}
