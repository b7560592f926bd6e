/* Sanitizers make everything slow, and look at memory rather than at the last of many random cases: there they are
 * fewer by this factor. */
#ifndef PIOLET_TESTS_FEWER_H
#define PIOLET_TESTS_FEWER_H

#ifdef __SANITIZE_ADDRESS__
enum { FEWER = 5 };
#else
enum { FEWER = 1 };
#endif

#endif
