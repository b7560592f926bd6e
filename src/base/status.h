/* One status type for all of piolet, and the message that travels with a failure.
 *
 * Functions return pl_status and take a struct pl_error for the words. The function that first notices a
 * failure writes the message with pl_fail(); every layer above may put its own context before it with
 * pl_within(). Nobody below the command line prints or exits. */
#ifndef PIOLET_BASE_STATUS_H
#define PIOLET_BASE_STATUS_H

typedef enum pl_status {
#define STATUS(name, text) PL_##name,
#include "base/status.def"
#undef STATUS
    PL_STATUS_COUNT
} pl_status;

enum { PL_ERROR_TEXT_MAX = 1024 };

struct pl_error {
    pl_status status;
    char text[PL_ERROR_TEXT_MAX];
};

const char *pl_status_name(pl_status status);

/* Sets status and message; returns `status`, so that `return pl_fail(…)` reads well. */
pl_status pl_fail(struct pl_error *error, pl_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same for a failed system call: appends ": " and the text of errno_value. */
pl_status pl_fail_errno(struct pl_error *error, int errno_value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the message of a failure; returns its status. */
pl_status pl_within(struct pl_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

#ifdef __clang_analyzer__ /* it does not look into other files, and would follow paths on which a failure is none */
#define pl_fail(error, status, ...) ((pl_fail)(error, status, __VA_ARGS__), (status))
#endif

#endif
