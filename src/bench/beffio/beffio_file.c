/* Hints, and the file of a pattern type: open, position, one call, sync, close, remove. */
#include "bench/beffio/beffio.h"

#include "base/interrupt.h"
#include "base/memory.h"
#include "base/path.h"
#include "base/units.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- hints ---- */

static const char *const SCOPES[] = {"all", "type", "pattern"};

void beffio_hints_clear(struct beffio_hints *hints)
{
    for (size_t i = 0; i < hints->count; i++) {
        free(hints->list[i].key);
        free(hints->list[i].value);
    }
    free(hints->list);
    *hints = (struct beffio_hints){0};
}

static char *beffio_hint_next_word(char **rest)
{
    char *word;
    while ((word = strsep(rest, " \t")) != NULL && !*word)
        ;
    return word;
}

static pl_status beffio_hint_parse_line(const char *name, int line, char *text, struct beffio_hints *hints,
                                        struct pl_error *error)
{
    char *rest = text;
    const char *scope = beffio_hint_next_word(&rest);
    if (!scope || scope[0] == '#')
        return PL_OK;
    struct beffio_hint hint = {.number = -1};
    while (hint.scope <= BEFFIO_PATTERN && strcmp(scope, SCOPES[hint.scope]) != 0)
        hint.scope++;
    if (hint.scope > BEFFIO_PATTERN)
        return pl_fail(error, PL_E_INPUT, "%s:%d: '%s'; allowed: all, type N or pattern N, then a hint and its value",
                       name, line, scope);
    if (hint.scope != BEFFIO_ALL) {
        const int64_t most = (hint.scope == BEFFIO_TYPE ? BEFFIO_TYPES_ALL : BEFFIO_PATTERNS_ALL) - 1;
        const char *number = beffio_hint_next_word(&rest);
        int64_t value;
        if (!number || !units_parse_int(number, 0, most, &value))
            return pl_fail(error, PL_E_INPUT, "%s:%d: '%s' is not a number behind '%s'; allowed: 0 to %d", name, line,
                           number ? number : "", scope, (int)most);
        hint.number = (int)value;
    }
    hint.key = beffio_hint_next_word(&rest);
    if (!hint.key || !rest || strlen(hint.key) > 255)
        return pl_fail(error, PL_E_INPUT, "%s:%d: a hint and its value must stand behind '%s'", name, line, scope);
    hint.value = rest + strspn(rest, " \t");
    if (hints->count == BEFFIO_HINTS_MAX)
        return pl_fail(error, PL_E_INPUT, "%s:%d: more than %d hints", name, line, BEFFIO_HINTS_MAX);
    hint.key = memory_copy(hint.key);
    hint.value = memory_copy(hint.value);
    hints->list = memory_grow(hints->list, hints->count, sizeof *hints->list);
    hints->list[hints->count++] = hint;
    return PL_OK;
}

pl_status beffio_hints_parse(const char *name, const char *lines, struct beffio_hints *ret_hints,
                             struct pl_error *error)
{
    beffio_hints_clear(ret_hints);
    char *copy = memory_copy(lines), *rest = copy, *line;
    pl_status status = PL_OK;
    for (int number = 1; status == PL_OK && (line = strsep(&rest, "\n")) != NULL; number++) {
        for (size_t length = strlen(line); length && strchr(" \t\r", line[length - 1]);)
            line[--length] = '\0';
        status = beffio_hint_parse_line(name, number, line, ret_hints, error);
    }
    free(copy);
    return status;
}

void beffio_hints_text(const struct beffio_hints *hints, struct text *out)
{
    for (size_t i = 0; i < hints->count; i++) {
        const struct beffio_hint *hint = &hints->list[i];
        text_format(out, "%s%s", i ? "\n" : "", SCOPES[hint->scope]);
        if (hint->scope != BEFFIO_ALL)
            text_format(out, " %d", hint->number);
        text_format(out, " %s %s", hint->key, hint->value);
    }
}

static bool beffio_hint_concerns(const struct beffio_hint *hint, int type, int pattern)
{
    return hint->scope == BEFFIO_ALL || (hint->scope == BEFFIO_TYPE && hint->number == type) ||
           (hint->scope == BEFFIO_PATTERN && hint->number == pattern);
}

