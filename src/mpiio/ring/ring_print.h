/* Is a stretch of bytes covered exactly once? Answered by one number, whatever the order and the number of pieces.
 *
 * Take any function f of places, and sum f(begin) - f(end) over all pieces. Where the pieces tile [a, b), each end but
 * the last is another's begin, and the sum is f(a) - f(b). Now let f be a hash. If the sum is f(a) - f(b), then (but
 * for one case in 2^64) the begins together with b are the same multiset as the ends together with a. The number of
 * pieces above a place x is the number of begins up to x less the number of ends up to x: it is that of the one piece
 * [a, b), 1 inside and 0 outside. So nothing is missing and nothing overlaps. */
#ifndef PIOLET_MPIIO_RING_PRINT_H
#define PIOLET_MPIIO_RING_PRINT_H

#include <stdint.h>

static inline uint64_t ring_print_at(int64_t place)
{
    /* A full mixer: every bit of the place moves every bit of the hash, so that regular places do not cancel. */
    uint64_t x = (uint64_t)place + UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

static inline uint64_t ring_print_piece(int64_t begin, int64_t bytes)
{
    return ring_print_at(begin) - ring_print_at(begin + bytes);
}

#endif
