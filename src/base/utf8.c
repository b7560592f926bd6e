#include "base/utf8.h"

#include <stdint.h>

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

bool utf8_is_control(const char *string, int length)
{
    const unsigned char *s = (const unsigned char *)string;
    if (length == 1)
        return s[0] < 0x20 || s[0] == 0x7f;
    if (length == 2) /* U+0080 to U+009F, U+061C */
        return (s[0] == 0xc2 && s[1] < 0xa0) || (s[0] == 0xd8 && s[1] == 0x9c);
    if (length != 3)
        return false;
    const uint32_t c = (uint32_t)(s[0] & 0x0f) << 12 | (uint32_t)(s[1] & 0x3f) << 6 | (s[2] & 0x3f);
    return (c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff;
}
