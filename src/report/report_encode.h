/* Bytes as text that can stand in any HTML: deflated (zlib's format, as browsers open it), then base64. */
#ifndef PIOLET_REPORT_ENCODE_H
#define PIOLET_REPORT_ENCODE_H

#include "base/status.h"

#include <stddef.h>
#include <stdio.h>

pl_status report_encode(const void *bytes, size_t count, FILE *stream, struct pl_error *error);

/* Text as text: <, >, &, quotes and apostrophes become entities; other control characters than tab and line end go. */
void report_escape(const char *text, FILE *stream);

#endif
