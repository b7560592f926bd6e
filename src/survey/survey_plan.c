/* The steps of a survey. */
#include "bench/iot/iot.h"
#include "survey/survey.h"

#include "base/memory.h"
#include "bench/bench.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SAME(words)                                                                                                    \
    {                                                                                                                  \
        words, words, words                                                                                            \
    }

static const struct survey_step STEPS[] = {
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
     {"-n {n} -f {work}/piobench.dat -d CYCLIC -a naive,system,auto -b 4k -s 2m --max-repeat 3 -o {out}/strategies.out",
      "-n {n} -f {work}/piobench.dat -d CYCLIC -d BLOCK,BLOCK,BLOCK -a naive,system,auto,cbx -b 256,4k,64k -s 4m "
      "--max-repeat 3 -o {out}/strategies.out",
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

/* Benchmarks with a row stand behind the table: a new one is in the survey without a line here. */
const struct survey_step *survey_steps(void)
{
    enum { STEPS_MAX = 64 };
    static struct survey_step all[STEPS_MAX];
    size_t count = 0;
    if (all[0].name)
        return all;
    for (; STEPS[count].name; count++)
        all[count] = STEPS[count];
    for (const struct bench *const *bench = BENCHES; *bench; bench++) {
        const struct bench_survey *survey = (*bench)->survey;
        if (!survey)
            continue;
        assert(count < STEPS_MAX - 1);
        all[count] = (struct survey_step){
            .name = (*bench)->name, .title = (*bench)->summary, .part = SURVEY_BENCHES, .verb = (*bench)->name};
        for (int form = 0; form < SURVEY_FORMS; form++) {
            all[count].words[form] = survey->words[form];
            all[count].seconds[form] = survey->seconds[form];
        }
        count++;
    }
    return all;
}

bool survey_step_wanted(const struct survey_step *step, const struct survey_request *request)
{
    assert(request->form < SURVEY_FORMS && step->part < SURVEY_PARTS);
    return step->words[request->form] && !request->without[step->part];
}

/* ---- commands ---- */

void survey_command_add(struct survey_command *command, const char *word)
{
    command->words = memory_more(command->words, command->count + 2, sizeof *command->words);
    command->words[command->count++] = memory_copy(word);
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
static void survey_fill_in(const char *word, size_t length, const struct survey_places *places, struct text *text)
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
            assert(*word != '{'); /* our own tables: each name is known */
            text_append(text, word++, 1);
        }
    }
}

static void survey_add_filled(struct survey_command *command, const char *word, size_t length,
                              const struct survey_places *places)
{
    struct text text = {0};
    const bool optional = word[0] == '?';
    survey_fill_in(word + optional, length - optional, places, &text);
    const char *equals = strchr(text_get(&text), '=');
    if (!optional || (equals && access(equals + 1, R_OK) == 0))
        survey_command_add(command, text_get(&text));
    text_clear(&text);
}

void survey_step_command(const struct survey_step *step, const struct survey_request *request,
                         const struct survey_places *places, struct survey_command *ret_command)
{
    assert(survey_step_wanted(step, request) && ret_command->count == 0);
    survey_command_add(ret_command, places->self);
    survey_command_add(ret_command, step->verb);
    for (const char *word = step->words[request->form]; *word; word += strspn(word, " ")) {
        const size_t length = strcspn(word, " ");
        survey_add_filled(ret_command, word, length, places);
        word += length;
    }
}

/* ---- the keyword files ---- */

struct survey_sizes {
    int repeat;
    const char *curves; /* file and block sizes in MB, each with its count */
    int edge;           /* of a matrix: ranks times so many elements, by so many; a cube has 1/8 of it */
    const char *blocks; /* of nonseq */
    double file_mb;     /* of nonseq and sharedfp */
};

