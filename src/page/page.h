/* One HTML page out of block files and model files. No MPI; no clock but for progress: `made` is given.
 *
 * What cannot be read is told on the page, beside everything that can. */
#ifndef PIOLET_PAGE_REPORT_H
#define PIOLET_PAGE_REPORT_H

#include "base/blockfile.h"
#include "model/model.h"

struct page_file {    /* one of the three below */
    const char *path; /* borrowed */
    bool is_blocks, is_model;
    struct blockfile blocks;
    struct model model;
    char model_hash[20];             /* of the model's `end-steps` line */
    char trouble[PL_ERROR_TEXT_MAX]; /* why nothing of it, or not all of it, is used; "": all is well */
};

struct report {
    struct page_file *files; /* owned */
    size_t file_count;
    const char *title; /* borrowed, as the next */
    const char *made;  /* when, for the reader */
};

/* Opens all; files that cannot be used have their trouble told. Fails when memory is short, or when not a single file
 * can be read (PL_E_INPUT). */
pl_status page_open(const char *const *paths, size_t count, struct report *ret_report, struct pl_error *error);
void page_close(struct report *report);

/* The page with charts, made of a template; PL_E_NO_SUCH_FILE where there is none. */
pl_status page_write_page(struct report *report, const char *template_path, FILE *stream, struct pl_error *error);
/* The page of tables and SVG. */
pl_status page_write_plain(struct report *report, FILE *stream, struct pl_error *error);

#endif
