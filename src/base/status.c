#include "base/status.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    const char *text;
} STATUS_TABLE[PL_STATUS_COUNT] = {
#define STATUS(name, text) [PL_##name] = {#name, text},
#include "base/status.def"
#undef STATUS
};

const char *pl_status_name(pl_status status)
{
    assert(status < PL_STATUS_COUNT);
    return STATUS_TABLE[status].name;
}

pl_status(pl_fail)(struct pl_error *error, pl_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    error->status = status;
    return status;
}

static pl_status status_of_errno(int errno_value)
{
    switch (errno_value) {
    case ENOSPC:
        return PL_E_SPACE;
    case EDQUOT:
        return PL_E_QUOTA;
    case ENOMEM:
        return PL_E_NOMEM;
    case EIO:
        return PL_E_IO;
    case ENOENT:
        return PL_E_NO_SUCH_FILE;
    case EEXIST:
        return PL_E_EXISTS;
    case EACCES:
    case EPERM:
        return PL_E_ACCESS;
    case EROFS:
        return PL_E_READ_ONLY;
    case ENAMETOOLONG:
    case ENOTDIR:
    case EISDIR:
    case ELOOP:
    case ENXIO:
        return PL_E_BAD_FILE;
    case EBUSY:
    case ETXTBSY:
        return PL_E_IN_USE;
    case EOPNOTSUPP:
    case ENOSYS:
        return PL_E_UNSUPPORTED;
    default:
        return PL_E_SYSTEM;
    }
}

pl_status pl_fail_errno(struct pl_error *error, int errno_value, const char *format, ...)
{
    char context[PL_ERROR_TEXT_MAX / 2];
    va_list args;
    va_start(args, format);
    vsnprintf(context, sizeof context, format, args);
    va_end(args);
    return pl_fail(error, status_of_errno(errno_value), "%s: %s", context, strerror(errno_value));
}

pl_status pl_within(struct pl_error *error, const char *format, ...)
{
    char inner[PL_ERROR_TEXT_MAX];
    memcpy(inner, error->text, sizeof inner);
    va_list args;
    va_start(args, format);
    const int used = vsnprintf(error->text, sizeof error->text, format, args);
    va_end(args);
    if (used >= 0 && (size_t)used < sizeof error->text)
        snprintf(error->text + used, sizeof error->text - (size_t)used, ": %.*s", PL_ERROR_TEXT_MAX - 3, inner);
    return error->status;
}
