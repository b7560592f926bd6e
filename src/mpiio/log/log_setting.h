/* What the environment says of logging. Internal to the log. */
#ifndef PIOLET_MPIIO_LOG_LOG_SETTING_H
#define PIOLET_MPIIO_LOG_LOG_SETTING_H

#include <stdbool.h>
#include <stdint.h>

struct log_setting {
    bool accesses; /* not only errors */
    int64_t above; /* -1: all */
    const char *folder;
};

/* False where nothing is to be logged. A wrong setting is told once on stderr if this rank `speaks`. */
bool log_setting_read(bool speaks, struct log_setting *ret_setting);

#endif
