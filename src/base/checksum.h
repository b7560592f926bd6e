/* Whether a checksum told in a file is that of its bytes.
 *
 * Fuzz targets (tests/fuzz) are built with PIOLET_FUZZ and take every checksum for right: a random change would else
 * end there, and nothing behind it would ever be tried. No program that is installed has it. */
#ifndef PIOLET_BASE_CHECKSUM_H
#define PIOLET_BASE_CHECKSUM_H

#include <stdbool.h>

static inline bool checksum_agrees(bool is_equal)
{
#ifdef PIOLET_FUZZ
    (void)is_equal;
    return true;
#else
    return is_equal;
#endif
}

#endif
