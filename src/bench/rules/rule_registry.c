#include "bench/rules/rule.h"

#include "mpi/coll.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRY(area) extern const struct rule rule_area_##area[];
#include "bench/rules/rule.def"
#undef ENTRY

#define ENTRY(area) rule_area_##area,
static const struct rule *const AREAS[] = {
#include "bench/rules/rule.def" /* NOLINT(readability-duplicate-include) */
    NULL,
};
#undef ENTRY

/* ---- rules that are never kept ---- */

static void hang_coll(struct rule_context *test)
{
    while (test->rank == 0)
        pause();
}

static void crash_coll(struct rule_context *test)
{
    if (test->rank == test->nprocs - 1)
        raise(SIGKILL);
}

static void broken_coll(struct rule_context *test)
{
    rule_same(test, "ranks", test->nprocs, 0);
}

static const struct rule TRIALS[] = {
    {"hang", "0", "A rule that is never done.", 1, hang_coll},
    {"crash", "0", "A rule that ends the program.", 1, crash_coll},
    {"broken", "0", "A rule that nobody keeps.", 1, broken_coll},
};

static const struct rule *registry_trial(void)
{
    const char *name = getenv("PIOLET_DOCTOR_TEST");
    for (size_t i = 0; name && i < sizeof TRIALS / sizeof TRIALS[0]; i++)
        if (strcmp(TRIALS[i].name, name) == 0)
            return &TRIALS[i];
    return NULL;
}

/* ---- all rules ---- */

const struct rule *rule_at(int index)
{
    const struct rule *first = registry_trial();
    if (first && index-- == 0)
        return first;
    for (int area = 0; AREAS[area]; area++)
        for (const struct rule *rule = AREAS[area]; rule->name; rule++)
            if (index-- == 0)
                return rule;
    return NULL;
}

int rule_find(const char *name)
{
    const struct rule *rule;
    for (int i = 0; (rule = rule_at(i)); i++)
        if (strcmp(rule->name, name) == 0)
            return i;
    return -1;
}

const char *rule_outcome_name(enum rule_outcome outcome)
{
    static const char *const names[RULE_OUTCOMES] = {"kept", "broken", "skipped", "hangs", "crashes"};
    return names[outcome];
}

/* Words of the first rank that saw something wrong: "expected\nseen". */
static void take_words(struct rule_finding *finding, const char *text)
{
    const char *line = strchr(text, '\n');
    const int length = line ? (int)(line - text) : (int)strlen(text);
    snprintf(finding->expected, sizeof finding->expected, "%.*s", length, text);
    snprintf(finding->seen, sizeof finding->seen, "%s", line ? line + 1 : "");
}

void rule_run_coll(const struct rule *rule, MPI_Comm comm, const char *folder, struct rule_finding *ret_finding)
{
    struct rule_context test = {.comm = comm};
    struct coll_verdict verdict;
    struct pl_error error = {.status = PL_OK};
    *ret_finding = (struct rule_finding){.outcome = RULE_KEPT};
    MPI_Comm_rank(comm, &test.rank);
    MPI_Comm_size(comm, &test.nprocs);
    if (test.nprocs < rule->ranks) {
        ret_finding->outcome = RULE_SKIPPED;
        return;
    }
    snprintf(test.path, sizeof test.path, "%s/%s", folder, rule->name);
    rule->run_coll(&test);
    if (test.broken)
        pl_fail(&error, PL_E_DATA, "%s\non rank %d: %s", test.expected, test.rank, test.seen);
    coll_agree_coll(comm, test.broken ? PL_E_DATA : PL_OK, &error, &verdict);
    if (verdict.failed) {
        ret_finding->outcome = RULE_BROKEN;
        take_words(ret_finding, verdict.text);
    }
    if (test.rank == 0)
        unlink(test.path);
    MPI_Barrier(comm);
}
