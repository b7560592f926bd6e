/* What is printed, and the lines by which a job tells the process that watches it. */
#include "base/json.h"
#include "base/text.h"
#include "bench/rules/rules.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

enum { NAME = 24, SECTION = 9, INDENT = 4, LABEL = 10 };

static void rules_list_json(void)
{
    struct json json = {.stream = stdout};
    const struct rule *rule;
    json_array_begin(&json, NULL);
    for (int i = 0; (rule = rule_at(i)); i++) {
        json_row_begin(&json, NULL);
        json_put_string(&json, "name", rule->name);
        json_put_string(&json, "section", rule->section);
        json_put_string(&json, "rule", rule->text);
        json_put_int(&json, "ranks", rule->ranks);
        json_object_end(&json);
    }
    json_array_end(&json);
    putchar('\n');
}

void rules_list(bool json)
{
    const struct rule *rule;
    if (json) {
        rules_list_json();
        return;
    }
    printf("%-*s%-*s%s\n", NAME, "RULE", SECTION, "MPI-4.0", "TEXT");
    for (int i = 0; (rule = rule_at(i)); i++) {
        size_t column = text_print_cell(stdout, rule->name, 0, NAME);
        column = text_print_cell(stdout, rule->section, column, SECTION);
        text_print_wrapped(stdout, rule->text, column, NAME + SECTION);
    }
}

/* ---- findings ---- */

static void rules_count(const struct rules_report *report, int ret_counts[RULE_OUTCOMES])
{
    memset(ret_counts, 0, RULE_OUTCOMES * sizeof ret_counts[0]);
    for (int i = 0; i < RULES_MAX; i++)
        if (report->tried[i])
            ret_counts[report->findings[i].outcome]++;
}

bool rules_is_well(const struct rules_report *report)
{
    int counts[RULE_OUTCOMES];
    rules_count(report, counts);
    return counts[RULE_BROKEN] + counts[RULE_HANGS] + counts[RULE_CRASHES] == 0;
}

static void rules_print_words(const char *label, const char *words)
{
    if (!*words)
        return;
    printf("%*s%-*s", INDENT, "", LABEL, label);
    text_print_wrapped(stdout, words, INDENT + LABEL, INDENT + LABEL);
}

static void rules_print_finding(const struct rule *rule, const struct rule_finding *finding)
{
    const size_t column = text_print_cell(stdout, rule->name, 0, NAME);
    text_print_cell(stdout, rule->section, column, SECTION);
    puts(rule_outcome_name(finding->outcome));
    rules_print_words("rule", rule->text);
    rules_print_words("expected", finding->expected);
    rules_print_words("seen", finding->seen);
}

static void rules_print_fact(const char *key, const char *value)
{
    enum { KEY = 11 };
    text_print_wrapped(stdout, value, text_print_cell(stdout, key, 0, KEY), KEY);
}

static void rules_print_sum(const struct rules_report *report)
{
    int counts[RULE_OUTCOMES];
    rules_count(report, counts);
    printf("%d rule%s kept, %d broken", counts[RULE_KEPT], counts[RULE_KEPT] == 1 ? "" : "s", counts[RULE_BROKEN]);
    if (counts[RULE_HANGS])
        printf(", %d hang%s", counts[RULE_HANGS], counts[RULE_HANGS] == 1 ? "s" : "");
    if (counts[RULE_CRASHES])
        printf(", %d crash%s", counts[RULE_CRASHES], counts[RULE_CRASHES] == 1 ? "es" : "");
    if (counts[RULE_SKIPPED])
        printf(", %d not tried (too few ranks)", counts[RULE_SKIPPED]);
    putchar('\n');
}

static void rules_print_table(const struct rules_report *report)
{
    char ranks[16];
    bool head = false;
    snprintf(ranks, sizeof ranks, "%d", report->ranks);
    rules_print_fact("MPI", report->mpi);
    rules_print_fact("MPI-IO", report->mpiio);
    rules_print_fact("ranks", ranks);
    rules_print_fact("directory", report->directory);
    putchar('\n');
    for (int i = 0; i < RULES_MAX; i++) {
        const enum rule_outcome outcome = report->findings[i].outcome;
        if (!report->tried[i] || outcome == RULE_KEPT || outcome == RULE_SKIPPED)
            continue;
        if (!head)
            printf("%-*s%-*s%s\n", NAME, "RULE", SECTION, "MPI-4.0", "FINDING");
        head = true;
        rules_print_finding(rule_at(i), &report->findings[i]);
    }
    if (head)
        putchar('\n');
    rules_print_sum(report);
}

