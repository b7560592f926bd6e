/* Everything that the page knows, as JSON and as columns of numbers behind it. */
#ifndef PIOLET_REPORT_PAYLOAD_H
#define PIOLET_REPORT_PAYLOAD_H

#include "report/report.h"

struct report_payload { /* both owned */
    char *json, *columns;
    size_t json_length, columns_length;
};

pl_status report_payload_make(struct report *report, struct report_payload *ret_payload, struct pl_error *error);
void report_payload_clear(struct report_payload *payload);

#endif
