/* Numbers without a rule as text: differences in groups of 7 bits, in base64 (docs/model.md, packed lists). */
#include "model/model_formula.h"

#include "base/checked.h"
#include "base/text.h"
#include "model/model_fold.h"

#include <inttypes.h>
#include <string.h>

static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* Bits go in and out in the order of the bytes. */
struct packing {
    struct text *text;
    uint32_t bits;
    int count;
};

static void pack_byte(struct packing *packing, uint8_t byte)
{
    char digits[2];
    size_t length = 0;
    packing->bits = packing->bits << 8 | byte;
    for (packing->count += 8; packing->count >= 6; packing->count -= 6)
        digits[length++] = DIGITS[packing->bits >> (packing->count - 6) & 63];
    text_append(packing->text, digits, length);
}

static void pack_number(struct packing *packing, int64_t difference)
{
    uint64_t code = (uint64_t)difference << 1 ^ (difference < 0 ? UINT64_MAX : 0);
    for (; code >= 128; code >>= 7)
        pack_byte(packing, (uint8_t)(code | 128));
    pack_byte(packing, (uint8_t)code);
}

static void pack_end(struct packing *packing)
{
    if (packing->count > 0)
        text_append(packing->text, &DIGITS[packing->bits << (6 - packing->count) & 63], 1);
}

/* The next number; false: the digits end before it does, or it has more than 64 bits. */
static bool unpack_number(const char **text, struct packing *packing, const int8_t *values, int64_t *ret_difference)
{
    uint64_t code = 0;
    for (int shift = 0; shift < 70; shift += 7) {
        while (packing->count < 8) {
            const int8_t value = values[(unsigned char)**text];
            if (value < 0)
                return false;
            packing->bits = packing->bits << 6 | (uint8_t)value;
            packing->count += 6;
            ++*text;
        }
        packing->count -= 8;
        const uint32_t byte = packing->bits >> packing->count & 255;
        code |= (uint64_t)(byte & 127) << shift;
        if (shift == 63 && byte > 1)
            return false;
        if (byte < 128) {
            *ret_difference = (int64_t)(code >> 1 ^ (code & 1 ? UINT64_MAX : 0));
            return true;
        }
    }
    return false;
}

/* A run of equal numbers on its way. */
struct pack_run {
    int64_t number, before, length;
};

static void pack_end_run(struct packing *packing, struct pack_run *run)
{
    if (run->length == 0)
        return;
    pack_number(packing, wrapping_sub(run->number, run->before));
    pack_number(packing, run->length - 1);
    run->before = run->number;
    run->length = 0;
}

static bool pack_is_constant(const struct model_grid *grid)
{
    return grid->levels == 0 || (grid->levels == 1 && grid->stride[0] == 0);
}

/* How many runs of equal numbers there are; those of grids with strides are not looked for. */
static int64_t pack_count_runs(const struct model_seq *list)
{
    int64_t runs = 0;
    for (size_t i = 0; i < list->count; i++) {
        const struct model_grid *grid = &list->grids[i];
        runs += grid->levels == MODEL_GRID_LIST ? 0 : pack_is_constant(grid) ? 1 : model_grid_total(grid);
        for (int64_t at = 0; grid->levels == MODEL_GRID_LIST && at < grid->count[0]; at++)
            runs += at == 0 || model_seq_grid_at(list, grid, at) != model_seq_grid_at(list, grid, at - 1);
    }
    return runs;
}

bool model_pack(struct text *text, const struct model_seq *list, int64_t base)
{
    const int64_t total = model_seq_total(list), runs = pack_count_runs(list);
    const bool as_runs = runs <= total / 2;
    if (2 * (int64_t)list->value_count < (as_runs ? runs : total))
        return false;
    struct packing packing = {.text = text};
    struct pack_run run = {0};
    text_format(text, "[%c%" PRId64 ":", as_runs ? 'r' : 'z', total);
    for (size_t i = 0; i < list->count; i++) {
        const struct model_grid *grid = &list->grids[i];
        const int64_t grid_total = model_grid_total(grid), each = as_runs && pack_is_constant(grid) ? grid_total : 1;
        for (int64_t at = 0; at < grid_total; at += each) {
            const int64_t number = wrapping_sub(model_seq_grid_at(list, grid, at), base);
            if (as_runs && number != run.number)
                pack_end_run(&packing, &run);
            if (!as_runs)
                pack_number(&packing, wrapping_sub(number, run.number));
            run.number = number;
            run.length += as_runs ? each : 0;
        }
    }
    pack_end_run(&packing, &run);
    pack_end(&packing);
    text_add(text, "]");
    return true;
}

bool model_unpack(const char **text, int64_t count, bool runs, struct model_seq *list)
{
    int8_t values[256];
    struct packing packing = {0};
    int64_t number = 0, difference, more = 0;
    memset(values, -1, sizeof values);
    for (int i = 0; i < 64; i++)
        values[(unsigned char)DIGITS[i]] = (int8_t)i;
    for (int64_t done = 0; done < count; done += 1 + more) {
        if (!unpack_number(text, &packing, values, &difference) ||
            (runs && !unpack_number(text, &packing, values, &more)) || more < 0 || more > count - done - 1)
            return false;
        number = wrapping_add(number, difference);
        if (!model_seq_add_grid(list, (struct model_grid){.base = number, .levels = 1, .count = {more + 1}}))
            return false;
    }
    return true;
}
