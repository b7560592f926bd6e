/* The file as it must be, and who touched which byte since all ranks last agreed on it. */
#ifndef ENGINE_FUZZ_MODEL_H
#define ENGINE_FUZZ_MODEL_H

#include "engine_fuzz_type.h"

struct view {
    int which; /* of the etypes */
    struct type *etype, *file;
    int64_t displacement;
    int64_t base;     /* etypes before the part of the file that the model holds */
    int64_t limit;    /* writes stay below this byte of the file */
    bool is_external; /* external32: big-endian */
};

/* Byte of the file that holds byte `position` of the view's data. */
int64_t view_at(const struct view *view, int64_t position);
/* How many etypes behind `base` lie before byte `limit` of the file. */
int64_t view_room(const struct view *view, int64_t limit);
/* The first etype that does not begin before byte `size`: where MPI_SEEK_END leads. */
int64_t view_end(const struct view *view, int64_t size);
void view_clear(struct view *view); /* accepts {0} */

enum { NOBODY = 0, MANY = 255 }; /* else a rank + 1 */

struct model {
    int64_t origin; /* the first byte that it holds */
    int64_t limit;  /* the last one + 1; both count from the file's begin */
    int64_t size;   /* of the file */
    uint8_t *bytes, *preset;
    uint8_t *known;           /* whether somebody wrote it */
    uint8_t *writer, *reader; /* since the last synchronisation */
    int64_t synced_size;
    uint8_t end_writer, end_reader; /* who moved the end of the file, who depends on where it is */
    uint8_t (*allowed)[32];         /* with faults: a set of values for each byte */
};

void model_init(struct model *model, int64_t origin, int64_t bytes);
void model_clear(struct model *model);
void model_synchronised(struct model *model);

/* Whether an access of `bytes` bytes of the view's data could be seen by, or see, an unsynchronised one of another
 * rank. */
bool model_conflicts(const struct model *model, int rank, const struct view *view, int64_t position, int64_t bytes,
                     bool is_write);
void model_note(struct model *model, int rank, const struct view *view, int64_t position, int64_t bytes, bool is_write);
/* The same for where the end of the file is. */
bool model_end_is_known(const struct model *model, int rank);
void model_note_end_read(struct model *model, int rank);

void model_put(struct model *model, int64_t offset, uint8_t value);
bool model_knows(const struct model *model, int64_t offset); /* what the byte must be; zeros count unless avoided */
uint8_t model_get(const struct model *model, int64_t offset);
void model_set_size(struct model *model, int64_t size);
/* How many bytes of the view's data, from `position` on, lie in the file. */
int64_t model_readable(const struct model *model, const struct view *view, int64_t position, int64_t bytes);

#endif
