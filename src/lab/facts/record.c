#include "lab/facts/record.h"

#include "base/units.h"
#include "lab/facts/devices.h"
#include "lab/facts/environment.h"
#include "lab/facts/mount.h"

#include <dirent.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { VALUE_MAX = MOUNT_TEXT_MAX };

struct sink {
    record_put_fact *put;
    void *context;
};

static void record_put(const struct sink *sink, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Empty values are not known, and left out. */
static void record_put(const struct sink *sink, const char *key, const char *format, ...)
{
    char value[VALUE_MAX], name[RECORD_KEY_MAX + sizeof "config."];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    snprintf(name, sizeof name, "config.%s", key);
    if (value[0])
        sink->put(sink->context, name, value);
}

/* ---- devices ---- */

/* A file of /sys/class/block/NAME. */
static const char *record_attribute(const char *device, const char *file, char *text, size_t capacity)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "/sys/class/block/%s/%s", device, file);
    return devices_read_text(path, text, capacity);
}

/* "none [mq-deadline] kyber" → "mq-deadline". */
static void keep_bracketed(char *text)
{
    char *open = strchr(text, '['), *close = open ? strchr(open, ']') : NULL;
    if (!close)
        return;
    *close = '\0';
    memmove(text, open + 1, strlen(open + 1) + 1);
}

static void record_trim(char *text)
{
    size_t length = strlen(text);
    while (length > 0 && text[length - 1] == ' ')
        text[--length] = '\0';
}

static void put_queue(const struct sink *sink, const char *device)
{
    char text[256];
    if (record_attribute(device, "queue/rotational", text, sizeof text)[0])
        record_put(sink, "rotational", "%s %s", device, strcmp(text, "1") == 0 ? "yes" : "no");
    if (record_attribute(device, "queue/scheduler", text, sizeof text)[0]) {
        keep_bracketed(text);
        record_put(sink, "scheduler", "%s %s", device, text);
    }
    static const char *const files[][2] = {{"queue/read_ahead_kb", "read_ahead_kib"},
                                           {"queue/nr_requests", "queue_requests"},
                                           {"queue/write_cache", "write_cache"},
                                           {"queue/logical_block_size", "sector_bytes"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        if (record_attribute(device, files[i][0], text, sizeof text)[0])
            record_put(sink, files[i][1], "%s %s", device, text);
}

/* What puts several devices together, or one upon another. */
static void put_structure(const struct sink *sink, const char *device)
{
    char text[PATH_MAX], more[64];
    if (record_attribute(device, "md/level", text, sizeof text)[0])
        record_put(sink, "raid", "%s %s of %s devices", device, text,
                   record_attribute(device, "md/raid_disks", more, sizeof more));
    if (record_attribute(device, "dm/uuid", text, sizeof text)[0]) {
        text[strcspn(text, "-")] = '\0'; /* LVM-…, CRYPT-…, mpath-… */
        record_put(sink, "mapper", "%s %s", device, text);
    }
    if (record_attribute(device, "loop/backing_file", text, sizeof text)[0])
        record_put(sink, "loop_file", "%s %s", device, text);
}

static void put_device(const struct sink *sink, const char *device)
{
    char text[256], vendor[256], size[UNITS_TEXT_MAX];
    const int64_t bytes = strtoll(record_attribute(device, "size", text, sizeof text), NULL, 10) * 512;
    record_attribute(device, "device/vendor", vendor, sizeof vendor);
    record_attribute(device, "device/model", text, sizeof text);
    record_trim(vendor);
    record_trim(text);
    if (strncmp(vendor, "0x", 2) == 0) /* a number of the bus, no name */
        vendor[0] = '\0';
    record_put(sink, "device", "%s %s%s%s%s%s", device, units_bytes(bytes, size), *vendor ? " " : "", vendor,
               *text ? " " : "", text);
    record_put(sink, "device_bytes", "%s %lld", device, (long long)bytes);
    put_queue(sink, device);
    put_structure(sink, device);
}

/* The profiles are folders: allocation/data/raid0. */
static void put_btrfs_profile(const struct sink *sink, const char *folder, const char *part)
{
    char path[PATH_MAX], key[RECORD_KEY_MAX];
    snprintf(path, sizeof path, "%s/allocation/%s", folder, part);
    DIR *entries = opendir(path);
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));)
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            snprintf(key, sizeof key, "btrfs_%s", part);
            record_put(sink, key, "%s", entry->d_name);
        }
    closedir(entries);
}