static void rules_print_json(const struct rules_report *report)
{
    struct json json = {.stream = stdout};
    int counts[RULE_OUTCOMES];
    rules_count(report, counts);
    json_object_begin(&json, NULL);
    json_put_string(&json, "mpi", report->mpi);
    json_put_string(&json, "mpiio", report->mpiio);
    json_put_int(&json, "ranks", report->ranks);
    json_put_string(&json, "directory", report->directory);
    for (int i = 0; i < RULE_OUTCOMES; i++)
        json_put_int(&json, rule_outcome_name((enum rule_outcome)i), counts[i]);
    json_array_begin(&json, "rules");
    for (int i = 0; i < RULES_MAX; i++) {
        const struct rule_finding *finding = &report->findings[i];
        if (!report->tried[i])
            continue;
        json_row_begin(&json, NULL);
        json_put_string(&json, "name", rule_at(i)->name);
        json_put_string(&json, "section", rule_at(i)->section);
        json_put_string(&json, "rule", rule_at(i)->text);
        json_put_string(&json, "outcome", rule_outcome_name(finding->outcome));
        json_put_string(&json, "expected", *finding->expected ? finding->expected : NULL);
        json_put_string(&json, "seen", *finding->seen ? finding->seen : NULL);
        json_object_end(&json);
    }
    json_array_end(&json);
    json_object_end(&json);
    putchar('\n');
}

void rules_print(const struct rules_report *report, bool json)
{
    if (json)
        rules_print_json(report);
    else
        rules_print_table(report);
}

/* ---- the progress file: lines of words, with tabs between ---- */

void rules_tell(FILE *progress, const char *word, const char *first, const struct rule_finding *finding)
{
    struct text line = {0};
    text_add(&line, word);
    text_add(&line, "\t");
    text_add_escaped(&line, first);
    if (finding) {
        text_format(&line, "\t%d\t", (int)finding->outcome);
        text_add_escaped(&line, finding->expected);
        text_add(&line, "\t");
        text_add_escaped(&line, finding->seen);
    }
    text_add(&line, "\n");
    fputs(text_get(&line), progress);
    fflush(progress);
    text_clear(&line);
}

static void rules_hear_end(struct rules_report *report, int index, char *rest)
{
    struct rule_finding *finding = &report->findings[index];
    const char *outcome = strsep(&rest, "\t"), *expected = strsep(&rest, "\t"), *seen = strsep(&rest, "\t");
    if (!seen)
        return;
    const int number = atoi(outcome);
    report->tried[index] = true;
    finding->outcome = number >= 0 && number < RULE_OUTCOMES ? (enum rule_outcome)number : RULE_CRASHES;
    snprintf(finding->expected, sizeof finding->expected, "%s", expected);
    snprintf(finding->seen, sizeof finding->seen, "%s", seen);
    text_unescape(finding->expected);
    text_unescape(finding->seen);
}

int rules_hear(struct rules_report *report, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *rest = line;
    const char *word = strsep(&rest, "\t");
    char *first = strsep(&rest, "\t");
    if (!first)
        return RULES_NOTHING;
    if (strcmp(word, "stop") == 0)
        return RULES_STOP;
    if (strcmp(word, "begin") == 0)
        return rule_find(first);
    if (strcmp(word, "end") == 0 && rule_find(first) >= 0 && rest)
        rules_hear_end(report, rule_find(first), rest);
    text_unescape(first);
    if (strcmp(word, "mpi") == 0)
        snprintf(report->mpi, sizeof report->mpi, "%s", first);
    if (strcmp(word, "mpiio") == 0)
        snprintf(report->mpiio, sizeof report->mpiio, "%s", first);
    return RULES_NOTHING;
}
