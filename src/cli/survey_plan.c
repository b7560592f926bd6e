/* The steps of a survey. */
#include "cli/survey.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAME(words)                                                                                                    \
    {                                                                                                                  \
        words, words, words                                                                                            \
    }

const struct survey_step SURVEY_STEPS[] = {
    {"peak",
     "what the device can do",
     SURVEY_LIMITS,
     "peak",
     {"{work} --quick --size 16m -o {out}/peak.out", "{work} --quick -o {out}/peak.out", "{work} -o {out}/peak.out"},
     {2, 4, 1800},
     NULL},
    {"curves",
     "blocks and files of many sizes",
     SURVEY_CURVES,
     "run",
     SAME("-n {n} {out}/curves.in --set filename={work}/curves.dat -o {out}/curves.out"),
     {1, 6, 600},
     "curves.in"},
    {"rawdata",
     "every operation of the curves",
     SURVEY_CURVES,
     "analyze",
     {NULL, "rawdata {out}/curves.out -o {out}/rawdata.svg", "rawdata {out}/curves.out -o {out}/rawdata.svg"},
     {0, 0.2, 10},
     "curves.out"},
    {"distribution",
     "distribution of the curves' times",
     SURVEY_CURVES,
     "analyze",
     {NULL, "distribution {out}/curves.out -o {out}/distribution.svg",
      "distribution {out}/curves.out -o {out}/distribution.svg"},
     {0, 0.2, 10},
     "curves.out"},
    {"allav",
     "rates of the curves",
     SURVEY_CURVES,
     "analyze",
     SAME("allav {out}/curves.out -o {out}/allav.svg"),
     {0.2, 0.2, 10},
     "curves.out"},
    {"kernels",
     "kernels of the test suite",
     SURVEY_KERNELS,
     "run",
     SAME("-n {n} {out}/kernels.in --set filename={work}/kernels.dat -o {out}/kernels.out"),
     {1, 2, 120},
     "kernels.in"},
    {"kernel",
     "rates of the kernels",
     SURVEY_KERNELS,
     "analyze",
     SAME("kernel {out}/kernels.out -o {out}/kernels.svg"),
     {0.2, 0.2, 2},
     "kernels.out"},
    {"strategies",
     "collective I/O: ours and the system's",
     SURVEY_STRATEGIES,
     "piobench",
     {"-n {n} -f {work}/piobench.dat -d CYCLIC -a naive,system,auto -b 4k -s 2m --max-trials 3 -o {out}/strategies.out",
      "-n {n} -f {work}/piobench.dat -d CYCLIC -d BLOCK,BLOCK,BLOCK -a naive,system,auto,cbx -b 256,4k,64k -s 4m "
      "--max-trials 3 -o {out}/strategies.out",
      "-n {n} -f {work}/piobench.dat -o {out}/strategies.out"},
     {0.5, 2, 1800},
     NULL},
    {"piobench",
     "rates of collective I/O",
     SURVEY_STRATEGIES,
     "analyze",
     SAME("piobench {out}/strategies.out -o {out}/strategies.svg"),
     {0.2, 0.2, 5},
     "strategies.out"},
    {"beff",
     "communication: b_eff",
     SURVEY_BEFF,
     "beff",
     {"-n {n} --quick -o {out}/beff.out", "-n {n} --quick --plot {out}/beff.svg -o {out}/beff.out",
      "-n {n} --plot {out}/beff.svg -o {out}/beff.out"},
     {1, 1, 300},
     NULL},
    {"beffio",
     "one number for the I/O: b_eff_io",
     SURVEY_BEFFIO,
     "beffio",
     {"-n {n} --quick -T 1 -p {work} -o {out}/beffio.out", "-n {n} --quick -p {work} -o {out}/beffio.out",
      "-n {n} -T 15m -p {work} -o {out}/beffio.out"},
     {4, 13, 1000},
     NULL},
    {"beffio-plot",
     "diagrams of b_eff_io",
     SURVEY_BEFFIO,
     "analyze",
     SAME("beffio {out}/beffio.out -o {out}/beffio.svg"),
     {0.2, 0.2, 2},
     "beffio.out"},
    {"trace",
     "BT-IO, traced",
     SURVEY_APP,
     "trace",
     {"-n {square} -o {out}/btio.trace {self} btio -c S -f {work}/btio.dat -o {out}/btio.out",
      "-n {square} -o {out}/btio.trace {self} btio -c W -f {work}/btio.dat -o {out}/btio.out",
      "-n {square} -o {out}/btio.trace {self} btio -c B -f {work}/btio.dat -o {out}/btio.out"},
     {0.5, 0.5, 60},
     NULL},
    {"model",
     "its I/O phases",
     SURVEY_APP,
     "model",
     SAME("{out}/btio.trace -o {out}/btio.model --plot {out}/btio.svg"),
     {0.2, 0.2, 1},
     "btio.trace"},
    {"replay",
     "its phases, replayed here",
     SURVEY_APP,
     "replay",
     {"{out}/btio.model --on {work} -o {out}/replay.out", "{out}/btio.model --on {work} --repeat 2 -o {out}/replay.out",
      "{out}/btio.model --on {work} --repeat 3 -o {out}/replay.out"},
     {0.5, 1, 200},
     "btio.model"},
    {"predict",
     "its I/O time, predicted",
     SURVEY_APP,
     "predict",
     SAME("{out}/btio.model {out}/replay.out ?--peak={out}/peak.out --measured={out}/btio.trace "
          "-o {out}/prediction.out"),
     {0.2, 0.2, 1},
     "replay.out"},
    {0},
};

