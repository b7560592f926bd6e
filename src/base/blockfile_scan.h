/* Inside of blockfile_*.c: the state of a scan, and what the lines of a record are made of. */
#ifndef PIOLET_BASE_BLOCKFILE_SCAN_H
#define PIOLET_BASE_BLOCKFILE_SCAN_H

#include "base/blockfile.h"
#include "base/blockfile_line.h"

enum { BLOCKFILE_DAMAGE_MAX = 160, BLOCKFILE_WARNINGS_MAX = 1000 };

enum blockfile_place {
    OUTSIDE, /* before, between and after blocks */
    PASSED,  /* in a block that cannot be used: up to the next opening line */
    HEAD,
    BETWEEN, /* after a head or a set */
    SET
};

struct blockfile_scan {
    struct blockfile *file;
    struct blockfile_lines lines;
    struct blockfile_line line;
    enum blockfile_place place;
    struct blockfile_block block; /* being read, owned here until it is kept */
    struct blockfile_set set;
    void *hash; /* state of blockfile_scan.c, over the record from record_start on, of record_lines so far */
    int64_t record_start;
    int64_t record_lines;
    char damage[BLOCKFILE_DAMAGE_MAX]; /* first thing that is wrong in the record; "": nothing */
    int64_t series_left;               /* numbers still missing */
    bool set_lost;                     /* a set of this block was left out */
    int64_t stray_lines;               /* since the last line that belonged somewhere */
    int64_t stray_start;
    size_t more_warnings; /* beyond BLOCKFILE_WARNINGS_MAX */
    bool no_memory;
};

/* Scans file->stream into file->blocks and file->warnings. */
pl_status blockfile_scan_file(struct blockfile *file, struct pl_error *error);

/* ---- what is kept ---- */

/* Room for one more, zeroed, at the end of an array whose capacity is the next power of two; NULL: no memory. */
void *blockfile_scan_grow(struct blockfile_scan *scan, void *array_pointer, size_t *count, size_t size);
void blockfile_scan_clear_set(struct blockfile_set *set);
void blockfile_scan_clear_block(struct blockfile_block *block);

/* ---- what is wrong ---- */

/* A warning of the file. */
void blockfile_scan_warn(struct blockfile_scan *scan, int64_t line, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Something in the current record, which will be left out: told when it ends. */
void blockfile_scan_damage(struct blockfile_scan *scan, const char *what);

/* ---- words of a line, and lines that are kept ---- */

struct blockfile_words {
    const char *at, *end;
};

const char *blockfile_scan_word(struct blockfile_words *words, size_t *ret_length);
int64_t blockfile_scan_int(struct blockfile_scan *scan, struct blockfile_words *words, int64_t min, int64_t max);
bool blockfile_scan_is(const char *start, size_t length, const char *name);

void blockfile_scan_pair(struct blockfile_scan *scan, struct blockfile_words *words, struct blockfile_pair **pairs,
                         size_t *count);
void blockfile_scan_once(struct blockfile_scan *scan, struct blockfile_words *words, char **slot);
void blockfile_scan_hint(struct blockfile_scan *scan, struct blockfile_words *words);
void blockfile_scan_time(struct blockfile_scan *scan, struct blockfile_words *words);
void blockfile_scan_series(struct blockfile_scan *scan, struct blockfile_words *words);
void blockfile_scan_error(struct blockfile_scan *scan, struct blockfile_words *words);
void blockfile_scan_warning(struct blockfile_scan *scan, struct blockfile_words *words);

#endif
