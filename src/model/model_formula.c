#include "model/model_formula.h"

#include "base/array.h"
#include "base/checked.h"
#include "model/model_fold.h"

#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- formulas ---- */

enum kind { NUMBER, RANK, TURN, SUM, DIFFERENCE, PRODUCT, QUOTIENT, REMAINDER, LIST, CASES };

struct rank_case {
    struct model_ranks ranks;
    struct model_formula *value;
};

struct model_formula {
    enum kind kind;
    int height;                         /* of what is below it */
    int64_t number;                     /* NUMBER */
    struct model_formula *left, *right; /* operators; LIST: left is the index */
    struct model_seq list;              /* LIST */
    struct rank_case *cases;            /* CASES */
    size_t case_count;
    size_t case_room;
    bool ascends; /* each case is a range of ranks behind the one before */
};

struct parser {
    const char *text; /* what is left */
    struct pl_error *error;
    int depth;
    bool failed;
};

/* Brackets inside of each other; operators in a chain, which are a tree as high as the chain is long, with them. */
enum { DEPTH_MAX = 200, HEIGHT_MAX = 1000 };
#define LIST_MAX (INT64_C(1) << 53)

void model_formula_free(struct model_formula *formula)
{
    if (!formula)
        return;
    model_formula_free(formula->left);
    model_formula_free(formula->right);
    model_seq_clear(&formula->list);
    for (size_t i = 0; i < formula->case_count; i++) {
        model_ranks_clear(&formula->cases[i].ranks);
        model_formula_free(formula->cases[i].value);
    }
    free(formula->cases);
    free(formula);
}

/* ---- parsing ---- */

static struct model_formula *formula_parse_sum(struct parser *parser);

static void *formula_fail(struct parser *parser, const char *wanted)
{
    if (!parser->failed)
        pl_fail(parser->error, PL_E_FORMAT, "a formula has '%.20s' where %s is needed", parser->text, wanted);
    parser->failed = true;
    return NULL;
}

static struct model_formula *formula_make(struct parser *parser, enum kind kind)
{
    struct model_formula *formula = calloc(1, sizeof *formula);
    if (formula)
        formula->kind = kind;
    else if (!parser->failed)
        pl_fail(parser->error, PL_E_NOMEM, "not enough memory for a formula");
    parser->failed |= !formula;
    return formula;
}

/* `below` may be NULL: reading it failed. */
static struct model_formula *formula_above(struct model_formula *formula, struct model_formula *below)
{
    if (below && formula->height <= below->height)
        formula->height = below->height + 1;
    return below;
}

static bool formula_take(struct parser *parser, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(parser->text, word, length) != 0)
        return false;
    parser->text += length;
    return true;
}

static bool formula_take_number(struct parser *parser, int64_t *ret_number)
{
    char *end;
    const char *digits = parser->text + (*parser->text == '-');
    errno = 0;
    if (!isdigit((unsigned char)*digits))
        return false;
    *ret_number = strtoll(parser->text, &end, 10);
    if (errno != 0)
        return false;
    parser->text = end;
    return true;
}

/* ---- lists ---- */

/* Numbers without a rule, see model_pack.c. */
static bool formula_parse_packed(struct parser *parser, bool runs, struct model_seq *list)
{
    int64_t count;
    if (!formula_take_number(parser, &count) || count < 1 || !formula_take(parser, ":") ||
        count > LIST_MAX - model_seq_total(list))
        return formula_fail(parser, "how many numbers are packed");
    return model_unpack(&parser->text, count, runs, list) || formula_fail(parser, "packed numbers, as many as told");
}

static bool formula_parse_item(struct parser *parser, struct model_seq *list)
{
    if (formula_take(parser, "z"))
        return formula_parse_packed(parser, false, list);
    if (formula_take(parser, "r"))
        return formula_parse_packed(parser, true, list);
    struct model_grid grid = {.levels = 1, .count = {1}};
    if (!formula_take_number(parser, &grid.base))
        return formula_fail(parser, "a number of a list");
    if (formula_take(parser, "+") && !formula_take_number(parser, &grid.stride[0]))
        return formula_fail(parser, "the step of a list");
    if (formula_take(parser, "x") &&
        (!formula_take_number(parser, &grid.count[0]) || grid.count[0] < 1 || grid.count[0] > INT64_MAX / 2))
        return formula_fail(parser, "how often a number of a list counts");
    if (grid.count[0] > LIST_MAX - model_seq_total(list))
        return formula_fail(parser, "a list of fewer than 2^53 numbers");
    if (!model_seq_add_grid(list, grid))
        return formula_fail(parser, "more memory");
    return true;
}

