/* A streaming JSON writer: no tree, so memory does not grow with what is written.
 *
 *     struct json json = {.stream = stdout};
 *     json_object_begin(&json, NULL);
 *     json_put_int(&json, "n", 3);
 *     json_object_end(&json);
 *
 * `key` names a member of an object and is NULL in an array and at the top. The caller owns the stream and looks at
 * ferror() when all is written. */
#ifndef PIOLET_BASE_JSON_H
#define PIOLET_BASE_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_DEPTH_MAX = 32 };

struct json {
    FILE *stream;
    int depth;
    bool compact[JSON_DEPTH_MAX];   /* this container stands on one line */
    bool has_items[JSON_DEPTH_MAX]; /* a comma goes before the next one */
};

void json_object_begin(struct json *json, const char *key);
void json_object_end(struct json *json);

/* A container whose content stands on one line: for rows and numbers. */
void json_row_begin(struct json *json, const char *key);
void json_array_begin(struct json *json, const char *key);
void json_numbers_begin(struct json *json, const char *key);
void json_array_end(struct json *json);

/* NULL is written as null. Bytes that are not UTF-8 become U+FFFD: the output is always valid. */
void json_put_string(struct json *json, const char *key, const char *value);
void json_put_int(struct json *json, const char *key, int64_t value);
/* Shortest text that reads back as the same number; what is not finite is written as null. */
void json_put_double(struct json *json, const char *key, double value);
void json_put_bool(struct json *json, const char *key, bool value);
/* `value` is JSON already, and whole. */
void json_put_raw(struct json *json, const char *key, const char *value);
void json_put_null(struct json *json, const char *key);

#endif
