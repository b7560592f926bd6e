/* Options, random numbers and messages of engine_fuzz. */
#include "engine_fuzz_base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct fuzz fuzz = {.seed = 1, .cases = 100, .alarm_s = 60};

enum kind { CALL, TYPE, CHECK };

static const struct row {
    enum kind kind;
    const char *name, *help;
} FEATURES[FEATURE_COUNT] = {
#define FEATURE(kind, name, help) {kind, #name, help},
#include "engine_fuzz_feature.h"
#undef FEATURE
};

void give_up(const char *why)
{
    fprintf(stderr, "engine_fuzz: %s\n", why);
    MPI_Abort(MPI_COMM_WORLD, 2);
    abort();
}

void *allocate(size_t bytes)
{
    void *memory = calloc(bytes ? bytes : 1, 1);
    if (!memory)
        give_up("no memory");
    return memory;
}

const char *fuzz_where(void)
{
    static char where[160];
    snprintf(where, sizeof where, "seed %llu case %lld step %d, rank %d of %d", (unsigned long long)fuzz.seed,
             (long long)fuzz.case_number, fuzz.step, fuzz.rank, fuzz.procs);
    return where;
}

static bool set_features(const char *list, bool value)
{
    char *copy = allocate(strlen(list) + 1), *rest = copy;
    bool all_known = true;
    strcpy(copy, list);
    for (char *name = strtok_r(copy, ", ", &rest); name; name = strtok_r(NULL, ", ", &rest)) {
        int i = 0;
        while (i < FEATURE_COUNT && strcmp(FEATURES[i].name, name) != 0)
            i++;
        if (i < FEATURE_COUNT) {
            fuzz.enabled[i] = value;
        } else {
            fprintf(stderr, "engine_fuzz: no feature '%s'\n", name);
            all_known = false;
        }
    }
    free(copy);
    return all_known;
}

static bool only_kinds(const char *list)
{
    for (int i = 0; i < FEATURE_COUNT; i++) {
        if (FEATURES[i].kind == CALL)
            fuzz.enabled[i] = false;
    }
    return set_features(list, true);
}

static void print_help(void)
{
    puts("engine_fuzz FILE [--seed S] [--cases N] [--first K] [--kinds LIST] [--avoid LIST] [--alarm SECONDS]\n"
         "            [--strategy NAME] [--quiet] [--verbose] [--faults] [--keep] [--large] [--unique]\n"
         "--kinds names the calls that are wanted, --avoid anything that is not:");
    for (int i = 0; i < FEATURE_COUNT; i++)
        printf("  %-15s %-6s %s\n", FEATURES[i].name, (const char *[]){"call", "type", "check"}[FEATURES[i].kind],
               FEATURES[i].help);
}

static bool flag_read(const char *name)
{
    const struct {
        const char *name;
        bool *value;
    } flags[] = {{"--quiet", &fuzz.quiet}, {"--verbose", &fuzz.verbose}, {"--faults", &fuzz.faults},
                 {"--keep", &fuzz.keep},   {"--large", &fuzz.large},     {"--unique", &fuzz.unique}};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) {
        if (strcmp(flags[i].name, name) == 0)
            return *flags[i].value = true;
    }
    return false;
}

/* By the environment, so that it holds for files that are opened without hints too. */
static bool set_strategy(const char *name)
{
    char hints[200];
    snprintf(hints, sizeof hints, "piolet_strategy=%s", name);
    fuzz.strategy = name;
    return setenv("PIOLET_HINTS", hints, 1) == 0;
}

static bool value_read(const char *name, const char *value)
{
    if (strcmp(name, "--seed") == 0)
        fuzz.seed = strtoull(value, NULL, 0);
    else if (strcmp(name, "--cases") == 0)
        fuzz.cases = strtoll(value, NULL, 0);
    else if (strcmp(name, "--first") == 0)
        fuzz.first = strtoll(value, NULL, 0);
    else if (strcmp(name, "--alarm") == 0)
        fuzz.alarm_s = atoi(value);
    else if (strcmp(name, "--strategy") == 0)
        return set_strategy(value);
    else if (strcmp(name, "--kinds") == 0)
        return only_kinds(value);
    else if (strcmp(name, "--avoid") == 0)
        return set_features(value, false);
    else
        return false;
    return true;
}

bool options_read(int argc, char **argv)
{
    for (int i = 0; i < FEATURE_COUNT; i++)
        fuzz.enabled[i] = true;
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] != '-' && !fuzz.path) {
            fuzz.path = argv[i];
        } else if (flag_read(argv[i])) {
            continue;
        } else if (i + 1 >= argc || !value_read(argv[i], argv[i + 1])) {
            fuzz.path = NULL;
            break;
        } else {
            i++;
        }
    }
    if (!fuzz.path)
        print_help();
    return fuzz.path != NULL;
}

uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2)); /* splitmix64's finish */
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

struct random random_of(uint64_t seed, uint64_t stream)
{
    return (struct random){mix(mix(seed, 0x5eed), stream)};
}

uint64_t random_next(struct random *random)
{
    random->state += UINT64_C(0x9e3779b97f4a7c15);
    return mix(random->state, 0);
}

int64_t random_between(struct random *random, int64_t low, int64_t high)
{
    return low + (int64_t)(random_next(random) % (uint64_t)(high - low + 1));
}

bool random_chance(struct random *random, int percent)
{
    return random_between(random, 0, 99) < percent;
}

int64_t random_size(struct random *random, int64_t most)
{
    const int64_t limit = random_chance(random, 25) ? most : most >> random_between(random, 0, 12);
    return random_between(random, 0, limit);
}
