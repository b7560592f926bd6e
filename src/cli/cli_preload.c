/* piolet preload: runs a program on our MPI-IO. */
#include "cli/cli.h"
#include "cli/cli_launch.h"
#include "cli/cli_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct cli_verb cli_verb_preload;

enum { RANKS = 1, HINTS, SYSTEM, PRINT };

struct request {
    int ranks; /* 0: -n was not given */
    const char *hints;
    bool system, print;
};

/* Words NAME=VALUE. */
static bool hints_are_right(const char *text)
{
    while (*(text += strspn(text, " \t"))) {
        const size_t word = strcspn(text, " \t"), name = strcspn(text, "= \t");
        if (name == 0 || name == word) {
            cli_usage_error(&cli_verb_preload, "--hints: '%.*s' is not NAME=VALUE", (int)word, text);
            return false;
        }
        text += word;
    }
    return true;
}

static bool parse(struct request *request, int argc, char **argv)
{
    const char *argument;
    int option;
    while ((option = cli_next(&cli_verb_preload, argc, argv, &argument)) > CLI_END) {
        if (option == RANKS && !(request->ranks = cli_launch_ranks(&cli_verb_preload, argument)))
            return false;
        if (option == HINTS && !hints_are_right(request->hints = argument))
            return false;
        request->system |= option == SYSTEM;
        request->print |= option == PRINT;
    }
    return option == CLI_END;
}

/* Behind what the environment has already: of two values the later one counts. */
static bool set_hints(const struct request *request)
{
    const char *before = getenv("PIOLET_HINTS");
    const char *const parts[] = {before, request->hints, request->system ? "piolet_impl=system" : NULL};
    size_t room = 1;
    for (int i = 0; i < 3; i++)
        room += parts[i] ? strlen(parts[i]) + 1 : 0;
    char *all = calloc(room, 1);
    for (int i = 0; all && i < 3; i++)
        if (parts[i] && *parts[i]) {
            strcat(all, *all ? " " : "");
            strcat(all, parts[i]);
        }
    const bool done = all && (!*all || setenv("PIOLET_HINTS", all, 1) == 0);
    free(all);
    return done;
}

/* The ranks are this verb again, each becoming the program: so LD_PRELOAD is never set for the launcher. */
static int launch(const struct request *request, int argc, char **argv)
{
    char **words = calloc((size_t)argc + 8, sizeof *words);
    int count = 0;
    if (!words) {
        cli_complain(&cli_verb_preload, "not enough memory");
        return CLI_FAILED;
    }
    words[count++] = (char *)"preload";
    if (request->hints) {
        words[count++] = (char *)"--hints";
        words[count++] = (char *)request->hints;
    }
    if (request->system)
        words[count++] = (char *)"--system";
    words[count++] = (char *)"--";
    memcpy(words + count, argv, (size_t)argc * sizeof *words);
    const int status = cli_launch(&cli_verb_preload, request->ranks, count + argc, words);
    free(words);
    return status;
}

static int preload_run(int argc, char **argv)
{
    static const char *const libraries[] = {"libpiolet-mpiio.so", NULL};
    static char list[CLI_PRELOAD_MAX];
    const struct cli_verb *const verb = &cli_verb_preload;
    struct request request = {0};
    char path[PATH_MAX];
    int own, status;
    const int program = cli_target_word(verb, argc, argv, &own);
    if (!parse(&request, own, argv))
        return CLI_USAGE;
    if (program >= argc && !request.print)
        return cli_usage_error(verb, "which PROGRAM?");
    if (program < argc &&
        ((status = cli_target_find(verb, argv[program], path)) || (status = cli_target_accept(verb, path, argc, argv))))
        return status;
    if (!cli_target_preload(verb, libraries, list))
        return CLI_FAILED;
    if (request.print) {
        puts(list);
        return CLI_OK;
    }
    if (request.ranks)
        return launch(&request, argc - program, argv + program);
    if (!set_hints(&request) || setenv("LD_PRELOAD", list, 1) != 0) {
        cli_complain(verb, "not enough memory");
        return CLI_FAILED;
    }
    return cli_target_exec(verb, path, argv + program);
}

const struct cli_verb cli_verb_preload = {
    .name = "preload",
    .runs_program = true,
    .summary = "run a program on our MPI-IO",
    .synopsis = "[OPTION]... [--] PROGRAM [ARGUMENT]...",
    .details = "PROGRAM is any MPI program that is linked dynamically; it is not changed.\n"
               "'mpiexec -n 4 piolet preload PROGRAM' and 'piolet preload -n 4 PROGRAM' do the same.\n"
               "The exit status is that of PROGRAM.",
    .options =
        (const struct cli_option[]){
            {RANKS, "ranks", 'n', "N", "start mpiexec with N ranks of PROGRAM"},
            {HINTS, "hints", 0, "HINTS",
             "hints for every file, as \"NAME=VALUE NAME=VALUE\";\n'piolet hints' lists them"},
            {SYSTEM, "system", 0, NULL, "leave all files to the MPI's own functions:\nfor comparisons"},
            {PRINT, "print", 0, NULL, "print the value for LD_PRELOAD, and run nothing"},
            {0}},
    .run = preload_run,
};
