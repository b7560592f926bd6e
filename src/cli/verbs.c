/* The table of verbs: those of verb.def, and every benchmark. */
#include "base/memory.h"
#include "base/variables.h"
#include "bench/bench.h"
#include "cli/cli_bench.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ENTRY(name) extern const struct cli_verb cli_verb_##name;
#include "cli/verb.def"
#undef ENTRY

static const struct cli_verb *const VERBS[] = {
#define ENTRY(name) &cli_verb_##name,
#include "cli/verb.def"
#undef ENTRY
    NULL};

/* Of each benchmark, in the order of BENCHES. */
static struct cli_verb verbs_of_benches[CLI_VERBS_MAX];

const struct cli_verb *const *cli_verbs(void)
{
    static const struct cli_verb *all[CLI_VERBS_MAX];
    static char names[CLI_VERBS_MAX][32];
    size_t count = 0;
    if (all[0])
        return all;
    for (size_t i = 0; BENCHES[i]; i++) {
        const struct bench *bench = BENCHES[i];
        const bool is_verb = !(bench->takes & BENCH_NO_VERB);
        assert(i < CLI_VERBS_MAX - 1);
        snprintf(names[i], sizeof names[i], "%s%s", is_verb ? "" : "bench ", bench->name);
        verbs_of_benches[i] = (struct cli_verb){.name = names[i], .summary = bench->summary, .bench = bench};
        if (is_verb)
            all[count++] = &verbs_of_benches[i];
    }
    for (const struct cli_verb *const *verb = VERBS; *verb; verb++) {
        assert(count < CLI_VERBS_MAX - 1);
        all[count++] = *verb;
    }
    return all;
}

const struct cli_verb *cli_verb_find(const char *name)
{
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        if (strcmp((*verb)->name, name) == 0)
            return *verb;
    return NULL;
}

const struct cli_verb *cli_verb_of_bench(const char *name)
{
    cli_verbs();
    for (size_t i = 0; BENCHES[i]; i++)
        if (strcmp(BENCHES[i]->name, name) == 0)
            return &verbs_of_benches[i];
    return NULL;
}

const char *cli_verb_nearest(const char *name)
{
    const char *names[CLI_VERBS_MAX];
    size_t count = 0;
    for (const struct cli_verb *const *verb = cli_verbs(); *verb; verb++)
        names[count++] = (*verb)->name;
    names[count] = NULL;
    return variables_nearest(name, names);
}

int cli_run_verb(const struct cli_verb *verb, int argc, char **argv)
{
    if (verb->bench)
        return cli_bench_main(verb, argc, argv);
    if (verb->run)
        return verb->run(argc, argv);
    assert(verb->act && verb->values_size);
    struct options options;
    void *values = memory_new(1, verb->values_size);
    if (verb->values)
        memcpy(values, verb->values, verb->values_size);
    int status = cli_options(verb, argc, argv, values, &options);
    if (status == CLI_OK)
        status = verb->act(values, &(struct cli_line){&options, argc, argv});
    options_clear(&options);
    free(values);
    return status;
}