const char *beffio_hint_value(const struct beffio_hints *hints, int type, int pattern, const char *key)
{
    const struct beffio_hint *best = NULL;
    for (size_t i = 0; i < hints->count; i++) {
        const struct beffio_hint *hint = &hints->list[i];
        if (beffio_hint_concerns(hint, type, pattern) && strcmp(hint->key, key) == 0 &&
            (!best || hint->scope >= best->scope))
            best = hint;
    }
    return best ? best->value : NULL;
}

bool beffio_hints_own(const struct beffio_hints *hints, int pattern)
{
    for (size_t i = 0; i < hints->count; i++)
        if (hints->list[i].scope == BEFFIO_PATTERN && hints->list[i].number == pattern)
            return true;
    return false;
}

/* ---- the file ---- */

enum { WORD = 8 }; /* etype of all files: counts reach 16 GB */

pl_status beffio_file_name(struct beffio_file *file, const char *folder, const char *run, int nprocs,
                           struct pl_error *error)
{
    char owner[16] = "";
    if (file->type == 2)
        snprintf(owner, sizeof owner, "-r%d", file->rank);
    const int length = snprintf(file->name, sizeof file->name, "%s/piolet-beffio-%s-n%d-t%d%s", folder, run, nprocs,
                                file->type, owner);
    return length < (int)sizeof file->name ? PL_OK
                                           : pl_fail_errno(error, ENAMETOOLONG, "naming a file in '%s'", folder);
}

/* The hints in force for a pattern, or for the whole file (pattern -1). */
static pl_status beffio_make_info(const struct beffio_file *file, int pattern, MPI_Info *ret_info,
                                  struct pl_error *error)
{
    *ret_info = MPI_INFO_NULL;
    if (file->hints->count == 0)
        return PL_OK;
    int code = MPI_Info_create(ret_info);
    for (size_t i = 0; i < file->hints->count && code == MPI_SUCCESS; i++) {
        const char *key = file->hints->list[i].key;
        const char *value = beffio_hint_value(file->hints, file->type, pattern, key);
        if (value)
            code = MPI_Info_set(*ret_info, key, value);
    }
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "setting hints");
}

static void beffio_free_info(MPI_Info *info)
{
    if (*info != MPI_INFO_NULL)
        MPI_Info_free(info);
}

/* Types 1, 2 and 5: the bytes as they are; 3 and 4: from this process's segment on; 0: anew with each pattern. */
static int beffio_set_first_view(struct beffio_file *file, const struct beffio_layout *layout, MPI_Info info)
{
    const MPI_Offset begin = file->type == 3 || file->type == 4 ? file->rank * layout->segment_bytes : 0;
    return MPI_File_set_view(file->handle, begin, MPI_INT64_T, MPI_INT64_T, "native", info);
}

pl_status beffio_file_open_coll(struct beffio_file *file, enum beffio_method method, const struct beffio_layout *layout,
                                struct pl_error *error)
{
    static const int modes[BEFFIO_METHODS] = {MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_MODE_RDWR, MPI_MODE_RDONLY};
    MPI_Info info;
    struct pl_error failure;
    pl_status status = beffio_make_info(file, -1, &info, &failure); /* a failure is told behind the collective call */
    file->handle = MPI_FILE_NULL;
    const int mode = modes[method] | (method == BEFFIO_READ && file->delete_on_close ? MPI_MODE_DELETE_ON_CLOSE : 0);
    int code = MPI_File_open(file->type == 2 ? MPI_COMM_SELF : file->comm, file->name, mode, info, &file->handle);
    if (code != MPI_SUCCESS) {
        file->handle = MPI_FILE_NULL;
        status = coll_fail_mpi(error, code, "opening '%s'", file->name);
    } else if ((code = beffio_set_first_view(file, layout, info)) != MPI_SUCCESS) {
        status = coll_fail_mpi(error, code, "setting the view of '%s'", file->name);
    } else if (status != PL_OK) {
        *error = failure;
    }
    beffio_free_info(&info);
    return status;
}

/* Chunks of l bytes, as far apart as all processes' chunks together. */
static int beffio_set_strided_view(struct beffio_file *file, const struct beffio_layout *layout, int pattern,
                                   MPI_Info info)
{
    const int64_t chunk = beffio_chunk_bytes(BEFFIO_TABLE[pattern].chunk, layout->mpart_bytes);
    MPI_Datatype block, strided;
    MPI_Type_contiguous((int)(chunk / WORD), MPI_INT64_T, &block);
    MPI_Type_create_resized(block, 0, chunk * layout->nprocs, &strided);
    MPI_Type_commit(&strided);
    const int code = MPI_File_set_view(file->handle, beffio_layout_offset(layout, pattern, file->rank, 0), MPI_INT64_T,
                                       strided, "native", info);
    MPI_Type_free(&block);
    MPI_Type_free(&strided);
    return code;
}

