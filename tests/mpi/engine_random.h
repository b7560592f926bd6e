/* What the programs that draw their cases share: how a failure, and what is being done, are told. */
#ifndef ENGINE_RANDOM_H
#define ENGINE_RANDOM_H

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

/* Tells a failure, where it was ("seed 1 case 2 step 3, rank 0 of 4") and what was being done. */
__attribute__((format(printf, 4, 5))) static inline void random_complain(int *failures, const char *where,
                                                                         const char *doing, const char *format, ...)
{
    enum { MOST = 8 }; /* one mistake may show in every byte */
    char text[1024];
    va_list arguments;
    if (++*failures > MOST)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fprintf(stderr, "%s: %s\n    %s\n", where, text, doing);
}

/* Notes what is being done; tells it, too, where `where` is not NULL. */
__attribute__((format(printf, 4, 5))) static inline void random_doing(char *doing, size_t room, const char *where,
                                                                      const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(doing, room, format, arguments);
    va_end(arguments);
    if (where)
        fprintf(stderr, "%s: %s\n", where, doing);
}

#endif
