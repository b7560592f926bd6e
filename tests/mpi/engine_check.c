/* What the small programs that test the engine share; each of them includes this file. They must run without the engine
 * as well, but for what they ask of it: it is preloaded. */
#include <mpi.h>

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int rank, ranks, failures;

static inline void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));
static inline void complain(const char *format, ...)
{
    char text[2048];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    failures++;
    fprintf(stderr, "rank %d of %d: %s\n", rank, ranks, text);
}

static inline void expect(const char *what, int64_t found, int64_t wanted)
{
    if (found != wanted)
        complain("%s: %" PRId64 " in the place of %" PRId64, what, found, wanted);
}

/* The words of an error code; in a buffer that the next call uses again. */
static inline const char *words_of(int code)
{
    static char words[MPI_MAX_ERROR_STRING + 1];
    int length = 0;
    memset(words, 0, sizeof words);
    MPI_Error_string(code, words, &length);
    return words;
}

static inline int class_of(int code)
{
    int class = -1;
    MPI_Error_class(code, &class);
    return class;
}

/* The call must succeed. */
static inline void fine(const char *what, int code)
{
    if (code != MPI_SUCCESS)
        complain("%s: %s", what, words_of(code));
}

/* The call must fail with an error of this class. */
static inline void fails_as(const char *what, int code, int class)
{
    if (class_of(code) != class)
        complain("%s: error class %d in the place of %d: %s", what, class_of(code), class, words_of(code));
}

static inline void has_words(int code, const char *part)
{
    if (!strstr(words_of(code), part))
        complain("'%s' is not in the words '%s'", part, words_of(code));
}

static inline MPI_File open_file(const char *path, int amode, MPI_Info info)
{
    MPI_File file = MPI_FILE_NULL;
    const int code = MPI_File_open(MPI_COMM_WORLD, path, amode, info, &file);
    if (code != MPI_SUCCESS) {
        complain("opening %s: %s", path, words_of(code));
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    return file;
}

/* "name=value;name=value" as an MPI_Info; to be freed. */
static inline MPI_Info info_of(const char *text)
{
    char copy[1024], *rest = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    snprintf(copy, sizeof copy, "%s", text);
    for (char *token = strtok_r(copy, ";", &rest); token; token = strtok_r(NULL, ";", &rest)) {
        char *equals = strchr(token, '=');
        *equals = '\0';
        MPI_Info_set(info, token, equals + 1);
    }
    return info;
}

static inline MPI_File open_with(const char *path, int amode, const char *hints)
{
    MPI_Info info = info_of(hints);
    MPI_File file = open_file(path, amode, info);
    MPI_Info_free(&info);
    return file;
}

/* The value of a key of the file's info, "" where it has none; in a buffer that the next call uses again. */
static inline const char *hint_of(MPI_File file, const char *key)
{
    static char value[MPI_MAX_INFO_VAL + 1];
    MPI_Info info = MPI_INFO_NULL;
    int found = 0;
    value[0] = '\0';
    if (MPI_File_get_info(file, &info) == MPI_SUCCESS && info != MPI_INFO_NULL) {
        MPI_Info_get(info, key, MPI_MAX_INFO_VAL, value, &found);
        MPI_Info_free(&info);
    }
    if (!found)
        value[0] = '\0';
    return value;
}

static inline void expect_hint(MPI_File file, const char *key, const char *wanted)
{
    const char *found = hint_of(file, key);
    if (strcmp(found, wanted) != 0)
        complain("hint %s is '%s' in the place of '%s'", key, found, wanted);
}

static inline void expect_hint_part(MPI_File file, const char *key, const char *part)
{
    const char *found = hint_of(file, key);
    if (!strstr(found, part))
        complain("hint %s is '%s', without '%s'", key, found, part);
}

/* Reads with the system's own call. Returns bytes. */
static inline int64_t raw_read(const char *path, void *buffer, int64_t bytes, int64_t offset)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const int64_t got = fd < 0 ? -1 : pread(fd, buffer, (size_t)bytes, offset);
    if (fd >= 0)
        close(fd);
    return got;
}

static inline int64_t raw_size(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 ? (int64_t)facts.st_size : -1;
}

static inline void check_begin(int *argc, char ***argv)
{
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

/* The exit status of the program. */
static inline int check_end(const char *what)
{
    int sum = 0;
    MPI_Allreduce(&failures, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0 && sum == 0)
        printf("%d ranks: %s is right\n", ranks, what);
    MPI_Finalize();
    return sum != 0;
}
