#include "mpiio/error/error.h"

#include "mpi/real.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

int error_class(pl_status status)
{
    static const int classes[PL_STATUS_COUNT] = {
        [PL_OK] = MPI_SUCCESS,
        [PL_E_INPUT] = MPI_ERR_ARG,
        [PL_E_USAGE] = MPI_ERR_OTHER,
        [PL_E_NOMEM] = MPI_ERR_NO_MEM,
        [PL_E_SPACE] = MPI_ERR_NO_SPACE,
        [PL_E_QUOTA] = MPI_ERR_QUOTA,
        [PL_E_SYSTEM] = MPI_ERR_IO,
        [PL_E_IO] = MPI_ERR_IO,
        [PL_E_NO_SUCH_FILE] = MPI_ERR_NO_SUCH_FILE,
        [PL_E_EXISTS] = MPI_ERR_FILE_EXISTS,
        [PL_E_ACCESS] = MPI_ERR_ACCESS,
        [PL_E_READ_ONLY] = MPI_ERR_READ_ONLY,
        [PL_E_BAD_FILE] = MPI_ERR_BAD_FILE,
        [PL_E_IN_USE] = MPI_ERR_FILE_IN_USE,
        [PL_E_MPI] = MPI_ERR_OTHER,
        [PL_E_DATA] = MPI_ERR_IO,
        [PL_E_FORMAT] = MPI_ERR_IO,
        [PL_E_CLOCK] = MPI_ERR_OTHER,
        [PL_E_PEER] = MPI_ERR_IO,
        [PL_E_UNSUPPORTED] = MPI_ERR_UNSUPPORTED_OPERATION,
        [PL_E_ARG] = MPI_ERR_ARG,
        [PL_E_COUNT] = MPI_ERR_COUNT,
        [PL_E_BUFFER] = MPI_ERR_BUFFER,
        [PL_E_TYPE] = MPI_ERR_TYPE,
        [PL_E_COMM] = MPI_ERR_COMM,
        [PL_E_FILE] = MPI_ERR_FILE,
        [PL_E_AMODE] = MPI_ERR_AMODE,
        [PL_E_NOT_SAME] = MPI_ERR_NOT_SAME,
        [PL_E_DATAREP] = MPI_ERR_UNSUPPORTED_DATAREP,
        [PL_E_DUP_DATAREP] = MPI_ERR_DUP_DATAREP,
        [PL_E_CONVERSION] = MPI_ERR_CONVERSION,
        [PL_E_REQUEST] = MPI_ERR_REQUEST,
        [PL_E_INFO] = MPI_ERR_INFO,
    };
    return classes[status];
}

/* The codes of one status, in the order in which they are used again. */
struct ring {
    int made, next;
    int codes[ERROR_CODES_EACH];
    char text[ERROR_CODES_EACH][MPI_MAX_ERROR_STRING];
};

static struct ring rings[PL_STATUS_COUNT];
static pthread_mutex_t rings_lock = PTHREAD_MUTEX_INITIALIZER;

/* Texts of MPI are single lines of bounded length. */
static void keep_words(char *place, const char *text)
{
    snprintf(place, MPI_MAX_ERROR_STRING, "%.*s", MPI_MAX_ERROR_STRING - 1, text);
    for (char *c = place; *c; c++)
        if (*c == '\n')
            *c = ' ';
}

int error_code(const struct pl_error *error)
{
    if (error->status == PL_OK)
        return MPI_SUCCESS;
    const int class = error_class(error->status);
    pthread_mutex_lock(&rings_lock);
    struct ring *ring = &rings[error->status];
    int code = class; /* a class is a code too, though without words of ours */
    if (ring->made < ERROR_CODES_EACH && real.Add_error_code(class, &ring->codes[ring->made]) == MPI_SUCCESS)
        ring->next = ring->made++;
    if (ring->made > 0) {
        code = ring->codes[ring->next];
        keep_words(ring->text[ring->next], error->text);
        ring->next = (ring->next + 1) % ring->made;
    }
    pthread_mutex_unlock(&rings_lock);
    return code;
}

int error_words(int code, char *ret_text)
{
    int found = 0;
    pthread_mutex_lock(&rings_lock);
    for (int status = 0; status < PL_STATUS_COUNT && !found; status++)
        for (int i = 0; i < rings[status].made && !found; i++)
            if (rings[status].codes[i] == code) {
                memcpy(ret_text, rings[status].text[i], MPI_MAX_ERROR_STRING);
                found = 1;
            }
    pthread_mutex_unlock(&rings_lock);
    return found;
}

pl_status error_from_mpi(int code, const char *doing, struct pl_error *error)
{
    char words[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    real.Error_string(code, words, &length);
    for (char *c = words; *c; c++)
        if (*c == '\n')
            *c = ' ';
    return pl_fail(error, PL_E_MPI, "%s: %s", doing, words);
}
