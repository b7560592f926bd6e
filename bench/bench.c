#include "bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void bench_die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    usleep(200000); /* a launcher that is told to end all at once loses words on their way */
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
    const char *semicolon = equals ? strchr(equals, ';') : NULL;
    const int value = semicolon ? (int)(semicolon - equals - 1) : equals ? (int)strlen(equals + 1) : 0;
    if (semicolon && strlen(semicolon) > sizeof contestant->hints)
        bench_die("too many hints");
    snprintf(contestant->name, sizeof contestant->name, "%.*s", length, word);
    snprintf(contestant->value, sizeof contestant->value, "%.*s", value, equals ? equals + 1 : "");
    snprintf(contestant->hints, sizeof contestant->hints, "%s", semicolon ? semicolon + 1 : "");
    snprintf(contestant->path, sizeof contestant->path, "%s/%s.%.*s", dir, program, length, word);
    for (char *c = contestant->path + strlen(dir) + 1; *c; c++)
        if (*c == '/')
            *c = '-';
}

void bench_info(MPI_File file, const char *key, char *ret_value, int room)
{
    int found = 0;
    MPI_Info info;
    bench_must(MPI_File_get_info(file, &info), "MPI_File_get_info");
    MPI_Info_get(info, key, room - 1, ret_value, &found);
    MPI_Info_free(&info);
    if (!found)
        ret_value[0] = 0;
}

/* A file that the engine serves says so. */
static bool is_piolet(MPI_File file)
{
    char value[16];
    bench_info(file, "piolet_impl", value, sizeof value);
    return strcmp(value, "piolet") == 0;
}

typedef void each_hint(void *with, const char *name, const char *value);

static void for_each_hint(const struct bench_contestant *contestant, each_hint *act, void *with)
{
    char text[sizeof contestant->hints], *rest = text;
    snprintf(text, sizeof text, "%s", contestant->hints);
    for (char *name; (name = strsep(&rest, ";"));) {
        char *equals = strchr(name, '=');
        if (!equals)
            bench_die("a hint is given as HINT=VALUE");
        *equals = 0;
        act(with, name, equals + 1);
    }
}

static void set_hint(void *info, const char *name, const char *value)
{
    MPI_Info_set(*(MPI_Info *)info, name, value);
}

/* The engine tells what became of a hint; a contestant without its hint would be another one under its name. */
static void check_hint(void *file, const char *name, const char *value)
{
    char key[MPI_MAX_INFO_KEY + 1], origin[MPI_MAX_INFO_VAL + 1], text[2 * MPI_MAX_INFO_VAL];
    snprintf(key, sizeof key, "origin:%s", name);
    bench_info(*(MPI_File *)file, key, origin, sizeof origin);
    if (strcmp(origin, "info") == 0)
        return;
    snprintf(text, sizeof text, "the engine does not take the hint %s=%s: %s", name, value,
             origin[0] ? origin : "unknown");
    bench_die(text);
}

MPI_File bench_open_coll(const struct bench_contestant *contestant)
{
    MPI_Info info = MPI_INFO_NULL;
    MPI_File file;
    const bool has_hints = contestant->hints[0] != 0;
    if (contestant->value[0]) {
        MPI_Info_create(&info);
        MPI_Info_set(info, "piolet_impl", contestant->value);
        if (has_hints)
            for_each_hint(contestant, set_hint, &info);
    }
    bench_must(MPI_File_open(MPI_COMM_WORLD, contestant->path, MPI_MODE_CREATE | MPI_MODE_RDWR, info, &file),
               "MPI_File_open");
    if (info != MPI_INFO_NULL)
        MPI_Info_free(&info);
    const bool wants_piolet = strcmp(contestant->value, "piolet") == 0;
    if (is_piolet(file) != wants_piolet)
        bench_die("another MPI-IO serves the file than was asked for: is the engine preloaded?");
    if (wants_piolet && has_hints)
        for_each_hint(contestant, check_hint, &file);
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
