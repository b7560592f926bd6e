/* The values of b_eff_io, by the document's definitions, and those of release 2.1 beside them. Pure. MB = 10^6 bytes.
 *
 * A rate of NAN was not measured; what needs it is NAN too. */
#ifndef PIOLET_BENCH_BEFFIO_VALUE_H
#define PIOLET_BENCH_BEFFIO_VALUE_H

#include "bench/beffio/beffio_pattern.h"

struct beffio_rates {
    double type[BEFFIO_METHODS][BEFFIO_TYPES_ALL]; /* bytes / time from open to close, in MB/s */
};

/* Average of the pattern types, the scattering type twice. */
double beffio_method_value(const double type[BEFFIO_TYPES]);

/* 25 % initial write, 25 % rewrite, 50 % read. `order_2_0`: only type 0 was rewritten, and its value is the rewrite's.
 */
double beffio_partition_value(const struct beffio_rates *rates, bool order_2_0);

/* The rewrite value alone, as above. */
double beffio_rewrite_value(const struct beffio_rates *rates, bool order_2_0);

/* sqrt((5 write types + rewrite of type 0)/6 · (2 · type 0 + the 4 others of read)/6): what release 2.1 prints. */
double beffio_value_2_1(const struct beffio_rates *rates);

/* ---- honesty about caches ---- */

enum { BEFFIO_CACHE_FACTOR = 20 };

/* Share of the data of an access method that may never have reached the disk, 0 to 1. */
double beffio_cache_share(double bytes, double cache_bytes);

/* Minutes to move the whole memory at this rate: 10 on a well-balanced system. */
double beffio_coffee_minutes(double memory_bytes, double mb_per_s);

#endif