static void put_devices(const struct sink *sink, const char *directory, const char *type)
{
    struct pl_error ignored;
    char folder[PATH_MAX];
    struct devices_list *list = malloc(sizeof *list);
    if (!list || devices_behind(directory, list, &ignored) != PL_OK) {
        free(list);
        return;
    }
    if (list->count == 0)
        record_put(sink, "device", "none (%s)", list->why);
    else
        record_put(sink, "devices", "%d", list->count);
    for (int i = 0; i < list->count; i++)
        put_device(sink, list->names[i]);
    if (strcmp(type, "btrfs") == 0 && list->count && devices_btrfs("/sys", list->names[0], folder, sizeof folder)) {
        put_btrfs_profile(sink, folder, "data");
        put_btrfs_profile(sink, folder, "metadata");
    }
    free(list);
}

/* ---- servers and networks ---- */

static void put_server(const struct sink *sink, const struct mount *mount)
{
    char text[256];
    const char *colon = strchr(mount->source, ':');
    const bool remote = mount->source[0] != '/' && colon;
    if (remote || strncmp(mount->source, "//", 2) == 0)
        record_put(sink, "server", "%.*s", remote ? (int)(colon - mount->source) : VALUE_MAX - 1, mount->source);
    if (mount_option(mount, "addr", text, sizeof text))
        record_put(sink, "server_address", "%s", text);
    if (strncmp(mount->type, "fuse", 4) == 0)
        record_put(sink, "fuse", "%s of %s", mount->type, mount->source);
}

/* Interfaces that are up, with the speed that they tell. */
static void put_networks(const struct sink *sink)
{
    DIR *entries = opendir("/sys/class/net");
    if (!entries)
        return;
    for (const struct dirent *entry; (entry = readdir(entries));) {
        char path[PATH_MAX], state[32], speed[32];
        snprintf(path, sizeof path, "/sys/class/net/%s/operstate", entry->d_name);
        if (entry->d_name[0] == '.' || strcmp(devices_read_text(path, state, sizeof state), "up") != 0)
            continue;
        snprintf(path, sizeof path, "/sys/class/net/%s/speed", entry->d_name);
        const long mbit = strtol(devices_read_text(path, speed, sizeof speed), NULL, 10);
        if (mbit > 0)
            record_put(sink, "network", "%s %ld Mbit/s", entry->d_name, mbit);
        else
            record_put(sink, "network", "%s", entry->d_name);
    }
    closedir(entries);
}

/* ---- memory and caches ---- */

static void put_memory(const struct sink *sink)
{
    static const char *const rows[][2] = {{"MemTotal:", "memory_bytes"},
                                          {"MemAvailable:", "memory_available_bytes"},
                                          {"Cached:", "page_cache_bytes"},
                                          {"Dirty:", "dirty_bytes"}};
    static const char *const settings[] = {"dirty_ratio", "dirty_background_ratio"};
    char line[256], path[PATH_MAX];
    FILE *stream = fopen("/proc/meminfo", "re");
    while (stream && fgets(line, sizeof line, stream))
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
            if (strncmp(line, rows[i][0], strlen(rows[i][0])) == 0)
                record_put(sink, rows[i][1], "%lld", strtoll(line + strlen(rows[i][0]), NULL, 10) * 1024);
    if (stream)
        fclose(stream);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++) {
        snprintf(path, sizeof path, "/proc/sys/vm/%s", settings[i]);
        record_put(sink, settings[i], "%s", devices_read_text(path, line, sizeof line));
    }
}

/* ---- the whole ---- */

pl_status record_facts(const char *directory, record_put_fact *put_fact, void *context)
{
    const struct sink sink = {put_fact, context};
    struct environment_filesystem fs;
    struct pl_error error;
    char host[64] = "unknown";
    if (environment_filesystem(directory, &fs, &error) != PL_OK)
        return error.status;
    gethostname(host, sizeof host - 1);
    record_put(&sink, "host", "%s", host);
    record_put(&sink, "directory", "%s", fs.directory);
    record_put(&sink, "filesystem", "%s", fs.type);
    record_put(&sink, "source", "%s", fs.source);
    record_put(&sink, "block_bytes", "%lld", (long long)fs.block_bytes);
    record_put(&sink, "size_bytes", "%lld", (long long)fs.total_bytes);
    record_put(&sink, "free_bytes", "%lld", (long long)fs.free_bytes);
    struct mount *mount = malloc(sizeof *mount);
    if (mount && mount_find("/proc/self/mountinfo", fs.directory, mount)) {
        record_put(&sink, "mount_point", "%s", mount->point);
        record_put(&sink, "mount_options", "%s", mount->options);
        put_server(&sink, mount);
    }
    free(mount);
    put_devices(&sink, fs.directory, fs.type);
    put_networks(&sink);
    put_memory(&sink);
    return PL_OK;
}

void record_to_block(void *context, const char *key, const char *value)
{
    blockfile_fact(context, key, "%s", value);
}
