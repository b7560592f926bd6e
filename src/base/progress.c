#include "base/progress.h"

#include "base/clock.h"
#include "base/units.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const double SILENT_S = 2, KNOWN_S = 0.1;

void progress_begin(struct progress *progress, enum progress_when when, int64_t steps, double weight)
{
    assert(steps >= 0 && weight >= 0);
    const char *from_launcher = getenv("PIOLET_PROGRESS"); /* it sees the terminal that ranks do not */
    *progress = (struct progress){.when = when, .steps = steps, .weight = weight, .began_s = clock_now_s()};
    if (when == PROGRESS_AUTO && !(from_launcher ? strcmp(from_launcher, "always") == 0 : isatty(STDERR_FILENO)))
        progress->when = PROGRESS_NEVER;
}

double progress_left_s(const struct progress *progress)
{
    const double elapsed_s = clock_now_s() - progress->began_s;
    const double done = progress->done + progress->part * progress->last;
    if ((elapsed_s < KNOWN_S && progress->when != PROGRESS_ALWAYS) || done <= 0 || progress->weight <= done)
        return -1;
    return elapsed_s * (progress->weight / done - 1);
}

bool progress_speaks(const struct progress *progress)
{
    return progress->when == PROGRESS_ALWAYS ||
           (progress->when == PROGRESS_AUTO && clock_now_s() - progress->began_s >= SILENT_S);
}

static void progress_print(struct progress *progress, const char *label, int percent)
{
    const double left_s = progress_left_s(progress);
    char text[UNITS_TEXT_MAX] = "", part[16] = "";
    if (!progress_speaks(progress))
        return;
    if (left_s >= 0)
        units_duration(left_s, text);
    if (percent >= 0)
        snprintf(part, sizeof part, ", %d %%", percent);
    fprintf(stderr, "[%lld/%lld] %s%s%s%s%s\n", (long long)progress->step, (long long)progress->steps, label, part,
            *text ? "; about " : "", text, *text ? " left" : "");
    progress->told_s = clock_now_s();
}

void progress_step(struct progress *progress, const char *label, double weight)
{
    progress->step++;
    progress->done += progress->last;
    progress->last = weight;
    progress->part = 0;
    progress_print(progress, label, -1);
}

void progress_part(struct progress *progress, const char *label, double part)
{
    assert(part >= 0 && part <= 1);
    progress->part = part;
    if (clock_now_s() - progress->told_s >= 1)
        progress_print(progress, label, (int)(part * 100));
}

void progress_skip(struct progress *progress, double weight)
{
    progress->step++;
    progress->weight -= weight;
}
