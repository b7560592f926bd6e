#include "cli/choose_shell.h"

#include "base/memory.h"
#include "base/process.h"
#include "base/progress.h"
#include "cli/cli_target.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- the plan ---- */

void choose_plan_make(struct choose_plan *plan, const struct option_texts *places, const struct option_texts *mpiio,
                      const struct option_texts *hints, const char *directory)
{
    for (size_t p = 0; p < places->count; p++)
        for (size_t m = 0; m < mpiio->count; m++)
            for (size_t h = 0; h < hints->count; h++) {
                const char *text = strcmp(hints->values[h], "none") == 0 ? NULL : hints->values[h];
                plan->list = memory_grow(plan->list, (size_t)plan->count, sizeof *plan->list);
                plan->list[plan->count] = (struct choose_configuration){
                    places->values[p], mpiio->values[m], text,
                    memory_text("%s/choose-%d.out", directory, plan->count + 1), false};
                plan->count++;
            }
    assert((size_t)plan->count == places->count * mpiio->count * hints->count);
}

void choose_plan_clear(struct choose_plan *plan)
{
    for (int i = 0; i < plan->count; i++)
        free(plan->list[i].results);
    free(plan->list);
    *plan = (struct choose_plan){0};
}

/* ---- one replay ---- */

/* Words of a command, ended by NULL; the number of ranks is written to `ranks`. */
static struct option_texts choose_command(const struct choose_plan *plan,
                                          const struct choose_configuration *configuration, const char *program,
                                          char ranks[24])
{
    const char *const words[] = {
        program, "replay", plan->model, "--on", configuration->on,     "--mpiio", configuration->mpiio, "--repeat",
        "1",     "-n",     ranks,       "-o",   configuration->results};
    struct option_texts all = {0};
    snprintf(ranks, 24, "%" PRId64, plan->ranks);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        predict_words_add(&all, words[i]);
    if (configuration->hints) {
        predict_words_add(&all, "--hints");
        predict_words_add(&all, configuration->hints);
    }
    for (size_t i = 0; i < plan->more.count; i++)
        predict_words_add(&all, plan->more.values[i]);
    return all;
}

void choose_plan_print(const struct choose_plan *plan)
{
    printf("%d round%s of %d replay%s:\n", plan->rounds, plan->rounds == 1 ? "" : "s", plan->count,
           plan->count == 1 ? "" : "s");
    for (int i = 0; i < plan->count; i++) {
        char ranks[24];
        const struct option_texts words = choose_command(plan, &plan->list[i], "piolet", ranks);
        for (size_t w = 0; w < words.count; w++)
            printf("%s%s", w ? " " : "", words.values[w]);
        putchar('\n');
        free(words.values);
    }
}

/* The child's tables would come between ours: what it measured is in its file. */
static void choose_become_replay(void *context)
{
    const struct option_texts *words = context;
    const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0) {
        dup2(nowhere, STDIN_FILENO);
        dup2(nowhere, STDOUT_FILENO);
    }
    execv(words->values[0], (char *const *)words->values);
    _exit(CLI_NOT_FOUND);
}

/* Its exit status; -1: it could not be started. */
static int choose_run_replay(struct option_texts *words)
{
    struct process child = {.is_piolet = true};
    if (!process_start(&child, true, choose_become_replay, words))
        return -1;
    process_follow(&child);
    return child.status;
}

static void choose_name(const struct choose_configuration *configuration, struct text *text)
{
    text_add_escaped(text, configuration->on);
    text_format(text, ", %s", configuration->mpiio);
    if (configuration->hints) {
        text_add(text, ", ");
        text_add_escaped(text, configuration->hints);
    }
}

static void choose_complain_of(const struct cli_verb *verb, const char *name, int status)
{
    if (status < 0)
        cli_complain(verb, "%s: the replay could not be started: %s", name, strerror(errno));
    else
        cli_complain(verb, "%s: the replay failed with exit status %d; the other configurations go on", name, status);
}

static void choose_replay_one(const struct cli_verb *verb, struct choose_plan *plan,
                              struct choose_configuration *configuration, int round, struct progress *progress)
{
    char self[PATH_MAX], ranks[24];
    struct text name = {0}, label = {0};
    assert(round < plan->rounds && !configuration->failed);
    choose_name(configuration, &name);
    text_format(&label, "round %d of %d: %s", round + 1, plan->rounds, text_get(&name));
    if (!progress_speaks(progress)) /* no terminal, or nothing is known of the time yet */
        fprintf(stderr, "piolet choose: %s\n", text_get(&label));
    progress_step(progress, text_get(&label), 1);
    text_clear(&label);
    int status = -1;
    if (process_self(self)) {
        struct option_texts words = choose_command(plan, configuration, self, ranks);
        status = choose_run_replay(&words);
        free(words.values);
    }
    plan->finished += status == CLI_OK;
    configuration->failed = status != 0 && !process_signal();
    if (configuration->failed)
        choose_complain_of(verb, text_get(&name), status);
    text_clear(&name);
}

int choose_plan_run(const struct cli_verb *verb, struct choose_plan *plan)
{
    int status = CLI_OK;
    struct progress progress;
    const int64_t replays = (int64_t)plan->rounds * plan->count;
    progress_begin(&progress, PROGRESS_AUTO, replays, (double)replays);
    process_take_signals();
    for (int round = 0; round < plan->rounds && !process_signal(); round++)
        for (int i = 0; i < plan->count && !process_signal(); i++) {
            /* there and back: what gets slower with time costs each the same */
            struct choose_configuration *next = &plan->list[round % 2 ? plan->count - 1 - i : i];
            if (next->failed)
                progress_skip(&progress, 1);
            else
                choose_replay_one(verb, plan, next, round, &progress);
            status |= next->failed ? CLI_FAILED : CLI_OK;
        }
    assert(plan->finished <= replays);
    return status;
}
