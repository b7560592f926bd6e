/* The arguments of a call as a model tells them: "KEY=VALUE" fields behind `with=`. Pure. */
#ifndef PIOLET_REPLAY_DETAIL_H
#define PIOLET_REPLAY_DETAIL_H

#include "base/status.h"
#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

/* One field at *at, which is moved behind it; false at the end. Quotes are taken away and escapes undone. */
struct replay_field {
    char *key, *value; /* owned: replay_field_clear() */
};
bool replay_field_next(const char **at, struct replay_field *ret_field);
void replay_field_clear(struct replay_field *field);

/* The value of a key (caller frees), or NULL. */
char *replay_detail_text(const char *detail, const char *key);
int64_t replay_detail_number(const char *detail, const char *key, int64_t otherwise);

/* What MPI_File_open was given. */
struct replay_open {
    int amode; /* by the bits of enum replay_mode: an MPI has its own */
    int ranks; /* of the communicator, which are first, first + stride, …; or the members */
    int first, stride;
    int *members; /* owned; NULL: none are told */
};

enum replay_mode {
    REPLAY_CREATE = 1,
    REPLAY_EXCL = 2,
    REPLAY_RDONLY = 4,
    REPLAY_WRONLY = 8,
    REPLAY_RDWR = 16,
    REPLAY_APPEND = 32,
    REPLAY_DELETE_ON_CLOSE = 64,
    REPLAY_UNIQUE_OPEN = 128,
    REPLAY_SEQUENTIAL = 256
};

/* Refuses ranks beyond those of the world, and a communicator in which `rank` is not. */
pl_status replay_open_parse(const char *detail, int rank, int world, struct replay_open *ret_open,
                            struct pl_error *error);
void replay_open_clear(struct replay_open *open);
int replay_open_member(const struct replay_open *open, int i);

#endif
