#include "mpiio/log/log_setting.h"

#include "base/text.h"
#include "base/units.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool refuse(bool speaks, const char *variable, const char *value, const char *allowed)
{
    static atomic_flag told = ATOMIC_FLAG_INIT;
    if (!speaks || atomic_flag_test_and_set(&told))
        return false;
    struct text shown = {0};
    text_add_visible(&shown, value);
    fprintf(stderr, "piolet: %s is '%s'; allowed: %s; nothing is logged\n", variable, text_get(&shown), allowed);
    text_clear(&shown);
    return false;
}

bool log_setting_read(bool speaks, struct log_setting *ret_setting)
{
    const char *mode = getenv("PIOLET_LOG"), *above = getenv("PIOLET_LOG_ABOVE"), *folder = getenv("PIOLET_LOG_DIR");
    struct log_setting setting = {.above = -1, .folder = folder && *folder ? folder : "."};
    if (above && *above && !units_parse_size(above, &setting.above)) /* also where PIOLET_LOG was forgotten */
        return refuse(speaks, "PIOLET_LOG_ABOVE", above, "a number of bytes, with k, m, g or t behind it if wanted");
    if (!mode || !*mode)
        return false;
    setting.accesses = strcmp(mode, "all") == 0;
    if (!setting.accesses && strcmp(mode, "errors") != 0)
        return refuse(speaks, "PIOLET_LOG", mode, "errors, all");
    *ret_setting = setting;
    return true;
}
