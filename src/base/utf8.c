#include "base/utf8.h"

#include <stddef.h>

int utf8_length(const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    if (s[0] < 0x80)
        return 1;
    const int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    if (s[0] < 0xc2 || s[0] > 0xf4)
        return 0;
    for (int i = 1; i < length; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] >= 0xa0) || (s[0] == 0xf0 && s[1] < 0x90) ||
        (s[0] == 0xf4 && s[1] >= 0x90))
        return 0;
    return length;
}

uint32_t utf8_character(const char *string, int length)
{
    const unsigned char *s = (const unsigned char *)string;
    if (length <= 1)
        return s[0];
    uint32_t character = s[0] & (0xffU >> (length + 1));
    for (int i = 1; i < length; i++)
        character = character << 6 | (s[i] & 0x3fU);
    return character;
}

size_t utf8_count(const char *s, size_t bytes)
{
    size_t count = 0;
    for (const char *end = s + bytes; s < end; count++) {
        const int length = utf8_length(s);
        s += length ? length : 1;
    }
    return count;
}

bool utf8_is_control(const char *s, int length)
{
    const uint32_t c = utf8_character(s, length);
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x061c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}

static const char *utf8_entity_of(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void utf8_put_markup(FILE *stream, const char *text)
{
    while (*text) {
        const int length = utf8_length(text);
        const uint32_t c = utf8_character(text, length);
        const bool blank = c == '\n' || c == '\t';
        if (utf8_entity_of(*text))
            fputs(utf8_entity_of(*text), stream);
        else if (length == 0 || (utf8_is_control(text, length) && !blank) || c == 0xfffe || c == 0xffff)
            fputs("\xef\xbf\xbd", stream);
        else
            fwrite(text, 1, (size_t)length, stream);
        text += length ? length : 1;
    }
}
