#include "base/text.h"

#include "base/output.h"
#include "base/utf8.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void text_clear(struct text *text)
{
    free(text->data);
    *text = (struct text){0};
}

static bool text_reserve(struct text *text, size_t more)
{
    if (text->failed)
        return false;
    if (text->length + more + 1 <= text->capacity)
        return true;
    size_t capacity = text->capacity ? text->capacity : 128;
    while (capacity < text->length + more + 1)
        capacity *= 2;
    char *data = realloc(text->data, capacity);
    if (!data) {
        text->failed = true;
        return false;
    }
    text->data = data;
    text->capacity = capacity;
    return true;
}

void text_append(struct text *text, const char *bytes, size_t count)
{
    if (!text_reserve(text, count))
        return;
    memcpy(text->data + text->length, bytes, count);
    text->length += count;
    text->data[text->length] = '\0';
}

void text_add(struct text *text, const char *string)
{
    text_append(text, string, strlen(string));
}

void text_format(struct text *text, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    va_list again;
    va_copy(again, args);
    const int needed = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (needed >= 0 && text_reserve(text, (size_t)needed)) {
        vsnprintf(text->data + text->length, (size_t)needed + 1, format, again);
        text->length += (size_t)needed;
    }
    va_end(again);
}

/* One character, or a byte that is none, such that nothing acts upon it. */
static void add_shown(struct text *text, const char *c, int length, char escape)
{
    if (length > 0 && !utf8_is_control(c, length))
        text_append(text, c, (size_t)length);
    else if (*c == '\n' || *c == '\t')
        text_add(text, *c == '\n' ? "\\n" : "\\t");
    else if (*c == '\x1b' && escape)
        text_format(text, "\\%c", escape);
    else
        for (int i = 0; i < (length ? length : 1); i++)
            text_format(text, "\\x%02x", (unsigned char)c[i]);
}

void text_add_escaped(struct text *text, const char *string)
{
    for (const char *c = string; *c;) {
        const int length = utf8_length(c);
        if (*c == '\\')
            text_add(text, "\\\\");
        else
            add_shown(text, c, length, '\0');
        c += length ? length : 1;
    }
}

void text_add_visible(struct text *text, const char *string)
{
    for (const char *c = string; *c;) {
        const int length = utf8_length(c);
        add_shown(text, c, length, 'e');
        c += length ? length : 1;
    }
}

/* Bytes that the sequence at `c` should have, by its first one. */
static size_t wanted_length(unsigned char c)
{
    return c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 1;
}

size_t text_add_screen(struct text *text, const char *bytes, size_t count)
{
    size_t at = 0;
    while (at < count) {
        char here[5] = {0}; /* a sequence never reaches beyond what there is */
        const size_t left = count - at;
        memcpy(here, bytes + at, left < 4 ? left : 4);
        if (left < 4 && left < wanted_length((unsigned char)here[0]))
            break;
        const int length = utf8_length(here);
        if (here[0] == '\n' || here[0] == '\t')
            text_append(text, here, 1);
        else
            add_shown(text, here, length, 'e');
        at += length ? (size_t)length : 1;
    }
    return at;
}

void text_add_wrapped(struct text *text, const char *words, size_t column, size_t hang, size_t width)
{
    bool glued = true; /* no blank goes before the first word of a line */
    for (const char *at = words; *at;) {
        const size_t blanks = strspn(at, " "), bytes = strcspn(at + blanks, " \n");
        const size_t length = utf8_count(at + blanks, bytes), gap = glued ? 0 : 1;
        if (bytes && column + gap + length > width && column > hang) {
            text_format(text, "\n%*s", (int)hang, "");
            column = hang;
        } else if (bytes && gap) {
            text_add(text, " ");
            column++;
        }
        text_append(text, at + blanks, bytes);
        column += length;
        glued &= !bytes;
        at += blanks + bytes;
        if (*at == '\n') {
            text_format(text, "\n%*s", at[1] ? (int)hang : 0, "");
            column = hang;
            glued = true;
            at++;
        }
    }
}

void text_print_wrapped(FILE *stream, const char *words, size_t column, size_t hang)
{
    enum { WIDTH = 80 };
    struct text text = {0};
    text_add_wrapped(&text, words, column, hang, WIDTH);
    fprintf(stream, "%s\n", text_get(&text));
    text_clear(&text);
}

size_t text_print_cell(FILE *stream, const char *string, size_t column, size_t width)
{
    const size_t length = utf8_count(string, strlen(string));
    const size_t filled = length + 2 > width ? length + 2 : width;
    fprintf(stream, "%s%*s", string, (int)(filled - length), "");
    return column + filled;
}

void text_add_word(struct text *text, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
    const bool quoted = !*word || word[strspn(word, plain)];
    text_add(text, quoted ? "'" : "");
    for (; *word; word++)
        text_append(text, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
    text_add(text, quoted ? "'" : "");
}

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return -1;
}

bool text_unescape(char *string)
{
    char *out = string;
    for (const char *in = string; *in; in++) {
        if (*in != '\\') {
            *out++ = *in;
            continue;
        }
        in++;
        if (*in == 'n') {
            *out++ = '\n';
        } else if (*in == 't') {
            *out++ = '\t';
        } else if (*in == '\\') {
            *out++ = '\\';
        } else if (*in == 'x' && hex_digit(in[1]) >= 0 && hex_digit(in[2]) >= 0) {
            *out++ = (char)(hex_digit(in[1]) * 16 + hex_digit(in[2]));
            in += 2;
        } else {
            return false;
        }
    }
    *out = '\0';
    return true;
}

const char *text_get(const struct text *text)
{
    return text->data ? text->data : "";
}

char *text_dup(const char *string)
{
    return strdup(string ? string : "");
}

pl_status text_read_file(const char *path, struct text *text, struct pl_error *error)
{
    char buffer[65536];
    size_t length;
    output_reads(path);
    FILE *stream = fopen(path, "re");
    if (!stream)
        return pl_fail_errno(error, errno, "cannot read '%s'", path);
    while ((length = fread(buffer, 1, sizeof buffer, stream)) > 0)
        text_append(text, buffer, length);
    const int why = ferror(stream) ? errno : 0;
    fclose(stream);
    if (why)
        return pl_fail_errno(error, why, "cannot read '%s'", path);
    return text->failed ? pl_fail(error, PL_E_NOMEM, "not enough memory for '%s'", path) : PL_OK;
}