static struct model_formula *formula_parse_list(struct parser *parser)
{
    struct model_formula *list = formula_make(parser, LIST);
    if (!list)
        return NULL;
    bool ok = true;
    do
        ok = formula_parse_item(parser, &list->list);
    while (ok && formula_take(parser, ","));
    if (ok && formula_take(parser, "][")) {
        list->left = formula_above(list, formula_parse_sum(parser));
        if (list->left && !formula_take(parser, "]"))
            formula_fail(parser, "']'");
    } else {
        formula_fail(parser, "'][' and the place in the list");
    }
    return list;
}

static bool formula_parse_case(struct parser *parser, struct model_formula *cases)
{
    if (!ARRAY_ROOM(cases->cases, cases->case_count, cases->case_room, 2))
        return formula_fail(parser, "more memory");
    struct rank_case *one = &cases->cases[cases->case_count];
    *one = (struct rank_case){0};
    if (model_ranks_parse(parser->text, &one->ranks, &parser->text, parser->error) != PL_OK) {
        parser->failed = true;
        return false;
    }
    cases->case_count++;
    if (!formula_take(parser, ":"))
        return formula_fail(parser, "':'");
    one->value = formula_above(cases, formula_parse_sum(parser));
    return one->value != NULL;
}

static struct model_formula *formula_parse_cases(struct parser *parser)
{
    struct model_formula *cases = formula_make(parser, CASES);
    if (!cases)
        return NULL;
    bool ok = true;
    do
        ok = formula_parse_case(parser, cases);
    while (ok && formula_take(parser, ";"));
    if (ok && !formula_take(parser, "}"))
        formula_fail(parser, "'}'");
    cases->ascends = cases->case_count > 0;
    for (size_t i = 0; i < cases->case_count && cases->ascends; i++) {
        const struct model_ranks *ranks = &cases->cases[i].ranks;
        cases->ascends = ranks->count == 1 &&
                         (i == 0 || ranks->ranges[0].first > cases->cases[i - 1].ranks.ranges[0].last);
    }
    return cases;
}

static struct model_formula *formula_parse_negative(struct parser *parser)
{
    struct model_formula *difference = formula_make(parser, DIFFERENCE);
    struct model_formula *zero = formula_make(parser, NUMBER);
    if (!difference || !zero) {
        free(zero);
        return difference;
    }
    difference->left = zero;
    parser->text++;
    return difference; /* the caller reads what is taken away */
}

static struct model_formula *formula_parse_factor(struct parser *parser)
{
    int64_t number;
    if (++parser->depth > DEPTH_MAX)
        return formula_fail(parser, "a formula that is not so deep");
    struct model_formula *formula = NULL;
    if (formula_take_number(parser, &number)) {
        if ((formula = formula_make(parser, NUMBER)))
            formula->number = number;
    } else if (*parser->text == '-') {
        if ((formula = formula_parse_negative(parser)))
            formula->right = formula_above(formula, formula_parse_factor(parser));
    } else if (formula_take(parser, "idP")) {
        formula = formula_make(parser, RANK);
    } else if (formula_take(parser, "n")) {
        formula = formula_make(parser, TURN);
    } else if (formula_take(parser, "[")) {
        formula = formula_parse_list(parser);
    } else if (formula_take(parser, "{")) {
        formula = formula_parse_cases(parser);
    } else if (formula_take(parser, "(")) {
        formula = formula_parse_sum(parser);
        if (formula && !formula_take(parser, ")"))
            formula_fail(parser, "')'");
    } else {
        formula_fail(parser, "a number, idP, n, '(', '[' or '{'");
    }
    parser->depth--;
    return formula;
}

static const struct {
    char sign;
    enum kind kind;
    bool binds; /* more tightly than a sum */
} OPERATORS[] = {
    {'+', SUM, false}, {'-', DIFFERENCE, false}, {'*', PRODUCT, true}, {'/', QUOTIENT, true}, {'%', REMAINDER, true}};

