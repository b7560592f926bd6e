#include "lab/facts/mount.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* mountinfo writes a blank as \040. */
static void undo_octal(char *text)
{
    char *out = text;
    for (const char *in = text; *in; in++) {
        if (in[0] == '\\' && in[1] >= '0' && in[1] <= '3' && in[2] && in[3]) {
            *out++ = (char)((in[1] - '0') * 64 + (in[2] - '0') * 8 + (in[3] - '0'));
            in += 3;
        } else {
            *out++ = *in;
        }
    }
    *out = '\0';
}

static bool has_option(const char *options, const char *word, size_t length)
{
    for (const char *at = options; *at; at += strcspn(at, ","), at += *at == ',')
        if (strcspn(at, ",") == length && strncmp(at, word, length) == 0)
            return true;
    return false;
}

/* The file system's own options behind those of the mount, each once. */
static void add_options(char *options, const char *more)
{
    for (const char *at = more; *at; at += strcspn(at, ","), at += *at == ',') {
        const size_t length = strcspn(at, ","), used = strlen(options);
        if (!has_option(options, at, length) && used + length + 2 < MOUNT_TEXT_MAX)
            snprintf(options + used, MOUNT_TEXT_MAX - used, ",%.*s", (int)length, at);
    }
}

bool mount_parse(const char *line, struct mount *ret_mount)
{
    char more[MOUNT_TEXT_MAX] = "";
    const char *dash = strstr(line, " - ");
    if (!dash || sscanf(line, "%*s %*s %*s %*s %4095s %4095s", ret_mount->point, ret_mount->options) != 2 ||
        sscanf(dash, " - %63s %4095s %4095s", ret_mount->type, ret_mount->source, more) < 2)
        return false;
    undo_octal(ret_mount->point);
    undo_octal(ret_mount->source);
    add_options(ret_mount->options, more);
    undo_octal(ret_mount->options);
    return true;
}

static bool lies_below(const char *path, const char *point)
{
    const size_t n = strlen(point);
    if (n == 1)
        return true;
    return strncmp(path, point, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

bool mount_find(const char *mountinfo_path, const char *path, struct mount *ret_mount)
{
    FILE *stream = fopen(mountinfo_path, "re");
    if (!stream)
        return false;
    struct mount *mount = malloc(sizeof *mount); /* too large for the stack of a thread */
    char *line = NULL;
    size_t capacity = 0, longest = 0;
    while (mount && getline(&line, &capacity, stream) > 0) {
        if (!mount_parse(line, mount) || !lies_below(path, mount->point) || strlen(mount->point) < longest)
            continue;
        longest = strlen(mount->point);
        *ret_mount = *mount;
    }
    free(line);
    free(mount);
    fclose(stream);
    return longest > 0;
}

bool mount_option(const struct mount *mount, const char *key, char *ret_value, size_t capacity)
{
    const size_t n = strlen(key);
    for (const char *at = mount->options; *at; at += strcspn(at, ","), at += *at == ',')
        if (strncmp(at, key, n) == 0 && at[n] == '=') {
            snprintf(ret_value, capacity, "%.*s", (int)strcspn(at + n + 1, ","), at + n + 1);
            return true;
        }
    return false;
}
