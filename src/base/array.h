/* Arrays that grow: an array, how many elements it has, and for how many there is room. */
#ifndef PIOLET_BASE_ARRAY_H
#define PIOLET_BASE_ARRAY_H

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* The array with twice the room, or at first with room for `first`; NULL: no memory, or more than `most`. The old one
 * stays then, and *room with it. */
static inline void *array_grow(void *array, size_t *room, size_t size, size_t first, size_t most)
{
    assert(size > 0 && first > 0);
    const size_t wanted = *room ? 2 * *room : first;
    if (wanted < *room || wanted > most || wanted > SIZE_MAX / 2 / size)
        return NULL;
    void *grown = realloc(array, wanted * size);
    if (grown)
        *room = wanted;
    return grown;
}

/* Whether `array` has, or gets, room for one more behind its `count` elements. `room` is a variable of any integer
 * type. False: no memory, and nothing has changed. Pointers into the array are void after it. */
#define ARRAY_ROOM(array, count, room, first)                                                                          \
    __extension__({                                                                                                    \
        assert((count) <= (room));                                                                                     \
        if ((count) == (room)) {                                                                                       \
            size_t room_ = (size_t)(room);                                                                             \
            const size_t most_ = sizeof(room) < sizeof(int64_t) ? INT32_MAX : SIZE_MAX / 2;                            \
            void *grown_ = array_grow((array), &room_, sizeof *(array), (first), most_);                               \
            if (grown_) {                                                                                              \
                (array) = grown_;                                                                                      \
                (room) = (__typeof__(room))room_;                                                                      \
            }                                                                                                          \
        }                                                                                                              \
        (count) < (room);                                                                                              \
    })

#endif
