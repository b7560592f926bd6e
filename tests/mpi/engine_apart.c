/* The MPI comes with a library that is loaded while the program runs, and only that library sees it, as with modules of
 * Python. -DLIBRARY: the library; else the program, which is not linked with MPI: engine_apart LIBRARY FILE. */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY
#include <mpi.h>

int write_and_read(const char *name);

int write_and_read(const char *name)
{
    MPI_File fh;
    char out[8] = "apart", in[8] = "";
    int rank;
    MPI_Init(NULL, NULL);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    int code = MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    if (!code)
        code = MPI_File_write_at_all(fh, 8 * rank, out, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!code)
        code = MPI_File_read_at_all(fh, 8 * rank, in, 8, MPI_BYTE, MPI_STATUS_IGNORE);
    if (!code)
        code = MPI_File_close(&fh);
    MPI_Finalize();
    return code || strcmp(in, out) != 0;
}
#else
int main(int argc, char **argv)
{
    int (*function)(const char *) = NULL;
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void *symbol = library ? dlsym(library, "write_and_read") : NULL;
    if (!symbol) {
        fprintf(stderr, "%s\n", dlerror());
        return 2;
    }
    memcpy(&function, &symbol, sizeof function);
    const int code = function(argv[2]);
    printf("%s by %s\n", code ? "wrong" : "right", dlsym(RTLD_DEFAULT, "piolet_mpiio_version") ? "piolet" : "the MPI");
    return code;
}
#endif
