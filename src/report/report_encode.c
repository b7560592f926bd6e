#include "report/report_encode.h"

#include "base/utf8.h"

#define ZLIB_CONST /* what is compressed is not written to */
#include <zlib.h>

enum { CHUNK = 3 * 16384, LEVEL = 6 };

struct base64 {
    FILE *stream;
    unsigned char rest[3];
    size_t rest_count;
};

static void put_three(FILE *stream, const unsigned char *from, size_t count)
{
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned second = count > 1 ? from[1] : 0, third = count > 2 ? from[2] : 0;
    fputc(DIGITS[from[0] >> 2], stream);
    fputc(DIGITS[(from[0] & 3U) << 4 | second >> 4], stream);
    fputc(count > 1 ? DIGITS[(second & 15U) << 2 | third >> 6] : '=', stream);
    fputc(count > 2 ? DIGITS[third & 63U] : '=', stream);
}

static void base64_add(struct base64 *base64, const unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        base64->rest[base64->rest_count++] = bytes[i];
        if (base64->rest_count == 3) {
            put_three(base64->stream, base64->rest, 3);
            base64->rest_count = 0;
        }
    }
}

static void base64_end(struct base64 *base64)
{
    if (base64->rest_count)
        put_three(base64->stream, base64->rest, base64->rest_count);
}

pl_status report_encode(const void *bytes, size_t count, FILE *stream, struct pl_error *error)
{
    struct base64 base64 = {.stream = stream};
    unsigned char out[CHUNK];
    z_stream z = {0};
    if (deflateInit(&z, LEVEL) != Z_OK)
        return pl_fail(error, PL_E_NOMEM, "not enough memory to compress the report");
    const unsigned char *from = bytes;
    int result = Z_OK;
    while (result != Z_STREAM_END) {
        if (z.avail_in == 0 && count > 0) { /* zlib counts in 32 bits */
            z.next_in = from;
            z.avail_in = (unsigned)(count < (1U << 30) ? count : 1U << 30);
            from += z.avail_in;
            count -= z.avail_in;
        }
        z.next_out = out;
        z.avail_out = sizeof out;
        result = deflate(&z, count > 0 ? Z_NO_FLUSH : Z_FINISH);
        base64_add(&base64, out, sizeof out - z.avail_out);
    }
    base64_end(&base64);
    deflateEnd(&z);
    return PL_OK;
}

void report_escape(const char *text, FILE *stream)
{
    utf8_put_markup(stream, text);
}
