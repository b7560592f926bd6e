#include "base/units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const UNITS_DECIMAL[UNITS_SIZES] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
const char *const UNITS_BINARY[UNITS_SIZES] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
const char *const UNITS_TIME[UNITS_TIMES] = {"ns", "us", "ms", "s"};

bool units_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret_value)
{
    if (!isdigit((unsigned char)text[0]) && !((text[0] == '-' || text[0] == '+') && isdigit((unsigned char)text[1])))
        return false;
    char *end;
    errno = 0;
    const long long value = strtoll(text, &end, 10);
    if (errno || *end || value < min || value > max)
        return false;
    *ret_value = value;
    return true;
}

/* Only what strtod takes as plain decimal: it also accepts "0x1p3", "inf" and "nan(…)". */
static bool is_plain_decimal(const char *text, const char *end)
{
    for (const char *c = text; c < end; c++)
        if (!isdigit((unsigned char)*c) && !strchr("+-.eE", *c))
            return false;
    return end > text;
}

bool units_parse_number(const char *text, double *ret_value)
{
    char *end;
    const double value = strtod(text, &end);
    if (isspace((unsigned char)text[0]) || *end || !is_plain_decimal(text, end) || !isfinite(value))
        return false;
    *ret_value = value;
    return true;
}

bool units_parse_size(const char *text, int64_t *ret_bytes)
{
    char *end;
    double value = strtod(text, &end);
    if (isspace((unsigned char)text[0]) || !is_plain_decimal(text, end) || !isfinite(value) || value < 0)
        return false;
    static const char suffixes[] = "kmgt";
    if (*end) {
        const char *suffix = strchr(suffixes, tolower((unsigned char)*end));
        if (!suffix || end[1])
            return false;
        value *= exp2(10.0 * (double)(suffix - suffixes + 1));
    }
    if (value > 0x1p62)
        return false;
    *ret_bytes = (int64_t)value;
    return true;
}

const char *units_bytes(int64_t bytes, char buffer[UNITS_TEXT_MAX])
{
    double value = (double)bytes;
    size_t unit = 0;
    while (fabs(value) >= 999.5 && unit + 1 < UNITS_SIZES) {
        value /= 1000;
        unit++;
    }
    snprintf(buffer, UNITS_TEXT_MAX, unit == 0 ? "%.0f %s" : "%.3g %s", value, UNITS_DECIMAL[unit]);
    return buffer;
}

const char *units_binary(int64_t bytes, char buffer[UNITS_TEXT_MAX])
{
    enum { LEGIBLE = 10000 }; /* beyond it, "64000 KiB" is harder to read than "65.5 MB" */
    int64_t value = bytes;
    size_t unit = 0;
    while (value != 0 && value % 1024 == 0 && unit + 1 < UNITS_SIZES) {
        value /= 1024;
        unit++;
    }
    if (unit == 0 || value >= LEGIBLE || value <= -LEGIBLE)
        return units_bytes(bytes, buffer);
    snprintf(buffer, UNITS_TEXT_MAX, "%lld %s", (long long)value, UNITS_BINARY[unit]);
    return buffer;
}

const char *units_ns(double nanoseconds, char buffer[UNITS_TEXT_MAX])
{
    double value = nanoseconds;
    size_t unit = 0;
    while (fabs(value) >= 999.5 && unit + 1 < UNITS_TIMES) {
        value /= 1000;
        unit++;
    }
    snprintf(buffer, UNITS_TEXT_MAX, fabs(value) >= 999.5 ? "%.0f %s" : "%.3g %s", value, UNITS_TIME[unit]);
    return buffer;
}

const char *units_duration(double seconds, char buffer[UNITS_TEXT_MAX])
{
    const long whole = (long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(buffer, UNITS_TEXT_MAX, "%ld h %02ld min", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        snprintf(buffer, UNITS_TEXT_MAX, "%ld min %02ld s", whole / 60, whole % 60);
    else
        snprintf(buffer, UNITS_TEXT_MAX, "%ld s", whole);
    return buffer;
}

double units_rate_mb_per_s(double bytes, double nanoseconds)
{
    return nanoseconds > 0 ? bytes * 1e3 / nanoseconds : 0;
}
