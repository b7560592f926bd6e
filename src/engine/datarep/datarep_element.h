/* Single values between memory and external32, in runs of one kind. Pure: no MPI, no memory.
 *
 * Integers are two's complement, floating-point numbers IEEE 754, both with the most significant byte first; the x87's
 * 80 bits become binary128, which holds them exactly. Rules for what does not fit:
 *   integers        the nearest value that the other side has
 *   floating point  rounds to nearest, ties to even; a finite value beyond the range becomes infinite
 *   wide characters beyond U+FFFF become U+FFFD (the file has two bytes for each)
 *   truth values    0 stays 0, and everything else is 1: compilers differ in what their .TRUE. is
 * All but rounding is noted as a misfit. */
#ifndef PIOLET_ENGINE_DATAREP_ELEMENT_H
#define PIOLET_ENGINE_DATAREP_ELEMENT_H

#include <stdint.h>

enum datarep_class {
    DATAREP_BYTES, /* characters and whatever else is never converted */
    DATAREP_SIGNED,
    DATAREP_UNSIGNED,
    DATAREP_FLOAT,    /* IEEE binary16 … binary128 */
    DATAREP_EXTENDED, /* x87 */
    DATAREP_TRUTH,
    DATAREP_WIDE,
};

/* Converts n values; returns how many of them came before the first misfit (n where there is none). */
typedef int64_t datarep_converter(const char *from, char *to, int64_t n);

/* An element is one value of a datatype's signature. Complex ones have two parts, which are converted alike. */
struct datarep_kind {
    enum datarep_class class;
    int native_bytes, file_bytes; /* of the whole element */
    int parts;
    datarep_converter *encode, *decode;
};

enum { DATAREP_KIND_NONE = -1 };

/* The kind of such elements, a small number; DATAREP_KIND_NONE where no conversion is known. */
int datarep_kind_find(enum datarep_class class, int64_t native_bytes, int64_t file_bytes, int parts);
const struct datarep_kind *datarep_kind(int number); /* NULL where there is no such kind */

/* n elements of one kind; gives the number of elements before the first misfit. */
int64_t datarep_encode_run(const struct datarep_kind *kind, const char *native, char *file, int64_t n);
int64_t datarep_decode_run(const struct datarep_kind *kind, const char *file, char *native, int64_t n);

/* ---- values of 80 bits in 16 bytes, and doubles in single precision ---- */

int64_t datarep_encode_extended(const char *from, char *to, int64_t n);
int64_t datarep_decode_extended(const char *from, char *to, int64_t n);
int64_t datarep_encode_double_as_single(const char *from, char *to, int64_t n);
int64_t datarep_decode_double_from_single(const char *from, char *to, int64_t n);

#endif
