/* What the trials of random datatypes share (mpi/datarep.c, mpi/typemap_decode.c): complaints with the line, memory
 * that is counted and may fail, and the numbers that types are made of. type_trial.c takes the place of engine/mem.c.
 */
#ifndef PIOLET_TESTS_TYPE_TRIAL_H
#define PIOLET_TESTS_TYPE_TRIAL_H

#include <stddef.h>
#include <stdint.h>

extern int failures;

#define EXPECT(condition, ...)                                                                                         \
    do {                                                                                                               \
        if (!(condition))                                                                                              \
            complain(__LINE__, __VA_ARGS__);                                                                           \
    } while (0)

/* After ten of them the program ends. */
void complain(int line, const char *format, ...) __attribute__((format(printf, 2, 3)));

extern _Atomic int64_t live_blocks;
extern int64_t fail_in; /* so many requests succeed, then one fails; -1: none does */

extern uint64_t seed;
uint64_t random64(void);
int pick(int low, int high); /* both are possible */

/* What a type was made by, behind what the text says already. */
void describe_in(char *text, size_t room, const char *format, ...) __attribute__((format(printf, 3, 4)));
#define describe(item, ...) describe_in((item)->text, sizeof(item)->text, __VA_ARGS__)

#endif
