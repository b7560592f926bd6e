/* Sizes and times as people write and read them. */
#ifndef PIOLET_BASE_UNITS_H
#define PIOLET_BASE_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNITS_TEXT_MAX = 32 };

/* The names of units, for whoever prints a number otherwise than the functions below. Each unit is 1000 times the one
 * before it, and of UNITS_BINARY 1024 times. */
enum { UNITS_SIZES = 7, UNITS_TIMES = 4 };
extern const char *const UNITS_DECIMAL[UNITS_SIZES]; /* B, kB, MB, ... */
extern const char *const UNITS_BINARY[UNITS_SIZES];  /* B, KiB, MiB, ... */
extern const char *const UNITS_TIME[UNITS_TIMES];    /* ns, us, ms, s */

/* A whole number with nothing behind it; false if it is not one or lies outside [min, max]. */
bool units_parse_int(const char *text, int64_t min, int64_t max, int64_t *ret_value);

/* A finite decimal number with nothing behind it (no hexadecimal, no "inf", no "nan"). */
bool units_parse_number(const char *text, double *ret_value);

/* Command line sizes: a number and optionally k, m, g or t (powers of 1024); false if it is none, negative, or
 * beyond 2^62 bytes. */
bool units_parse_size(const char *text, int64_t *ret_bytes);

/* "16.8 MB": decimal units, as everything that piolet prints. Writes into `buffer` and returns it. */
const char *units_bytes(int64_t bytes, char buffer[UNITS_TEXT_MAX]);

/* "64 KiB", "16 MiB" where the number is a whole one in them, else as units_bytes(): for sizes that were given in
 * powers of 1024, and come back as they were given. */
const char *units_binary(int64_t bytes, char buffer[UNITS_TEXT_MAX]);

/* "1.25 ms", "340 ns". */
const char *units_ns(double nanoseconds, char buffer[UNITS_TEXT_MAX]);

/* "3 min 05 s", "42 s": for time left. */
const char *units_duration(double seconds, char buffer[UNITS_TEXT_MAX]);

/* MB/s = 10^6 bytes a second; 0 when no time passed. */
double units_rate_mb_per_s(double bytes, double nanoseconds);

#endif
