/* What is UTF-8 and what is not: for all who write text that somebody else must be able to read. */
#ifndef PIOLET_BASE_UTF8_H
#define PIOLET_BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Length of the UTF-8 sequence at `s`, 0 if it is none (overlong forms and surrogates are none). */
int utf8_length(const char *s);

/* Characters among the first `bytes` of a string; a byte that is none counts as one. */
size_t utf8_count(const char *s, size_t bytes);

/* Is the sequence of this length one that a terminal acts upon, or shows in another order or not at all: control
 * characters (line ends and tabs too) and marks of direction? */
bool utf8_is_control(const char *s, int length);

/* The character of a sequence. */
uint32_t utf8_character(const char *s, int length);

/* Text of HTML, SVG or XML, within an element or an attribute: always valid UTF-8, and only characters that XML 1.0
 * allows. What is not becomes U+FFFD. */
void utf8_put_markup(FILE *stream, const char *text);

#endif
