#include "base/clock.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

struct timespec clock_after(clockid_t clock, int64_t ns)
{
    const int64_t moment_ns = clock_read_ns(clock) + ns;
    return (struct timespec){.tv_sec = moment_ns / 1000000000, .tv_nsec = moment_ns % 1000000000};
}

double clock_now_s(void)
{
    return (double)clock_read_ns(CLOCK_MONOTONIC) * 1e-9;
}

const char *clock_format(const char *format, int utc, char *text, size_t capacity)
{
    const time_t now = time(NULL);
    struct tm parts;
    if (strftime(text, capacity, format, utc ? gmtime_r(&now, &parts) : localtime_r(&now, &parts)) == 0)
        text[0] = '\0';
    return text;
}

const char *clock_stamp(char stamp[CLOCK_STAMP_MAX])
{
    return clock_format("%Y-%m-%dT%H:%M:%SZ", 1, stamp, CLOCK_STAMP_MAX);
}

struct clock_offset clock_offset_of(const struct clock_ping *pings, int count)
{
    int best = 0;
    assert(count > 0);
    for (int i = 1; i < count; i++)
        if (pings[i].received_ns - pings[i].sent_ns < pings[best].received_ns - pings[best].sent_ns)
            best = i;
    const int64_t way = pings[best].received_ns - pings[best].sent_ns, middle = pings[best].sent_ns + way / 2;
    return (struct clock_offset){
        .at_ns = middle, .offset_ns = pings[best].answered_ns - middle, .error_ns = way - way / 2};
}

int64_t clock_common_ns(const struct clock_offset *before, const struct clock_offset *after, int64_t local_ns)
{
    const double between = (double)(after->at_ns - before->at_ns);
    const int64_t apart = llabs(after->offset_ns - before->offset_ns);
    if (!(between > 0) || apart <= before->error_ns + after->error_ns) /* nothing says that they drift */
        return local_ns + (before->error_ns < after->error_ns ? before : after)->offset_ns;
    const double part = (double)(local_ns - before->at_ns) / between;
    return local_ns + before->offset_ns + llround(part * (double)(after->offset_ns - before->offset_ns));
}
