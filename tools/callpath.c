/* One collective call of the engine, and every function of the engine that it enters: tools/callpath. The engine is
 * built with -finstrument-functions, and calls __cyg_profile_func_enter() here, which stands before that of the C
 * library. */
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLE = 1 << 16, PIECE = 1024 };

static atomic_bool on;
static _Atomic(void *) table[TABLE]; /* a hash table of what was entered */

void __cyg_profile_func_enter(void *function, void *site);
void __cyg_profile_func_exit(void *function, void *site);

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *site)
{
    (void)site;
    if (!atomic_load_explicit(&on, memory_order_relaxed))
        return;
    for (size_t at = (size_t)function / 16 % TABLE;; at = (at + 1) % TABLE) {
        void *none = NULL;
        if (atomic_load(&table[at]) == function || atomic_compare_exchange_strong(&table[at], &none, function) ||
            none == function)
            return;
    }
}

__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *site)
{
    (void)function;
    (void)site;
}

/* Where the library begins in memory. */
static size_t library_begin(const char *name)
{
    char line[1024];
    size_t begin = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && begin == 0 && fgets(line, sizeof line, maps))
        if (strstr(line, name))
            begin = strtoul(line, NULL, 16);
    if (maps)
        fclose(maps);
    return begin;
}

/* callpath FILE LIBRARY CALLS BYTES write|read: the ranks' pieces of 1 KiB lie among each other. */
int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (argc != 6)
        MPI_Abort(MPI_COMM_WORLD, 2);
    const int calls = atoi(argv[3]), bytes = atoi(argv[4]) / PIECE * PIECE;
    char *data = calloc(1, (size_t)bytes);
    MPI_Datatype piece, filetype;
    MPI_Type_contiguous(PIECE, MPI_BYTE, &piece);
    MPI_Type_create_resized(piece, 0, (MPI_Aint)PIECE * ranks, &filetype);
    MPI_Type_commit(&filetype);
    MPI_File file;
    MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
    MPI_File_set_view(file, (MPI_Offset)rank * PIECE, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
    for (int i = 0; i < calls; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        atomic_store(&on, i == calls - 1);
        if (strcmp(argv[5], "write") == 0)
            MPI_File_write_all(file, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        else
            MPI_File_read_at_all(file, 0, data, bytes, MPI_BYTE, MPI_STATUS_IGNORE);
        atomic_store(&on, false);
    }
    MPI_File_close(&file);
    const size_t begin = library_begin(argv[2]);
    for (size_t i = 0; i < TABLE; i++)
        if (table[i])
            printf("0x%zx\n", (size_t)table[i] - begin);
    free(data);
    MPI_Finalize();
    return 0;
}
