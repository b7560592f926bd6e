/* Develop mode: a board in memory that the ranks of a node share, on which each rank notes what it has written to a
 * file, so that a rank that reads it can look whether the standard lets it see that (MPI, "File Consistency").
 *
 * A clock on the board counts what happens. A write is released when its rank's next MPI_File_sync ends, a rank has
 * acquired what was released before its last MPI_File_sync began: that is sync, barrier, sync. Pure: no MPI, no file;
 * a board of zeroes is empty. */
#ifndef PIOLET_ENGINE_DEVELOP_DEVELOP_BOARD_H
#define PIOLET_ENGINE_DEVELOP_DEVELOP_BOARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct develop_board;

/* `count` pieces of `length` bytes of the file, each `stride` bytes behind the one before; length and count > 0. */
struct develop_pieces {
    int64_t begin, length, stride, count;
};

/* What is missing between a write and the one who looks at it; the worst of all is told. */
enum develop_lack {
    DEVELOP_LACKS_NOTHING,
    DEVELOP_LACKS_SECOND_SYNC, /* both were in one MPI_File_sync since, which need not wait for all */
    DEVELOP_LACKS_SYNC,
};
struct develop_finding {
    enum develop_lack lack;
    int writer;         /* the number of its rank */
    int64_t begin, end; /* bytes of the file that both touch; of a size: end is where the file ends by that write */
};

size_t develop_board_bytes(int ranks);
/* Each of the `ranks` ranks calls it before anything else; findings name it `number`. */
void develop_board_enter(struct develop_board *board, int rank, int ranks, int number);

/* `size_before`: of the file, before the write. */
void develop_board_write(struct develop_board *board, int rank, const struct develop_pieces *pieces,
                         int64_t size_before);
/* What others wrote of these bytes. Adds to *finding what is worse than what it has. */
void develop_board_read(struct develop_board *board, int rank, const struct develop_pieces *pieces,
                        struct develop_finding *finding);
/* Does it depend on others' writes whether the file reaches up to `end`? */
void develop_board_reach(struct develop_board *board, int rank, int64_t end, struct develop_finding *finding);
/* Has another's write made the size of the file what it is? */
void develop_board_size(struct develop_board *board, int rank, int64_t size, struct develop_finding *finding);

void develop_board_sync_begins(struct develop_board *board, int rank);
void develop_board_sync_ends(struct develop_board *board, int rank);
/* All have set the size together: it depends on no earlier write any more. */
void develop_board_resized(struct develop_board *board);

/* True once for each kind of lack: the caller is the one to tell of it. */
bool develop_board_first(struct develop_board *board, enum develop_lack lack);

#endif
