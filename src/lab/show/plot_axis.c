/* Axes: ticks at round numbers, and their labels with units. */
#include "lab/show/plot_axis.h"

#include "base/units.h"

#include <math.h>
#include <string.h>

static size_t linear_ticks(const struct plot_axis *axis, int wanted, double ticks[PLOT_TICKS_MAX])
{
    const double rough = fmax((axis->max - axis->min) / wanted, axis->whole ? 1 : 0);
    const double magnitude = pow(10, floor(log10(rough)));
    const double part = rough / magnitude;
    const double step = (part <= 1 ? 1 : part <= 2 ? 2 : part <= 5 ? 5 : 10) * magnitude;
    const double tolerance = step * 1e-9;
    size_t count = 0;
    for (double i = ceil((axis->min - tolerance) / step); i * step <= axis->max + tolerance; i++) {
        if (count == PLOT_TICKS_MAX)
            break;
        ticks[count++] = i * step;
    }
    return count;
}

/* 1-2-5 in each decade, or 1 alone in every stride-th decade. */
static size_t decade_ticks(const struct plot_axis *axis, size_t part_count, int stride, double ticks[PLOT_TICKS_MAX])
{
    static const double parts[] = {1, 2, 5};
    size_t count = 0;
    for (int e = (int)floor(log10(axis->min)); e <= (int)ceil(log10(axis->max)); e++) {
        if (e % stride)
            continue;
        for (size_t p = 0; p < part_count; p++) {
            const double tick = parts[p] * pow(10, e);
            if (tick >= axis->min * (1 - 1e-9) && tick <= axis->max * (1 + 1e-9) && count < PLOT_TICKS_MAX)
                ticks[count++] = tick;
        }
    }
    return count;
}

/* Powers of two, every stride-th of them. */
static size_t binary_ticks(const struct plot_axis *axis, int wanted, double ticks[PLOT_TICKS_MAX])
{
    const int stride = (int)fmax(1, ceil(log2(axis->max / axis->min) / wanted));
    size_t count = 0;
    for (int e = (int)ceil(log2(axis->min) - 1e-9); e <= log2(axis->max) + 1e-9 && count < PLOT_TICKS_MAX; e++)
        if (e % stride == 0)
            ticks[count++] = exp2(e);
    return count;
}

static size_t log_ticks(const struct plot_axis *axis, int wanted, double ticks[PLOT_TICKS_MAX])
{
    const double decades = log10(axis->max / axis->min);
    const int stride = decades > wanted ? (int)ceil(decades / wanted) : 1;
    size_t count = 0;
    if (3 * decades > wanted + 1)
        count = decade_ticks(axis, 1, stride, ticks);
    if (count < 2)
        count = decade_ticks(axis, 3, 1, ticks);
    return count;
}

static size_t named_ticks(const struct plot_axis *axis, double ticks[PLOT_TICKS_MAX])
{
    size_t count = 0;
    for (; count < axis->name_count && count < PLOT_TICKS_MAX; count++)
        ticks[count] = (double)count;
    return count;
}

size_t plot_ticks(const struct plot_axis *axis, int wanted, double ticks[PLOT_TICKS_MAX])
{
    if (axis->names)
        return named_ticks(axis, ticks);
    if (!axis->log)
        return linear_ticks(axis, wanted, ticks);
    size_t count = axis->unit == PLOT_BINARY ? binary_ticks(axis, wanted, ticks) : log_ticks(axis, wanted, ticks);
    for (int more = wanted; count < 2 && more <= 4 * wanted; more *= 2) /* less than a decade: even steps */
        count = linear_ticks(axis, more, ticks);
    return count;
}

struct plot_axis plot_axis_mended(struct plot_axis axis)
{
    if (!isfinite(axis.min) || !isfinite(axis.max) || axis.max < axis.min) {
        axis.min = axis.log ? 1 : 0;
        axis.max = axis.log ? 10 : 1;
    }
    if (axis.log && axis.min <= 0)
        axis.min = axis.max > 1 ? 1 : axis.max > 0 ? axis.max / 10 : 1;
    if (axis.log && axis.max < axis.min * 1.02) {
        axis.min /= 1.5;
        axis.max = axis.min * 2.25;
    }
    if (!axis.log && axis.max - axis.min <= fabs(axis.max) * 1e-12) {
        const double margin = axis.max == 0 ? 1 : fabs(axis.max) * 0.5;
        axis.min = axis.min == 0 ? 0 : axis.min - margin;
        axis.max += margin;
    }
    return axis;
}

static const double FACTORS[] = {1, 1e3, 1e6, 1e9, 1e12};
enum { FACTOR_COUNT = sizeof FACTORS / sizeof FACTORS[0] };

/* A drawing has a letter for "micro", which a terminal may lack. */
static const char *plot_time_name(int power)
{
    return power == 1 ? "µs" : UNITS_TIME[power];
}

struct plot_scale plot_axis_scale(enum plot_unit unit, double magnitude)
{
    struct plot_scale scale = {1, ""};
    if (unit == PLOT_NUMBER || unit == PLOT_BINARY)
        return scale;
    const int count = unit == PLOT_TIME ? UNITS_TIMES : FACTOR_COUNT;
    for (int i = 0; i < count; i++)
        if (i == 0 || fabs(magnitude) >= FACTORS[i] * 0.9999)
            scale = (struct plot_scale){FACTORS[i], unit == PLOT_TIME ? plot_time_name(i) : UNITS_DECIMAL[i]};
    return scale;
}

/* 1234567 → 1 234 567, as narrow blanks would be lost in some viewers. */
static void group_digits(char text[PLOT_LABEL_MAX])
{
    const size_t sign = text[0] == '-';
    const size_t digits = strspn(text + sign, "0123456789");
    if (digits < 5)
        return;
    for (size_t place = sign + digits; place > sign + 3 && strlen(text) + 2 < PLOT_LABEL_MAX;) {
        place -= 3;
        memmove(text + place + 1, text + place, strlen(text + place) + 1);
        text[place] = ' ';
    }
}

void plot_axis_text(const struct plot_axis *axis, double tick, char text[PLOT_LABEL_MAX])
{
    if (axis->names) {
        snprintf(text, PLOT_LABEL_MAX, "%s", axis->names[(size_t)tick]);
        return;
    }
    if (axis->unit == PLOT_BINARY) {
        char size[UNITS_TEXT_MAX];
        snprintf(text, PLOT_LABEL_MAX, "%s", units_binary(llround(tick), size));
        return;
    }
    const double largest = fmax(fabs(axis->min), fabs(axis->max));
    const struct plot_scale scale = plot_axis_scale(axis->unit, axis->log ? tick : largest);
    const double value = fabs(tick) < largest * 1e-12 ? 0 : tick / scale.factor;
    snprintf(text, PLOT_LABEL_MAX, fabs(value) < 1e7 ? "%.7g" : "%.3g", value);
    group_digits(text);
    if (axis->log && scale.name[0]) {
        const size_t used = strlen(text);
        snprintf(text + used, PLOT_LABEL_MAX - used, " %s", scale.name);
    }
}

void plot_axis_title(const struct plot_axis *axis, char *title, size_t size)
{
    const struct plot_scale scale = plot_axis_scale(axis->unit, fmax(fabs(axis->min), fabs(axis->max)));
    if (axis->log || !scale.name[0])
        snprintf(title, size, "%s", axis->label);
    else
        snprintf(title, size, "%s (%s)", axis->label, scale.name);
}
