/* Inside of model_fold: the files of a rank, and calls as items without their loops. */
#ifndef PIOLET_MODEL_FILES_H
#define PIOLET_MODEL_FILES_H

#include "model/model_fold.h"

struct model_file_state { /* one MPI_File_open of the trace */
    const char *form;     /* NULL: not opened yet */
    int64_t instance;     /* which of the names of this form */
    int entry;            /* into the names */
    int64_t etype_bytes;
    bool holes;
};

struct model_name { /* a name that this rank has opened */
    char *name;
    int open; /* handles on it now */
    struct model_name_use {
        const char *form;
        int64_t instance;
    } * uses; /* one for each handle at the same time */
    int use_count;
};

struct model_files {
    const struct trace_tree *tree;
    struct model_pool *pool;
    struct model_file_state *files; /* as many as the tree has */
    struct model_name *names;
    int name_count, name_capacity;
    int *table; /* from the hash of a name to its entry + 1 */
    size_t table_size;
    struct model_form_count {
        const char *form;
        int64_t count;
    } * forms; /* how many names have the same form */
    int form_count;
    int64_t *layouts; /* numbers of the layouts in memory that the tree's details tell; 0: not looked for yet */
};

bool model_files_begin(struct model_files *files, const struct trace_tree *tree, struct model_pool *pool);
void model_files_clear(struct model_files *files);
/* The item of one execution of a call, without its offset (params[0] is empty); keeps track of what is open, and of the
 * view. False when memory is short. */
bool model_files_call(struct model_files *files, const struct trace_node *node, struct model_item *ret_item);

#endif