static bool formula_take_operator(struct parser *parser, bool binds, enum kind *ret_kind)
{
    for (size_t i = 0; i < sizeof OPERATORS / sizeof OPERATORS[0]; i++)
        if (OPERATORS[i].binds == binds && *parser->text == OPERATORS[i].sign) {
            *ret_kind = OPERATORS[i].kind;
            parser->text++;
            return true;
        }
    return false;
}

/* A chain of operators of one strength, from left to right. */
static struct model_formula *formula_parse_chain(struct parser *parser, bool binds)
{
    enum kind kind;
    struct model_formula *left = binds ? formula_parse_factor(parser) : formula_parse_chain(parser, true);
    while (left && !parser->failed && formula_take_operator(parser, binds, &kind)) {
        struct model_formula *both = formula_make(parser, kind);
        if (!both)
            break;
        both->left = formula_above(both, left);
        both->right = formula_above(both, binds ? formula_parse_factor(parser) : formula_parse_chain(parser, true));
        left = both;
        if (left->height > HEIGHT_MAX)
            formula_fail(parser, "a formula that is not so long");
    }
    return left;
}

static struct model_formula *formula_parse_sum(struct parser *parser)
{
    if (++parser->depth > DEPTH_MAX)
        return formula_fail(parser, "a formula that is not so deep");
    struct model_formula *formula = formula_parse_chain(parser, false);
    parser->depth--;
    return formula;
}

pl_status model_formula_parse(const char *text, const char *stops, struct model_formula **ret_formula,
                              const char **ret_end, struct pl_error *error)
{
    struct parser parser = {.text = text, .error = error};
    struct model_formula *formula = formula_parse_sum(&parser);
    if (!parser.failed && *parser.text && !(stops && strchr(stops, *parser.text)))
        formula_fail(&parser, "an operator or the end");
    if (parser.failed) {
        model_formula_free(formula);
        return error->status;
    }
    *ret_formula = formula;
    if (ret_end)
        *ret_end = parser.text;
    return PL_OK;
}

/* ---- values ---- */

static bool formula_operate(enum kind kind, int64_t a, int64_t b, int64_t *ret_value)
{
    switch (kind) {
    case SUM:
        return !__builtin_add_overflow(a, b, ret_value);
    case DIFFERENCE:
        return !__builtin_sub_overflow(a, b, ret_value);
    case PRODUCT:
        return !__builtin_mul_overflow(a, b, ret_value);
    default:
        if (b == 0 || (a == INT64_MIN && b == -1))
            return false;
        *ret_value = kind == QUOTIENT ? a / b : a % b;
        return true;
    }
}

static bool formula_case_value(const struct model_formula *formula, int64_t rank, int64_t n, int64_t *ret_value)
{
    size_t low = 0, high = formula->case_count;
    while (formula->ascends && high - low > 1) { /* the last one that does not begin behind it */
        const size_t middle = (low + high) / 2;
        *(formula->cases[middle].ranks.ranges[0].first <= rank ? &low : &high) = middle;
    }
    for (size_t i = low; i < high; i++)
        if (model_ranks_has(&formula->cases[i].ranks, rank))
            return model_formula_value(formula->cases[i].value, rank, n, ret_value);
    return false;
}

bool model_formula_value(const struct model_formula *formula, int64_t rank, int64_t n, int64_t *ret_value)
{
    int64_t a, b;
    switch (formula->kind) {
    case NUMBER:
        *ret_value = formula->number;
        return true;
    case RANK:
        *ret_value = rank;
        return true;
    case TURN:
        *ret_value = n;
        return true;
    case LIST:
        if (!model_formula_value(formula->left, rank, n, &a) || a < 0 || a >= model_seq_total(&formula->list))
            return false;
        *ret_value = model_seq_at(&formula->list, a);
        return true;
    case CASES:
        return formula_case_value(formula, rank, n, ret_value);
    default:
        return model_formula_value(formula->left, rank, n, &a) && model_formula_value(formula->right, rank, n, &b) &&
               formula_operate(formula->kind, a, b, ret_value);
    }
}

bool model_formula_has_turn(const struct model_formula *formula)
{
    if (!formula)
        return false;
    for (size_t i = 0; i < formula->case_count; i++)
        if (model_formula_has_turn(formula->cases[i].value))
            return true;
    return formula->kind == TURN || model_formula_has_turn(formula->left) || model_formula_has_turn(formula->right);
}