bool survey_step_wanted(const struct survey_step *step, const struct survey_request *request)
{
    return step->words[request->form] && !request->without[step->part];
}

/* ---- commands ---- */

void survey_command_add(struct survey_command *command, const char *word)
{
    char **more = realloc(command->words, (command->count + 2) * sizeof *more);
    char *copy = text_dup(word);
    if (more)
        command->words = more;
    if (!more || !copy) {
        command->failed = true;
        free(copy);
        return;
    }
    command->words[command->count++] = copy;
    command->words[command->count] = NULL;
}

void survey_command_clear(struct survey_command *command)
{
    for (size_t i = 0; i < command->count; i++)
        free(command->words[i]);
    free(command->words);
    *command = (struct survey_command){0};
}

void survey_command_text(const struct survey_command *command, struct text *text)
{
    for (size_t i = 0; i < command->count; i++) {
        text_add(text, i ? " " : "");
        text_add_word(text, command->words[i]);
    }
}

/* The word with what its {names} stand for. */
static void fill_in(const char *word, size_t length, const struct survey_places *places, struct text *text)
{
    char ranks[16], square[16];
    snprintf(ranks, sizeof ranks, "%d", places->ranks);
    snprintf(square, sizeof square, "%d", places->square);
    const struct {
        const char *name, *value;
    } names[] = {{"{n}", ranks},
                 {"{square}", square},
                 {"{out}", places->out},
                 {"{work}", places->work},
                 {"{self}", places->self}};
    for (const char *end = word + length; word < end;) {
        size_t i = 0;
        while (i < sizeof names / sizeof names[0] && strncmp(word, names[i].name, strlen(names[i].name)) != 0)
            i++;
        if (i < sizeof names / sizeof names[0]) {
            text_add(text, names[i].value);
            word += strlen(names[i].name);
        } else {
            text_append(text, word++, 1);
        }
    }
}

static void add_filled(struct survey_command *command, const char *word, size_t length,
                       const struct survey_places *places)
{
    struct text text = {0};
    const bool optional = word[0] == '?';
    fill_in(word + optional, length - optional, places, &text);
    const char *equals = strchr(text_get(&text), '=');
    command->failed = command->failed || text.failed;
    if (!optional || (equals && access(equals + 1, R_OK) == 0))
        survey_command_add(command, text_get(&text));
    text_clear(&text);
}

void survey_step_command(const struct survey_step *step, const struct survey_request *request,
                         const struct survey_places *places, struct survey_command *ret_command)
{
    survey_command_add(ret_command, places->self);
    survey_command_add(ret_command, step->verb);
    for (const char *word = step->words[request->form]; *word; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        add_filled(ret_command, word, length, places);
        word += length;
    }
}
