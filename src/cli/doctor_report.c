/* What doctor --mpiio prints, and the lines by which a job tells the process that watches it. */
#include "base/json.h"
#include "base/text.h"
#include "cli/cli_wrap.h"
#include "cli/doctor_mpiio.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

enum { NAME = 24, SECTION = 9, INDENT = 4, LABEL = 10 };

static void list_json(void)
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

void doctor_list(bool json)
{
    const struct rule *rule;
    if (json) {
        list_json();
        return;
    }
    printf("%-*s%-*s%s\n", NAME, "RULE", SECTION, "MPI-4.0", "TEXT");
    for (int i = 0; (rule = rule_at(i)); i++) {
        int column = cli_wrap_cell(rule->name, 0, NAME);
        column = cli_wrap_cell(rule->section, column, SECTION);
        cli_wrap(rule->text, column, NAME + SECTION);
    }
}

/* ---- findings ---- */

static void count(const struct doctor_report *report, int ret_counts[RULE_OUTCOMES])
{
    memset(ret_counts, 0, RULE_OUTCOMES * sizeof ret_counts[0]);
    for (int i = 0; i < DOCTOR_RULES_MAX; i++)
        if (report->tried[i])
            ret_counts[report->findings[i].outcome]++;
}

bool doctor_is_well(const struct doctor_report *report)
{
    int counts[RULE_OUTCOMES];
    count(report, counts);
    return counts[RULE_BROKEN] + counts[RULE_HANGS] + counts[RULE_CRASHES] == 0;
}

static void print_words(const char *label, const char *words)
{
    if (!*words)
        return;
    printf("%*s%-*s", INDENT, "", LABEL, label);
    cli_wrap(words, INDENT + LABEL, INDENT + LABEL);
}

static void print_finding(const struct rule *rule, const struct rule_finding *finding)
{
    const int column = cli_wrap_cell(rule->name, 0, NAME);
    cli_wrap_cell(rule->section, column, SECTION);
    puts(rule_outcome_name(finding->outcome));
    print_words("rule", rule->text);
    print_words("expected", finding->expected);
    print_words("seen", finding->seen);
}

static void print_fact(const char *key, const char *value)
{
    enum { KEY = 11 };
    cli_wrap(value, cli_wrap_cell(key, 0, KEY), KEY);
}

static void print_sum(const struct doctor_report *report)
{
    int counts[RULE_OUTCOMES];
    count(report, counts);
    printf("%d rule%s kept, %d broken", counts[RULE_KEPT], counts[RULE_KEPT] == 1 ? "" : "s", counts[RULE_BROKEN]);
    if (counts[RULE_HANGS])
        printf(", %d hang%s", counts[RULE_HANGS], counts[RULE_HANGS] == 1 ? "s" : "");
    if (counts[RULE_CRASHES])
        printf(", %d crash%s", counts[RULE_CRASHES], counts[RULE_CRASHES] == 1 ? "es" : "");
    if (counts[RULE_SKIPPED])
        printf(", %d not tried (too few ranks)", counts[RULE_SKIPPED]);
    putchar('\n');
}

static void print_table(const struct doctor_report *report)
{
    char ranks[16];
    bool head = false;
    snprintf(ranks, sizeof ranks, "%d", report->ranks);
    print_fact("MPI", report->mpi);
    print_fact("MPI-IO", report->mpiio);
    print_fact("ranks", ranks);
    print_fact("directory", report->directory);
    putchar('\n');
    for (int i = 0; i < DOCTOR_RULES_MAX; i++) {
        const enum rule_outcome outcome = report->findings[i].outcome;
        if (!report->tried[i] || outcome == RULE_KEPT || outcome == RULE_SKIPPED)
            continue;
        if (!head)
            printf("%-*s%-*s%s\n", NAME, "RULE", SECTION, "MPI-4.0", "FINDING");
        head = true;
        print_finding(rule_at(i), &report->findings[i]);
    }
    if (head)
        putchar('\n');
    print_sum(report);
}

static void print_json(const struct doctor_report *report)
{
    struct json json = {.stream = stdout};
    int counts[RULE_OUTCOMES];
    count(report, counts);
    json_object_begin(&json, NULL);
    json_put_string(&json, "mpi", report->mpi);
    json_put_string(&json, "mpiio", report->mpiio);
    json_put_int(&json, "ranks", report->ranks);
    json_put_string(&json, "directory", report->directory);
    for (int i = 0; i < RULE_OUTCOMES; i++)
        json_put_int(&json, rule_outcome_name((enum rule_outcome)i), counts[i]);
    json_array_begin(&json, "rules");
    for (int i = 0; i < DOCTOR_RULES_MAX; i++) {
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

void doctor_print(const struct doctor_report *report, bool json)
{
    if (json)
        print_json(report);
    else
        print_table(report);
}

/* ---- the progress file: lines of words, with tabs between ---- */

void doctor_tell(FILE *progress, const char *word, const char *first, const struct rule_finding *finding)
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

static void hear_end(struct doctor_report *report, int index, char *rest)
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

int doctor_hear(struct doctor_report *report, char *line)
{
    line[strcspn(line, "\n")] = '\0';
    char *rest = line;
    const char *word = strsep(&rest, "\t");
    char *first = strsep(&rest, "\t");
    if (!first)
        return DOCTOR_NOTHING;
    if (strcmp(word, "stop") == 0)
        return DOCTOR_STOP;
    if (strcmp(word, "begin") == 0)
        return rule_find(first);
    if (strcmp(word, "end") == 0 && rule_find(first) >= 0 && rest)
        hear_end(report, rule_find(first), rest);
    text_unescape(first);
    if (strcmp(word, "mpi") == 0)
        snprintf(report->mpi, sizeof report->mpi, "%s", first);
    if (strcmp(word, "mpiio") == 0)
        snprintf(report->mpiio, sizeof report->mpiio, "%s", first);
    return DOCTOR_NOTHING;
}
