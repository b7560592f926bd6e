/* Error classes and error handlers of files. */
#include "bench/rules/rule.h"

#include <string.h>

static struct {
    int calls, code;
    MPI_File file;
} noted;

static void errors_note(MPI_File *file, int *code, ...) /* NOLINT(readability-non-const-parameter): as MPI has it */
{
    noted.calls++;
    noted.code = *code;
    noted.file = *file;
}

static MPI_Errhandler make_handler(struct rule_context *test)
{
    MPI_Errhandler handler = MPI_ERRORS_RETURN;
    memset(&noted, 0, sizeof noted);
    DO(MPI_File_create_errhandler(errors_note, &handler));
    return handler;
}

static void errors_free(MPI_Errhandler handler)
{
    if (handler != MPI_ERRHANDLER_NULL && handler != MPI_ERRORS_RETURN)
        MPI_Errhandler_free(&handler);
}

/* Closes a file without our handler: an error of the close is the rule's, not noted. */
static void errors_close_coll(struct rule_context *test, MPI_File *file)
{
    DO(MPI_File_set_errhandler(*file, MPI_ERRORS_RETURN));
    rule_close_coll(test, file);
}

static void handler_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Errhandler handler = make_handler(test), got = MPI_ERRHANDLER_NULL;
    if (rule_open_coll(test, RULE_NEW, &file)) {
        DO(MPI_File_set_errhandler(file, handler));
        DO(MPI_File_get_errhandler(file, &got));
        rule_true(test, got == handler, "MPI_File_get_errhandler gives what was set");
        rule_refused(test, MPI_File_seek(file, -1, MPI_SEEK_SET), "MPI_File_seek to -1");
        rule_same(test, "how often the file's error handler was called", noted.calls, 1);
        rule_true(test, noted.file == file, "the handler is told which file it was");
        rule_true(test, noted.code != MPI_SUCCESS, "the handler is told the error code");
        errors_close_coll(test, &file);
        errors_free(got);
    }
    errors_free(handler);
}

/* Files are opened with the handler of MPI_FILE_NULL, and an open that fails calls it. */
static void null_handler_coll(struct rule_context *test)
{
    MPI_File file = MPI_FILE_NULL;
    MPI_Errhandler handler = make_handler(test), got = MPI_ERRHANDLER_NULL;
    DO(MPI_File_set_errhandler(MPI_FILE_NULL, handler));
    rule_refused(test, MPI_File_open(test->comm, test->path, MPI_MODE_RDONLY, MPI_INFO_NULL, &file),
                 "MPI_File_open of a missing file");
    rule_same(test, "how often the handler of MPI_FILE_NULL was called", noted.calls, 1);
    DO(MPI_File_open(test->comm, test->path, RULE_NEW, MPI_INFO_NULL, &file));
    DO(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    if (file != MPI_FILE_NULL) {
        DO(MPI_File_get_errhandler(file, &got));
        rule_true(test, got == handler, "a new file has the handler of MPI_FILE_NULL");
        errors_close_coll(test, &file);
        errors_free(got);
    }
    errors_free(handler);
}

static void call_coll(struct rule_context *test)
{
    MPI_File file;
    MPI_Errhandler handler = make_handler(test);
    if (rule_open_coll(test, RULE_NEW, &file)) {
        DO(MPI_File_set_errhandler(file, handler));
        DO(MPI_File_call_errhandler(file, MPI_ERR_NO_SPACE));
        rule_same(test, "how often the file's error handler was called", noted.calls, 1);
        rule_true(test, noted.code == MPI_ERR_NO_SPACE, "the handler is told the given error code");
        errors_close_coll(test, &file);
    }
    errors_free(handler);
}

static void null_file_coll(struct rule_context *test)
{
    MPI_Offset size = 0;
    rule_class(test, MPI_File_get_size(MPI_FILE_NULL, &size), MPI_ERR_FILE, "MPI_File_get_size(MPI_FILE_NULL)");
}

static void datarep_coll(struct rule_context *test)
{
    MPI_File file;
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_class(test, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "no such data", MPI_INFO_NULL),
               MPI_ERR_UNSUPPORTED_DATAREP, "MPI_File_set_view");
    rule_close_coll(test, &file);
}

static void go_on_coll(struct rule_context *test)
{
    MPI_File file;
    const char data = rule_letter(test->rank, 0);
    char content[RULE_RANKS_MAX];
    for (int rank = 0; rank < test->nprocs; rank++)
        content[rank] = rule_letter(rank, 0);
    if (!rule_open_coll(test, RULE_NEW, &file))
        return;
    rule_refused(test, MPI_File_seek(file, -1, MPI_SEEK_SET), "MPI_File_seek to -1");
    rule_refused(test, MPI_File_set_view(file, 0, MPI_BYTE, MPI_BYTE, "no such data", MPI_INFO_NULL),
                 "MPI_File_set_view, unknown data representation");
    DO(MPI_File_write_at_all(file, test->rank, &data, 1, MPI_BYTE, MPI_STATUS_IGNORE));
    rule_close_coll(test, &file);
    rule_file_coll(test, content, (size_t)test->nprocs);
}

static void words_coll(struct rule_context *test)
{
    static const int classes[] = {MPI_ERR_FILE,
                                  MPI_ERR_NOT_SAME,
                                  MPI_ERR_AMODE,
                                  MPI_ERR_BAD_FILE,
                                  MPI_ERR_FILE_EXISTS,
                                  MPI_ERR_UNSUPPORTED_DATAREP,
                                  MPI_ERR_NO_SUCH_FILE,
                                  MPI_ERR_READ_ONLY,
                                  MPI_ERR_UNSUPPORTED_OPERATION,
                                  MPI_ERR_ACCESS,
                                  MPI_ERR_NO_SPACE,
                                  MPI_ERR_QUOTA,
                                  MPI_ERR_FILE_IN_USE,
                                  MPI_ERR_DUP_DATAREP,
                                  MPI_ERR_CONVERSION,
                                  MPI_ERR_IO};
    for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
        char words[MPI_MAX_ERROR_STRING + 1] = "";
        int class = -1, length = 0;
        DO(MPI_Error_class(classes[i], &class));
        rule_same(test, "the class of a class", class, classes[i]);
        DO(MPI_Error_string(classes[i], words, &length));
        rule_true(test, length > 0 && words[0], "an error class of files has words");
    }
}

extern const struct rule rule_area_errors[];
const struct rule rule_area_errors[] = {
    {"errors-handler", "9.3.3", "An error calls the error handler of its file.", 1, handler_coll},
    {"errors-open", "14.7", "New files, and opens that fail, have the error handler of MPI_FILE_NULL.", 1,
     null_handler_coll},
    {"errors-call", "9.5", "MPI_File_call_errhandler calls the error handler of the file.", 1, call_coll},
    {"errors-null-file", "14.8", "MPI_FILE_NULL is no file to work with.", 1, null_file_coll},
    {"errors-datarep", "14.8", "An unknown data representation has its own error class.", 1, datarep_coll},
    {"errors-go-on", "14.7", "After an error of an argument the file can still be used.", 1, go_on_coll},
    {"errors-words", "14.8", "Every error class of files has a text.", 1, words_coll},
    {0},
};
