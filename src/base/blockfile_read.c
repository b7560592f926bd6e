/* Opening and closing block files for reading. */
#include "base/blockfile.h"
#include "base/blockfile_scan.h"
#include "base/output.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COPY_BUFFER = 1 << 16 };

void blockfile_scan_clear_set(struct blockfile_set *set)
{
    for (size_t i = 0; i < set->param_count; i++) {
        free(set->params[i].key);
        free(set->params[i].value);
    }
    for (size_t i = 0; i < set->hint_count; i++) {
        free(set->hints[i].key);
        free(set->hints[i].value);
    }
    for (size_t i = 0; i < set->time_count; i++)
        free(set->times[i].key);
    for (size_t i = 0; i < set->series_count; i++) {
        free(set->series[i].key);
        free(set->series[i].unit);
    }
    for (size_t i = 0; i < set->error_count; i++) {
        free(set->errors[i].status);
        free(set->errors[i].text);
    }
    for (size_t i = 0; i < set->warning_count; i++)
        free(set->warnings[i]);
    free(set->params);
    free(set->hints);
    free(set->times);
    free(set->series);
    free(set->errors);
    free(set->warnings);
    *set = (struct blockfile_set){0};
}

void blockfile_scan_clear_block(struct blockfile_block *block)
{
    for (size_t i = 0; i < block->input_count; i++) {
        free(block->inputs[i].key);
        free(block->inputs[i].value);
    }
    for (size_t i = 0; i < block->fact_count; i++) {
        free(block->facts[i].key);
        free(block->facts[i].value);
    }
    for (size_t i = 0; i < block->set_count; i++)
        blockfile_scan_clear_set(&block->sets[i]);
    free(block->inputs);
    free(block->facts);
    free(block->sets);
    free(block->id);
    free(block->class_name);
    free(block->testname);
    *block = (struct blockfile_block){0};
}

/* A pipe can be read only once and we need places: its bytes go to a file without a name. */
static FILE *copy_to_temporary(FILE *pipe)
{
    FILE *copy_file = tmpfile();
    char *buffer = malloc(COPY_BUFFER);
    bool good = copy_file && buffer;
    size_t got;
    while (good && (got = fread(buffer, 1, COPY_BUFFER, pipe)) > 0)
        good = fwrite(buffer, 1, got, copy_file) == got;
    good = good && !ferror(pipe) && fflush(copy_file) == 0;
    const int failed = errno;
    free(buffer);
    if (!good && copy_file)
        fclose(copy_file);
    errno = failed;
    return good ? copy_file : NULL;
}

static FILE *open_seekable(const char *path)
{
    const bool is_input = strcmp(path, "-") == 0;
    const int fd = is_input ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "r");
    if (!stream) {
        const int failed = errno;
        if (fd >= 0)
            close(fd);
        errno = failed;
        return NULL;
    }
    if (lseek(fd, 0, SEEK_CUR) >= 0)
        return stream;
    FILE *seekable = copy_to_temporary(stream);
    const int failed = errno;
    fclose(stream);
    errno = failed;
    return seekable;
}

pl_status blockfile_open(const char *path, struct blockfile *ret_file, struct pl_error *error)
{
    struct blockfile file = {.path = text_dup(strcmp(path, "-") == 0 ? "(standard input)" : path)};
    if (!file.path)
        return pl_fail_errno(error, ENOMEM, "reading '%s'", path);
    output_reads(path);
    file.stream = open_seekable(path);
    if (!file.stream) {
        const int failed = errno;
        free(file.path);
        return pl_fail_errno(error, failed, "opening '%s'", path);
    }
    const pl_status status = blockfile_scan_file(&file, error);
    if (status)
        blockfile_close(&file);
    else
        *ret_file = file;
    return status;
}

void blockfile_close(struct blockfile *file)
{
    for (size_t i = 0; i < file->block_count; i++)
        blockfile_scan_clear_block(&file->blocks[i]);
    for (size_t i = 0; i < file->warning_count; i++)
        free(file->warnings[i]);
    free(file->blocks);
    free(file->warnings);
    free(file->path);
    if (file->stream)
        fclose(file->stream);
    *file = (struct blockfile){0};
}