pl_status beffio_file_position_coll(struct beffio_file *file, const struct beffio_layout *layout, int pattern,
                                    struct pl_error *error)
{
    MPI_Info info;
    int code = MPI_SUCCESS;
    const pl_status status = beffio_make_info(file, pattern, &info, error);
    if (beffio_hints_own(file->hints, pattern) || beffio_hints_own(file->hints, pattern - 1))
        code = MPI_File_set_info(file->handle, info);
    const MPI_Offset start = beffio_layout_start(layout, pattern) / WORD;
    int moved = MPI_SUCCESS;
    if (file->type == 0)
        moved = beffio_set_strided_view(file, layout, pattern, info);
    else if (file->type == 1)
        moved = MPI_File_seek_shared(file->handle, start, MPI_SEEK_SET);
    else
        moved = MPI_File_seek(file->handle, start, MPI_SEEK_SET);
    beffio_free_info(&info);
    code = moved != MPI_SUCCESS ? moved : code;
    if (code != MPI_SUCCESS)
        return coll_fail_mpi(error, code, "going to pattern %d of '%s'", pattern, file->name);
    return status;
}

int beffio_file_write(const struct beffio_file *file, int64_t offset_bytes, const void *data, int count,
                      MPI_Status *status)
{
    switch (file->type) {
    case 0:
    case 4:
        return MPI_File_write_all(file->handle, data, count, MPI_INT64_T, status);
    case 1:
        return MPI_File_write_ordered(file->handle, data, count, MPI_INT64_T, status);
    case BEFFIO_RANDOM:
        MPI_File_seek(file->handle, offset_bytes / WORD, MPI_SEEK_SET);
        /* fall through */
    default:
        return MPI_File_write(file->handle, data, count, MPI_INT64_T, status);
    }
}

int beffio_file_read(const struct beffio_file *file, int64_t offset_bytes, void *data, int count, MPI_Status *status)
{
    switch (file->type) {
    case 0:
    case 4:
        return MPI_File_read_all(file->handle, data, count, MPI_INT64_T, status);
    case 1:
        return MPI_File_read_ordered(file->handle, data, count, MPI_INT64_T, status);
    case BEFFIO_RANDOM:
        MPI_File_seek(file->handle, offset_bytes / WORD, MPI_SEEK_SET);
        /* fall through */
    default:
        return MPI_File_read(file->handle, data, count, MPI_INT64_T, status);
    }
}

pl_status beffio_file_sync_coll(struct beffio_file *file, struct pl_error *error)
{
    assert(file->handle != MPI_FILE_NULL);
    const int code = MPI_File_sync(file->handle);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "MPI_File_sync of '%s'", file->name);
}

pl_status beffio_file_close_coll(struct beffio_file *file, struct pl_error *error)
{
    if (file->handle == MPI_FILE_NULL)
        return PL_OK;
    const int code = MPI_File_close(&file->handle);
    file->handle = MPI_FILE_NULL;
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "closing '%s'", file->name);
}

pl_status beffio_file_delete_coll(const struct beffio_file *file, struct pl_error *error)
{
    assert(file->handle == MPI_FILE_NULL);
    const int code = file->type == 2 || file->rank == 0 ? MPI_File_delete(file->name, MPI_INFO_NULL) : MPI_SUCCESS;
    MPI_Barrier(file->comm);
    return code == MPI_SUCCESS ? PL_OK : coll_fail_mpi(error, code, "deleting '%s'", file->name);
}

void beffio_file_remove(const struct beffio_file *file)
{
    if (file->type == 2 || file->rank == 0)
        remove_quietly(file->name); /* with what an MPI keeps beside it for the shared pointer of type 1 */
    interrupt_keep(file->name);
}

void beffio_file_cool(const struct beffio_file *file)
{
    const int fd = open(file->name, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return; /* opening it for the benchmark will tell */
    fsync(fd);  /* only clean pages can be dropped */
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    close(fd);
}