static const struct survey_sizes SIZES[SURVEY_FORMS] = {
    [SURVEY_QUICK] = {1, "numfilesize 1\nfilesize 2\nnumblocksize 2\nblocksize 0.064 1\n", 128,
                      "numblocksize 1\nblocksize 0.064\n", 2},
    [SURVEY_DEFAULT] = {2, "numfilesize 2\nfilesize 16 64\nnumblocksize 3\nblocksize 0.004 0.064 4\n", 512,
                        "numblocksize 2\nblocksize 0.004 0.064\n", 16},
    [SURVEY_FULL] = {5, "numfilesize 3\nfilesize 16 128 1024\nnumblocksize 5\nblocksize 0.004 0.016 0.064 1 4\n", 2048,
                     "numblocksize 2\nblocksize 0.004 0.064\n", 256},
};

static void survey_begin_block(struct text *text, const char *class_name, const char *testname, const char *file,
                               int repeat)
{
    text_format(text, "\nclassname %s\ntestname %s\nfilename %s\nrepeat %d\n", class_name, testname, file, repeat);
}

void survey_curves(const struct survey_request *request, struct text *text)
{
    static const struct {
        const char *test, *collective;
    } tests[] = {
        {"sinunix", ""}, {"single", ""}, {"multiple", "collective false\n"}, {"multiple", "collective true\n"}};
    const struct survey_sizes *sizes = &SIZES[request->form];
    text_add(text,
             "# One process and all, plain UNIX and MPI-IO, small blocks and large ones. Sizes in MB = 10^6 bytes.\n"
             "timingsfilename curves.out\n");
    for (size_t i = 0; i < sizeof tests / sizeof tests[0]; i++) {
        survey_begin_block(text, IOT_CLASSES[IOT_LOWLEVEL].name, tests[i].test, "curves.dat", sizes->repeat);
        text_format(text, "%s%s", sizes->curves, tests[i].collective);
    }
}

void survey_kernels(const struct survey_request *request, struct text *text)
{
    const struct survey_sizes *sizes = &SIZES[request->form];
    const int edge = sizes->edge, ranks = request->ranks;
    assert(ranks > 0 && edge % 8 == 0);
    text_add(text, "# How programs access files: matrices, random places, the shared file pointer.\n"
                   "timingsfilename kernels.out\n");
    for (int collective = 0; collective < 2; collective++) {
        survey_begin_block(text, IOT_CLASSES[IOT_KERNEL].name, "matrix2D", "kernels.dat", sizes->repeat);
        text_format(text, "numsizes 1\nxsize %d\nysize %d\nnumprocgrids 1\nxproc %d\nyproc 1\ncollective %s\n",
                    ranks * edge, edge, ranks, collective ? "true" : "false");
    }
    survey_begin_block(text, IOT_CLASSES[IOT_KERNEL].name, "matrix3D", "kernels.dat", sizes->repeat);
    text_format(
        text, "numsizes 1\nxsize %d\nysize %d\nzsize %d\nnumprocgrids 1\nxproc %d\nyproc 1\nzproc 1\ncollective true\n",
        ranks * edge / 8, edge / 4, edge / 8, ranks);
    survey_begin_block(text, IOT_CLASSES[IOT_KERNEL].name, "gatherscat2D", "kernels.dat", sizes->repeat);
    text_format(text, "numsizes 1\nxsize %d\nysize %d\nnumprocgrids 1\nxproc %d\nyproc 1\n", ranks * edge, edge, ranks);
    survey_begin_block(text, IOT_CLASSES[IOT_KERNEL].name, "transpose", "kernels.dat", sizes->repeat);
    text_format(text, "numsizes 1\nxsize %d\nysize %d\ncollective true\n", ranks * edge / 2, ranks * edge / 2);
    survey_begin_block(text, IOT_CLASSES[IOT_KERNEL].name, "nonseq", "kernels.dat", sizes->repeat);
    text_format(text, "filesize %g\n%snumupdate 1\nupdate_frac 0.5\n", sizes->file_mb, sizes->blocks);
    survey_begin_block(text, IOT_CLASSES[IOT_KERNEL].name, "sharedfp", "kernels.dat", sizes->repeat);
    text_format(text, "filesize %g\nnumblocksize 1\nblockmin 0.004\nblockmax 0.064\n", sizes->file_mb);
}
