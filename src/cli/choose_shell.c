#include "cli/choose_shell.h"

#include "base/output.h"
#include "cli/cli_child.h"
#include "cli/cli_target.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the plan ---- */

static bool add_configuration(struct choose_plan *plan, const char *on, const char *mpiio, const char *hints,
                              const char *directory)
{
    struct text path = {0};
    struct choose_configuration *list = realloc(plan->list, (size_t)(plan->count + 1) * sizeof *list);
    if (!list)
        return false;
    plan->list = list;
    text_format(&path, "%s/choose-%d.out", directory, plan->count + 1);
    list[plan->count] = (struct choose_configuration){on, mpiio, strcmp(hints, "none") == 0 ? NULL : hints, path.data,
                                                      false};
    plan->count++;
    return !path.failed;
}

bool choose_plan_make(struct choose_plan *plan, const struct predict_words *places, const struct predict_words *mpiio,
                      const struct predict_words *hints, const char *directory)
{
    for (int p = 0; p < places->count; p++)
        for (int m = 0; m < mpiio->count; m++)
            for (int h = 0; h < hints->count; h++)
                if (!add_configuration(plan, places->list[p], mpiio->list[m], hints->list[h], directory))
                    return false;
    return true;
}

void choose_plan_clear(struct choose_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        free(plan->list[i].results);
    free(plan->list);
    *plan = (struct choose_plan){0};
}

pl_status choose_check_hints(const char *path, struct pl_error *error)
{
    char line[4096];
    int number = 0;
    output_reads(path);
    FILE *stream = fopen(path, "re");
    if (!stream)
        return pl_fail_errno(error, errno, "cannot read the hints '%s'", path);
    pl_status status = PL_OK;
    while (status == PL_OK && fgets(line, sizeof line, stream)) {
        const char *key = line + strspn(line, " \t\r\n");
        const size_t length = strcspn(key, " \t\r\n=");
        const char *value = key + length + strspn(key + length, " \t=");
        number++;
        if (*key && *key != '#' && (length == 0 || !*value || strchr("\r\n#", *value)))
            status = pl_fail(error, PL_E_INPUT, "%s:%d: a hint is a line KEY VALUE or KEY=VALUE; '#' begins a comment",
                             path, number);
    }
    if (status == PL_OK && ferror(stream))
        status = pl_fail_errno(error, errno, "cannot read the hints '%s'", path);
    fclose(stream);
    return status;
}

/* ---- one replay ---- */

/* Words of a command, ended by NULL; the number of ranks is written to `ranks`. */
static bool make_command(const struct choose_plan *plan, const struct choose_configuration *configuration,
                         const char *program, char ranks[24], struct predict_words *ret_words)
{
    const char *const words[] = {
        program, "replay", plan->model, "--on", configuration->on,     "--mpiio", configuration->mpiio, "--repeat",
        "1",     "-n",     ranks,       "-o",   configuration->results};
    bool ok = true;
    snprintf(ranks, 24, "%" PRId64, plan->ranks);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && ok; i++)
        ok = predict_words_add(ret_words, words[i]);
    if (ok && configuration->hints)
        ok = predict_words_add(ret_words, "--hints") && predict_words_add(ret_words, configuration->hints);
    for (int i = 0; ok && plan->more && plan->more[i]; i++)
        ok = predict_words_add(ret_words, plan->more[i]);
    return ok;
}

void choose_plan_print(const struct choose_plan *plan)
{
    printf("%d round%s of %d replay%s:\n", plan->rounds, plan->rounds == 1 ? "" : "s", plan->count,
           plan->count == 1 ? "" : "s");
    for (int i = 0; i < plan->count; i++) {
        struct predict_words words = {0};
        char ranks[24];
        if (make_command(plan, &plan->list[i], "piolet", ranks, &words))
            for (int w = 0; w < words.count; w++)
                printf("%s%s", w ? " " : "", words.list[w]);
        putchar('\n');
        predict_words_clear(&words);
    }
}

/* The child's tables would come between ours: what it measured is in its file. */
static void become_replay(void *context)
{
    const struct predict_words *words = context;
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
    }
    execv(words->list[0], (char *const *)words->list);
    _exit(CLI_NOT_FOUND);
}

/* Its exit status; -1: it could not be started. */
static int run_replay(struct predict_words *words)
{
    struct cli_child child = {.is_piolet = true};
    if (!cli_child_start(&child, true, become_replay, words))
        return -1;
    cli_child_follow(&child);
    return child.status;
}

static void name_configuration(const struct choose_configuration *configuration, struct text *text)
{
    text_add_escaped(text, configuration->on);
    text_format(text, ", %s", configuration->mpiio);
    if (configuration->hints) {
        text_add(text, ", ");
        text_add_escaped(text, configuration->hints);
    }
}

static void complain_of(const struct cli_verb *verb, const char *name, int status)
{
    if (status < 0)
        cli_complain(verb, "%s: the replay could not be started: %s", name, strerror(errno));
    else
        cli_complain(verb, "%s: the replay failed with exit status %d; the other configurations go on", name, status);
}

static void replay_one(const struct cli_verb *verb, struct choose_plan *plan,
                       struct choose_configuration *configuration, int round)
{
    char self[PATH_MAX], ranks[24];
    struct predict_words words = {0};
    struct text name = {0};
    name_configuration(configuration, &name);
    fprintf(stderr, "piolet choose: round %d of %d: %s\n", round + 1, plan->rounds, text_get(&name));
    int status = -1;
    if (cli_target_self(self) && make_command(plan, configuration, self, ranks, &words))
        status = run_replay(&words);
    plan->finished += status == CLI_OK;
    configuration->failed = status != 0 && !cli_child_signal();
    if (configuration->failed)
        complain_of(verb, text_get(&name), status);
    text_clear(&name);
    predict_words_clear(&words);
}

int choose_plan_run(const struct cli_verb *verb, struct choose_plan *plan)
{
    int status = CLI_OK;
    cli_child_take_signals();
    for (int round = 0; round < plan->rounds && !cli_child_signal(); round++)
        for (int i = 0; i < plan->count && !cli_child_signal(); i++) {
            /* there and back: what gets slower with time costs each the same */
            struct choose_configuration *next = &plan->list[round % 2 ? plan->count - 1 - i : i];
            if (!next->failed)
                replay_one(verb, plan, next, round);
            status |= next->failed ? CLI_FAILED : CLI_OK;
        }
    return status;
}
