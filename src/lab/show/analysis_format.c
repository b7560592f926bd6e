#include "lab/show/analysis_format.h"

#include "base/units.h"
#include "lab/result/analysis_select.h"
#include "lab/show/show.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char ANALYSIS_ERROR_TEXT[] = "90 % confidence, from the means of 20 consecutive batches of the region";
const char ANALYSIS_RATE_TEXT[] = "bytes of all ranks / time in which at least one of them was in such a call, on one "
                                  "clock; first start to last end: / all of that time, pauses included; by "
                                  "calls: / longest sum of one rank's times in calls; MB = 10^6 bytes";
const char ANALYSIS_ASYMPTOTIC_TEXT[] = "the same rate over the second half of the region";

const char *analysis_cell(double value, int digits, char cell[ANALYSIS_CELL_MAX])
{
    return show_cell(value, digits, cell);
}

const char *analysis_estimate_text(struct analysis_estimate estimate, char *text, size_t size)
{
    if (!isfinite(estimate.value)) {
        snprintf(text, size, "-");
        return text;
    }
    const double fine = isfinite(estimate.error) && estimate.error > 0 ? estimate.error : estimate.value / 100;
    int decimals = fine > 0 ? 1 - (int)floor(log10(fine)) : 0;
    decimals = decimals < 0 ? 0 : decimals > 6 ? 6 : decimals;
    if (isfinite(estimate.error))
        snprintf(text, size, "%.*f ± %.*f", decimals, estimate.value, decimals, estimate.error);
    else
        snprintf(text, size, "%.*f (no error)", decimals, estimate.value);
    return text;
}

const char *analysis_bytes_text(double bytes, char *buffer)
{
    return units_bytes(bytes < 0x1p63 ? (int64_t)bytes : INT64_MAX, buffer);
}

struct analysis_time_unit analysis_time_unit(double typical_ns)
{
    static const double ns[UNITS_TIMES] = {1, 1e3, 1e6, 1e9};
    size_t i = 0;
    while (i + 1 < UNITS_TIMES && typical_ns >= ns[i + 1])
        i++;
    return (struct analysis_time_unit){ns[i], UNITS_TIME[i]};
}

void analysis_csv_field(FILE *csv, const char *value)
{
    show_csv_field(csv, value);
}

/* ---- a set ---- */

void analysis_print_place(const char *mpiio, const char *filesystem, FILE *text)
{
    fprintf(text, "\n  MPI-IO %.32s, file system %.20s\n", mpiio && *mpiio ? mpiio : "?",
            filesystem && *filesystem ? filesystem : "?");
}

/* ---- overlap ---- */

static const struct {
    char direction;
    const char *name;
} DIRECTIONS[] = {{'w', "write"}, {'r', "read"}};

enum { DIRECTION_COUNT = sizeof DIRECTIONS / sizeof DIRECTIONS[0] };
